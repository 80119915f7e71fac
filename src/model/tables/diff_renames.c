/*
 * diff_renames.c - compares each function that is gone with each that is new, in rounds, until no more are matched.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "model/tables/diff_renames.h"

enum {
	SIZE_NEAR = 16,    /* bytes of code that do not count */
	SIZE_PART = 8,     /* nor does an eighth of it */
	ROOT = UINT32_MAX, /* as a caller: what begins a context */
	ROUNDS_MAX = 16,   /* a chain of renamed functions that long */
};

enum direction {
	CALLERS,
	CALLEES,
	DIRECTIONS,
};

VEC_DECLARE(number_vec, uint32_t);

/* A name, and what is known of the function on either side. */
struct function {
	const char *name; /* of both */
	const char *link_name[DIFF_SIDES];
	const char *file[DIFF_SIDES];
	bool is_there[DIFF_SIDES];
	bool is_fit; /* it is a native function of the program */
	uint64_t size_bytes, shape;
	uint32_t now;      /* the number it counts as: that of its new name */
	bool is_candidate; /* gone or new, and not matched */
};
VEC_DECLARE(function_vec, struct function);

/* `function` is called by `other`, or calls it. */
struct neighbour {
	enum direction direction;
	uint32_t function, other;
};
VEC_DECLARE(neighbour_vec, struct neighbour);

struct search {
	struct diff_names *sides;
	struct hashmap map; /* name -> function */
	struct function_vec functions;
	struct hashmap known[DIFF_SIDES]; /* plain link names of the build -> index in known_functions */
	const struct profile_function **known_functions[DIFF_SIDES];
	struct neighbour_vec neighbours[DIFF_SIDES]; /* sorted, each once */
	struct number_vec candidates[DIFF_SIDES];
};

/* ---- what is there ---- */

static struct error *add_name(struct search *s, const char *name, uint32_t *ret)
{
	struct error *err = hashmap_add(&s->map, &(struct key){{(uintptr_t)name, 0, 0}}, ret);

	if (err || *ret < s->functions.count)
		return err;
	return function_vec_append(&s->functions, (struct function){.name = name, .is_fit = true, .now = *ret});
}

static struct error *add_frames(struct search *s, enum diff_side side, uint32_t *numbers)
{
	const struct diff_names *n = &s->sides[side];
	const struct frame_vec *frames = &n->view->profile->frames;
	struct error *err = NULL;

	for (size_t i = 0; i < frames->count && !err; i++) {
		struct function *f;

		err = add_name(s, n->names[i], &numbers[i]);
		if (err)
			break;
		f = &s->functions.items[numbers[i]];
		f->is_there[side] = true;
		f->is_fit &= !(frames->items[i].flags & (FRAME_FOREIGN | FRAME_ROOT | FRAME_ELIDED | FRAME_METHOD));
		if (!f->link_name[side])
			f->link_name[side] = n->link_names[i];
		if (!f->file[side])
			f->file[side] = n->files[i];
	}
	return err;
}

static int compare_neighbours(const void *a, const void *b)
{
	const struct neighbour *x = a, *y = b;

	return compare_u64(x->function, y->function) ?:
	       compare_u64(x->direction, y->direction) ?:
	       compare_u64(x->other, y->other);
}

static void sort_neighbours(struct neighbour_vec *v)
{
	size_t kept = 0;

	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, compare_neighbours);
	for (size_t i = 0; i < v->count; i++)
		if (!i || compare_neighbours(&v->items[i], &v->items[i - 1]) != 0)
			v->items[kept++] = v->items[i];
	v->count = kept;
}

static struct error *add_neighbours(struct search *s, enum diff_side side, const uint32_t *numbers)
{
	const struct tree_node_vec *nodes = &s->sides[side].view->profile->nodes;
	struct neighbour_vec *to = &s->neighbours[side];
	struct error *err = NULL;

