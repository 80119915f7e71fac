/*
 * path_profile.c - gathers tables and single counts of .wmk files by (image, name_key, cfg_key) and number; path_flow.c then
 * computes blocks, edges and activations.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "object/demangle.h"
#include "model/paths/path_flow.h"
#include "model/paths/path_folded.h"
#include "model/paths/path_profile.h"

enum {
	WARNINGS_MAX = 50, /* different ones */
};

struct error *path_profile_init(struct path_profile *p, const struct object_search *search,
				struct image_cache *contexts_cache)
{
	*p = (struct path_profile){.search = search, .contexts_cache = contexts_cache};
	arena_init(&p->arena);
	return profile_init(&p->contexts);
}

void path_profile_deinit(struct path_profile *p)
{
	for (size_t i = 0; i < p->images.count; i++) {
		pathmeta_deinit(&p->images.items[i]->meta);
		error_destroy(p->images.items[i]->why);
		free(p->images.items[i]);
	}
	path_image_vec_deinit(&p->images);
	hashmap_deinit(&p->function_map);
	path_function_vec_deinit(&p->functions);
	hashmap_deinit(&p->entry_map);
	path_entry_vec_deinit(&p->entries);
	path_residual_vec_deinit(&p->residuals);
	profile_deinit(&p->contexts);
	path_recording_vec_deinit(&p->recordings);
	hashmap_deinit(&p->run_map);
	hidden_deinit(&p->folded.hidden);
	hashmap_deinit(&p->folded.names);
	path_index_vec_deinit(&p->run_recordings);
	arena_deinit(&p->arena);
	*p = (struct path_profile){0};
}

/* Takes err; NULL unless memory is short. */
static struct error *keep_warning(struct path_profile *p, struct error *err)
{
	struct error *failed;

	if (err->code == ERROR_NO_MEMORY)
		return err;
	failed = profile_warn(&p->contexts,
			      p->contexts.warnings.count < WARNINGS_MAX ? err->message : "and other reasons");
	error_destroy(err);
	return failed;
}

static uint64_t add(struct path_profile *p, uint64_t a, uint64_t b)
{
	uint64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	p->saturated++;
	return UINT64_MAX;
}

/* The key of a function; a table that contradicts the metadata is a function of its own. */
static struct key function_key(uint32_t image, bool is_contradicting, uint64_t name_key, uint64_t cfg_key)
{
	return (struct key){{(uint64_t)is_contradicting << 32 | image, name_key, cfg_key}};
}

static struct error *add_function(struct path_profile *p, const struct key *key, const struct path_function *new,
				  uint32_t *ret)
{
	struct path_function f = *new;
	struct error *err = hashmap_add(&p->function_map, key, ret);

	if (err || *ret < p->functions.count)
		return err;
	if (f.meta) {
		f.link_name = f.meta->link_name;
		f.name = demangle(&p->arena, f.meta->name);
	} else {
		f.name = arena_printf(&p->arena, "[%016" PRIx64 ":%016" PRIx64 "]", f.name_key, f.cfg_key);
		f.link_name = f.name;
	}
	return f.name ? path_function_vec_append(&p->functions, f) : &error_no_memory;
}

/* All functions of an image are there from the beginning: that one never ran is worth knowing. */
static struct error *add_meta_functions(struct path_profile *p, uint32_t image)
{
	const struct pathmeta *m = &p->images.items[image]->meta;
	struct error *err = NULL;

	for (uint32_t i = 0; i < m->function_count && !err; i++) {
		const struct pathmeta_function *f = &m->functions[i];
		struct path_function new = {.image = image,
					    .name_key = f->name_key,
					    .cfg_key = f->cfg_key,
					    .path_count = f->path_count,
					    .meta = f,
					    .kind = f->kind,
					    .is_at_entry = f->flags & WM1_PATHS_AT_ENTRY};
		struct key key = function_key(image, false, f->name_key, f->cfg_key);
		uint32_t number;

		err = add_function(p, &key, &new, &number);
	}
	return err;
}

static bool is_same_image(const struct path_image *image, const struct object_wanted *wanted)
{
	if (image->build_id.len_bytes || wanted->build_id.len_bytes)
		return build_id_equal(&image->build_id, &wanted->build_id);
	return strcmp(image->path, wanted->path) == 0;
}

