/*
 * profile.c - the tree of contexts: strings, frames, nodes and cells, each interned in a hash map. There are millions of nodes and cells,
 * so their maps have no keys of their own (slotmap.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/profile.h"

enum {
	FRAMES_MIN = 1 << 23, /* that may be decoded of files of any size: two of the deepest contexts */
	FRAMES_PER_BYTE = 8,  /* a record of an event has 48 bytes, one of the heap 112 */
};

struct error *profile_init(struct profile *p)
{
	struct error *err;

	*p = (struct profile){.max_depth = CONTEXT_DEPTH_MAX, .frames_left = FRAMES_MIN};
	arena_init(&p->arena);
	err = tree_node_vec_append(&p->nodes, (struct tree_node){0});
	if (err)
		profile_deinit(p);
	return err;
}

const char *profile_source_label(const struct profile_source *s, const char *key)
{
	size_t len = strlen(key);

	for (const char *label = s->labels; label && *label; label += strlen(label) + 1)
		if (strncmp(label, key, len) == 0 && label[len] == '=')
			return label + len + 1;
	return NULL;
}

bool profile_takes(const struct profile *p, uint64_t realtime_ns, uint32_t tid, const char *thread)
{
	const struct profile_filter *f = p->filter;
	char number[16];

	if (!f)
		return true;
	snprintf(number, sizeof number, "%" PRIu32, tid);
	return realtime_ns >= f->from_ns && realtime_ns < f->to_ns &&
	       (!f->threads->count || patterns_match(f->threads, thread) || patterns_match(f->threads, number));
}

void profile_finish(struct profile *p)
{
	slotmap_deinit(&p->frame_map);
	slotmap_deinit(&p->node_map);
	slotmap_deinit(&p->cell_map);
}

void profile_deinit(struct profile *p)
{
	hashmap_deinit(&p->string_map);
	profile_string_vec_deinit(&p->strings);
	slotmap_deinit(&p->frame_map);
	frame_vec_deinit(&p->frames);
	slotmap_deinit(&p->node_map);
	tree_node_vec_deinit(&p->nodes);
	slotmap_deinit(&p->cell_map);
	cell_vec_deinit(&p->cells);
	profile_value_vec_deinit(&p->values);
	hashmap_deinit(&p->metric_map);
	profile_group_vec_deinit(&p->groups);
	metric_vec_deinit(&p->metrics);
	profile_source_vec_deinit(&p->sources);
	profile_warning_vec_deinit(&p->warnings);
	profile_event_vec_deinit(&p->events);
	hashmap_deinit(&p->text_map);
	source_text_vec_deinit(&p->texts);
	profile_heap_time_vec_deinit(&p->heap_times);
	profile_function_vec_deinit(&p->functions);
	hashmap_deinit(&p->function_images);
	arena_deinit(&p->arena);
	*p = (struct profile){0};
}

/* Two hashes of a text; with them, equal strings are found by their numbers. */
static struct key text_key(const char *text, uint64_t probe)
{
	struct key key = {{UINT64_C(0xcbf29ce484222325), UINT64_C(0x84222325cbf29ce4), probe}};

	for (; *text; text++) {
		key.words[0] = (key.words[0] ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
		key.words[1] = (key.words[1] + (uint8_t)*text) * UINT64_C(0x9e3779b97f4a7c15);
	}
	return key;
}

/* Texts whose hashes are equal and that are not, get a key of their own by a probe number. */
static struct error *intern(struct profile *p, const char *text, uint32_t *ret)
{
	for (uint64_t probe = 0;; probe++) {
		struct key key = text_key(text, probe);
		char *copy;
		uint32_t number;
		struct error *err = hashmap_add(&p->string_map, &key, &number);

		if (err)
			return err;
		if (number < p->strings.count && strcmp(p->strings.items[number], text) != 0)
			continue;
		if (number >= p->strings.count) {
			copy = arena_strdup(&p->arena, text);
			err = copy ? profile_string_vec_append(&p->strings, copy) : &error_no_memory;
			if (err)
				return err;
		}
		*ret = number;
		return NULL;
	}
}

struct error *profile_copy_string(struct profile *p, const char *text, const char **ret)
{
	uint32_t number;
	struct error *err = intern(p, text, &number);

