/*
 * crash_coverage.c - coverage over the whole run: the bytes that instrumented code set, in section wm1_coverage of each image.
 *
 * A byte that is not set says something only if the code that would set it was the one that ran: of a function with several
 * schemes wm1_chosen says which did. Inline functions of several units have bytes in each of them: where one copy is not
 * known, none is.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "format/scheme.h"
#include "snapshot/image/elf.h"
#include "model/crash/crash_build.h"

enum {
	SCHEME_UNKNOWN = 1 << WM1_SCHEME_BITS,
	NAME_BYTES_MAX = 4096,
};

_Static_assert(sizeof(struct wm1_tunable) == 28, "ABI");

/* Names of tunable functions with the scheme that ran: SCHEME_UNKNOWN where functions of one name differ. */
struct chosen {
	struct hashmap names;
	uint8_t *schemes;
};

struct wanted {
	const char *name;
	struct snapshot_section found; /* name NULL: not found */
};

static bool visit(void *data, const struct snapshot_section *section)
{
	struct wanted *wanted = data;
	bool is_wanted = section->name && strcmp(section->name, wanted->name) == 0;

	if (is_wanted)
		wanted->found = *section;
	return !is_wanted;
}

/* Where a loaded section is in memory. */
static bool find_section(const struct snapshot_module *m, const char *name, uint64_t *ret, uint64_t *ret_bytes)
{
	struct wanted wanted = {.name = name};

	snapshot_sections_each(m, visit, &wanted);
	*ret = wanted.found.address;
	*ret_bytes = wanted.found.len_bytes;
	return wanted.found.name;
}

static bool read_name(const struct snapshot *s, uint64_t address, char name[NAME_BYTES_MAX])
{
	for (size_t i = 0; i < NAME_BYTES_MAX; i++) {
		if (!snapshot_read(s, address + i, &name[i], 1))
			return false;
		if (!name[i])
			return true;
	}
	return false;
}

static struct error *take_tunable(const struct snapshot *s, uint64_t address, const struct wm1_tunable *t,
				  struct chosen *ret)
{
	uint64_t name_at = address + offsetof(struct wm1_tunable, name) + (uint64_t)(int64_t)t->name;
	uint64_t chosen_at = address + offsetof(struct wm1_tunable, chosen) + (uint64_t)(int64_t)t->chosen;
	char name[NAME_BYTES_MAX];
	uint8_t chosen, scheme = SCHEME_UNKNOWN;
	uint32_t number, count = ret->names.count;
	struct key key;
	struct error *err;

	if (!read_name(s, name_at, name))
		return NULL;
	if (snapshot_read(s, chosen_at, &chosen, 1) && chosen < t->count && chosen < sizeof t->schemes &&
	    scheme_exists(t->schemes[chosen]))
		scheme = t->schemes[chosen];
	key = key_of_text(name);
	err = hashmap_add(&ret->names, &key, &number);
	if (err)
		return err;
	if (number == count)
		ret->schemes[number] = scheme;
	else if (ret->schemes[number] != scheme)
		ret->schemes[number] = SCHEME_UNKNOWN;
	return NULL;
}

static struct error *read_chosen(const struct crash *c, uint32_t image, struct chosen *ret)
{
	uint64_t start, len_bytes;
	struct error *err = NULL;

	if (!find_section(&c->stopped->modules[image], "wm1_tunables", &start, &len_bytes))
		return NULL;
	if (len_bytes / sizeof(struct wm1_tunable) > UINT32_MAX)
		return NULL;
	ret->schemes = calloc(len_bytes / sizeof(struct wm1_tunable) + 1, 1);
	if (!ret->schemes)
		return &error_no_memory;
	for (uint64_t off = 0; off + sizeof(struct wm1_tunable) <= len_bytes && !err;
	     off += sizeof(struct wm1_tunable)) {
		struct wm1_tunable t;

		if (!snapshot_read(c->stopped, start + off, &t, sizeof t))
			break;
		err = take_tunable(c->stopped, start + off, &t, ret);
	}
	return err;
}

static uint8_t scheme_of(const struct tracemeta_function *f, const struct pathmeta_function *flow,
			 const struct chosen *chosen)
{
	struct key key;
	uint32_t number;

	if (!f->is_tunable)
		return f->variant_count == 1 ? f->variants[0].scheme
		       : f->variant_count    ? SCHEME_UNKNOWN
					     : WM1_SCHEME_NONE;
	key = key_of_text(flow->name);
	if (hashmap_find(&chosen->names, &key, &number))
		return chosen->schemes[number];
	key = key_of_text(flow->link_name);
	return hashmap_find(&chosen->names, &key, &number) ? chosen->schemes[number] : SCHEME_UNKNOWN;
}

static struct error *read_bytes(struct crash *c, uint64_t address, uint32_t count, uint8_t **ret)
{
	uint8_t *used = arena_calloc(&c->arena, (size_t)count + 1, 1);

	if (!used)
		return &error_no_memory;
	if (!snapshot_read(c->stopped, address, used, count))
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		used[i] = used[i] ? POINT_USED : POINT_UNUSED;
	*ret = used;
	return NULL;
}

static struct error *read_function(struct crash *c, uint32_t image, uint32_t index, const struct chosen *chosen)
{
	const struct object_trace *t = &c->images[image].trace;
	const struct tracemeta_function *f = &t->meta.functions[index];
	uint32_t number = c->first_function[image] + index;
	uint64_t base = t->points.coverage[f->unit];
	uint8_t scheme = scheme_of(f, t->flows[index], chosen);
	uint8_t *entered = NULL;
	struct error *err = NULL;