static struct error *create_image(struct path_profile *p, const struct object_wanted *wanted, struct path_image **ret)
{
	struct path_image *image = calloc(1, sizeof *image);
	struct error *err = &error_no_memory;

	if (!image)
		return err;
	pathmeta_init(&image->meta);
	image->build_id = wanted->build_id;
	image->path = arena_strdup(&p->arena, wanted->path);
	if (image->path)
		err = path_image_vec_append(&p->images, image);
	if (err)
		free(image);
	else
		*ret = image;
	return err;
}

struct error *path_profile_add_image(struct path_profile *p, const struct object_wanted *wanted, struct pathmeta *m)
{
	struct path_image *image;
	struct error *err = create_image(p, wanted, &image);

	if (!err) {
		image->meta = *m;
		image->has_meta = true;
		pathmeta_init(m);
		err = add_meta_functions(p, (uint32_t)p->images.count - 1);
	}
	pathmeta_deinit(m);
	return err;
}

static struct error *get_image(struct path_profile *p, const struct object_wanted *wanted, uint32_t *ret)
{
	struct path_image *image;
	struct pathmeta m;
	struct error *why, *err;

	for (uint32_t i = 0; i < p->images.count; i++) {
		if (is_same_image(p->images.items[i], wanted)) {
			*ret = i;
			return NULL;
		}
	}
	pathmeta_init(&m);
	why = object_find_paths(p->search, wanted, &m);
	if (!why) {
		err = path_profile_add_image(p, wanted, &m);
	} else {
		err = create_image(p, wanted, &image);
		if (err)
			error_destroy(why);
		else
			image->why = why;
	}
	if (!err)
		*ret = (uint32_t)p->images.count - 1;
	return err;
}

/* The state of reading: tables of one image follow each other, so the last one is kept. */
struct gather {
	struct path_profile *p;
	const struct wmk_file *w;
	struct process process; /* of its calling contexts */
	bool has_process;
	bool has_image;
	uint32_t record_number;
	uint32_t image;
};

static struct error *find_image(struct gather *g, uint32_t record_number, uint32_t *ret)
{
	const struct wmk_file_image *i;
	struct object_wanted wanted = {.path = ""};
	struct error *err;

	if (g->has_image && g->record_number == record_number) {
		*ret = g->image;
		return NULL;
	}
	i = wmk_image_by_record(g->w, record_number);
	if (i) {
		wanted.path = i->path;
		wanted.build_id.len_bytes = i->record.build_id_bytes;
		memcpy(wanted.build_id.bytes, i->record.build_id, sizeof i->record.build_id);
	} else {
		err = keep_warning(g->p,
				   error_create(ERROR_FORMAT,
						"%s: counts of image %" PRIu32 ", which it does not have: damaged",
						g->w->name, record_number));
		if (err)
			return err;
	}
	err = get_image(g->p, &wanted, &g->image);
	if (err)
		return err;
	g->has_image = true;
	g->record_number = record_number;
	*ret = g->image;
	return NULL;
}

/* The function that a table or a single count is of. */
struct owner {
	uint64_t name_key;
	uint64_t cfg_key;
	uint64_t path_count;
	uint32_t image; /* record number */
	uint8_t kind;
	bool is_at_entry;
};

static struct error *find_function(struct gather *g, const struct owner *owner, uint32_t *ret)
{
	struct path_profile *p = g->p;
	struct path_function new = {.name_key = owner->name_key,
				    .cfg_key = owner->cfg_key,
				    .path_count = owner->path_count,
				    .kind = owner->kind,
				    .is_at_entry = owner->is_at_entry};
	struct key key;
	struct error *err = find_image(g, owner->image, &new.image);

	if (err)
		return err;
	key = function_key(new.image, false, owner->name_key, owner->cfg_key);
	if (hashmap_find(&p->function_map, &key, ret)) {
		struct path_function *f = &p->functions.items[*ret];

		if (f->path_count == owner->path_count) {
			/* the runtime's word counts: it made the table; a merged file's tables are of its own kinds */
			if (!(g->w->header.flags & WMK_FLAG_MERGED))
				f->kind = owner->kind;
			return NULL;
		}
		err = keep_warning(p, error_create(ERROR_FORMAT,
						   "%s: %s has %" PRIu64 " paths, its counts are of %" PRIu64
						   ": one of the two files is damaged",
						   g->w->name, f->name, f->path_count, owner->path_count));
		if (err)
			return err;
		key = function_key(new.image, true, owner->name_key, owner->cfg_key);
	}
	return add_function(p, &key, &new, ret);
}

