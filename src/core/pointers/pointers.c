/* pointers.c - the constraint graph: nodes, cells, and what one wave after another does to them (pointers.h). */
#include "core/pointers/pointers.h"

#include <stdlib.h>
#include <string.h>

#include "core/pointers/pointers_build.h"

enum {
	LOOKUP_STEPS = 8, /* of struct pointers_limit, for what is found in a table */
	SHARED_LEAST = 4, /* locations of a set that is shared */
};

struct locations *pointers_locations(struct pointers *p)
{
	return &p->locations;
}

struct error *pointers_create(pointers_called called, void *data, struct pointers **ret)
{
	struct pointers *p = calloc(1, sizeof *p);

	if (!p)
		return &error_no_memory;
	p->called = called;
	p->data = data;
	*ret = p;
	return NULL;
}

void pointers_watch(struct pointers *p, const struct watch *watch)
{
	p->watch = watch;
}

void pointers_be_coarse(struct pointers *p)
{
	p->is_coarse = true;
}

void pointers_free_steps(struct step_vec *steps)
{
	for (size_t i = 0; i < steps->count; i++)
		id_set_deinit(&steps->items[i].targets);
	step_vec_deinit(steps);
}

static void free_node(struct node *n)
{
	id_set_deinit(&n->set);
	id_set_deinit(&n->more);
	id_set_deinit(&n->copies);
	pointers_free_steps(&n->steps);
	use_vec_deinit(&n->uses);
}

static void free_graph(struct pointers *p)
{
	for (size_t i = 0; i < p->nodes.count; i++)
		free_node(&p->nodes.items[i]);
	for (size_t i = 0; i < p->objects.count; i++) {
		cell_ids_deinit(&p->objects.items[i].cells);
		cell_ids_deinit(&p->objects.items[i].read);
		transfer_vec_deinit(&p->objects.items[i].transfers);
		id_set_deinit(&p->objects.items[i].given);
		id_set_deinit(&p->objects.items[i].taken);
	}
	node_vec_deinit(&p->nodes);
	object_vec_deinit(&p->objects);
	cell_vec_deinit(&p->cells);
	slotmap_deinit(&p->cell_map);
	id_sets_deinit(&p->shared_sets, &p->shared_map);
	hashmap_deinit(&p->shared_uses);
	hashmap_deinit(&p->stepped);
	cell_ids_deinit(&p->stepped_nodes);
	cell_ids_deinit(&p->shared_others);
	cell_ids_deinit(&p->equal);
	cell_ids_deinit(&p->asleep);
	location_counts_deinit(&p->asked);
	unify_deinit(&p->unified);
}

struct error *pointers_shrink(struct pointers *p)
{
	uint32_t *set_of;
	struct error *err;

	/* The coarser analysis has its answer in this form. */
	if (p->set_of) {
		free_graph(p);
		return NULL;
	}
	set_of = calloc(p->nodes.count + 1, sizeof *set_of);
	err = set_of ? NULL : &error_no_memory;

	for (uint32_t i = 0; i < p->nodes.count && !err; i++)
		if (p->nodes.items[i].same_as == i)
			err = id_sets_intern(&p->sets, &p->set_map, &p->nodes.items[i].set, &set_of[i]);
	if (err) {
		free(set_of);
		return err;
	}
	for (uint32_t i = 0; i < p->nodes.count; i++)
		set_of[i] = set_of[pointers_find(p, i)];
	free_graph(p);
	p->set_of = set_of;
	return NULL;
}

void pointers_destroy(struct pointers *p)
{
	if (!p)
		return;
	free_graph(p);
	free(p->set_of);
	id_sets_deinit(&p->sets, &p->set_map);
	locations_deinit(&p->locations);
	free(p);
}

struct error *pointers_add_node(struct pointers *p, uint32_t *ret)
{
	struct node n = {.same_as = (uint32_t)p->nodes.count};
	struct error *err = node_vec_append(&p->nodes, n);

	if (!err)
		*ret = n.same_as;
	return err;
}

uint32_t pointers_find(struct pointers *p, uint32_t node)
{
	struct node *nodes = p->nodes.items;

	while (nodes[node].same_as != node) {
		nodes[node].same_as = nodes[nodes[node].same_as].same_as;
		node = nodes[node].same_as;
	}
	return node;
}