	if (!base || scheme == SCHEME_UNKNOWN)
		return NULL;
	base += c->stopped->modules[image].bias;
	if (tracemeta_covers_entry(f, scheme))
		err = read_bytes(c, base + f->function_off, 1, &entered);
	if (entered)
		c->entered[number] = entered[0];
	if (!err && scheme & WM1_SCHEME_CALLS && f->calls_off != TRACE_NO_OFFSET)
		err = read_bytes(c, base + f->calls_off, f->call_count, &c->calls_used[number]);
	for (uint32_t i = 0; c->calls_used[number] && i < f->call_count; i++)
		if (c->calls_used[number][i] == POINT_USED)
			c->entered[number] = POINT_USED;
	if (!err && scheme & WM1_SCHEME_BLOCKS && f->blocks_off != TRACE_NO_OFFSET)
		err = read_bytes(c, base + f->blocks_off, f->node_count, &c->nodes_used[number]);
	if (c->nodes_used[number] && f->node_count)
		c->entered[number] = c->nodes_used[number][0];
	return err;
}

static struct error *read_image(struct crash *c, uint32_t image)
{
	struct chosen chosen = {0};
	struct error *err = NULL;

	if (!c->images[image].is_traced)
		return NULL;
	err = read_chosen(c, image, &chosen);
	for (uint32_t i = 0; i < c->images[image].trace.meta.function_count && !err; i++)
		err = read_function(c, image, i, &chosen);
	hashmap_deinit(&chosen.names);
	free(chosen.schemes);
	return err;
}

static void forget_unused(uint8_t *used, uint32_t count)
{
	for (uint32_t i = 0; used && i < count; i++)
		if (used[i] == POINT_UNUSED)
			used[i] = POINT_UNKNOWN;
}

/* Facts that are not known of a copy of a function. */
enum {
	SILENT_ENTERED = 1,
	SILENT_CALLS = 2,
	SILENT_NODES = 4,
};

static uint8_t silence_of(const struct crash *c, uint32_t function)
{
	return (uint8_t)((c->entered[function] == POINT_UNKNOWN ? SILENT_ENTERED : 0) |
			 (c->calls_used[function] ? 0 : SILENT_CALLS) | (c->nodes_used[function] ? 0 : SILENT_NODES));
}

static void silence(struct crash *c, const struct tracemeta_function *meta, uint32_t function, uint8_t what)
{
	if (what & SILENT_ENTERED)
		forget_unused(&c->entered[function], 1);
	if (what & SILENT_CALLS)
		forget_unused(c->calls_used[function], meta->call_count);
	if (what & SILENT_NODES)
		forget_unused(c->nodes_used[function], meta->node_count);
}

/* Gives copies of one function one number: number_of[total]. */
static struct error *number_copies(const struct crash *c, uint32_t *number_of)
{
	CLEANUP(hashmap_deinit) struct hashmap keys = {0};
	struct error *err = NULL;

	for (uint32_t i = 0; i < c->stopped->module_count; i++) {
		for (uint32_t at = c->first_function[i]; at < c->first_function[i + 1] && !err; at++) {
			const struct tracemeta_function *meta =
				&c->images[i].trace.meta.functions[at - c->first_function[i]];

			err = hashmap_add(&keys, &(struct key){{meta->name_key, 0, 0}}, &number_of[at]);
		}
	}
	return err;
}

/* Copies of one function, in several units or images: where one is not known, none is. */
static struct error *join_copies(struct crash *c)
{
	uint32_t total = c->first_function[c->stopped->module_count];
	CLEANUP(arena_deinit) struct arena scratch = {0};
	uint32_t *number_of = arena_calloc(&scratch, (size_t)total + 1, sizeof *number_of);
	uint8_t *is_silent = arena_calloc(&scratch, (size_t)total + 1, 1); /* SILENT_*, of each number */
	struct error *err;

	if (!number_of || !is_silent)
		return &error_no_memory;
	err = number_copies(c, number_of);
	if (err)
		return err;
	for (uint32_t at = 0; at < total; at++)
		is_silent[number_of[at]] |= silence_of(c, at);
	for (uint32_t i = 0; i < c->stopped->module_count; i++)
		for (uint32_t at = c->first_function[i]; at < c->first_function[i + 1]; at++)
			silence(c, &c->images[i].trace.meta.functions[at - c->first_function[i]], at,
				is_silent[number_of[at]]);
	return NULL;
}

struct error *crash_read_coverage(struct crash *c)
{
	uint32_t total;
	struct error *err = NULL;

	c->first_function = arena_calloc(&c->arena, (size_t)c->stopped->module_count + 1, sizeof *c->first_function);
	if (!c->first_function)
		return &error_no_memory;
	for (uint32_t i = 0; i < c->stopped->module_count; i++)
		c->first_function[i + 1] = c->first_function[i] + c->images[i].trace.meta.function_count;
	total = c->first_function[c->stopped->module_count];
	c->calls_used = arena_calloc(&c->arena, (size_t)total + 1, sizeof *c->calls_used);
	c->nodes_used = arena_calloc(&c->arena, (size_t)total + 1, sizeof *c->nodes_used);
	c->entered = arena_calloc(&c->arena, (size_t)total + 1, 1);
	if (!c->calls_used || !c->nodes_used || !c->entered)
		return &error_no_memory;
	for (uint32_t i = 0; i < c->stopped->module_count && !err; i++)
		err = read_image(c, i);
	return err ? err : join_copies(c);
}