/* number is below the function's path_count: the reader of .wmk files has seen to it. */
static struct error *add_count(struct gather *g, uint32_t function, uint64_t number, uint64_t count, bool is_inherited)
{
	struct path_profile *p = g->p;
	struct key key = {{function, number, 0}};
	uint32_t index;
	struct path_entry *entry;
	struct error *err;

	err = hashmap_add(&p->entry_map, &key, &index);
	if (!err && index == p->entries.count)
		err = path_entry_vec_append(&p->entries, (struct path_entry){.number = number, .function = function});
	if (err)
		return err;
	entry = &p->entries.items[index];
	if (is_inherited)
		entry->inherited = add(p, entry->inherited, count);
	else
		entry->count = add(p, entry->count, count);
	return NULL;
}

static struct error *add_table(struct gather *g, const struct wmk_path_table *table)
{
	const struct wmk_paths *r = &table->record;
	bool is_inherited = r->flags & WMK_PATHS_INHERITED;
	struct owner owner = {.name_key = r->name_key,
			      .cfg_key = r->cfg_key,
			      .path_count = r->path_count,
			      .image = r->image,
			      .kind = r->kind,
			      .is_at_entry = r->flags & WMK_PATHS_AT_ENTRY};
	uint32_t function;
	struct path_function *f;
	struct error *err = find_function(g, &owner, &function);

	if (err)
		return err;
	f = &g->p->functions.items[function];
	if (is_inherited)
		f->inherited = add(g->p, f->inherited, table->activations);
	else
		f->activations = add(g->p, f->activations, table->activations);
	f->table_count += !is_inherited;
	for (uint32_t i = 0; i < r->entry_count && !err; i++) {
		uint64_t number, count;

		if (wmk_table_count(g->w, table, i, &number, &count))
			err = add_count(g, function, number, count, is_inherited);
	}
	return err;
}

/* The calling context as a node of the tree of contexts; 0 when there is none. */
static struct error *add_context(struct gather *g, const struct wmk_path_count *r, uint32_t *ret)
{
	struct context_key key = {.id = r->id, .prefix = r->prefix, .site = r->site, .epoch = r->epoch};
	struct frame_vec frames = {0};
	uint32_t node = 0;
	struct error *err = NULL;

	*ret = 0;
	if (!r->prefix || !g->p->contexts_cache)
		return NULL;
	if (!g->has_process)
		err = process_init(&g->process, g->w, g->p->contexts_cache);
	g->has_process = !err;
	if (err)
		return err;
	err = context_decode(&g->process, &key, 0, &frames);
	if (err)
		err = keep_warning(g->p, error_context(err, "context of a residual path"));
	for (size_t i = 0; i < frames.count && !err; i++)
		err = profile_add_frame(&g->p->contexts, node, &frames.items[i], &node);
	frame_vec_deinit(&frames);
	if (!err)
		*ret = node;
	return err;
}

static struct error *add_residual(struct gather *g, uint32_t function, uint64_t number, const struct wmk_path_count *r)
{
	struct path_residual residual = {.function = function, .number = number, .count = r->count};
	struct path_function *f = &g->p->functions.items[function];
	struct error *err;

	f->residual = add(g->p, f->residual, r->count);
	err = add_context(g, r, &residual.node);
	return err ? err : path_residual_vec_append(&g->p->residuals, residual);
}

static struct error *add_single(struct gather *g, const struct wmk_path_count *r, uint64_t number)
{
	bool is_inherited = r->flags & WMK_PATHS_INHERITED;
	struct owner owner = {.name_key = r->name_key,
			      .cfg_key = r->cfg_key,
			      .path_count = r->path_count,
			      .image = r->image,
			      .kind = r->kind};
	uint32_t function;
	struct error *err = find_function(g, &owner, &function);

	if (!err)
		err = add_count(g, function, number, r->count, is_inherited);
	if (!err && r->flags & WMK_PATHS_RESIDUAL && !is_inherited && r->count)
		err = add_residual(g, function, number, r);
	return err;
}