const struct id_set *pointers_of(const struct pointers *p, uint32_t node)
{
	if (p->set_of)
		return &p->sets.items[p->set_of[node]];
	while (p->nodes.items[node].same_as != node)
		node = p->nodes.items[node].same_as;
	return &p->nodes.items[node].set;
}

const struct id_set_vec *pointers_sets(const struct pointers *p)
{
	return &p->sets;
}

uint32_t pointers_set_of(const struct pointers *p, uint32_t node)
{
	return p->set_of[node];
}

struct error *pointers_restore(struct pointers *p, struct id_set_vec *sets)
{
	p->set_of = calloc(sets->count + 1, sizeof *p->set_of);
	if (!p->set_of)
		return &error_no_memory;
	for (uint32_t i = 0; i < sets->count; i++)
		p->set_of[i] = i;
	p->sets = *sets;
	*sets = (struct id_set_vec){0};
	return NULL;
}

static struct error *add_location(struct pointers *p, uint32_t node, uint32_t location)
{
	struct node *n = &p->nodes.items[node];

	return id_set_has(&n->set, location) ? NULL : id_set_add(&n->more, location, &p->has_changed);
}

struct error *pointers_add_all(struct pointers *p, uint32_t node, const struct id_set *locations)
{
	struct node *n = &p->nodes.items[node];

	p->steps += locations->count + 1;
	return id_set_add_all(&n->more, locations, &n->set, &p->has_changed);
}

struct error *pointers_address(struct pointers *p, uint32_t node, uint32_t location)
{
	return p->is_coarse ? unify_address(p, node, p->locations.items.items[location].object)
			    : add_location(p, pointers_find(p, node), location);
}

/* What is known of `from` goes over a new edge at once; what comes later, in waves. */
struct error *pointers_copy(struct pointers *p, uint32_t from, uint32_t to)
{
	bool is_new = false;
	struct error *err;

	if (p->is_coarse)
		return unify_copy(p, from, to);
	from = pointers_find(p, from);
	to = pointers_find(p, to);
	if (from == to)
		return NULL;
	err = id_set_add(&p->nodes.items[from].copies, to, &is_new);
	if (err || !is_new)
		return err;
	p->edge_count++;
	return pointers_add_all(p, to, &p->nodes.items[from].set);
}

/* The locations that cover the objects of these, each object once. */
static struct error *find_whole(struct pointers *p, const struct id_set *from, struct id_set *ret)
{
	struct locations *l = &p->locations;
	struct error *err = NULL;

	p->question++;
	p->steps += from->count;
	while (p->asked.count < l->of_object.count && !err)
		err = location_counts_append(&p->asked, 0);
	for (struct id_iterator i = id_set_begin(from); !err && id_set_next(from, &i);) {
		struct location whole = {.object = l->items.items[i.id].object, .stride = 1, .end = LOCATION_NO_END};
		uint32_t location;

		if (p->asked.items[whole.object] == p->question)
			continue;
		p->asked.items[whole.object] = p->question;
		err = locations_get(l, &whole, &location);
		if (!err)
			err = id_set_add(ret, location, NULL);
	}
	return err;
}

/* A step of any distance either way leads to all of the object. */
static bool leads_anywhere(const struct pointer_step *step)
{
	return step->stride == 1 && !step->span && !step->is_upwards;
}

struct error *pointers_step_all(struct pointers *p, const struct id_set *from, const struct id_set *all,
				const struct pointer_step *step, struct id_set *ret)
{
	struct error *err = NULL;

	if (leads_anywhere(step))
		return find_whole(p, from, ret);
	for (struct id_iterator i = id_set_begin(from); !err && id_set_next(from, &i);) {
		uint32_t location;

		p->steps += LOOKUP_STEPS;
		if (locations_is_covered(&p->locations, all, i.id))
			continue;
		err = locations_step(&p->locations, i.id, step, &location);
		if (!err)
			err = id_set_add(ret, location, NULL);
	}
	return err;
}

static bool is_same_step(const struct pointer_step *a, const struct pointer_step *b)
{
	return a->offset == b->offset && a->stride == b->stride && a->span == b->span && a->is_upwards == b->is_upwards;
}

struct error *pointers_add_step(struct pointers *p, uint32_t from, uint32_t to, const struct pointer_step *step,
				bool *ret_is_new)
{
	struct step_vec *steps = &p->nodes.items[from].steps;
	size_t at = 0;
	struct error *err = NULL;

	while (at < steps->count && !is_same_step(&steps->items[at].step, step))
		at++;
	if (at == steps->count)
		err = step_vec_append(steps, (struct step_edges){.step = *step});
	return err ? err : id_set_add(&steps->items[at].targets, to, ret_is_new);
}

