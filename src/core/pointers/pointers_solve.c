/*
 * pointers_solve.c - waves: cycles of the graph are collapsed, differences go along its edges in topological order, then the uses of what
 * has come add edges; until nothing changes (Pereira and Berlin, CGO 2009).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/pointers/pointers_build.h"

enum {
	SPREADS_TOLD = 1024, /* each so many sets are a step that is told */
	MILLION = 1000000,
};

/* Of Tarjan's search, without recursion. */
struct search {
	struct pointers *p;
	uint32_t *index; /* [node] order of discovery + 1; 0: not yet */
	uint32_t *low;
	uint8_t *is_open; /* on the stack of components */
	uint32_t *open;
	uint32_t open_count;
	struct visit *visits;
	uint32_t visit_count;
	uint32_t next_index;
	uint32_t *order; /* representatives, those that others lead to first */
	uint32_t order_count;
};

struct visit {
	uint32_t node;
	struct id_iterator targets; /* of copies, then of one step after the other */
	size_t step;                /* 0: of copies */
};

static void search_deinit(struct search *s)
{
	free(s->index);
	free(s->low);
	free(s->is_open);
	free(s->open);
	free(s->visits);
	free(s->order);
}

static struct error *search_init(struct search *s, struct pointers *p)
{
	size_t count = p->nodes.count + 1;

	*s = (struct search){.p = p,
			     .index = calloc(count, sizeof *s->index),
			     .low = calloc(count, sizeof *s->low),
			     .is_open = calloc(count, 1),
			     .open = calloc(count, sizeof *s->open),
			     .visits = calloc(count, sizeof *s->visits),
			     .order = calloc(count, sizeof *s->order)};
	if (s->index && s->low && s->is_open && s->open && s->visits && s->order)
		return NULL;
	search_deinit(s);
	return &error_no_memory;
}

static void enter(struct search *s, uint32_t node)
{
	s->index[node] = s->low[node] = ++s->next_index;
	s->is_open[node] = 1;
	s->p->steps += s->p->nodes.items[node].copies.count + s->p->nodes.items[node].steps.count + 1;
	s->open[s->open_count++] = node;
	s->visits[s->visit_count++] =
		(struct visit){.node = node, .targets = id_set_begin(&s->p->nodes.items[node].copies)};
}

/* The next node that an edge leads to; false: there is none. */
static bool next_target(struct search *s, struct visit *v, uint32_t *ret)
{
	const struct node *n = &s->p->nodes.items[v->node];

	for (;;) {
		if (id_set_next(v->step ? &n->steps.items[v->step - 1].targets : &n->copies, &v->targets)) {
			*ret = pointers_find(s->p, v->targets.id);
			return true;
		}
		if (v->step == n->steps.count)
			return false;
		v->targets = id_set_begin(&n->steps.items[v->step++].targets);
	}
}

static struct error *join_steps(struct pointers *p, uint32_t into, uint32_t from)
{
	const struct step_vec *steps = &p->nodes.items[from].steps;
	struct error *err = NULL;

	for (size_t i = 0; i < steps->count; i++) {
		const struct id_set *targets = &steps->items[i].targets;

		for (struct id_iterator k = id_set_begin(targets); !err && id_set_next(targets, &k);)
			err = pointers_add_step(p, into, pointers_find(p, k.id), &steps->items[i].step, NULL);
	}
	return err;
}

static struct error *join_node(struct pointers *p, uint32_t into, uint32_t from)
{
	struct node *a = &p->nodes.items[into], *b = &p->nodes.items[from];
	struct error *err = id_set_add_all(&a->more, &b->more, NULL, NULL);

	/* What one of them has not seen, the edges of it have not seen. */
	if (!err && !id_set_equal(&a->set, &b->set)) {
		struct id_set both = {0};

		err = id_set_intersect(&a->set, &b->set, &both);
		if (!err)
			err = id_set_add_all(&a->more, &a->set, &both, NULL);
		if (!err)
			err = id_set_add_all(&a->more, &b->set, &both, NULL);
		id_set_deinit(&a->set);
		a->set = both;
	}
	if (!err)
		id_set_remove_all(&a->more, &a->set);
	if (!err)
		err = id_set_add_all(&a->copies, &b->copies, NULL, NULL);
	if (!err)
		err = join_steps(p, into, from);
	for (size_t i = 0; i < b->uses.count && !err; i++)
		err = use_vec_append(&a->uses, b->uses.items[i]);
	b->same_as = into;
	id_set_deinit(&b->set);
	id_set_deinit(&b->more);
	id_set_deinit(&b->copies);
	pointers_free_steps(&b->steps);
	use_vec_deinit(&b->uses);
	return err;
}

static bool has_old_names(struct pointers *p, const struct id_set *nodes)
{
	for (struct id_iterator i = id_set_begin(nodes); id_set_next(nodes, &i);)
		if (p->nodes.items[i.id].same_as != i.id)
			return true;
	return false;
}

