/*
 * profile_diff.c - joins two views in one profile whose frames are plain names with the sites that are told apart; the sums over that profile,
 * for each side, are those of tables.
 */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/sum.h"
#include "base/text.h"
#include "model/tables/frame_keys.h"
#include "model/tables/profile_diff.h"
#include "model/tables/tree_sums.h"

uint64_t diff_change(uint64_t before, uint64_t after)
{
	return before > after ? before - after : after - before;
}

/* ---- contexts ---- */

/* What a frame of `both` is made of. */
struct builder {
	struct profile_diff *d;
	struct diff_names sides[DIFF_SIDES];
	struct hashmap frames; /* names, site and flags -> frame of `both` */
};

/* A frame of a side, with its call at that site, as a frame of `both`. */
static struct error *add_frame(struct builder *b, enum diff_side side, uint32_t frame, uint32_t site, uint32_t *ret)
{
	const struct diff_names *n = &b->sides[side];
	const struct diff_site *s = &b->d->sites.sites.items[site];
	enum diff_side shown = s->file[DIFF_NEW] ? DIFF_NEW : DIFF_OLD;
	struct frame new = {.name = n->names[frame],
			    .link_name = n->link_names[frame],
			    .file = s->file[shown],
			    .line = s->line[shown],
			    .column = s->column[shown],
			    .flags = n->view->profile->frames.items[frame].flags &
				     (FRAME_FOREIGN | FRAME_ROOT | FRAME_ELIDED | FRAME_METHOD)};
	struct frame_vec *frames = &b->d->both.frames;
	struct key key = {{(uintptr_t)new.name, (uintptr_t)new.link_name, (uint64_t)site << 32 | new.flags}};
	struct error *err = hashmap_add(&b->frames, &key, ret);

	if (err || *ret < frames->count)
		return err;
	return frame_vec_append(frames, new) ?: diff_number_vec_append(&b->d->frame_sites, site);
}

const struct diff_site *diff_site_of(const struct profile_diff *d, uint32_t node)
{
	uint32_t site = d->frame_sites.items[d->both.nodes.items[node].frame];

	return site ? &d->sites.sites.items[site] : NULL;
}

/* The node of `both` for one of a side, whose caller's is known. */
static struct error *add_node(struct builder *b, enum diff_side side, uint32_t caller, uint32_t frame, uint32_t site,
			      uint32_t *ret)
{
	uint32_t number;
	struct error *err = add_frame(b, side, frame, site, &number);

	return err ?: profile_add_node(&b->d->both, caller, number, ret);
}

/* By node of the side's profile, the node of `both` for its caller, which says at which of its sites it calls. */
static struct error *add_callers(struct builder *b, enum diff_side side, uint32_t **ret)
{
	const struct tree_node_vec *nodes = &b->sides[side].view->profile->nodes;
	uint32_t *callers = calloc(nodes->count, sizeof *callers);
	struct error *err = callers ? NULL : &error_no_memory;

	for (size_t n = 1; n < nodes->count && !err; n++) {
		uint32_t parent = nodes->items[n].parent;

		if (parent)
			err = add_node(b, side, callers[parent], nodes->items[parent].frame,
				       b->d->sites.of_nodes[side][n], &callers[n]);
	}
	if (err)
		free(callers);
	else
		*ret = callers;
	return err;
}

static struct error *add_side(struct builder *b, enum diff_side side)
{
	struct profile_diff *d = b->d;
	const struct view *v = b->sides[side].view;
	uint32_t *callers;
	struct error *err = add_callers(b, side, &callers);

	if (err)
		return err;
	for (size_t i = 0; i < v->matching_rows && !err; i++) {
		uint32_t node = v->rows[i].node;
		uint64_t values[DIFF_SIDES] = {0};

		values[side] = v->rows[i].value;
		if (node)
			err = add_node(b, side, callers[node], v->profile->nodes.items[node].frame,
				       d->sites.of_leaves[side][node], &node);
		err = err ?: profile_add_values(&d->both, node, d->metric[DIFF_OLD], values);
		d->total[side] = sum_limited(d->total[side], v->rows[i].value);
	}
	free(callers);
	return err;
}

static struct error *add_widest(struct profile_diff *d)
{
	struct profile *p = &d->both;
	size_t count = p->cells.count; /* those of the two sides */
	struct error *err = NULL;