struct error *pointers_step(struct pointers *p, uint32_t from, uint32_t to, const struct pointer_step *step)
{
	struct id_set moved = {0};
	const struct id_set *set;
	bool is_new = false;
	struct error *err;

	if (p->is_coarse || (!step->offset && !step->stride))
		return pointers_copy(p, from, to);
	from = pointers_find(p, from);
	to = pointers_find(p, to);
	err = pointers_add_step(p, from, to, step, &is_new);
	if (err || !is_new)
		return err;
	p->edge_count++;
	set = &p->nodes.items[from].set;
	err = pointers_step_all(p, set, set, step, &moved);
	if (!err)
		err = pointers_add_all(p, to, &moved);
	id_set_deinit(&moved);
	return err;
}

struct error *pointers_stepped(struct pointers *p, uint32_t from, const struct pointer_step *step, uint32_t *ret)
{
	const struct key key = {{from | (uint64_t)step->is_upwards << 32, (uint64_t)step->offset,
				 (uint64_t)step->stride << 32 | step->span}};
	uint32_t number;
	struct error *err = hashmap_add(&p->stepped, &key, &number);

	if (err || number < p->stepped_nodes.count) {
		*ret = err ? 0 : p->stepped_nodes.items[number];
		return err;
	}
	err = pointers_add_node(p, ret);
	if (!err)
		err = cell_ids_append(&p->stepped_nodes, *ret);
	return err ? err : pointers_step(p, from, *ret, step);
}

/* ---- cells ---- */

static uint64_t hash_of_cell(uint32_t location, uint32_t len_bytes)
{
	return slotmap_hash(location, len_bytes);
}

static uint64_t hash_of(const void *keys, uint32_t number)
{
	const struct cell *c = &((const struct cell *)keys)[number];

	return hash_of_cell(c->location, c->len_bytes);
}

static bool is_same(const void *keys, uint32_t number, const void *key)
{
	const struct cell *a = &((const struct cell *)keys)[number], *b = key;

	return a->location == b->location && a->len_bytes == b->len_bytes;
}

static bool cells_meet(const struct pointers *p, const struct cell *a, const struct cell *b)
{
	return locations_meet(&p->locations.items.items[a->location], a->len_bytes,
			      &p->locations.items.items[b->location], b->len_bytes);
}

/* What was stored to a cell can be loaded from each that meets it. */
static struct error *connect_written(struct pointers *p, const struct cell *cell)
{
	const struct cell_ids *read = &p->objects.items[p->locations.items.items[cell->location].object].read;
	struct error *err = NULL;

	for (size_t i = 0; i < read->count && !err; i++) {
		const struct cell *other = &p->cells.items[read->items[i]];

		if (cells_meet(p, cell, other))
			err = pointers_copy(p, cell->written, other->read);
	}
	return err;
}

/* *ret: the node of what can be loaded from it. */
static struct error *read_cell(struct pointers *p, uint32_t number, uint32_t *ret)
{
	struct cell *cell = &p->cells.items[number];
	struct object_cells *object = &p->objects.items[p->locations.items.items[cell->location].object];
	struct error *err = NULL;

	if (cell->read == CELL_NOT_READ) {
		err = pointers_add_node(p, &cell->read);
		if (!err)
			err = cell_ids_append(&object->read, number);
		for (size_t i = 0; i < object->cells.count && !err; i++) {
			const struct cell *other = &p->cells.items[object->cells.items[i]];

			if (other->is_awake && cells_meet(p, cell, other))
				err = pointers_copy(p, other->written, cell->read);
		}
	}
	*ret = cell->read;
	return err;
}

static struct error *object_reserve(struct pointers *p, uint32_t object)
{
	struct error *err = NULL;

	while (p->objects.count <= object && !err)
		err = object_vec_append(&p->objects, (struct object_cells){0});
	return err;
}

struct error *pointers_cell(struct pointers *p, uint32_t location, uint32_t len_bytes, uint32_t *ret)
{
	struct cell cell = {.location = location, .len_bytes = len_bytes, .read = CELL_NOT_READ};
	uint32_t object = p->locations.items.items[location].object, *slot;
	struct error *err = slotmap_reserve(&p->cell_map, hash_of, p->cells.items);

