/*
 * lucce_history.c - from the log of lucce.h back to contexts: keeps each function's changes by version, and walks from callee to caller.
 *
 * A step reads the version <c, v> of the callee: the edge whose range holds c, then lv of its caller. Each lv and each boundary names a
 * version older than itself, which is checked when it is added; so versions fall with every step.
 */
#include "core/contexts/lucce_history.h"

#include "base/order.h"
#include "core/contexts/callgraph_decode.h"

struct error *lucce_history_init(struct lucce_history *h, const struct allocator *allocator, uint64_t first_version)
{
	*h = (struct lucce_history){.first_version = first_version,
				    .version = first_version,
				    .nodes = {.allocator = allocator},
				    .edges = {.allocator = allocator},
				    .boundaries = {.allocator = allocator},
				    .resets = {.allocator = allocator}};
	return lucce_past_nodes_append(&h->nodes, (struct lucce_past_node){0});
}

void lucce_history_deinit(struct lucce_history *h)
{
	for (size_t i = 0; i < h->nodes.count; i++) {
		lucce_values_deinit(&h->nodes.items[i].counts);
		lucce_values_deinit(&h->nodes.items[i].entered);
		callgraph_edges_deinit(&h->nodes.items[i].in);
	}
	lucce_past_nodes_deinit(&h->nodes);
	lucce_edges_deinit(&h->edges);
	lucce_past_boundaries_deinit(&h->boundaries);
	lucce_values_deinit(&h->resets);
}

/* ---- the log ---- */

static struct error *refuse(const struct lucce_history *h, const struct lucce_event *event)
{
	return error_create_in(h->nodes.allocator, ERROR_FORMAT,
			       "version %llu of the call graph: change %u of %u cannot be",
			       (unsigned long long)h->version + 1, event->change, event->index);
}

static struct error *add_node(struct lucce_history *h, const struct lucce_event *event)
{
	const struct allocator *a = h->nodes.allocator;

	if (event->index != h->nodes.count || h->nodes.count > LUCCE_MAX_COUNT)
		return refuse(h, event);
	return lucce_past_nodes_append(&h->nodes, (struct lucce_past_node){.counts = {.allocator = a},
									   .entered = {.allocator = a},
									   .in = {.allocator = a}});
}

static bool is_called(const struct lucce_history *h, uint32_t node)
{
	return node != LUCCE_ROOT && node < h->nodes.count;
}

static struct error *add_edge(struct lucce_history *h, const struct lucce_event *event)
{
	struct error *err;

	if (!is_called(h, event->index) || event->caller >= h->nodes.count || h->edges.count > LUCCE_MAX_COUNT)
		return refuse(h, event);
	err = callgraph_edges_append(&h->nodes.items[event->index].in, (uint32_t)h->edges.count);
	if (err)
		return err;
	err = lucce_edges_append(&h->edges, (struct lucce_edge){.caller = event->caller,
								.callee = event->index,
								.site = event->site,
								.next_in = LUCCE_NO_EDGE,
								.added_at = h->version + 1});
	if (err)
		h->nodes.items[event->index].in.count--;
	return err;
}

static struct error *add_boundary(struct lucce_history *h, const struct lucce_event *event)
{
	if (event->index >= h->edges.count || event->version > h->version)
		return refuse(h, event);
	return lucce_past_boundaries_append(&h->boundaries,
					    (struct lucce_past_boundary){.at = h->version + 1,
									 .edge = event->index,
									 .from = {event->number, event->version}});
}

static struct error *add_event(struct lucce_history *h, const struct lucce_event *event)
{
	struct lucce_value value = {.at = h->version + 1};

	switch (event->change) {
	case LUCCE_NODE:
		return add_node(h, event);
	case LUCCE_EDGE:
		return add_edge(h, event);
	case LUCCE_COUNT:
		value.value = event->number;
		if (!is_called(h, event->index))
			break;
		return lucce_values_append(&h->nodes.items[event->index].counts, value);
	case LUCCE_ENTERED:
		value.value = event->version;
		if (!is_called(h, event->index) || event->version > h->version)
			break;
		return lucce_values_append(&h->nodes.items[event->index].entered, value);
	case LUCCE_RESET:
		return lucce_values_append(&h->resets, value);
	case LUCCE_BOUNDARY:
		return add_boundary(h, event);
	}
	return refuse(h, event);
}

struct error *lucce_history_add(struct lucce_history *h, const struct lucce_event *event)
{
	struct error *err = h->version < LUCCE_LOST - 1 ? add_event(h, event) : refuse(h, event);

	if (!err)
		h->version++;
	return err;
}

/* ---- a version ---- */

