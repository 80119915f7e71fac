/*
 * callcontext.c - calls, returns and decoding of contexts that may recurse (Algorithm 3, decodeStack).
 *
 * Each entry of the stack is an acyclic piece of its own: it ends in the caller of the pushed edge and starts in the callee of
 * the pushed edge below, so pieces are decoded independently and checked against each other.
 */
#include "callcontext.h"

#include <string.h>

#include "core/contexts/callgraph_decode.h"

struct error *callcontext_init(struct callcontext *c, const struct callgraph *g, uint32_t start)
{
	if (!g->is_encoded || start >= g->node_count || !g->nodes[start].has_dummy)
		return error_create_in(g->allocator, ERROR_ARGUMENT, "function %u cannot be entered by a push", start);
	*c = (struct callcontext){
		.g = g, .node = start, .id = g->nodes[start].restart, .stack = {.allocator = g->allocator}};
	return NULL;
}

void callcontext_deinit(struct callcontext *c)
{
	callcontext_stack_deinit(&c->stack);
}

static struct error *push(struct callcontext *c, uint32_t edge)
{
	struct callgraph_push *top = c->stack.count ? &c->stack.items[c->stack.count - 1] : NULL;

	if (top && top->edge == edge && top->id == c->id && top->run < UINT32_MAX) {
		top->run++;
		return NULL;
	}
	return callcontext_stack_append(&c->stack, (struct callgraph_push){.id = c->id, .edge = edge, .run = 1});
}

struct error *callcontext_call(struct callcontext *c, uint32_t edge)
{
	const struct callgraph_edge *e = edge < c->g->edge_count ? &c->g->edges[edge] : NULL;
	struct error *err;

	if (!e || e->caller != c->node)
		return error_create_in(c->g->allocator, ERROR_ARGUMENT, "function %u does not make call %u", c->node,
				       edge);
	if (e->kind == EDGE_ENCODED) {
		c->id += e->addend;
	} else {
		err = push(c, edge);
		if (err)
			return err;
		c->id = c->g->nodes[e->callee].restart;
	}
	c->node = e->callee;
	return NULL;
}

struct error *callcontext_return(struct callcontext *c, uint32_t edge)
{
	const struct callgraph_edge *e = edge < c->g->edge_count ? &c->g->edges[edge] : NULL;
	struct callgraph_push *top;

	if (!e || e->callee != c->node)
		return error_create_in(c->g->allocator, ERROR_ARGUMENT, "function %u was not called by call %u",
				       c->node, edge);
	if (e->kind == EDGE_ENCODED) {
		if (c->id < e->addend || c->id - e->addend >= c->g->nodes[e->caller].contexts)
			return error_create_in(c->g->allocator, ERROR_ARGUMENT,
					       "context %llu of function %u does not come from call %u",
					       (unsigned long long)c->id, c->node, edge);
		c->id -= e->addend;
	} else {
		top = c->stack.count ? &c->stack.items[c->stack.count - 1] : NULL;
		if (!top || top->edge != edge || c->id != c->g->nodes[c->node].restart)
			return error_create_in(c->g->allocator, ERROR_ARGUMENT, "call %u is not the last push", edge);
		c->id = top->id;
		if (--top->run == 0)
			c->stack.count--;
	}
	c->node = e->caller;
	return NULL;
}

static struct error *too_long(const struct callgraph_edges *edges)
{
	return error_create_in(edges->allocator, ERROR_OVERFLOW, "the context has more calls than the limit allows");
}

/* Appends the edges of the piece that ends in (node, id), outermost first. */
static struct error *append_piece(const struct callgraph *g, uint32_t node, uint64_t id, size_t max_edges,
				  struct callgraph_edges *ret, uint32_t *ret_start)
{
	const struct callgraph_range *range;
	size_t first = ret->count;
	uint32_t at = node;
	uint64_t left = id;
	struct error *err;