	for (size_t n = 1; n < nodes->count && !err; n++) {
		uint32_t parent = nodes->items[n].parent, callee = numbers[nodes->items[n].frame];
		uint32_t caller = parent ? numbers[nodes->items[parent].frame] : ROOT;

		err = neighbour_vec_append(to, (struct neighbour){CALLERS, callee, caller});
		if (!err && parent)
			err = neighbour_vec_append(to, (struct neighbour){CALLEES, caller, callee});
	}
	sort_neighbours(to);
	return err;
}

static struct error *add_side(struct search *s, enum diff_side side)
{
	const struct profile *p = s->sides[side].view->profile;
	uint32_t *numbers = calloc(p->frames.count + 1, sizeof *numbers);
	struct error *err = numbers ? add_frames(s, side, numbers) : &error_no_memory;

	err = err ?: add_neighbours(s, side, numbers);
	free(numbers);
	return err;
}

/* ---- what builds have ---- */

static struct error *add_known(struct search *s, enum diff_side side)
{
	const struct profile_function_vec *functions = &s->sides[side].view->profile->functions;
	struct error *err = NULL;

	s->known_functions[side] = calloc(functions->count + 1, sizeof *s->known_functions[side]);
	if (!s->known_functions[side])
		return &error_no_memory;
	for (size_t i = 0; i < functions->count && !err; i++) {
		const struct profile_function *f = &functions->items[i];
		char *plain = malloc(strlen(f->link_name) + 1);
		const struct profile_function **known;
		struct key key;
		uint32_t number;

		if (!plain)
			return &error_no_memory;
		diff_plain_name(f->link_name, plain);
		key = key_of_text_safe(plain, 0);
		free(plain);
		err = hashmap_add(&s->known[side], &key, &number);
		if (err)
			break;
		known = &s->known_functions[side][number];
		if (!*known || (!(*known)->size_bytes && !(*known)->shape))
			*known = f;
	}
	return err;
}

/* NULL: the build has no function of that name. */
static const struct profile_function *find_known(const struct search *s, enum diff_side side, const char *link_name)
{
	struct key key = key_of_text_safe(link_name, 0);
	uint32_t number;

	return hashmap_find(&s->known[side], &key, &number) ? s->known_functions[side][number] : NULL;
}

/* Functions that one build has, and the other has not. */
static struct error *find_candidates(struct search *s)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < s->functions.count && !err; i++) {
		struct function *f = &s->functions.items[i];
		enum diff_side side = f->is_there[DIFF_OLD] ? DIFF_OLD : DIFF_NEW;
		enum diff_side other = side == DIFF_OLD ? DIFF_NEW : DIFF_OLD;
		const struct profile_function *known;

		if (f->is_there[other] || !f->is_fit)
			continue;
		known = find_known(s, side, f->link_name[side]);
		if (!known || find_known(s, other, f->link_name[side]))
			continue;
		f->size_bytes = known->size_bytes;
		f->shape = known->shape;
		f->is_candidate = true;
		err = number_vec_append(&s->candidates[side], i);
	}
	return err;
}

/* ---- whether two are one ---- */