	if (err)
		return err;
	slot = slotmap_find(&p->cell_map, hash_of_cell(location, len_bytes), is_same, p->cells.items, &cell);
	if (*slot) {
		*ret = *slot - 1;
		return NULL;
	}
	err = object_reserve(p, object);
	if (!err)
		err = pointers_add_node(p, &cell.written);
	if (!err)
		err = cell_vec_append(&p->cells, cell);
	if (err)
		return err;
	*slot = ++p->cell_map.count;
	*ret = *slot - 1;
	err = cell_ids_append(&p->asleep, *ret);
	return err ? err : cell_ids_append(&p->objects.items[object].cells, *ret);
}

/* ---- uses of what a pointer leads to ---- */

static struct error *transfer_to(struct pointers *p, uint32_t to, uint32_t between);
static struct error *transfer_from(struct pointers *p, uint32_t between, uint32_t from, uint32_t len_bytes);

/* Effect of a use on one location. */
struct error *pointers_apply(struct pointers *p, const struct use *use, uint32_t location)
{
	uint32_t cell, read;
	struct error *err;

	p->steps += LOOKUP_STEPS;
	switch (use->kind) {
	case USE_CALL:
		return p->called(p->data, use->other, location);
	case USE_TRANSFER_TO:
		return transfer_to(p, location, use->other);
	case USE_TRANSFER_FROM:
		return transfer_from(p, use->other, location, use->len_bytes);
	case USE_LOAD:
	case USE_STORE:
		break;
	}
	err = pointers_cell(p, location, use->len_bytes, &cell);
	if (err)
		return err;
	if (use->kind == USE_STORE)
		return pointers_copy(p, use->other, p->cells.items[cell].written);
	err = read_cell(p, cell, &read);
	return err ? err : pointers_copy(p, read, use->other);
}

static struct error *apply_each(struct pointers *p, const struct use *use, const struct id_set *locations)
{
	struct error *err = NULL;

	for (struct id_iterator i = id_set_begin(locations); !err && id_set_next(locations, &i);)
		if (!locations_is_covered(&p->locations, locations, i.id))
			err = pointers_apply(p, use, i.id);
	return err;
}

static struct error *add_inner_object(struct pointers *p, uint32_t *ret_location)
{
	struct location start = {0};
	struct error *err = locations_add_object(&p->locations, &start.object);

	return err ? err : locations_get(&p->locations, &start, ret_location);
}

/* What accesses of this kind share of the set: made, and connected with all of its locations, when it is first asked for. */
static struct error *shared_other(struct pointers *p, uint32_t set, const struct use *use, uint32_t *ret)
{
	const struct key key = {{set, use->kind, use->len_bytes}};
	bool is_node = use->kind == USE_LOAD || use->kind == USE_STORE;
	struct use shared = *use;
	struct id_set locations;
	uint32_t number;
	struct error *err = hashmap_add(&p->shared_uses, &key, &number);

	if (err)
		return err;
	if (number < p->shared_others.count) {
		*ret = p->shared_others.items[number];
		return NULL;
	}
	err = is_node ? pointers_add_node(p, &shared.other) : add_inner_object(p, &shared.other);
	if (!err)
		err = cell_ids_append(&p->shared_others, shared.other);
	if (err)
		return err;
	*ret = shared.other;
	locations = p->shared_sets.items[set];
	return apply_each(p, &shared, &locations);
}

static struct error *apply_shared(struct pointers *p, const struct use *use, uint32_t set)
{
	uint32_t other;
	struct error *err = shared_other(p, set, use, &other);

	p->steps += LOOKUP_STEPS;
	if (err)
		return err;
	switch (use->kind) {
	case USE_LOAD:
		return pointers_copy(p, other, use->other);
	case USE_STORE:
		return pointers_copy(p, use->other, other);
	case USE_TRANSFER_TO:
		return transfer_to(p, other, use->other);
	case USE_TRANSFER_FROM:
		return transfer_from(p, use->other, other, use->len_bytes);
	default:
		return NULL;
	}
}

struct error *pointers_apply_all(struct pointers *p, const struct use_vec *uses, const struct id_set *difference)
{
	bool is_shared = uses->count && id_set_size(difference) >= SHARED_LEAST;
	struct id_set copy = {0};
	uint32_t set = 0;
	struct error *err = is_shared ? id_set_add_all(&copy, difference, NULL, NULL) : NULL;