	for (size_t i = 0; i < count && !err; i++) {
		const uint64_t *values = &p->values.items[p->cells.items[i].first];
		uint64_t larger = values[DIFF_OLD] > values[DIFF_NEW] ? values[DIFF_OLD] : values[DIFF_NEW];

		err = profile_add_value(p, p->cells.items[i].node, d->widest, larger);
	}
	return err;
}

static int compare_contexts(const void *left, const void *right)
{
	const struct diff_context *a = left, *b = right;

	return compare_u64(diff_change(b->value[DIFF_OLD], b->value[DIFF_NEW]),
			   diff_change(a->value[DIFF_OLD], a->value[DIFF_NEW]))
		       ?: compare_u64(a->rank, b->rank);
}

static struct error *fill_contexts(struct profile_diff *d)
{
	struct view v;
	struct error *err = view_create(&d->both, &(struct view_options){.sort = "name", .keeps_zeros = true}, "", &v);

	if (err)
		return err;
	d->contexts = calloc(v.row_count + 1, sizeof *d->contexts);
	for (size_t i = 0; i < v.row_count && d->contexts; i++) {
		struct diff_context *context = &d->contexts[d->context_count];

		*context = (struct diff_context){.node = v.rows[i].node, .rank = (uint32_t)i};
		for (int side = 0; side < DIFF_SIDES; side++)
			context->value[side] = view_value(&v, &v.rows[i], d->metric[side]);
		d->context_count += context->value[DIFF_OLD] != context->value[DIFF_NEW];
	}
	view_deinit(&v);
	if (!d->contexts)
		return &error_no_memory;
	qsort(d->contexts, d->context_count, sizeof *d->contexts, compare_contexts);
	return NULL;
}

/* ---- functions ---- */

static struct error *sum_side(const struct profile_diff *d, const struct frame_keys *keys, const uint32_t *self_keys,
			      enum diff_side side, struct key_sums *ret)
{
	const struct profile *p = &d->both;
	uint64_t *values = calloc(p->nodes.count, sizeof *values);
	struct error *err;

	if (!values)
		return &error_no_memory;
	for (size_t i = 0; i < p->cells.count; i++)
		if (p->cells.items[i].group == d->metric[DIFF_OLD])
			values[p->cells.items[i].node] = p->values.items[p->cells.items[i].first + side];
	err = tree_sums(p->nodes.items, p->nodes.count, keys->of_nodes, self_keys, keys->count, values, ret);
	free(values);
	return err;
}

static struct error *sum_sides(struct profile_diff *d, const struct frame_keys *keys)
{
	const struct profile *p = &d->both;
	struct key_sums *sums = calloc((size_t)keys->count + 1, sizeof *sums);
	uint32_t *self_keys = NULL;
	struct error *err = sums ? NULL : &error_no_memory;

	if (!err)
		err = frame_keys_self(p, &p->metrics.items[d->metric[DIFF_OLD]], keys->of_nodes, &self_keys);
	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES && !err; side++) {
		err = sum_side(d, keys, self_keys, side, sums);
		for (uint32_t key = 0; key < keys->count && !err; key++) {
			d->functions[key].name = keys->names[key];
			d->functions[key].self[side] = sums[key].self;
			d->functions[key].total[side] = sums[key].total;
		}
	}
	free(self_keys);
	free(sums);
	return err;
}

/* Where a function of a side is: by the first of its frames that know, unless another one says something else. */
struct place {
	const char *source, *image;
	bool has_sources, has_images; /* several */
};

static void join_place(const char **place, bool *has_several, const char *text)
{
	*has_several |= text && *place && !text_equal(text_base_name(*place), text_base_name(text));
	if (!*place)
		*place = text;
}

/* places: by function. */
static void find_places(const struct diff_names *n, const struct hashmap *numbers, struct place *places)
{
	const struct profile *p = n->view->profile;
	uint32_t number;

	for (size_t i = 0; i < p->frames.count; i++) {
		if (!hashmap_find(numbers, &(struct key){{(uintptr_t)n->names[i], 0, 0}}, &number))
			continue;
		join_place(&places[number].source, &places[number].has_sources, p->frames.items[i].file);
		join_place(&places[number].image, &places[number].has_images, p->frames.items[i].image);
	}
}

/* The program has another name in each build that is kept. */
static bool is_program(const struct profile *p, const char *image)
{
	for (size_t i = 0; i < p->sources.count; i++)
		if (text_equal(text_base_name(p->sources.items[i].header.program), text_base_name(image)))
			return true;
	return false;
}

