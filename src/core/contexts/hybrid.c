/*
 * hybrid.c - numbers the contexts of a call graph where offsets of the stack do not tell them apart, and decodes the pairs.
 *
 * Nodes are taken callers first. An edge brings the set of its caller, moved by its offset and its addend. The addend is 0 if what
 * it brings then meets nothing that earlier edges have brought, else it leads past all numbers at the offsets that both have. Edges
 * come in the order in which callgraph_encode has placed them, hot ones first.
 *
 * The set of a node has all numbers between the least and the largest one at each offset, whether they are used or not. Neither that nor
 * whether what two edges bring meets depends on the order of edges, so a stored encoding has the same sets. Offsets are
 * multiples of 8 below 64 MB and in practice of 16 below some ten KB, which bounds the sets.
 */
#include "core/contexts/hybrid.h"

#include <assert.h>
#include <string.h>

#include "core/contexts/callgraph_decode.h"

enum {
	RANGES_MAX = 1 << 24, /* of all nodes */
	STEPS_MAX = 1 << 30,  /* ranges that are looked at: some seconds */
};

/* Growing sets; `out` is the next one of the node at work. */
struct builder {
	struct hybrid *h;
	uint32_t *order;
	struct hybrid_range *set, *out;
	size_t set_count, out_count;
	size_t set_capacity, out_capacity;
	size_t total; /* ranges of finished nodes */
	uint64_t steps;
};

static uint32_t moved(uint32_t offset, uint32_t by)
{
	return offset == HYBRID_NO_OFFSET ? offset : offset + by;
}

/* ---- callers first ---- */

static struct error *find_order(const struct callgraph *g, uint32_t *order)
{
	uint32_t *left = allocator_calloc(g->allocator, (size_t)g->node_count + 1, sizeof *left);
	struct adjacency out = {0};
	struct error *err = left ? adjacency_by_caller(g, &out) : &error_no_memory;
	uint32_t count = 0;

	for (uint32_t e = 0; !err && e < g->edge_count; e++)
		left[g->edges[e].callee] += g->edges[e].kind == EDGE_ENCODED;
	for (uint32_t n = 0; !err && n < g->node_count; n++)
		if (!left[n])
			order[count++] = n;
	for (uint32_t i = 0; !err && i < count; i++)
		for (uint32_t k = out.start[order[i]]; k < out.start[order[i] + 1]; k++) {
			const struct callgraph_edge *edge = &g->edges[out.edges[k]];

			if (edge->kind == EDGE_ENCODED && !--left[edge->callee])
				order[count++] = edge->callee;
		}
	if (!err && count < g->node_count)
		err = error_create_in(g->allocator, ERROR_FORMAT, "encoded calls form a cycle");
	allocator_free(g->allocator, left);
	adjacency_deinit(&out);
	return err;
}

/* ---- sets ---- */

static bool overlap(const struct hybrid_range *a, const struct hybrid_range *b, uint64_t addend)
{
	return a->first < b->end + addend && b->first + addend < a->end;
}

/* What meets at one offset: the set has items[0 .. count), the caller first .. end - 1. */
struct meeting {
	const struct hybrid_range *items;
	size_t count;
	const struct hybrid_range *from;
	size_t from_count;
};

/* The next offset that both have. */
static bool next_meeting(const struct builder *b, const struct hybrid_set *from, uint32_t by, struct meeting *m)
{
	if (!b->set_count || !from->count)
		return false;

	const struct hybrid_range *x = m->items ? m->items + m->count : b->set;
	const struct hybrid_range *y = m->from ? m->from + m->from_count : from->ranges;
	const struct hybrid_range *x_end = b->set + b->set_count, *y_end = from->ranges + from->count;

	while (x < x_end && y < y_end && x->offset != moved(y->offset, by)) {
		if (x->offset < moved(y->offset, by))
			x++;
		else
			y++;
	}
	if (x >= x_end || y >= y_end)
		return false;
	*m = (struct meeting){.items = x, .from = y};
	while (x + m->count < x_end && x[m->count].offset == x->offset)
		m->count++;
	while (y + m->from_count < y_end && y[m->from_count].offset == y->offset)
		m->from_count++;
	return true;
}

static bool collides(const struct meeting *m, uint64_t addend)
{
	for (size_t i = 0; i < m->count; i++)
		for (size_t k = 0; k < m->from_count; k++)
			if (overlap(&m->items[i], &m->from[k], addend))
				return true;
	return false;
}