static struct error *add_recording(struct path_profile *p, const struct wmk_file *w, uint64_t tables, uint64_t singles)
{
	struct path_recording r = {.path = arena_strdup(&p->arena, w->name),
				   .header = w->header,
				   .table_count = tables,
				   .single_count = singles,
				   .uncommitted = w->uncommitted,
				   .end = recording_end(w->name, &w->header)};

	if (!(w->header.flags & WMK_FLAG_MERGED))
		r.header.merged_runs = 0;
	r.truncated = w->truncated ? arena_strdup(&p->arena, w->truncated) : NULL;
	if (!r.path || (w->truncated && !r.truncated))
		return &error_no_memory;
	return path_recording_vec_append(&p->recordings, r);
}

/* A run that comes a second time, by itself or in a merged file, counts twice, and a note says so. */
static struct error *note_run(struct path_profile *p, const struct wmk_file *w, uint64_t run)
{
	struct key key = {{run, 0, 0}};
	uint32_t at;
	struct error *err = hashmap_add(&p->run_map, &key, &at);

	if (err)
		return err;
	if (at == p->run_recordings.count)
		return path_index_vec_append(&p->run_recordings, (uint32_t)p->recordings.count);
	return keep_warning(p, error_create(ERROR_MISMATCH,
					    "%s: run %016" PRIx64 " is in %s already: it counts twice, leave one out",
					    w->name, run, p->recordings.items[p->run_recordings.items[at]].path));
}

static struct error *note_runs(struct path_profile *p, const struct wmk_file *w)
{
	struct wmk_walk walk = {0};
	uint64_t run;
	struct error *err = NULL;

	if (!(w->header.flags & WMK_FLAG_MERGED))
		return note_run(p, w, w->header.run);
	while (!err && wmk_next_run(w, &walk, &run))
		err = note_run(p, w, run);
	return err;
}

struct error *path_profile_add_file(struct path_profile *p, const struct wmk_file *w)
{
	struct gather g = {.p = p, .w = w};
	struct wmk_walk walk = {0};
	struct wmk_path_table table;
	struct wmk_path_count single;
	uint64_t number, tables = 0, singles = 0;
	struct error *err = NULL;

	for (; !err && wmk_next_path_table(w, &walk, &table); tables++)
		err = add_table(&g, &table);
	walk = (struct wmk_walk){0};
	for (; !err && wmk_next_path_count(w, &walk, &single, &number); singles++)
		err = add_single(&g, &single, number);
	if (!err)
		err = note_runs(p, w);
	if (!err)
		err = add_recording(p, w, tables, singles);
	if (g.has_process)
		process_deinit(&g.process);
	return err;
}

static int compare_entries(const void *a, const void *b)
{
	const struct path_entry *x = a, *y = b;

	return compare_u64(x->function, y->function) ?: compare_u64(x->number, y->number);
}

static int compare_residuals(const void *a, const void *b)
{
	const struct path_residual *x = a, *y = b;

	return compare_u64(y->count, x->count) ?: compare_u64(x->function, y->function) ?: compare_u64(x->number, y->number) ?:
	       compare_u64(x->node, y->node);
}

/* Several threads and files have the same path in the same context. */
static void merge_residuals(struct path_profile *p)
{
	struct path_residual_vec *v = &p->residuals;
	struct hashmap seen = {0};
	size_t kept = 0;

	for (size_t i = 0; i < v->count; i++) {
		const struct path_residual *r = &v->items[i];
		struct key key = {{r->function, r->number, r->node}};
		uint32_t at;
		struct error *err = hashmap_add(&seen, &key, &at);

		if (err || at == kept) { /* short of memory: twice the line, no count lost */
			error_destroy(err);
			v->items[kept++] = *r;
		} else {
			v->items[at].count = add(p, v->items[at].count, r->count);
		}
	}
	v->count = kept;
	hashmap_deinit(&seen);
	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, compare_residuals);
}

