/* profile.c - the tree of contexts: strings, frames, nodes and cells, each interned in a hash map. */
#include <stdlib.h>
#include <string.h>

#include "model/contexts/profile.h"

struct error *profile_init(struct profile *p)
{
	struct error *err;

	*p = (struct profile){.max_depth = CONTEXT_DEPTH_MAX};
	arena_init(&p->arena);
	err = tree_node_vec_append(&p->nodes, (struct tree_node){0});
	if (err)
		profile_deinit(p);
	return err;
}

void profile_deinit(struct profile *p)
{
	hashmap_deinit(&p->string_map);
	profile_string_vec_deinit(&p->strings);
	hashmap_deinit(&p->frame_map);
	frame_vec_deinit(&p->frames);
	hashmap_deinit(&p->node_map);
	tree_node_vec_deinit(&p->nodes);
	hashmap_deinit(&p->cell_map);
	cell_vec_deinit(&p->cells);
	metric_vec_deinit(&p->metrics);
	profile_source_vec_deinit(&p->sources);
	profile_warning_vec_deinit(&p->warnings);
	profile_event_vec_deinit(&p->events);
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

static struct error *intern_frame(struct profile *p, const struct frame *frame, uint32_t *ret)
{
	uint32_t name, link_name, file = UINT32_MAX;
	struct key key;
	struct error *err = intern(p, frame->name, &name);

	if (!err)
		err = intern(p, frame->link_name ? frame->link_name : frame->name, &link_name);
	if (!err && frame->file)
		err = intern(p, frame->file, &file);
	if (err)
		return err;
	key = (struct key){{(uint64_t)name << 32 | link_name, (uint64_t)file << 32 | frame->line,
			    (uint64_t)frame->column << 32 | frame->flags}};
	err = hashmap_add(&p->frame_map, &key, ret);
	if (!err && *ret == p->frames.count) {
		struct frame copy = *frame;

		copy.name = p->strings.items[name];
		copy.link_name = p->strings.items[link_name];
		copy.file = frame->file ? p->strings.items[file] : NULL;
		err = frame_vec_append(&p->frames, copy);
	}
	return err;
}

struct error *profile_add_frame(struct profile *p, uint32_t parent, const struct frame *frame, uint32_t *ret_node)
{
	uint32_t number, node;
	struct error *err = intern_frame(p, frame, &number);
	struct key key = {{parent, 0, 0}};

	if (err)
		return err;
	key.words[1] = number;
	err = hashmap_add(&p->node_map, &key, &node);
	if (err)
		return err;
	node++; /* node 0 is the root, which is in no map */
	if (node == p->nodes.count) {
		struct tree_node new = {.parent = parent, .frame = number, .depth = p->nodes.items[parent].depth + 1};

		err = tree_node_vec_append(&p->nodes, new);
		if (err)
			return err;
	}
	*ret_node = node;
	return NULL;
}

struct error *profile_add_metric(struct profile *p, const char *name, enum metric_unit unit, bool is_maximum,
				 uint32_t *ret)
{
	struct metric metric = {.unit = unit, .is_maximum = is_maximum};
	struct error *err;

	for (size_t i = 0; i < p->metrics.count; i++) {
		const struct metric *m = &p->metrics.items[i];

		if (m->unit == unit && m->is_maximum == is_maximum && strcmp(m->name, name) == 0) {
			*ret = (uint32_t)i;
			return NULL;
		}
	}
	err = profile_copy_string(p, name, &metric.name);
	if (!err)
		err = metric_vec_append(&p->metrics, metric);
	if (!err)
		*ret = (uint32_t)(p->metrics.count - 1);
	return err;
}

static uint64_t add_saturated(struct profile *p, uint64_t a, uint64_t b)
{
	uint64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	p->saturated++;
	return UINT64_MAX;
}

struct error *profile_add_value(struct profile *p, uint32_t node, uint32_t metric, uint64_t value)
{
	struct key key = {{node, metric, 0}};
	struct metric *m = &p->metrics.items[metric];
	uint32_t number;
	struct cell *cell;
	struct error *err = hashmap_add(&p->cell_map, &key, &number);

	if (!err && number == p->cells.count)
		err = cell_vec_append(&p->cells, (struct cell){.node = node, .metric = metric});
	if (err)
		return err;
	cell = &p->cells.items[number];
	if (m->is_maximum) {
		cell->value = value > cell->value ? value : cell->value;
		m->total = value > m->total ? value : m->total;
	} else {
		cell->value = add_saturated(p, cell->value, value);
		m->total = add_saturated(p, m->total, value);
	}
	return NULL;
}

static struct error *add_warning(struct profile *p, uint64_t count, const char *text)
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
	return add_warning(p, 1, text);
}

struct error *profile_note(struct profile *p, const char *text)
{
	return add_warning(p, 0, text);
}