	if (!err)
		*ret = p->strings.items[number];
	return err;
}

/* Strings of a profile's frames are interned: equal text is an equal pointer. */
static uint64_t hash_strings(const struct frame *f)
{
	return slotmap_hash(slotmap_hash((uintptr_t)f->name, (uintptr_t)f->link_name),
			    slotmap_hash((uintptr_t)f->file, (uintptr_t)f->image));
}

static uint64_t hash_frame(const void *keys, uint32_t number)
{
	const struct frame *f = (const struct frame *)keys + number;

	return slotmap_hash(hash_strings(f), slotmap_hash((uint64_t)f->line << 32 | f->column, f->flags));
}

static bool is_frame(const void *keys, uint32_t number, const void *key)
{
	const struct frame *a = (const struct frame *)keys + number, *b = key;

	return a->name == b->name && a->link_name == b->link_name && a->file == b->file && a->image == b->image &&
	       a->line == b->line && a->column == b->column && a->flags == b->flags;
}

/* *text may be NULL. */
static struct error *intern_text(struct profile *p, const char **text)
{
	return *text ? profile_copy_string(p, *text, text) : NULL;
}

struct error *profile_intern_frame(struct profile *p, const struct frame *frame, uint32_t *ret)
{
	struct frame new = *frame;
	uint32_t *slot;
	struct error *err;

	if (!new.link_name)
		new.link_name = new.name;
	err = intern_text(p, &new.name) ?: intern_text(p, &new.link_name) ?: intern_text(p, &new.file)
		       ?: intern_text(p, &new.image)
		       ?: slotmap_reserve(&p->frame_map, hash_frame, p->frames.items);
	if (err)
		return err;
	slot = slotmap_find(&p->frame_map, hash_frame(&new, 0), is_frame, p->frames.items, &new);
	if (!*slot) {
		err = frame_vec_append(&p->frames, new);
		if (err)
			return err;
		*slot = ++p->frame_map.count;
	}
	*ret = *slot - 1;
	return NULL;
}

static uint64_t hash_node(const void *keys, uint32_t number)
{
	const struct tree_node *node = (const struct tree_node *)keys + number;

	return slotmap_hash(node->parent, node->frame);
}

static bool is_node(const void *keys, uint32_t number, const void *key)
{
	const struct tree_node *node = (const struct tree_node *)keys + number, *wanted = key;

	return node->parent == wanted->parent && node->frame == wanted->frame;
}

struct error *profile_add_node(struct profile *p, uint32_t parent, uint32_t frame, uint32_t *ret_node)
{
	struct tree_node new = {.parent = parent, .frame = frame, .depth = p->nodes.items[parent].depth + 1};
	uint32_t *slot;
	struct error *err = slotmap_reserve(&p->node_map, hash_node, p->nodes.items + 1);

	if (err)
		return err;
	slot = slotmap_find(&p->node_map, slotmap_hash(parent, frame), is_node, p->nodes.items + 1, &new);
	if (!*slot) {
		err = tree_node_vec_append(&p->nodes, new);
		if (err)
			return err;
		*slot = ++p->node_map.count;
	}
	*ret_node = *slot; /* the root, 0, is in no map */
	return NULL;
}

struct error *profile_add_frame(struct profile *p, uint32_t parent, const struct frame *frame, uint32_t *ret_node)
{
	uint32_t number;
	struct error *err = profile_intern_frame(p, frame, &number);

	return err ? err : profile_add_node(p, parent, number, ret_node);
}

void profile_allow(struct profile *p, uint64_t file_bytes)
{
	p->file_bytes += file_bytes;
	p->frames_left += file_bytes * FRAMES_PER_BYTE;
}

struct error *profile_spend(struct profile *p, uint64_t frames)
{
	if (frames > p->frames_left)
		return error_create(ERROR_OVERFLOW,
				    "contexts have more frames in all than files of this size should have "
				    "(--max-depth leaves the deepest out)");
	p->frames_left -= frames;
	return NULL;
}

void profile_spend_most(struct profile *p, uint64_t frames)
{
	p->frames_left -= frames < p->frames_left ? frames : p->frames_left;
}

struct error *profile_add_metrics(struct profile *p, const struct metric *rows, uint32_t count, uint32_t *ret)
{
	uint32_t name, number;
	struct error *err = intern(p, rows[0].name, &name);