	if (!g->is_encoded || node >= g->node_count)
		return error_create_in(g->allocator, ERROR_FORMAT, "function %u of %u encoded", node,
				       g->is_encoded ? g->node_count : 0);
	for (;;) {
		range = id < g->nodes[node].contexts ? decode_find(g, at, left) : NULL;
		if (!range)
			return error_create_in(g->allocator, ERROR_FORMAT, "function %u has no context %llu", node,
					       (unsigned long long)id);
		if (range->edge == CALLGRAPH_DUMMY)
			break;
		left -= range->first;
		at = range->caller;
		err = ret->count < max_edges ? callgraph_edges_append(ret, range->edge) : too_long(ret);
		if (err)
			return err;
	}
	if (ret->count > first)
		decode_reverse(ret->items + first, ret->count - first);
	*ret_start = at;
	return NULL;
}

/* Ends the piece that starts at `first` with its pushed edge, and writes it out again until it is there `run` times. */
static struct error *append_run(const struct callgraph_push *entry, size_t first, size_t max_edges,
				struct callgraph_edges *ret)
{
	size_t count = ret->count - first + 1, total;
	struct error *err;

	if (__builtin_mul_overflow(count, entry->run, &total) || total > max_edges - first)
		return too_long(ret);
	err = callgraph_edges_reserve(ret, first + total);
	if (err)
		return err;
	ret->items[ret->count++] = entry->edge;
	for (uint32_t i = 1; i < entry->run; i++) {
		memcpy(ret->items + ret->count, ret->items + first, count * sizeof(*ret->items));
		ret->count += count;
	}
	return NULL;
}

/* Decodes entry k of the stack, or, behind the last, the present piece. *start is that of the outermost piece. */
static struct error *decode_entry(const struct callgraph *g, const struct callcontext_view *view, size_t k,
				  size_t max_edges, struct callgraph_edges *ret, uint32_t *start)
{
	const struct callgraph_push *entry = k < view->stack_len ? &view->stack[k] : NULL;
	uint32_t piece_start, node = view->node;
	uint64_t id = view->id;
	size_t first = ret->count;
	struct error *err;

	/* Edges of pushes are all over memory; the next one is fetched while this piece is decoded. */
	if (k + 1 < view->stack_len && view->stack[k + 1].edge < g->edge_count)
		__builtin_prefetch(&g->edges[view->stack[k + 1].edge]);
	if (entry) {
		if (entry->edge >= g->edge_count || g->edges[entry->edge].kind == EDGE_ENCODED || !entry->run)
			return error_create_in(g->allocator, ERROR_FORMAT,
					       "entry %zu of the context stack is not a push", k);
		node = g->edges[entry->edge].caller;
		id = entry->id;
	}
	err = append_piece(g, node, id, max_edges, ret, &piece_start);
	if (!err && entry)
		err = append_run(entry, first, max_edges, ret);
	if (err)
		return entry ? error_context(err, "entry %zu of the context stack", k) : err;
	if (k == 0)
		*start = piece_start;
	if ((k > 0 && piece_start != g->edges[view->stack[k - 1].edge].callee) ||
	    (entry && entry->run > 1 && piece_start != g->edges[entry->edge].callee))
		return error_create_in(g->allocator, ERROR_FORMAT,
				       "entry %zu of the context stack does not follow from the one below", k);
	return NULL;
}

struct error *callcontext_decode(const struct callgraph *g, const struct callcontext_view *view, size_t max_edges,
				 struct callgraph_edges *ret, uint32_t *ret_start)
{
	size_t count_before = ret->count;
	struct error *err = NULL;
	uint32_t start = 0;

	max_edges = max_edges > SIZE_MAX - count_before ? SIZE_MAX : max_edges + count_before;
	for (size_t k = 0; k <= view->stack_len && !err; k++)
		err = decode_entry(g, view, k, max_edges, ret, &start);
	if (err)
		ret->count = count_before;
	else
		*ret_start = start;
	return err;
}

struct error *callcontext_translate(const struct callgraph *g, uint32_t start, const uint32_t *edges, size_t count,
				    struct callcontext *ret)
{
	struct callcontext c;
	struct error *err = callcontext_init(&c, g, start);

	if (err)
		return err;
	for (size_t i = 0; i < count && !err; i++)
		err = callcontext_call(&c, edges[i]);
	if (err)
		callcontext_deinit(&c);
	else
		*ret = c;
	return err;
}