static size_t first_neighbour(const struct neighbour_vec *v, uint32_t function, enum direction direction)
{
	const struct neighbour wanted = {direction, function, 0};
	size_t low = 0, high = v->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_neighbours(&v->items[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What the neighbour counts as on the new side; false: it may itself have been renamed, and is not known yet. */
static bool settled(const struct search *s, uint32_t self, uint32_t other, uint32_t *ret)
{
	if (other == ROOT) {
		*ret = ROOT;
		return true;
	}
	*ret = other == self ? ROOT - 1 : s->functions.items[other].now; /* a recursion is one under any name */
	return other == self || !s->functions.items[other].is_candidate;
}

struct agreement {
	size_t shared;
	size_t alone[DIFF_SIDES];
};

static bool has_neighbour(const struct search *s, enum diff_side side, uint32_t function, enum direction direction,
			  uint32_t wanted)
{
	const struct neighbour_vec *v = &s->neighbours[side];
	uint32_t other;

	for (size_t i = first_neighbour(v, function, direction);
	     i < v->count && v->items[i].function == function && v->items[i].direction == direction; i++)
		if (settled(s, function, v->items[i].other, &other) && other == wanted)
			return true;
	return false;
}

static struct agreement compare_sets(const struct search *s, const uint32_t pair[DIFF_SIDES], enum direction direction)
{
	struct agreement a = {0};

	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES; side++) {
		enum diff_side opposite = side == DIFF_OLD ? DIFF_NEW : DIFF_OLD;
		const struct neighbour_vec *v = &s->neighbours[side];
		uint32_t other;

		for (size_t i = first_neighbour(v, pair[side], direction);
		     i < v->count && v->items[i].function == pair[side] && v->items[i].direction == direction; i++) {
			if (!settled(s, pair[side], v->items[i].other, &other))
				continue;
			if (!has_neighbour(s, opposite, pair[opposite], direction, other))
				a.alone[side]++;
			else
				a.shared += side == DIFF_OLD;
		}
	}
	return a;
}

/* None of them contradicts: those of one side are among those of the other. */
static bool agrees(const struct agreement *a)
{
	return !a->alone[DIFF_OLD] || !a->alone[DIFF_NEW];
}

static bool is_equal(const struct agreement *a)
{
	return a->shared && !a->alone[DIFF_OLD] && !a->alone[DIFF_NEW];
}

static bool is_near(uint64_t a, uint64_t b)
{
	uint64_t larger = a > b ? a : b, apart = a > b ? a - b : b - a;

	return a && b && (apart <= SIZE_NEAR || apart <= larger / SIZE_PART);
}

enum likeness {
	UNLIKE,
	LIKE,
	LIKE_EXACTLY, /* and in the same file */
};

static enum likeness compare_pair(const struct search *s, const uint32_t pair[DIFF_SIDES])
{
	const struct function *old = &s->functions.items[pair[DIFF_OLD]], *new = &s->functions.items[pair[DIFF_NEW]];
	bool is_same_file = old->file[DIFF_OLD] && old->file[DIFF_OLD] == new->file[DIFF_NEW];
	bool has_shape = old->shape && old->shape == new->shape;
	bool has_size = is_near(old->size_bytes, new->size_bytes);
	struct agreement callers, callees;

	if (!is_same_file && !has_shape && !has_size)
		return UNLIKE;
	callers = compare_sets(s, pair, CALLERS);
	if (!callers.shared || !agrees(&callers))
		return UNLIKE;
	callees = compare_sets(s, pair, CALLEES);
	if (!agrees(&callees))
		return UNLIKE;
	if (has_shape || has_size) {
		if (!is_same_file)
			return callees.shared ? LIKE : UNLIKE;
		return has_shape || old->size_bytes == new->size_bytes ? LIKE_EXACTLY : LIKE;
	}
	return is_equal(&callers) && is_equal(&callees) ? LIKE : UNLIKE;
}

/* ---- matching ---- */

/* Of a candidate: how many of the other side are at least so like, and the last of them. */
struct choice {
	uint32_t count;
	uint32_t other;
};

static void add_choice(struct choice *choice, uint32_t other)
{
	choice->count++;
	choice->other = other;
}

static struct error *take_unique(struct search *s, struct choice *const choices[DIFF_SIDES],
				 struct diff_rename_vec *ret)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < s->candidates[DIFF_OLD].count && !err; i++) {
		uint32_t j = choices[DIFF_OLD][i].other;
		struct function *old = &s->functions.items[s->candidates[DIFF_OLD].items[i]], *new;

		if (choices[DIFF_OLD][i].count != 1 || choices[DIFF_NEW][j].count != 1)
			continue;
		new = &s->functions.items[s->candidates[DIFF_NEW].items[j]];
		if (!old->is_candidate || !new->is_candidate)
			continue;
		old->is_candidate = new->is_candidate = false;
		old->now = new->now;
		err = diff_rename_vec_append(ret, (struct diff_rename){{old->name, new->name}});
	}
	return err;
}

static void drop_matched(struct search *s)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct number_vec *v = &s->candidates[side];
		size_t kept = 0;

		for (size_t i = 0; i < v->count; i++)
			if (s->functions.items[v->items[i]].is_candidate)
				v->items[kept++] = v->items[i];
		v->count = kept;
	}
}