static bool is_free(const struct builder *b, const struct hybrid_set *from, uint32_t by, uint64_t addend)
{
	struct meeting m = {0};

	while (next_meeting(b, from, by, &m))
		if (collides(&m, addend))
			return false;
	return true;
}

/* The least addend that leads past all numbers. */
static uint64_t addend_past(const struct builder *b, const struct hybrid_set *from, uint32_t by, uint64_t least)
{
	struct meeting m = {0};
	uint64_t addend = least;

	while (next_meeting(b, from, by, &m)) {
		uint64_t end = m.items[m.count - 1].end, first = m.from[0].first;

		if (end > first && end - first > addend)
			addend = end - first;
	}
	return addend;
}

static void append_range(struct builder *b, struct hybrid_range range)
{
	struct hybrid_range *last;

	assert(b->out);
	last = b->out_count ? &b->out[b->out_count - 1] : NULL;
	if (last && last->offset == range.offset && range.first <= last->end)
		last->end = range.end > last->end ? range.end : last->end;
	else
		b->out[b->out_count++] = range;
}

/* What is out becomes the set. */
static void swap_sets(struct builder *b)
{
	struct hybrid_range *set = b->set;
	const size_t capacity = b->set_capacity;

	b->set = b->out;
	b->set_count = b->out_count;
	b->set_capacity = b->out_capacity;
	b->out = set;
	b->out_capacity = capacity;
}

/* The set gets what the edge brings. */
static struct error *unite(struct builder *b, const struct hybrid_set *from, uint32_t by, uint64_t addend)
{
	const struct callgraph *g = b->h->g;
	const size_t needed = b->set_count + from->count;
	size_t i = 0, k = 0;

	if (needed > b->out_capacity) {
		struct hybrid_range *grown = vec_grow_in(g->allocator, b->out, &b->out_capacity, needed, sizeof *grown);

		if (!grown)
			return &error_no_memory;
		b->out = grown;
	}
	b->out_count = 0;
	b->steps += b->set_count + from->count;
	if (b->steps > STEPS_MAX)
		return error_create_in(g->allocator, ERROR_OVERFLOW, "too many pairs of offsets and numbers");
	while (i < b->set_count || k < from->count) {
		struct hybrid_range x = {0}, y = {0};

		if (i < b->set_count)
			x = b->set[i];
		if (k < from->count) {
			y = from->ranges[k];
			y.offset = moved(y.offset, by);
			y.first += addend;
			y.end += addend;
			if (y.offset != HYBRID_NO_OFFSET && y.offset > HYBRID_OFFSET_MAX)
				return error_create_in(g->allocator, ERROR_OVERFLOW,
						       "calls without recursion take more than %d bytes of stack",
						       HYBRID_OFFSET_MAX);
		}
		if (k == from->count ||
		    (i < b->set_count && (x.offset < y.offset || (x.offset == y.offset && x.first < y.first)))) {
			append_range(b, x);
			i++;
		} else {
			append_range(b, y);
			k++;
		}
	}
	swap_sets(b);
	return NULL;
}

/* Of each offset all numbers from the first to the last: edges that bring different ones leave gaps, and gaps of gaps would be many. */
static void close_gaps(struct builder *b)
{
	size_t count = 0;

	for (size_t i = 0; i < b->set_count; i++) {
		if (count && b->set[count - 1].offset == b->set[i].offset)
			b->set[count - 1].end = b->set[i].end;
		else
			b->set[count++] = b->set[i];
	}
	b->set_count = count;
}

static struct error *finish_node(struct builder *b, uint32_t n)
{
	const struct callgraph *g = b->h->g;
	struct hybrid_set *set = &b->h->sets[n];

	close_gaps(b);
	b->total += b->set_count;
	if (b->total > RANGES_MAX)
		return error_create_in(g->allocator, ERROR_OVERFLOW, "more than %d pairs of offsets and numbers",
				       RANGES_MAX);
	set->ranges = allocator_alloc(g->allocator, b->set_count + 1, sizeof *set->ranges);
	if (!set->ranges)
		return &error_no_memory;
	if (b->set_count)
		memcpy(set->ranges, b->set, b->set_count * sizeof *set->ranges);
	set->count = b->set_count;
	for (size_t i = 0; i < set->count; i++)
		if (set->ranges[i].end - 1 > b->h->max_number)
			b->h->max_number = set->ranges[i].end - 1;
	return NULL;
}