	/* An event and an import of its name have metrics of their own, with which other ones come. */
	if (!err)
		err = hashmap_add(&p->metric_map,
				  &(struct key){{name, rows[0].unit, rows[0].is_maximum | (uint64_t)count << 1}},
				  &number);
	if (err)
		return err;
	if (number < p->groups.count) {
		*ret = p->groups.items[number];
		return NULL;
	}
	*ret = (uint32_t)p->metrics.count;
	for (uint32_t i = 0; i < count && !err; i++) {
		struct metric metric = rows[i];

		metric.group = *ret;
		metric.group_size = count;
		err = profile_copy_string(p, rows[i].name, &metric.name);
		if (!err)
			err = metric_vec_append(&p->metrics, metric);
	}
	return err ? err : profile_group_vec_append(&p->groups, *ret);
}

bool profile_find_metric(const struct profile *p, const char *name, uint32_t *ret)
{
	for (uint32_t i = 0; i < p->metrics.count; i++) {
		if (strcmp(p->metrics.items[i].name, name) == 0) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static uint64_t add_saturated(struct profile *p, uint64_t a, uint64_t b)
{
	uint64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	p->saturated++;
	return UINT64_MAX;
}

static uint64_t hash_cell(const void *keys, uint32_t number)
{
	const struct cell *cell = (const struct cell *)keys + number;

	return slotmap_hash(cell->node, cell->group);
}

static bool is_cell(const void *keys, uint32_t number, const void *key)
{
	const struct cell *cell = (const struct cell *)keys + number, *wanted = key;

	return cell->node == wanted->node && cell->group == wanted->group;
}

/* *ret: index in values of the first of the group's at the node. */
static struct error *add_cell(struct profile *p, uint32_t node, uint32_t group, uint32_t *ret)
{
	struct cell new = {.node = node, .group = group, .first = (uint32_t)p->values.count};
	uint32_t *slot;
	struct error *err = slotmap_reserve(&p->cell_map, hash_cell, p->cells.items);

	if (err)
		return err;
	slot = slotmap_find(&p->cell_map, slotmap_hash(node, group), is_cell, p->cells.items, &new);
	if (!*slot) {
		if (p->values.count > UINT32_MAX - p->metrics.items[group].group_size)
			return &error_no_memory;
		err = cell_vec_append(&p->cells, new);
		for (uint32_t i = 0; i < p->metrics.items[group].group_size && !err; i++)
			err = profile_value_vec_append(&p->values, 0);
		if (err)
			return err;
		*slot = ++p->cell_map.count;
	}
	*ret = p->cells.items[*slot - 1].first;
	return NULL;
}

static void merge_value(struct profile *p, struct metric *m, uint64_t *at, uint64_t value)
{
	if (m->is_maximum) {
		*at = value > *at ? value : *at;
		m->total = value > m->total ? value : m->total;
	} else {
		*at = add_saturated(p, *at, value);
		m->total = add_saturated(p, m->total, value);
	}
}

struct error *profile_add_values(struct profile *p, uint32_t node, uint32_t group, const uint64_t *values)
{
	struct metric *m = &p->metrics.items[group];
	uint32_t first;
	struct error *err = add_cell(p, node, group, &first);

	for (uint32_t i = 0; i < m->group_size && !err; i++)
		merge_value(p, &m[i], &p->values.items[first + i], values[i]);
	return err;
}

struct error *profile_add_value(struct profile *p, uint32_t node, uint32_t metric, uint64_t value)
{
	struct metric *m = &p->metrics.items[metric];
	uint32_t first;
	struct error *err = add_cell(p, node, m->group, &first);

	if (!err)
		merge_value(p, m, &p->values.items[first + metric - m->group], value);
	return err;
}

struct error *profile_warn_times(struct profile *p, const char *text, uint64_t count)
{
	struct profile_warning warning = {.count = count};
	struct error *err;

	for (size_t i = 0; i < p->warnings.count; i++) {
		if (strcmp(p->warnings.items[i].text, text) == 0) {
			p->warnings.items[i].count += count;
			return NULL;
		}
	}
	err = profile_copy_string(p, text, &warning.text);
	return err ? err : profile_warning_vec_append(&p->warnings, warning);
}

struct error *profile_warn(struct profile *p, const char *text)
{
	return profile_warn_times(p, text, 1);
}

struct error *profile_note(struct profile *p, const char *text)
{
	return profile_warn_times(p, text, 0);
}

static struct error *note_other_text(struct profile *p, const char *file)
{
	char *text;
	struct error *err;

	if (asprintf(&text, "%s: archives have different texts of it, and that of the first is shown", file) < 0)
		return &error_no_memory;
	err = profile_note(p, text);
	free(text);
	return err;
}

struct error *profile_add_text(struct profile *p, const struct source_text *text)
{
	struct source_text new = *text;
	uint32_t number;
	struct error *err = profile_copy_string(p, text->file, &new.file) ?: profile_copy_string(p, text->text, &new.text)
		       ?: hashmap_add(&p->text_map, &(struct key){{(uintptr_t)new.file, new.line, 0}}, &number);

	if (err)
		return err;
	if (number == p->texts.count)
		return source_text_vec_append(&p->texts, new);
	return p->texts.items[number].text == new.text ? NULL : note_other_text(p, new.file);
}

struct error *profile_note_no_heap(struct profile *p, const char *path)
{
	char *text;
	struct error *err;

	if (asprintf(&text, "%s: its heap has no times and no threads: --time and --thread leave it out", path) < 0)
		return &error_no_memory;
	err = profile_note(p, text);
	free(text);
	return err;
}