	if (!err && is_shared)
		err = id_sets_intern(&p->shared_sets, &p->shared_map, &copy, &set);
	for (size_t i = 0; i < uses->count && !err; i++)
		err = is_shared && uses->items[i].kind != USE_CALL ? apply_shared(p, &uses->items[i], set)
								   : apply_each(p, &uses->items[i], difference);
	id_set_deinit(&copy);
	return err;
}

static struct error *add_use(struct pointers *p, uint32_t pointer, const struct use *use)
{
	struct use one = *use;
	const struct use_vec uses = {.items = &one, .count = 1};
	struct id_set known = {0};
	struct node *n;
	struct error *err;

	pointer = pointers_find(p, pointer);
	n = &p->nodes.items[pointer];
	for (size_t i = 0; i < n->uses.count; i++) {
		const struct use *u = &n->uses.items[i];

		if (u->kind == use->kind && u->other == use->other && u->len_bytes == use->len_bytes)
			return NULL;
	}
	err = use_vec_append(&n->uses, *use);
	if (!err)
		err = id_set_add_all(&known, &n->set, NULL, NULL);
	if (!err)
		err = pointers_apply_all(p, &uses, &known);
	id_set_deinit(&known);
	return err;
}

/* The node between accesses and what the pointer leads to; the first access of its kind makes it. */
static struct error *node_between(struct pointers *p, uint32_t pointer, enum use_kind kind, uint32_t len_bytes,
				  uint32_t *ret)
{
	const struct use_vec *uses = &p->nodes.items[pointers_find(p, pointer)].uses;
	struct error *err;

	for (size_t i = 0; i < uses->count; i++)
		if (uses->items[i].kind == kind && uses->items[i].len_bytes == len_bytes) {
			*ret = uses->items[i].other;
			return NULL;
		}
	err = pointers_add_node(p, ret);
	return err ? err : add_use(p, pointer, &(struct use){kind, *ret, len_bytes});
}

struct error *pointers_loaded(struct pointers *p, uint32_t pointer, uint32_t len_bytes, uint32_t *ret)
{
	struct error *err;

	if (!p->is_coarse)
		return node_between(p, pointer, USE_LOAD, len_bytes, ret);
	err = pointers_add_node(p, ret);
	return err ? err : unify_access(p, pointer, *ret);
}

struct error *pointers_load(struct pointers *p, uint32_t pointer, uint32_t to, uint32_t len_bytes)
{
	uint32_t between;
	struct error *err;

	if (p->is_coarse)
		return unify_access(p, pointer, to);
	err = node_between(p, pointer, USE_LOAD, len_bytes, &between);
	return err ? err : pointers_copy(p, between, to);
}

struct error *pointers_store(struct pointers *p, uint32_t from, uint32_t pointer, uint32_t len_bytes)
{
	uint32_t between;
	struct error *err;

	if (p->is_coarse)
		return unify_access(p, pointer, from);
	err = node_between(p, pointer, USE_STORE, len_bytes, &between);
	return err ? err : pointers_copy(p, from, between);
}

struct error *pointers_call(struct pointers *p, uint32_t pointer, uint32_t call)
{
	return p->is_coarse ? unify_call(p, pointer, call) : add_use(p, pointer, &(struct use){USE_CALL, call, 0});
}

/* By an object of its own between them, so that there are as many transfers of locations as both pointers have, not the product. */
struct error *pointers_transfer(struct pointers *p, uint32_t to, uint32_t from, uint32_t len_bytes)
{
	uint32_t location;
	struct error *err;

	if (p->is_coarse)
		return unify_transfer(p, to, from);
	err = add_inner_object(p, &location);
	if (!err)
		err = add_use(p, to, &(struct use){USE_TRANSFER_TO, location, POINTERS_ALL_BYTES});
	return err ? err : add_use(p, from, &(struct use){USE_TRANSFER_FROM, location, len_bytes});
}

/* ---- transfers ---- */

static struct error *remembered_cell(struct pointers *p, uint32_t location, uint32_t len_bytes, uint32_t *ret)
{
	struct cell_memo *memo = &p->memo;
	struct error *err = NULL;

	if (memo->location != location || memo->len_bytes != len_bytes) {
		err = pointers_cell(p, location, len_bytes, ret);
		if (err)
			return err;
		memo->location = location;
		memo->len_bytes = len_bytes;
		memo->cell = *ret;
	}
	*ret = memo->cell;
	return NULL;
}