/* ---- what comes into a node ---- */

/* The one context of a start. */
static struct hybrid_range start_of(const struct hybrid *h, uint32_t n)
{
	return (struct hybrid_range){0, 1, h->frames.is_placed[n] ? 0 : HYBRID_NO_OFFSET};
}

static struct error *number_start(struct builder *b, struct callgraph *g, uint32_t n)
{
	struct hybrid_range range = start_of(b->h, n);
	const struct hybrid_set from = {&range, 1};

	g->nodes[n].restart = is_free(b, &from, 0, 0) ? 0 : addend_past(b, &from, 0, 0);
	return unite(b, &from, 0, g->nodes[n].restart);
}

static struct error *number_edge(struct builder *b, struct callgraph *g, uint32_t e)
{
	struct callgraph_edge *edge = &g->edges[e];
	const struct hybrid_set *from = &b->h->sets[edge->caller];
	const uint32_t by = b->h->frames.offsets[e];
	const uint64_t least = b->h->frames.needs_addend && b->h->frames.needs_addend[e];

	edge->addend = is_free(b, from, by, least) ? least : addend_past(b, from, by, least);
	b->h->zero_edges += !edge->addend;
	return unite(b, from, by, edge->addend);
}

static struct error *number_node(struct builder *b, struct callgraph *g, uint32_t n)
{
	struct error *err = NULL;
	uint64_t end = 1;

	b->set_count = 0;
	for (uint32_t k = g->range_start[n]; k < g->range_start[n + 1] && !err; k++)
		err = g->ranges[k].edge == CALLGRAPH_DUMMY ? number_start(b, g, n)
							   : number_edge(b, g, g->ranges[k].edge);
	for (size_t i = 0; i < b->set_count && !err; i++)
		if (b->set[i].end > end)
			end = b->set[i].end;
	g->nodes[n].contexts = end;
	return err ? err : finish_node(b, n);
}

static struct error *twice(const struct callgraph *g, uint32_t n)
{
	return error_create_in(g->allocator, ERROR_FORMAT, "function %u has two contexts with one number and offset",
			       n);
}

static struct error *check_start(struct builder *b, uint32_t n)
{
	const struct callgraph *g = b->h->g;
	struct hybrid_range range = start_of(b->h, n);
	const struct hybrid_set from = {&range, 1};

	return is_free(b, &from, 0, g->nodes[n].restart) ? unite(b, &from, 0, g->nodes[n].restart) : twice(g, n);
}

static struct error *check_edge(struct builder *b, uint32_t e)
{
	const struct callgraph *g = b->h->g;
	const struct callgraph_edge *edge = &g->edges[e];
	const struct hybrid_set *from = &b->h->sets[edge->caller];
	const uint32_t by = b->h->frames.offsets[e];

	if (by > HYBRID_OFFSET_MAX || edge->addend > INT64_MAX / 2 || g->nodes[edge->caller].contexts > INT64_MAX / 2)
		return error_create_in(g->allocator, ERROR_FORMAT, "call %u has no usable offset or addend", e);
	b->h->zero_edges += !edge->addend;
	return is_free(b, from, by, edge->addend) ? unite(b, from, by, edge->addend) : twice(g, edge->callee);
}

static struct error *check_node(struct builder *b, uint32_t n)
{
	const struct callgraph *g = b->h->g;
	struct error *err = NULL;

	b->set_count = 0;
	if (g->nodes[n].has_dummy)
		err = check_start(b, n);
	for (uint32_t k = b->h->in.start[n]; k < b->h->in.start[n + 1] && !err; k++)
		if (g->edges[b->h->in.edges[k]].kind == EDGE_ENCODED)
			err = check_edge(b, b->h->in.edges[k]);
	for (size_t i = 0; i < b->set_count && !err; i++)
		if (b->set[i].end > g->nodes[n].contexts)
			err = error_create_in(g->allocator, ERROR_FORMAT, "function %u has numbers beyond its contexts",
					      n);
	return err ? err : finish_node(b, n);
}

/* ---- the graph ---- */

static void builder_deinit(struct builder *b)
{
	const struct allocator *allocator = b->h->g->allocator;

	allocator_free(allocator, b->order);
	allocator_free(allocator, b->set);
	allocator_free(allocator, b->out);
}

