/* frame_keys.c - numbers keys in the order of frames, each frame once; nodes take the key of their frame. */
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "model/base/frame_module.h"
#include "model/tables/frame_keys.h"

static const char no_thread[] = "[no thread]";

/* Strings of a profile are interned: equal text is an equal pointer. */
static uint64_t word_of(const char *interned)
{
	return (uint64_t)(uintptr_t)interned;
}

static bool is_thread(const struct frame *f)
{
	static const char thread[] = "[thread "; /* thread_frames.h */

	return f->flags & FRAME_ROOT && strncmp(f->name, thread, strlen(thread)) == 0;
}

/* NULL: no memory. */
static const char *name_of(struct arena *arena, const struct frame *f, enum frame_key kind)
{
	switch (kind) {
	case KEY_FUNCTION:
	case KEY_LINE:
	case KEY_CONTEXT:
		break;
	case KEY_MODULE:
		return frame_module(arena, f);
	case KEY_IMAGE:
		return f->image ? f->image : frame_no_image;
	case KEY_THREAD:
		return is_thread(f) ? f->name : no_thread;
	}
	return f->name;
}

static struct key key_of(const struct frame *f, const char *name, enum frame_key kind)
{
	if (kind == KEY_FUNCTION)
		return (struct key){{word_of(f->name), 0, 0}};
	if (kind == KEY_LINE)
		return (struct key){{word_of(f->name), f->line ? word_of(f->file) : 0, f->line}};
	return key_of_text_safe(name, 0);
}

/* ret: by frame. */
static struct error *number_frames(const struct profile *p, enum frame_key kind, uint32_t *ret, struct frame_keys *keys)
{
	struct hashmap map = {0};
	struct error *err = NULL;

	for (uint32_t i = 0; i < p->frames.count && !err; i++) {
		const char *name = name_of(&keys->arena, &p->frames.items[i], kind);
		struct key key;

		if (!name) {
			err = &error_no_memory;
			break;
		}
		key = key_of(&p->frames.items[i], name, kind);
		err = hashmap_add(&map, &key, &ret[i]);
		if (err || ret[i] < keys->count)
			continue;
		keys->names[keys->count] = name;
		keys->examples[keys->count++] = i;
	}
	hashmap_deinit(&map);
	return err;
}

/* Nodes whose frames have the same names from the root on. Keys of parents come first; key 0 is the root's. */
static struct error *number_nodes(const struct profile *p, struct frame_keys *keys)
{
	struct hashmap map = {0};
	struct error *err = NULL;

	keys->count = 1;
	for (uint32_t n = 1; n < p->nodes.count && !err; n++) {
		const struct tree_node *node = &p->nodes.items[n];
		const char *name = p->frames.items[node->frame].name;
		uint32_t number;

		err = hashmap_add(&map, &(struct key){{keys->of_nodes[node->parent], word_of(name), 0}}, &number);
		if (err)
			break;
		keys->of_nodes[n] = number + 1;
		if (number + 1 < keys->count)
			continue;
		keys->names[keys->count] = name;
		keys->nodes[keys->count] = n;
		keys->examples[keys->count++] = node->frame;
	}
	hashmap_deinit(&map);
	return err;
}

static struct error *create_of_nodes(const struct profile *p, struct frame_keys *ret)
{
	struct frame_keys keys = {.of_nodes = calloc(p->nodes.count, sizeof *keys.of_nodes),
				  .examples = calloc(p->nodes.count, sizeof *keys.examples),
				  .nodes = calloc(p->nodes.count, sizeof *keys.nodes),
				  .names = calloc(p->nodes.count, sizeof *keys.names)};
	struct error *err;

	arena_init(&keys.arena);
	err = keys.of_nodes && keys.examples && keys.nodes && keys.names ? number_nodes(p, &keys) : &error_no_memory;
	if (err)
		frame_keys_deinit(&keys);
	else
		*ret = keys;
	return err;
}

static struct error *create_of_frames(const struct profile *p, enum frame_key kind, struct frame_keys *ret)
{
	struct frame_keys keys = {.of_nodes = calloc(p->nodes.count, sizeof *keys.of_nodes),
				  .examples = calloc(p->frames.count + 1, sizeof *keys.examples),
				  .names = calloc(p->frames.count + 1, sizeof *keys.names)};
	uint32_t *of_frames = calloc(p->frames.count + 1, sizeof *of_frames);
	bool is_there = keys.of_nodes && keys.examples && keys.names && of_frames;
	struct error *err;

	arena_init(&keys.arena);
	err = is_there ? number_frames(p, kind, of_frames, &keys) : &error_no_memory;
	if (err) {
		frame_keys_deinit(&keys);
	} else {
		for (size_t n = 1; n < p->nodes.count; n++) {
			const struct tree_node *node = &p->nodes.items[n];

			keys.of_nodes[n] = kind == KEY_THREAD && node->parent ? keys.of_nodes[node->parent]
									      : of_frames[node->frame];
		}
		*ret = keys;
	}
	free(of_frames);
	return err;
}

struct error *frame_keys_create(const struct profile *p, enum frame_key kind, struct frame_keys *ret)
{
	return kind == KEY_CONTEXT ? create_of_nodes(p, ret) : create_of_frames(p, kind, ret);
}

void frame_keys_deinit(struct frame_keys *keys)
{
	free(keys->of_nodes);
	free(keys->examples);
	free(keys->nodes);
	free(keys->names);
	arena_deinit(&keys->arena);
	*keys = (struct frame_keys){0};
}

/* ---- functions that allocate ---- */

static bool is_allocator(const struct frame *f)
{
	static const char *const names[] = {"malloc", "calloc",  "realloc",       "reallocarray",  "memalign",
					    "valloc", "pvalloc", "aligned_alloc", "posix_memalign"};
	/* operator new and new[], with any parameters */
	static const char new_one[] = "_Znwm", new_array[] = "_Znam";

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(f->link_name, names[i]) == 0)
			return true;
	return strncmp(f->link_name, new_one, strlen(new_one)) == 0 ||
	       strncmp(f->link_name, new_array, strlen(new_array)) == 0;
}

struct error *frame_keys_allocators(const struct profile *p, uint32_t **ret)
{
	bool *allocates = calloc(p->frames.count + 1, sizeof *allocates);
	uint32_t *owners = calloc(p->nodes.count, sizeof *owners);

	if (!allocates || !owners) {
		free(allocates);
		free(owners);
		return &error_no_memory;
	}
	for (size_t i = 0; i < p->frames.count; i++)
		allocates[i] = is_allocator(&p->frames.items[i]);
	for (uint32_t n = 1; n < p->nodes.count; n++) {
		uint32_t parent = p->nodes.items[n].parent;

		owners[n] = parent && allocates[p->nodes.items[n].frame] ? owners[parent] : n;
	}
	free(allocates);
	*ret = owners;
	return NULL;
}

struct error *frame_keys_self(const struct profile *p, const struct metric *m, const uint32_t *keys, uint32_t **ret)
{
	struct error *err;

	*ret = NULL;
	if (!m->is_of_heap)
		return NULL;
	err = frame_keys_allocators(p, ret);
	for (size_t n = 1; !err && n < p->nodes.count; n++)
		(*ret)[n] = keys[(*ret)[n]];
	return err;
}