static void mark_superseded(struct path_profile *p)
{
	struct hashmap ran = {0};

	for (size_t i = 0; i < p->functions.count; i++) {
		struct path_function *f = &p->functions.items[i];
		struct key key = {{f->image, f->name_key, 0}};
		uint32_t number;

		if (f->meta && (f->total || f->activations))
			error_destroy(hashmap_add(&ran, &key, &number));
	}
	for (size_t i = 0; i < p->functions.count; i++) {
		struct path_function *f = &p->functions.items[i];
		struct key key = {{f->image, f->name_key, 0}};
		uint32_t number;

		f->is_superseded = f->meta && !f->total && !f->activations && hashmap_find(&ran, &key, &number);
	}
	hashmap_deinit(&ran);
}

static void assign_entries(struct path_profile *p)
{
	struct path_entry_vec *v = &p->entries;

	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, compare_entries);
	for (size_t i = 0; i < v->count; i++) {
		struct path_function *f = &p->functions.items[v->items[i].function];

		if (!f->entry_count)
			f->entries = &v->items[i];
		f->entry_count++;
		f->run_count += v->items[i].count != 0;
		f->total = add(p, f->total, v->items[i].count);
		p->total = add(p, p->total, v->items[i].count);
	}
}

static bool is_planned(const struct pathmeta_function *m, uint64_t number)
{
	size_t count = count_up_to(m->planned, sizeof *m->planned, 0, sizeof *m->planned, m->planned_count, number);

	return count && m->planned[count - 1] == number;
}

/* Functions with a plan that count all their paths in one table all the same: what is outside the plan is found here. */
static struct error *find_unplanned(struct path_profile *p)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < p->functions.count && !err; i++) {
		struct path_function *f = &p->functions.items[i];

		if (!f->meta || !f->meta->has_plan || f->kind == WM1_PATHS_PLAN)
			continue;
		for (uint32_t j = 0; j < f->entry_count && !err; j++) {
			const struct path_entry *entry = &f->entries[j];
			struct path_residual residual = {.function = i, .number = entry->number, .count = entry->count};

			if (!entry->count || is_planned(f->meta, entry->number))
				continue;
			f->residual = add(p, f->residual, entry->count);
			err = path_residual_vec_append(&p->residuals, residual);
		}
	}
	return err;
}

struct error *path_profile_finish(struct path_profile *p)
{
	struct error *err;

	assign_entries(p);
	err = find_unplanned(p);
	merge_residuals(p);
	for (size_t i = 0; i < p->functions.count && !err; i++) {
		struct path_function *f = &p->functions.items[i];
		struct path_image *image = p->images.items[f->image];

		image->total = add(p, image->total, f->total);
		if (!f->meta)
			image->unknown = add(p, image->unknown, f->total);
		else
			err = path_flow_compute(p, f);
	}
	mark_superseded(p);
	if (!err)
		err = path_folded_find(p);
	for (size_t i = 0; i < p->images.count && !err; i++) {
		const struct path_image *image = p->images.items[i];

		if (image->why)
			err = profile_warn(&p->contexts, image->why->message);
	}
	return err;
}

struct error *path_profile_check_counts(const struct path_profile *p)
{
	for (size_t i = 0; i < p->recordings.count; i++)
		if (p->recordings.items[i].table_count || p->recordings.items[i].single_count)
			return NULL;
	return error_create(ERROR_NOT_FOUND,
			    "%s: no paths were recorded%s: build the program with waymark cc --wm=paths",
			    p->recordings.count ? p->recordings.items[0].path : "?",
			    p->recordings.count > 1 ? " in it and the other files" : "");
}

struct error *path_profile_note_shared(struct path_profile *field, const struct path_profile *tested)
{
	const char *first = NULL;
	uint32_t count = 0, at;

	for (uint32_t i = 0; i < field->run_map.count; i++) {
		if (!hashmap_find(&tested->run_map, &field->run_map.keys[i], &at))
			continue;
		if (count++ == 0)
			first = field->recordings.items[field->run_recordings.items[i]].path;
	}
	if (!count)
		return NULL;
	return keep_warning(field, error_create(ERROR_MISMATCH,
						"%s: %" PRIu32 " of the field's runs %s of the tests, too: "
						"leave recordings of tests, and plans made of them, out of --field",
						first, count, count == 1 ? "is one" : "are"));
}

struct error *path_profile_check_metadata(const struct path_profile *p)
{
	for (size_t i = 0; i < p->images.count; i++)
		if (p->images.items[i]->has_meta)
			return NULL;
	return p->images.count ? error_copy(p->images.items[0]->why) : NULL;
}
