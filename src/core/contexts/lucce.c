/*
 * lucce.c - Update of the Lucce paper (Algorithm 1): what one entry does to the graph, which is planned, then given room in the log, then
 * done, so that an entry which cannot be logged leaves no trace.
 *
 * Nothing is cleared at a reset: a numCC of an older generation counts as 0 (node_now).
 */
#include "core/contexts/lucce.h"

#include <string.h>

struct error *lucce_init(struct lucce *l, const struct allocator *allocator, const struct lucce_limits *limits)
{
	struct lucce_limits given = limits ? *limits : (struct lucce_limits){0};
	const struct lucce_node root = {
		.generation = given.first_version, .count = 1, .first_in = LUCCE_NO_EDGE, .last_in = LUCCE_NO_EDGE};

	if (!given.max_number)
		given.max_number = INT64_MAX;
	if (!given.max_version)
		given.max_version = LUCCE_LOST - 1;
	if (given.max_version == LUCCE_LOST || given.first_version > given.max_version ||
	    (given.max_pending && given.max_pending < LUCCE_ENTRY_EVENTS))
		return error_create_in(allocator, ERROR_ARGUMENT,
				       "no room for versions %llu to %llu, %zu events at a time",
				       (unsigned long long)given.first_version, (unsigned long long)given.max_version,
				       given.max_pending);
	*l = (struct lucce){.limits = given,
			    .nodes = {.allocator = allocator},
			    .edges = {.allocator = allocator},
			    .log = {.allocator = allocator},
			    .version = given.first_version,
			    .generation = given.first_version};
	return lucce_nodes_append(&l->nodes, root);
}

void lucce_deinit(struct lucce *l)
{
	lucce_nodes_deinit(&l->nodes);
	lucce_edges_deinit(&l->edges);
	lucce_events_deinit(&l->log);
}

/* ---- the log ---- */

/* LUCCE_LOSSES when there is room for `needed` more events. */
static enum lucce_loss reserve_events(struct lucce *l, size_t needed)
{
	if (needed > l->limits.max_version - l->version)
		return LUCCE_LOST_VERSIONS;
	if (needed && l->limits.max_pending && l->log.count + needed > l->limits.max_pending)
		return LUCCE_LOST_PENDING;
	/* The only failure, and it comes without memory of its own. */
	if (lucce_events_reserve(&l->log, l->log.count + needed))
		return LUCCE_LOST_MEMORY;
	return LUCCE_LOSSES;
}

/* Room was made. The version that it leads to. */
static uint64_t append_event(struct lucce *l, struct lucce_event event)
{
	l->log.items[l->log.count++] = event;
	return ++l->version;
}

void lucce_take(struct lucce *l, size_t count)
{
	l->log.count -= count;
	if (l->log.count)
		memmove(l->log.items, l->log.items + count, l->log.count * sizeof(*l->log.items));
}

/* ---- functions and edges ---- */

static struct error *reserve_addition(struct lucce *l, size_t count)
{
	const struct allocator *allocator = l->log.allocator;
	enum lucce_loss loss;

	if (count >= LUCCE_MAX_COUNT)
		return error_create_in(allocator, ERROR_OVERFLOW, "call graph has more than %zu functions or calls",
				       count);
	loss = reserve_events(l, 1);
	if (loss == LUCCE_LOST_MEMORY)
		return &error_no_memory;
	if (loss == LUCCE_LOST_VERSIONS)
		return error_create_in(allocator, ERROR_OVERFLOW, "version %llu of the call graph is the last one",
				       (unsigned long long)l->version);
	if (loss == LUCCE_LOST_PENDING)
		return error_create_in(allocator, ERROR_OVERFLOW, "%zu events of the call graph are not written yet",
				       l->log.count);
	return NULL;
}

struct error *lucce_add_node(struct lucce *l, uint32_t *ret)
{
	struct error *err = reserve_addition(l, l->nodes.count);

	if (!err)
		err = lucce_nodes_append(&l->nodes, (struct lucce_node){.generation = l->generation,
									.first_in = LUCCE_NO_EDGE,
									.last_in = LUCCE_NO_EDGE});
	if (err)
		return err;
	*ret = (uint32_t)(l->nodes.count - 1);
	append_event(l, (struct lucce_event){.change = LUCCE_NODE, .index = *ret});
	return NULL;
}

static void link_edge(struct lucce *l, uint32_t edge)
{
	struct lucce_node *callee = &l->nodes.items[l->edges.items[edge].callee];

	if (callee->first_in == LUCCE_NO_EDGE)
		callee->first_in = edge;
	else
		l->edges.items[callee->last_in].next_in = edge;
	callee->last_in = edge;
}

struct error *lucce_add_edge(struct lucce *l, uint32_t caller, uint32_t callee, uint32_t site, uint32_t *ret)
{
	struct error *err;