/* Cells of a cycle are one node: the same edge is asked for by all of them. */
static struct error *copy_once(struct pointers *p, uint32_t from, uint32_t to)
{
	from = pointers_find(p, from);
	to = pointers_find(p, to);
	if (p->memo.from == from && p->memo.to == to)
		return NULL;
	p->memo.from = from;
	p->memo.to = to;
	return pointers_copy(p, from, to);
}

/* What was stored to a cell of the source's object, as far as it is in the transfer, is stored at the same distance of the target. */
static struct error *transfer_cell(struct pointers *p, const struct transfer *t, uint32_t number)
{
	struct cell cell = p->cells.items[number];
	struct location source = p->locations.items.items[t->from], at = p->locations.items.items[cell.location];
	struct pointer_step step = {.offset = (int64_t)at.first - source.first};
	uint32_t moved, mirror;
	struct error *err;

	p->steps += LOOKUP_STEPS;
	if (!locations_meet(&source, t->len_bytes, &at, cell.len_bytes))
		return NULL;
	/* Distances are not known where either is several places; of a cell that begins in front, it is the end that is transferred. */
	if (source.stride || at.stride || step.offset < 0)
		step = (struct pointer_step){.stride = 1};
	err = locations_step(&p->locations, t->to, &step, &moved);
	if (!err)
		err = remembered_cell(p, moved, cell.len_bytes, &mirror);
	return err ? err : copy_once(p, cell.written, p->cells.items[mirror].written);
}

static struct error *transfer(struct pointers *p, uint32_t to, uint32_t from, uint32_t len_bytes)
{
	struct transfer t = {from, to, len_bytes == POINTERS_ALL_BYTES ? INT32_MAX : len_bytes};
	uint32_t object = p->locations.items.items[from].object;
	struct error *err = object_reserve(p, object);

	if (!err)
		err = transfer_vec_append(&p->objects.items[object].transfers, t);
	/* Cells that are asleep will find the transfer. */
	for (size_t i = 0; !err && i < p->objects.items[object].cells.count; i++)
		if (p->cells.items[p->objects.items[object].cells.items[i]].is_awake)
			err = transfer_cell(p, &t, p->objects.items[object].cells.items[i]);
	return err;
}

/* Each location once: what is told of a node is told again when it becomes one with others. */
static struct error *transfer_to(struct pointers *p, uint32_t to, uint32_t between)
{
	uint32_t object = p->locations.items.items[between].object;
	bool is_new = false;
	struct error *err = object_reserve(p, object);

	if (!err)
		err = id_set_add(&p->objects.items[object].given, to, &is_new);
	return err || !is_new ? err : transfer(p, to, between, POINTERS_ALL_BYTES);
}

static struct error *transfer_from(struct pointers *p, uint32_t between, uint32_t from, uint32_t len_bytes)
{
	uint32_t object = p->locations.items.items[between].object;
	bool is_new = false;
	struct error *err = object_reserve(p, object);

	if (!err)
		err = id_set_add(&p->objects.items[object].taken, from, &is_new);
	return err || !is_new ? err : transfer(p, between, from, len_bytes);
}

static bool has_pointers(struct pointers *p, uint32_t node)
{
	const struct node *n = &p->nodes.items[pointers_find(p, node)];

	return n->set.count || n->more.count;
}

static struct error *wake(struct pointers *p, uint32_t number)
{
	struct cell cell = p->cells.items[number];
	uint32_t object = p->locations.items.items[cell.location].object;
	struct error *err;

	p->cells.items[number].is_awake = true;
	err = connect_written(p, &cell);
	for (size_t i = 0; !err && i < p->objects.items[object].transfers.count; i++) {
		struct transfer t = p->objects.items[object].transfers.items[i];

		err = transfer_cell(p, &t, number);
	}
	return err;
}

struct error *pointers_wake_cells(struct pointers *p)
{
	struct error *err = NULL;
	size_t kept = 0;

	/* What wakes may make further cells, which come behind the others. */
	for (size_t i = 0; i < p->asleep.count && !err; i++) {
		uint32_t number = p->asleep.items[i];

		if (p->cells.items[number].is_awake)
			continue;
		if (has_pointers(p, p->cells.items[number].written))
			err = wake(p, number);
		else
			p->asleep.items[kept++] = number;
	}
	if (!err)
		p->asleep.count = kept;
	return err;
}
