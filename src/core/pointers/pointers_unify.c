/*
 * pointers_unify.c - the coarser analysis: a copy makes both sides equal (Steensgaard, POPL 1996), and an object is one place. Its time is almost
 * linear in the constraints, and its memory a few words for each, whatever the program.
 *
 *      each node       leads to one class of objects, or to none yet
 *      each class      is a node, too: all that is stored in its objects
 *
 * Constraints have their effect as they are stated. Nodes that become equal wait in `joins`, since their classes become equal, too; calls that come
 * to lead to functions wait in `told`.
 */
#include <stdlib.h>

#include "core/pointers/pointers_build.h"

#define NONE UINT32_MAX

static struct error *reserve(struct pointers *p)
{
	struct unified_vec *nodes = &p->unified.nodes;
	struct error *err = NULL;

	while (nodes->count < p->nodes.count && !err)
		err = unified_vec_append(nodes, (struct unified_node){NONE, NONE, NONE, NONE, NONE});
	return err;
}

static struct unified_node *node_of(struct pointers *p, uint32_t node)
{
	return &p->unified.nodes.items[node];
}

/* ---- nodes that become equal ---- */

/* Each call of the one class is told of each object of the other. */
static struct error *tell(struct pointers *p, uint32_t first_call, uint32_t first_object)
{
	struct unified *u = &p->unified;
	struct error *err = NULL;

	for (uint32_t call = first_call; call != NONE; call = u->calls.items[call].next)
		for (uint32_t object = first_object; object != NONE && !err; object = u->objects.items[object].next)
			err = told_vec_append(&u->told, (struct told){u->calls.items[call].call, object});
	return err;
}

static void append_objects(struct pointers *p, struct unified_node *to, const struct unified_node *from)
{
	if (from->first_object == NONE)
		return;
	if (to->first_object == NONE)
		to->first_object = from->first_object;
	else
		p->unified.objects.items[to->last_object].next = from->first_object;
	to->last_object = from->last_object;
}

static void append_calls(struct pointers *p, struct unified_node *to, const struct unified_node *from)
{
	if (from->first_call == NONE)
		return;
	if (to->first_call == NONE)
		to->first_call = from->first_call;
	else
		p->unified.calls.items[to->last_call].next = from->first_call;
	to->last_call = from->last_call;
}

static struct error *join_now(struct pointers *p, uint32_t a, uint32_t b)
{
	struct unified_node *into, *from;
	struct error *err = reserve(p);

	a = pointers_find(p, a);
	b = pointers_find(p, b);
	if (err || a == b)
		return err;
	into = node_of(p, a);
	from = node_of(p, b);
	p->nodes.items[b].same_as = a;
	err = tell(p, into->first_call, from->first_object);
	if (!err)
		err = tell(p, from->first_call, into->first_object);
	append_objects(p, into, from);
	append_calls(p, into, from);
	if (into->leads_to == NONE)
		into->leads_to = from->leads_to;
	else if (!err && from->leads_to != NONE)
		err = told_vec_append(&p->unified.joins, (struct told){into->leads_to, from->leads_to});
	return err;
}

static struct error *all_of(struct pointers *p, uint32_t object, uint32_t *ret)
{
	const struct location everywhere = {.object = object, .stride = 1, .end = LOCATION_NO_END};

	return locations_get(&p->locations, &everywhere, ret);
}

/* What waits may state further constraints, which wait, too. */
static struct error *settle(struct pointers *p)
{
	struct unified *u = &p->unified;
	struct error *err = NULL;

	if (u->is_settling)
		return NULL;
	u->is_settling = true;
	while (!err && (u->joins.count || u->told.count)) {
		uint32_t location;
		struct told next;

		if (u->joins.count) {
			next = u->joins.items[--u->joins.count];
			err = join_now(p, next.call, next.object);
			continue;
		}
		next = u->told.items[--u->told.count];
		err = all_of(p, next.object, &location);
		if (!err)
			err = p->called(p->data, next.call, location);
	}
	u->is_settling = false;
	return err;
}

static struct error *join(struct pointers *p, uint32_t a, uint32_t b)
{
	struct error *err = told_vec_append(&p->unified.joins, (struct told){a, b});

	return err ? err : settle(p);
}

/* ---- constraints ---- */

/* The class of an object alone, until it becomes equal to others. */
static struct error *class_of(struct pointers *p, uint32_t object, uint32_t *ret)
{
	struct unified *u = &p->unified;
	struct error *err = NULL;