	if (caller >= l->nodes.count || callee >= l->nodes.count || callee == LUCCE_ROOT)
		return error_create_in(l->log.allocator, ERROR_ARGUMENT,
				       "call from function %u to %u, but there are %zu", caller, callee,
				       l->nodes.count);
	err = reserve_addition(l, l->edges.count);
	if (!err)
		err = lucce_edges_append(
			&l->edges, (struct lucce_edge){
					   .caller = caller, .callee = callee, .site = site, .next_in = LUCCE_NO_EDGE});
	if (err)
		return err;
	*ret = (uint32_t)(l->edges.count - 1);
	l->edges.items[*ret].added_at = append_event(
		l, (struct lucce_event){.change = LUCCE_EDGE, .index = callee, .caller = caller, .site = site});
	link_edge(l, *ret);
	return NULL;
}

/* ---- entries ---- */

/* The function with its numCC of this generation. Its lv may be older than that: then it differs from what any frame has now. */
static struct lucce_node *node_now(struct lucce *l, uint32_t node)
{
	struct lucce_node *n = &l->nodes.items[node];

	if (n->generation != l->generation) {
		n->generation = l->generation;
		n->count = node == LUCCE_ROOT;
	}
	return n;
}

static void set_count(struct lucce *l, uint32_t node, uint64_t count)
{
	struct lucce_node *n = node_now(l, node);

	n->count = count;
	n->changed_at = append_event(l, (struct lucce_event){.change = LUCCE_COUNT, .index = node, .number = count});
}

static void set_entered(struct lucce *l, uint32_t node, uint64_t version)
{
	struct lucce_node *n = node_now(l, node);

	n->entered = version;
	n->changed_at =
		append_event(l, (struct lucce_event){.change = LUCCE_ENTERED, .index = node, .version = version});
}

/* The numbers that a function gets from its callers. At the beginning of the generation everything changed. */
struct annotation {
	uint64_t addend; /* of the edge in question */
	uint64_t count;
	uint64_t newest; /* version of the last change of what was read here */
	bool is_outgrown;
};

static struct annotation annotate(struct lucce *l, uint32_t edge)
{
	struct annotation a = {.newest = l->generation};

	for (uint32_t i = l->nodes.items[l->edges.items[edge].callee].first_in; i != LUCCE_NO_EDGE;
	     i = l->edges.items[i].next_in) {
		const struct lucce_edge *e = &l->edges.items[i];
		const struct lucce_node *caller = node_now(l, e->caller);

		if (i == edge)
			a.addend = a.count;
		if (e->added_at > a.newest)
			a.newest = e->added_at;
		if (caller->changed_at > a.newest)
			a.newest = caller->changed_at;
		if (caller->count > l->limits.max_number - a.count) {
			a.is_outgrown = true;
			break;
		}
		a.count += caller->count;
	}
	return a;
}

static struct lucce_step lose(struct lucce *l, enum lucce_loss loss)
{
	l->lost[loss]++;
	return (struct lucce_step){.version = LUCCE_LOST};
}

/* The caller has no number in the present generation, or the callee would have too many: that begins a new one (resets). */
static struct lucce_step enter_over_boundary(struct lucce *l, uint32_t edge, struct lucce_id from, bool resets)
{
	uint32_t callee = l->edges.items[edge].callee;
	bool is_first = resets || !node_now(l, callee)->count;
	enum lucce_loss loss = reserve_events(l, (size_t)resets + 1 + is_first);
	struct lucce_step step = {.from_version = from.version, .from_number = from.number, .is_boundary = true};

	if (loss != LUCCE_LOSSES)
		return lose(l, loss);
	if (resets) {
		l->generation = append_event(l, (struct lucce_event){.change = LUCCE_RESET});
		l->resets++;
	}
	step.version = append_event(
		l, (struct lucce_event){
			   .change = LUCCE_BOUNDARY, .index = edge, .number = from.number, .version = from.version});
	l->boundaries++;
	if (is_first)
		set_count(l, callee, 1);
	return step;
}

struct lucce_step lucce_enter(struct lucce *l, uint32_t edge, struct lucce_id from)
{
	struct annotation a;
	enum lucce_loss loss;
	uint32_t caller, callee;
	bool moves, grows;

	if (edge >= l->edges.count)
		return lose(l, LUCCE_LOST_EDGE);
	if (from.version == LUCCE_LOST)
		return lose(l, LUCCE_LOST_CALLER);
	caller = l->edges.items[edge].caller;
	callee = l->edges.items[edge].callee;
	if (caller != LUCCE_ROOT && from.version < l->generation)
		return enter_over_boundary(l, edge, from, false);
	a = annotate(l, edge);
	if (a.is_outgrown)
		return enter_over_boundary(l, edge, from, true);
	moves = node_now(l, caller)->entered != from.version;
	grows = node_now(l, callee)->count < a.count;
	loss = reserve_events(l, (size_t)moves + grows);
	if (loss != LUCCE_LOSSES)
		return lose(l, loss);
	if (moves) {
		set_entered(l, caller, from.version);
		a.newest = l->version;
	}
	if (grows)
		set_count(l, callee, a.count);
	return (struct lucce_step){.from_version = from.version, .addend = a.addend, .version = a.newest};
}