/* Edges to nodes of cycles that were collapsed lead to one, and each edge is there once. */
static struct error *rename_targets(struct pointers *p, struct id_set *targets)
{
	struct id_set renamed = {0};
	struct error *err = NULL;

	p->steps += targets->count;
	if (!has_old_names(p, targets))
		return NULL;
	for (struct id_iterator i = id_set_begin(targets); !err && id_set_next(targets, &i);)
		err = id_set_add(&renamed, pointers_find(p, i.id), NULL);
	id_set_deinit(targets);
	*targets = renamed;
	return err;
}

/* A step that leads back to its own node is made any number of times. */
static struct error *repeat_own_steps(struct pointers *p, uint32_t node)
{
	struct node *n = &p->nodes.items[node];
	struct error *err = NULL;

	id_set_remove(&n->copies, node);
	for (size_t i = 0; i < n->steps.count && !err; i++) {
		struct pointer_step step = n->steps.items[i].step;

		if (!step.offset && !step.span)
			continue;
		err = rename_targets(p, &n->steps.items[i].targets);
		if (err || !id_set_has(&n->steps.items[i].targets, node))
			continue;
		id_set_remove(&n->steps.items[i].targets, node);
		step = pointer_step_repeated(&step);
		err = pointers_add_step(p, node, node, &step, NULL);
		/* This edge has seen nothing of the set. */
		if (!err)
			err = id_set_add_all(&n->more, &n->set, NULL, NULL);
		id_set_clear(&n->set);
	}
	return err;
}

static int compare_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return compare_u64(x->kind, y->kind) ?: compare_u64(x->len_bytes, y->len_bytes) ?: compare_u64(x->other, y->other);
}

static bool is_access(const struct use *u)
{
	return u->kind == USE_LOAD || u->kind == USE_STORE;
}

/* Nodes of a cycle often have the same uses. */
static struct error *keep_uses_once(struct pointers *p, struct use_vec *uses)
{
	struct error *err = NULL;
	size_t kept = 0;

	if (uses->count)
		qsort(uses->items, uses->count, sizeof *uses->items, compare_uses);
	for (size_t i = 0; i < uses->count && !err; i++) {
		const struct use *u = &uses->items[i], *last = kept ? &uses->items[kept - 1] : NULL;

		if (!last || last->kind != u->kind || last->len_bytes != u->len_bytes ||
		    (last->other != u->other && !is_access(u))) {
			uses->items[kept++] = *u;
		} else if (last->other != u->other) {
			err = cell_ids_append(&p->equal, last->other);
			if (!err)
				err = cell_ids_append(&p->equal, u->other);
		}
	}
	uses->count = kept;
	return err;
}

/* Not while cycles are searched: edges between both ways make them a cycle. */
static struct error *make_equal(struct pointers *p)
{
	struct error *err = NULL;

	for (size_t i = 0; i < p->equal.count && !err; i += 2) {
		err = pointers_copy(p, p->equal.items[i], p->equal.items[i + 1]);
		if (!err)
			err = pointers_copy(p, p->equal.items[i + 1], p->equal.items[i]);
	}
	p->equal.count = 0;
	return err;
}

static struct error *close_component(struct search *s, uint32_t node)
{
	struct error *err = NULL;
	bool is_cycle = false;

	for (;;) {
		uint32_t member = s->open[--s->open_count];

		s->is_open[member] = 0;
		if (member == node)
			break;
		is_cycle = true;
		if (!err)
			err = join_node(s->p, node, member);
	}
	if (!err && is_cycle)
		err = keep_uses_once(s->p, &s->p->nodes.items[node].uses);
	if (!err && (is_cycle || s->p->nodes.items[node].steps.count))
		err = repeat_own_steps(s->p, node);
	s->order[s->order_count++] = node;
	return err;
}

static struct error *search_from(struct search *s, uint32_t root)
{
	struct error *err = NULL;

	enter(s, root);
	while (s->visit_count && !err) {
		struct visit *v = &s->visits[s->visit_count - 1];
		uint32_t node = v->node, target;

		if (next_target(s, v, &target)) {
			if (!s->index[target])
				enter(s, target);
			else if (s->is_open[target] && s->index[target] < s->low[node])
				s->low[node] = s->index[target];
			continue;
		}
		s->visit_count--;
		if (s->low[node] == s->index[node])
			err = close_component(s, node);
		/* The node that led here. Its component is still open. */
		if (s->visit_count && s->low[node] < s->low[s->visits[s->visit_count - 1].node])
			s->low[s->visits[s->visit_count - 1].node] = s->low[node];
	}
	return err;
}

static struct error *spread_step(struct pointers *p, struct node *n, const struct id_set *more,
				 struct step_edges *edges)
{
	struct id_set moved = {0};
	struct error *err = rename_targets(p, &edges->targets);

	if (!err)
		err = pointers_step_all(p, more, &n->set, &edges->step, &moved);
	for (struct id_iterator i = id_set_begin(&edges->targets); !err && id_set_next(&edges->targets, &i);)
		err = pointers_add_all(p, i.id, &moved);
	id_set_deinit(&moved);
	return err;
}