/* By likeness and side, the choices of each candidate. */
struct choices {
	struct choice *of[LIKE_EXACTLY + 1][DIFF_SIDES];
};

static struct error *choices_create(const struct search *s, struct choices *ret)
{
	struct error *err = NULL;

	for (enum likeness l = LIKE; l <= LIKE_EXACTLY; l++)
		for (int side = 0; side < DIFF_SIDES; side++) {
			ret->of[l][side] = calloc(s->candidates[side].count + 1, sizeof(struct choice));
			err = ret->of[l][side] ? err : &error_no_memory;
		}
	return err;
}

static void choices_deinit(struct choices *c)
{
	for (enum likeness l = LIKE; l <= LIKE_EXACTLY; l++)
		for (int side = 0; side < DIFF_SIDES; side++)
			free(c->of[l][side]);
}

static void compare_all(const struct search *s, struct choices *c)
{
	for (uint32_t i = 0; i < s->candidates[DIFF_OLD].count; i++)
		for (uint32_t j = 0; j < s->candidates[DIFF_NEW].count; j++) {
			const uint32_t pair[] = {s->candidates[DIFF_OLD].items[i], s->candidates[DIFF_NEW].items[j]};
			enum likeness likeness = compare_pair(s, pair);

			for (enum likeness l = LIKE; l <= likeness; l++) {
				add_choice(&c->of[l][DIFF_OLD][i], j);
				add_choice(&c->of[l][DIFF_NEW][j], i);
			}
		}
}

/* Pairs are compared with what was known before the round, so that their order does not count. */
static struct error *match_round(struct search *s, struct diff_rename_vec *ret)
{
	struct choices c = {0};
	struct error *err = choices_create(s, &c);

	if (!err)
		compare_all(s, &c);
	for (enum likeness l = LIKE; l <= LIKE_EXACTLY && !err; l++)
		err = take_unique(s, c.of[l], ret);
	choices_deinit(&c);
	drop_matched(s);
	return err;
}

static int compare_renames(const void *a, const void *b)
{
	const struct diff_rename *x = a, *y = b;

	return strcmp(x->names[DIFF_OLD], y->names[DIFF_OLD]);
}

/* Frames of the old side get their new names. */
static void rename_frames(struct search *s)
{
	const struct diff_names *n = &s->sides[DIFF_OLD];

	for (size_t i = 0; i < n->view->profile->frames.count; i++) {
		const struct function *now;
		uint32_t number;

		if (!hashmap_find(&s->map, &(struct key){{(uintptr_t)n->names[i], 0, 0}}, &number) ||
		    s->functions.items[number].now == number)
			continue;
		now = &s->functions.items[s->functions.items[number].now];
		n->names[i] = now->name;
		n->link_names[i] = now->link_name[DIFF_NEW];
	}
}

static struct error *find(struct search *s, struct diff_rename_vec *ret)
{
	size_t before;
	struct error *err = add_known(s, DIFF_OLD) ?: add_known(s, DIFF_NEW);

	err = err ?: add_side(s, DIFF_OLD) ?: add_side(s, DIFF_NEW) ?: find_candidates(s);
	for (int round = 0; round < ROUNDS_MAX && !err; round++) {
		before = ret->count;
		err = match_round(s, ret);
		if (ret->count == before)
			break;
	}
	if (!err && ret->count) {
		qsort(ret->items, ret->count, sizeof *ret->items, compare_renames);
		rename_frames(s);
	}
	return err;
}

struct error *diff_renames_find(struct diff_names sides[DIFF_SIDES], struct diff_rename_vec *ret)
{
	struct search s = {.sides = sides};
	struct error *err = NULL;

	if (sides[DIFF_OLD].view->profile->functions.count && sides[DIFF_NEW].view->profile->functions.count)
		err = find(&s, ret);
	hashmap_deinit(&s.map);
	function_vec_deinit(&s.functions);
	for (int side = 0; side < DIFF_SIDES; side++) {
		hashmap_deinit(&s.known[side]);
		free(s.known_functions[side]);
		neighbour_vec_deinit(&s.neighbours[side]);
		number_vec_deinit(&s.candidates[side]);
	}
	return err;
}