/* Without the version of a library, libx.so.1.2. */
static size_t module_len(const char *name)
{
	const char *version = strstr(name, ".so.");

	return version ? (size_t)(version + 3 - name) : strlen(name);
}

static bool is_same_image(const struct diff_names sides[DIFF_SIDES], const char *old, const char *new)
{
	const char *a = text_base_name(old), *b = text_base_name(new);
	bool is_of_program = is_program(sides[DIFF_OLD].view->profile, old);

	if (is_of_program || is_program(sides[DIFF_NEW].view->profile, new))
		return is_of_program == is_program(sides[DIFF_NEW].view->profile, new);
	return module_len(a) == module_len(b) && strncmp(a, b, module_len(a)) == 0;
}

/* A file of the same name in another directory is that of another checkout. */
static struct error *find_move(const struct diff_names sides[DIFF_SIDES], struct profile *both, const struct place *old,
			       const struct place *new, struct diff_function *f)
{
	const char *from = old->source, *to = new->source;

	if (!from || !to || old->has_sources || new->has_sources ||
	    text_equal(text_base_name(from), text_base_name(to))) {
		from = old->image;
		to = new->image;
		if (!from || !to || old->has_images || new->has_images || is_same_image(sides, from, to))
			return NULL;
	}
	f->is_moved = true;
	return profile_copy_string(both, from, &f->moved[DIFF_OLD])
		       ?: profile_copy_string(both, to, &f->moved[DIFF_NEW]);
}

static struct error *set_places(struct builder *b, struct place *const places[DIFF_SIDES])
{
	struct profile_diff *d = b->d;
	struct error *err = NULL;

	for (size_t i = 0; i < d->function_count && !err; i++) {
		for (int side = 0; side < DIFF_SIDES && !err; side++) {
			const char *file = places[side][i].source ? places[side][i].source : places[side][i].image;

			if (file)
				err = profile_copy_string(&d->both, file, &d->functions[i].file[side]);
		}
		err = err
			      ?: find_move(b->sides, &d->both, &places[DIFF_OLD][i], &places[DIFF_NEW][i],
					   &d->functions[i]);
	}
	return err;
}

static struct error *find_all_places(struct builder *b)
{
	struct profile_diff *d = b->d;
	struct hashmap numbers = {0};
	struct place *places[DIFF_SIDES] = {calloc(d->function_count + 1, sizeof **places),
					    calloc(d->function_count + 1, sizeof **places)};
	struct error *err = places[DIFF_OLD] && places[DIFF_NEW] ? NULL : &error_no_memory;
	uint32_t number;

	for (size_t i = 0; i < d->function_count && !err; i++)
		err = hashmap_add(&numbers, &(struct key){{(uintptr_t)d->functions[i].name, 0, 0}}, &number);
	for (int side = 0; side < DIFF_SIDES && !err; side++)
		find_places(&b->sides[side], &numbers, places[side]);
	err = err ?: set_places(b, places);
	for (size_t i = 0; i < d->renames.count && !err; i++) {
		const struct diff_rename *r = &d->renames.items[i];

		if (hashmap_find(&numbers, &(struct key){{(uintptr_t)r->names[DIFF_NEW], 0, 0}}, &number))
			d->functions[number].old_name = r->names[DIFF_OLD];
	}
	hashmap_deinit(&numbers);
	free(places[DIFF_OLD]);
	free(places[DIFF_NEW]);
	return err;
}

static int compare_notes(const void *left, const void *right)
{
	return strcmp(((const struct function_note *)left)->function, ((const struct function_note *)right)->function);
}

/* "renamed from f, moved from a.c to b.c" */
static struct error *add_notes(struct profile_diff *d)
{
	struct error *err = NULL;

	for (size_t i = 0; i < d->function_count && !err; i++) {
		const struct diff_function *f = &d->functions[i];
		const char *renamed = "", *moved = "";

		if (!f->old_name && !f->is_moved)
			continue;
		if (f->old_name)
			renamed =
				arena_printf(&d->both.arena, "renamed from %s%s", f->old_name, f->is_moved ? ", " : "");
		if (f->is_moved)
			moved = arena_printf(&d->both.arena, "moved from %s to %s", f->moved[DIFF_OLD],
					     f->moved[DIFF_NEW]);
		if (renamed && moved)
			renamed = arena_printf(&d->both.arena, "%s%s", renamed, moved);
		err = renamed && moved ? function_note_vec_append(&d->notes, (struct function_note){f->name, renamed})
				       : &error_no_memory;
	}
	if (!err && d->notes.count)
		qsort(d->notes.items, d->notes.count, sizeof *d->notes.items, compare_notes);
	return err;
}