/* Brings what the node's edges have not seen to where they lead. *ret: takes it, for the node's uses. */
static struct error *spread(struct pointers *p, uint32_t node, struct id_set *ret)
{
	struct node *n = &p->nodes.items[node];
	struct error *err;

	id_set_clear(ret);
	if (!n->more.count)
		return NULL;
	p->has_changed = true;
	if (!(++p->spread_count % SPREADS_TOLD))
		watch_tell(p->watch, "where pointers lead", p->spread_count);
	id_set_deinit(ret);
	*ret = n->more;
	n->more = (struct id_set){0};
	err = id_set_add_all(&n->set, ret, NULL, NULL);
	if (!err)
		err = rename_targets(p, &n->copies);
	id_set_remove(&n->copies, node);
	for (struct id_iterator i = id_set_begin(&n->copies); !err && id_set_next(&n->copies, &i);)
		err = pointers_add_all(p, i.id, ret);
	for (size_t i = 0; !err && i < n->steps.count; i++)
		err = spread_step(p, n, ret, &n->steps.items[i]);
	return err;
}

/* What is called may add uses meanwhile, which see all that the node leads to. */
static struct error *apply_uses(struct pointers *p, uint32_t node, const struct id_set *difference)
{
	const struct use_vec *uses = &p->nodes.items[node].uses;
	struct use_vec copy = {0};
	struct error *err = use_vec_reserve(&copy, uses->count);

	for (size_t i = 0; i < uses->count && !err; i++)
		err = use_vec_append(&copy, uses->items[i]);
	if (!err)
		err = pointers_apply_all(p, &copy, difference);
	use_vec_deinit(&copy);
	return err;
}

static struct error *find_order(struct search *s)
{
	struct pointers *p = s->p;
	struct error *err = NULL;

	for (uint32_t i = 0; i < p->nodes.count && !err; i++)
		if (p->nodes.items[i].same_as == i && !s->index[i])
			err = search_from(s, i);
	return err;
}

struct difference {
	uint32_t node;
	struct id_set set;
};
VEC_DECLARE(difference_vec, struct difference);

static bool is_over(const struct pointers *p, uint64_t limit_steps)
{
	return limit_steps && p->steps > limit_steps;
}

static struct error *over_steps(uint64_t limit_steps)
{
	return error_create(ERROR_OVERFLOW, "the points-to analysis needs more than %" PRIu64 " million steps",
			    limit_steps / MILLION);
}

static struct error *wave(struct pointers *p, uint64_t limit_steps)
{
	struct difference_vec differences = {0};
	struct id_set difference = {0};
	struct search s;
	struct error *err = search_init(&s, p);

	if (err)
		return err;
	err = find_order(&s);
	if (!err)
		err = make_equal(p);
	for (uint32_t i = s.order_count; i-- > 0 && !err;) {
		err = is_over(p, limit_steps) ? over_steps(limit_steps) : spread(p, s.order[i], &difference);
		if (!err && difference.count && p->nodes.items[s.order[i]].uses.count) {
			err = difference_vec_append(&differences, (struct difference){s.order[i], difference});
			if (!err)
				difference = (struct id_set){0};
		}
	}
	for (size_t i = 0; i < differences.count; i++) {
		if (!err)
			err = is_over(p, limit_steps)
				      ? over_steps(limit_steps)
				      : apply_uses(p, differences.items[i].node, &differences.items[i].set);
		id_set_deinit(&differences.items[i].set);
	}
	difference_vec_deinit(&differences);
	id_set_deinit(&difference);
	search_deinit(&s);
	return err ? err : pointers_wake_cells(p);
}

struct pointers_cost pointers_cost(const struct pointers *p)
{
	struct pointers_cost cost = {.nodes = (uint32_t)p->nodes.count,
				     .locations = (uint32_t)p->locations.items.count,
				     .cells = (uint32_t)p->cells.count,
				     .waves = p->waves,
				     .edges = p->edge_count,
				     .steps = p->steps,
				     .bytes = p->nodes.capacity * sizeof *p->nodes.items};

	for (size_t i = 0; i < p->nodes.count; i++) {
		const struct node *n = &p->nodes.items[i];

		cost.bytes +=
			((size_t)n->set.capacity + n->more.capacity + n->copies.capacity) * sizeof(struct id_word) +
			n->steps.capacity * sizeof *n->steps.items + n->uses.capacity * sizeof *n->uses.items;
	}
	return cost;
}

struct error *pointers_solve(struct pointers *p, struct pointers_limit limit)
{
	struct error *err = NULL;

	if (p->is_coarse)
		return unify_solve(p);
	do {
		p->has_changed = false;
		p->waves++;
		err = wave(p, limit.steps);
		if (!err && limit.bytes && pointers_cost(p).bytes > limit.bytes)
			err = error_create(ERROR_OVERFLOW, "the points-to analysis needs more than %zu MB",
					   limit.bytes >> 20);
	} while (!err && p->has_changed);
	return err;
}