/* The last value that is not newer than `version`; NULL when there is none. */
static const struct lucce_value *find_value(const struct lucce_values *values, uint64_t version)
{
	size_t low = COUNT_UP_TO(values->items, values->count, at, version);

	return low ? &values->items[low - 1] : NULL;
}

/* A version of the graph. */
struct past {
	const struct lucce_history *h;
	uint64_t version;
	uint64_t generation; /* a numCC that is older is 0 */
};

static struct past past_at(const struct lucce_history *h, uint64_t version)
{
	const struct lucce_value *reset = find_value(&h->resets, version);

	return (struct past){h, version, reset ? reset->at : h->first_version};
}

static uint64_t past_count(const struct past *p, uint32_t node)
{
	const struct lucce_value *v = find_value(&p->h->nodes.items[node].counts, p->version);

	if (node == LUCCE_ROOT)
		return 1;
	return v && v->at > p->generation ? v->value : 0;
}

static uint64_t past_entered(const struct past *p, uint32_t node)
{
	const struct lucce_value *v = find_value(&p->h->nodes.items[node].entered, p->version);

	return v ? v->value : 0;
}

/* The call by which a context was entered, and the context of its caller. */
struct origin {
	uint32_t edge;
	struct lucce_id from;
};

/* prev(n, c, v), by ranges: an edge whose caller was not entered has an empty one. */
static bool find_call(const struct past *p, uint32_t node, uint64_t number, struct origin *ret)
{
	const struct callgraph_edges *in = &p->h->nodes.items[node].in;

	for (size_t i = 0; i < in->count; i++) {
		const struct lucce_edge *e = &p->h->edges.items[in->items[i]];
		uint64_t count;

		if (e->added_at > p->version)
			return false;
		count = past_count(p, e->caller);
		if (number < count) {
			ret->edge = in->items[i];
			ret->from.number = number;
			ret->from.version = past_entered(p, e->caller);
			return true;
		}
		number -= count;
	}
	return false;
}

/* NULL when that version is none of a boundary. */
static const struct lucce_past_boundary *find_boundary(const struct lucce_history *h, uint64_t version)
{
	size_t count = COUNT_UP_TO(h->boundaries.items, h->boundaries.count, at, version);
	const struct lucce_past_boundary *last = count ? &h->boundaries.items[count - 1] : NULL;

	return last && last->at == version ? last : NULL;
}

static bool find_origin(const struct lucce_history *h, uint32_t node, struct lucce_id id, struct origin *ret)
{
	const struct lucce_past_boundary *boundary = find_boundary(h, id.version);
	struct past p;

	if (boundary) {
		*ret = (struct origin){boundary->edge, boundary->from};
		return h->edges.items[boundary->edge].callee == node && !id.number;
	}
	p = past_at(h, id.version);
	return find_call(&p, node, id.number, ret);
}

/* ---- decoding ---- */

static struct error *no_context(const struct lucce_history *h, uint32_t node, struct lucce_id id)
{
	return error_create_in(h->nodes.allocator, ERROR_FORMAT, "function %u has no context %llu in version %llu",
			       node, (unsigned long long)id.number, (unsigned long long)id.version);
}

/* Appends the edges innermost first. */
static struct error *append_calls(const struct lucce_history *h, uint32_t node, struct lucce_id id, size_t max_edges,
				  struct callgraph_edges *ret)
{
	struct origin origin;
	struct error *err;

	for (size_t calls = 0; node != LUCCE_ROOT; calls++) {
		if (!find_origin(h, node, id, &origin))
			return no_context(h, node, id);
		if (calls == max_edges)
			return error_create_in(ret->allocator, ERROR_OVERFLOW, "the context has more than %zu calls",
					       max_edges);
		err = callgraph_edges_append(ret, origin.edge);
		if (err)
			return err;
		node = h->edges.items[origin.edge].caller;
		id = origin.from;
	}
	return id.number || id.version ? no_context(h, node, id) : NULL;
}

struct error *lucce_decode(const struct lucce_history *h, uint32_t node, struct lucce_id id, size_t max_edges,
			   struct callgraph_edges *ret)
{
	size_t first = ret->count;
	struct error *err;

	if (id.version == LUCCE_LOST)
		return error_create_in(h->nodes.allocator, ERROR_NOT_FOUND, "the context was lost when it was entered");
	if (id.version > h->version)
		return error_create_in(h->nodes.allocator, ERROR_NOT_FOUND,
				       "version %llu of the call graph is needed, the log ends at %llu",
				       (unsigned long long)id.version, (unsigned long long)h->version);
	if (node >= h->nodes.count)
		return no_context(h, node, id);
	err = append_calls(h, node, id, max_edges, ret);
	if (err)
		ret->count = first;
	else if (ret->count > first)
		decode_reverse(ret->items + first, ret->count - first);
	return err;
}