static int compare_functions(const void *left, const void *right)
{
	const struct diff_function *a = left, *b = right;

	return compare_u64(diff_change(b->self[DIFF_OLD], b->self[DIFF_NEW]),
			   diff_change(a->self[DIFF_OLD], a->self[DIFF_NEW]))
		       ?: compare_u64(diff_change(b->total[DIFF_OLD], b->total[DIFF_NEW]),
				      diff_change(a->total[DIFF_OLD], a->total[DIFF_NEW]))
		       ?: strcmp(a->name, b->name);
}

static bool is_changed(const struct diff_function *f)
{
	return f->self[DIFF_OLD] != f->self[DIFF_NEW] || f->total[DIFF_OLD] != f->total[DIFF_NEW];
}

static struct error *fill_functions(struct builder *b)
{
	struct profile_diff *d = b->d;
	struct frame_keys keys;
	size_t kept = 0;
	struct error *err = frame_keys_create(&d->both, KEY_FUNCTION, &keys);

	if (err)
		return err;
	d->functions = calloc((size_t)keys.count + 1, sizeof *d->functions);
	d->function_count = keys.count;
	err = d->functions ? sum_sides(d, &keys) : &error_no_memory;
	err = err ?: find_all_places(b) ?: add_notes(d);
	frame_keys_deinit(&keys);
	if (err)
		return err;
	for (size_t i = 0; i < d->function_count; i++)
		if (is_changed(&d->functions[i]))
			d->functions[kept++] = d->functions[i];
	d->function_count = kept;
	qsort(d->functions, kept, sizeof *d->functions, compare_functions);
	return NULL;
}

/* ---- both ---- */

static struct error *add_metrics(struct profile_diff *d, const struct metric *m)
{
	struct metric rows[] = {*m, *m, *m};
	struct error *err;

	rows[0].name = "old";
	rows[1].name = "new";
	rows[2].name = "widest";
	err = profile_add_metrics(&d->both, rows, 2, &d->metric[DIFF_OLD])
		      ?: profile_add_metrics(&d->both, &rows[2], 1, &d->widest);
	d->metric[DIFF_NEW] = d->metric[DIFF_OLD] + 1;
	for (size_t i = 0; i < d->both.metrics.count; i++)
		d->both.metrics.items[i].total = 0;
	return err;
}

static struct error *build(struct builder *b, const struct view *const views[DIFF_SIDES],
			   const struct diff_options *options)
{
	struct profile_diff *d = b->d;
	struct error *err = add_metrics(d, &views[DIFF_OLD]->profile->metrics.items[views[DIFF_OLD]->metric]);

	for (int side = 0; side < DIFF_SIDES && !err; side++)
		err = diff_names_create(views[side], &d->both, &b->sides[side]);
	if (!err && !options->keeps_names)
		err = diff_renames_find(b->sides, &d->renames);
	err = err ?: diff_sites_create(b->sides, &d->both, &d->sites) ?: add_side(b, DIFF_OLD) ?: add_side(b, DIFF_NEW);
	return err ?: add_widest(d) ?: fill_contexts(d) ?: fill_functions(b);
}

struct error *profile_diff_create(const struct view *old, const struct view *new, const struct diff_options *options,
				  struct profile_diff *ret)
{
	struct profile_diff d = {0};
	struct builder b = {.d = &d};
	struct error *err = profile_init(&d.both);

	if (err)
		return err;
	d.both.file_bytes = old->profile->file_bytes + new->profile->file_bytes;
	err = build(&b, (const struct view *const[]){old, new}, options);
	profile_finish(&d.both);
	for (int side = 0; side < DIFF_SIDES; side++)
		diff_names_deinit(&b.sides[side]);
	hashmap_deinit(&b.frames);
	if (err)
		profile_diff_deinit(&d);
	else
		*ret = d;
	return err;
}

void profile_diff_deinit(struct profile_diff *d)
{
	free(d->functions);
	free(d->contexts);
	diff_sites_deinit(&d->sites);
	diff_number_vec_deinit(&d->frame_sites);
	diff_rename_vec_deinit(&d->renames);
	function_note_vec_deinit(&d->notes);
	profile_deinit(&d->both);
	*d = (struct profile_diff){0};
}