	while (u->objects.count <= object && !err)
		err = unified_objects_append(&u->objects, (struct unified_object){NONE, NONE});
	if (!err && u->objects.items[object].class == NONE) {
		err = pointers_add_node(p, &u->objects.items[object].class);
		if (!err)
			err = reserve(p);
		if (!err)
			node_of(p, u->objects.items[object].class)->first_object =
				node_of(p, u->objects.items[object].class)->last_object = object;
	}
	if (!err)
		*ret = u->objects.items[object].class;
	return err;
}

/* The class that a node leads to; one without objects, if there is none yet. */
static struct error *target(struct pointers *p, uint32_t node, uint32_t *ret)
{
	struct error *err = reserve(p);
	uint32_t made;

	node = pointers_find(p, node);
	if (!err && node_of(p, node)->leads_to == NONE) {
		err = pointers_add_node(p, &made);
		if (!err)
			err = reserve(p);
		if (!err)
			node_of(p, node)->leads_to = made;
	}
	if (!err)
		*ret = node_of(p, node)->leads_to;
	return err;
}

struct error *unify_address(struct pointers *p, uint32_t node, uint32_t object)
{
	uint32_t class, leads_to;
	struct error *err = class_of(p, object, &class);

	if (!err)
		err = target(p, node, &leads_to);
	return err ? err : join(p, leads_to, class);
}

struct error *unify_copy(struct pointers *p, uint32_t a, uint32_t b)
{
	return join(p, a, b);
}

struct error *unify_access(struct pointers *p, uint32_t pointer, uint32_t value)
{
	uint32_t class;
	struct error *err = target(p, pointer, &class);

	return err ? err : join(p, class, value);
}

struct error *unify_transfer(struct pointers *p, uint32_t to, uint32_t from)
{
	uint32_t class;
	struct error *err = target(p, from, &class);

	return err ? err : unify_access(p, to, class);
}

struct error *unify_call(struct pointers *p, uint32_t pointer, uint32_t call)
{
	struct unified *u = &p->unified;
	struct unified_node own = {NONE, NONE, NONE, (uint32_t)u->calls.count, (uint32_t)u->calls.count};
	uint32_t class;
	struct error *err = unified_calls_append(&u->calls, (struct unified_call){call, NONE});

	if (!err)
		err = target(p, pointer, &class);
	if (err)
		return err;
	class = pointers_find(p, class);
	err = tell(p, own.first_call, node_of(p, class)->first_object);
	append_calls(p, node_of(p, class), &own);
	return err ? err : settle(p);
}

/* ---- the answer ---- */

/* The set of a class, made when it is first asked for. number_of: [node] 1 + that of its set. */
static struct error *set_of_class(struct pointers *p, uint32_t class, uint32_t *number_of, uint32_t *ret)
{
	struct id_set set = {0};
	struct error *err = NULL;
	uint32_t location;

	class = pointers_find(p, class);
	if (number_of[class]) {
		*ret = number_of[class] - 1;
		return NULL;
	}
	for (uint32_t o = node_of(p, class)->first_object; o != NONE && !err; o = p->unified.objects.items[o].next) {
		err = all_of(p, o, &location);
		if (!err)
			err = id_set_add(&set, location, NULL);
	}
	if (!err)
		err = id_sets_intern(&p->sets, &p->set_map, &set, ret);
	if (!err)
		number_of[class] = *ret + 1;
	id_set_deinit(&set);
	return err;
}

struct error *unify_solve(struct pointers *p)
{
	size_t count = p->nodes.count + 1;
	uint32_t *number_of = calloc(count, sizeof *number_of), *set_of = calloc(count, sizeof *set_of), nothing;
	struct id_set empty = {0};
	struct error *err = number_of && set_of ? reserve(p) : &error_no_memory;

	if (!err)
		err = id_sets_intern(&p->sets, &p->set_map, &empty, &nothing);
	for (uint32_t i = 0; i < p->nodes.count && !err; i++) {
		uint32_t class = node_of(p, pointers_find(p, i))->leads_to;

		if (class == NONE)
			set_of[i] = nothing;
		else
			err = set_of_class(p, class, number_of, &set_of[i]);
	}
	free(number_of);
	if (err)
		free(set_of);
	else
		p->set_of = set_of;
	return err;
}

void unify_deinit(struct unified *u)
{
	unified_vec_deinit(&u->nodes);
	unified_objects_deinit(&u->objects);
	unified_calls_deinit(&u->calls);
	told_vec_deinit(&u->joins);
	told_vec_deinit(&u->told);
}