static struct error *begin(struct builder *b)
{
	struct hybrid *h = b->h;

	h->sets = allocator_calloc(h->g->allocator, (size_t)h->g->node_count + 1, sizeof *h->sets);
	b->order = allocator_alloc(h->g->allocator, (size_t)h->g->node_count + 1, sizeof *b->order);
	if (!h->sets || !b->order)
		return &error_no_memory;
	return adjacency_by_callee(h->g, &h->in) ?: find_order(h->g, b->order);
}

struct error *hybrid_encode(struct callgraph *g, const struct hybrid_frames *frames, struct hybrid *ret)
{
	struct hybrid h = {.g = g, .frames = *frames};
	struct builder b = {.h = &h};
	struct error *err = begin(&b);

	for (uint32_t i = 0; i < g->node_count && !err; i++)
		err = number_node(&b, g, b.order[i]);
	builder_deinit(&b);
	if (err)
		hybrid_deinit(&h);
	else
		*ret = h;
	return err;
}

struct error *hybrid_adopt(const struct callgraph *g, const struct hybrid_frames *frames, struct hybrid *ret)
{
	struct hybrid h = {.g = g, .frames = *frames};
	struct builder b = {.h = &h};
	struct error *err = begin(&b);

	for (uint32_t i = 0; i < g->node_count && !err; i++)
		err = check_node(&b, b.order[i]);
	builder_deinit(&b);
	if (err)
		hybrid_deinit(&h);
	else
		*ret = h;
	return err;
}

void hybrid_deinit(struct hybrid *h)
{
	if (!h->g)
		return;
	for (uint32_t n = 0; h->sets && n < h->g->node_count; n++)
		allocator_free(h->g->allocator, h->sets[n].ranges);
	allocator_free(h->g->allocator, h->sets);
	adjacency_deinit(&h->in);
	*h = (struct hybrid){0};
}

/* ---- decoding ---- */

static bool has(const struct hybrid_set *set, uint64_t number, uint32_t offset)
{
	size_t low = 0, high = set->count;

	/* The last range that begins at or before the pair. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct hybrid_range *r = &set->ranges[middle];

		if (r->offset < offset || (r->offset == offset && r->first <= number))
			low = middle + 1;
		else
			high = middle;
	}
	return low && set->ranges[low - 1].offset == offset && number < set->ranges[low - 1].end;
}

/* The edge over which the context comes: the one whose caller has what is left. */
static bool find_edge(const struct hybrid *h, uint32_t n, uint64_t *number, uint32_t *offset, uint32_t *ret)
{
	for (uint32_t k = h->in.start[n]; k < h->in.start[n + 1]; k++) {
		const uint32_t e = h->in.edges[k], by = h->frames.offsets[e];
		const struct callgraph_edge *edge = &h->g->edges[e];
		const uint32_t left = *offset == HYBRID_NO_OFFSET ? *offset : *offset - by;

		if (edge->kind != EDGE_ENCODED || edge->addend > *number || (left != *offset && by > *offset) ||
		    !has(&h->sets[edge->caller], *number - edge->addend, left))
			continue;
		*number -= edge->addend;
		*offset = left;
		*ret = e;
		return true;
	}
	return false;
}

struct error *hybrid_decode(const struct hybrid *h, uint32_t node, uint64_t number, uint32_t offset, uint32_t *edges,
			    uint32_t *ret_edge_count, uint32_t *ret_start)
{
	const struct callgraph *g = h->g;
	uint64_t left = number;
	uint32_t at = node, at_offset = offset, count = 0;

	if (node >= g->node_count)
		return error_create_in(g->allocator, ERROR_FORMAT, "function %u of %u", node, g->node_count);
	for (;;) {
		const bool starts =
			g->nodes[at].has_dummy && left == g->nodes[at].restart && at_offset == start_of(h, at).offset;

		if (starts)
			break;
		if (!find_edge(h, at, &left, &at_offset, &edges[count]))
			return error_create_in(g->allocator, ERROR_FORMAT,
					       "function %u has no context %llu at offset %lld", node,
					       (unsigned long long)number,
					       offset == HYBRID_NO_OFFSET ? -1LL : (long long)offset);
		at = g->edges[edges[count++]].caller;
	}
	decode_reverse(edges, count);
	*ret_edge_count = count;
	*ret_start = at;
	return NULL;
}
