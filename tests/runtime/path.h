/*
 * path.h - what code with path counters does, by hand, and what it finds in the file after.
 */
#ifndef WM_TESTS_RUNTIME_PATH_H
#define WM_TESTS_RUNTIME_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"
#include "waymark/paths.h"
#include "waymark/runtime.h"

extern const char __ehdr_start[];

#define PATH_FUNCTION(name, of_kind, of_bits, entries, key)                                 \
	static _Thread_local uint64_t *name##_slot;                                         \
	static struct wm1_path_function name = {                                            \
		.abi_version = WM1_ABI_VERSION,                                             \
		.kind = (of_kind),                                                          \
		.bits = (of_bits),                                                          \
		.name_key = (key),                                                          \
		.cfg_key = (key) * WM1_PATH_HASH,                                           \
		.path_count = (of_kind) == WM1_PATHS_ARRAY ? (entries) : UINT64_C(1) << 40, \
		.ehdr = __ehdr_start,                                                       \
		.entry_count = (entries),                                                   \
	}

static inline __attribute__((always_inline, unused)) void path_incq(volatile uint64_t *counter)
{
	__asm__ volatile("incq %0" : "+m"(*counter));
}

enum {
	PATH_BUNDLED = 3
};

/* Three arrays with one slot. Keys from `key` on. */
#define PATH_BUNDLED_FUNCTION(entries, key, follow) \
	{.abi_version = WM1_ABI_VERSION,            \
	 .kind = WM1_PATHS_ARRAY,                   \
	 .name_key = (key),                         \
	 .cfg_key = (key) * WM1_PATH_HASH,          \
	 .path_count = (entries),                   \
	 .ehdr = __ehdr_start,                      \
	 .entry_count = (entries),                  \
	 .more = (follow)}
#define PATH_BUNDLE(name, key)                                   \
	static _Thread_local uint64_t *name##_slot;              \
	static struct wm1_path_function name[PATH_BUNDLED] = {   \
		PATH_BUNDLED_FUNCTION(1, key, PATH_BUNDLED - 1), \
		PATH_BUNDLED_FUNCTION(10, (key) + 1, 0),         \
		PATH_BUNDLED_FUNCTION(3, (key) + 2, 0),          \
	}

/* Entry: the table. */
static inline __attribute__((always_inline, unused)) uint64_t *path_enter(const struct wm1_path_function *function,
									  uint64_t **slot)
{
	uint64_t *table = *(uint64_t *volatile *)slot;

	if (!table)
		table = wm1_path_enter(function, slot);
	path_incq(&table[0]);
	return table;
}

/* Entry of one in a bundle; the others' tables follow the first one's. */
static inline __attribute__((always_inline, unused)) uint64_t *
path_enter_bundled(const struct wm1_path_function *functions, uint64_t **slot, unsigned int which)
{
	uint64_t *table = *(uint64_t *volatile *)slot;
	unsigned int i;

	if (!table)
		table = wm1_path_enter(functions, slot);
	for (i = 0; i < which; i++)
		table +=
			((sizeof(struct wmk_paths) + 16 + 8 * (size_t)functions[i].entry_count + 15) & ~(size_t)15) / 8;
	path_incq(&table[0]);
	return table;
}

static inline __attribute__((always_inline, unused)) void path_end_array(uint64_t *table, uint64_t r)
{
	path_incq(&table[2 + r]);
}

/* bits is a constant: of 0 every path goes to the runtime. */
static inline __attribute__((always_inline, unused)) void path_end_hash(const struct wm1_path_function *function,
									uint64_t *table, uint64_t r, unsigned int bits)
{
	volatile uint64_t *pair = table + 2 + (bits ? 2 * ((r * WM1_PATH_HASH) >> (64 - bits)) : 0);

	if (bits && pair[0] == r)
		path_incq(&pair[1]);
	else
		wm1_path_miss(function, table, r);
}

/* The top bits of r are the index. */
static inline __attribute__((always_inline, unused)) void
path_end_plan(const struct wm1_path_function *function, uint64_t *table, uint64_t r, unsigned int bits, uint32_t site)
{
	volatile uint64_t *pair = table + 2 + 2 * (r >> (64 - bits));

	if (pair[0] == r)
		path_incq(&pair[1]);
	else
		wm1_path_residual(function, table, r, site);
}

/* A file as it is, without src/format. */
struct path_file {
	const struct wmk_header *header;
	size_t len_bytes;
};

__attribute__((unused)) static bool path_file_open(const char *path, struct path_file *ret)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (!CHECK(fd >= 0 && fstat(fd, &st) == 0))
		return false;
	ret->len_bytes = (size_t)st.st_size;
	ret->header = mmap(NULL, ret->len_bytes, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return CHECK(ret->header != MAP_FAILED);
}

__attribute__((unused)) static void path_file_close(struct path_file *p)
{
	munmap((void *)(uintptr_t)p->header, p->len_bytes);
}

/* What a file says of one function, its tables and single counts added up. */
struct path_sum {
	uint64_t tables;
	uint64_t begun;
	uint64_t ended; /* all counts */
	uint64_t inherited_tables;
	uint64_t inherited_begun;
	uint64_t inherited_ended;
	uint64_t singles; /* records of single paths */
	uint64_t residual;
	uint64_t with_context;
	uint64_t uncommitted;
	uint64_t path; /* counts of the one asked for */
};

static uint64_t path_record_bytes(const struct wmk_paths *record)
{
	return (80 + (record->kind == WM1_PATHS_ARRAY ? 8u : 16u) * (uint64_t)record->entry_count + 15) & ~UINT64_C(15);
}

static void path_add_table(const struct wmk_paths *record, uint64_t r, struct path_sum *sum)
{
	const uint64_t *words = (const uint64_t *)(record + 1);
	bool is_inherited = record->flags & WMK_PATHS_INHERITED;
	uint64_t ended = 0;
	uint32_t i;

	for (i = 0; i < record->entry_count; i++) {
		uint64_t check = record->kind == WM1_PATHS_ARRAY ? i : words[2 + 2 * i];
		uint64_t count = record->kind == WM1_PATHS_ARRAY ? words[2 + i] : words[3 + 2 * i];

		ended += count;
		if (check == r && !is_inherited)
			sum->path += count;
	}
	*(is_inherited ? &sum->inherited_tables : &sum->tables) += 1;
	*(is_inherited ? &sum->inherited_begun : &sum->begun) += words[0];
	*(is_inherited ? &sum->inherited_ended : &sum->ended) += ended;
}

static void path_add_single(const struct wmk_path_count *record, uint64_t r, struct path_sum *sum)
{
	if (record->flags & WMK_PATHS_INHERITED) {
		sum->inherited_ended += record->count;
		return;
	}
	sum->ended += record->count;
	sum->singles++;
	sum->residual += record->flags & WMK_PATHS_RESIDUAL ? record->count : 0;
	sum->with_context += record->prefix ? record->count : 0;
	if (record->r == r)
		sum->path += record->count;
}

static void path_walk_chunk(const struct wmk_chunk_header *chunk, uint64_t name_key, uint64_t r, struct path_sum *sum)
{
	const char *body = (const char *)(chunk + 1);
	uint64_t off = 0;

	while (chunk->kind == WMK_PATHS && off + sizeof(struct wmk_paths) <= chunk->used_bytes) {
		const struct wmk_paths *record = (const void *)(body + off);

		bool is_hole = record->name_key == 0 && record->cfg_key == 0;

		off += is_hole ? 16 : path_record_bytes(record);
		if (!is_hole && record->state == 0)
			sum->uncommitted++;
		if (!is_hole && record->state == 1 && record->name_key == name_key)
			path_add_table(record, r, sum);
	}
	for (; chunk->kind == WMK_PATH_COUNTS && off + sizeof(struct wmk_path_count) <= chunk->used_bytes;
	     off += sizeof(struct wmk_path_count)) {
		const struct wmk_path_count *record = (const void *)(body + off);

		if (record->kind && record->state == 0)
			sum->uncommitted++;
		if (record->kind && record->state == 1 && record->name_key == name_key)
			path_add_single(record, r, sum);
	}
}

/* Reads it as docs/format.md has it, on its own. */
static struct path_sum path_sum_of(const struct path_file *p, uint64_t name_key, uint64_t r)
{
	const struct wmk_header *header = p->header;
	struct path_sum sum = {0};
	uint32_t i = 0;

	while (i < header->chunk_count) {
		const struct wmk_chunk_header *chunk =
			(const void *)((const char *)p->header + WMK_HEADER_BYTES + (size_t)i * WMK_UNIT_BYTES);

		path_walk_chunk(chunk, name_key, r, &sum);
		i += chunk->span ? chunk->span : 1;
	}
	return sum;
}

/* src/format takes the file, and finds as much in it. */
static void path_check_read(const char *path, uint64_t name_key, const struct path_sum *sum)
{
	struct wmk_path_table table;
	struct wmk_path_count single;
	struct wmk_walk walk = {0};
	uint64_t begun = 0, ended = 0, number, count;
	struct profile p;

	if (!profile_open(path, &p))
		return;
	while (wmk_next_path_table(&p.file, &walk, &table)) {
		uint32_t i;

		if (table.record.name_key != name_key)
			continue;
		CHECK(wmk_image_by_record(&p.file, table.record.image) != NULL);
		begun += table.activations;
		for (i = 0; i < table.record.entry_count; i++)
			ended += wmk_table_count(&p.file, &table, i, &number, &count) ? count : 0;
	}
	walk = (struct wmk_walk){0};
	while (wmk_next_path_count(&p.file, &walk, &single, &number))
		ended += single.name_key == name_key ? single.count : 0;
	CHECK_U64(begun, sum->begun + sum->inherited_begun);
	CHECK_U64(ended, sum->ended + sum->inherited_ended);
	CHECK(p.file.truncated == NULL);
	profile_close(&p);
}

/* The same of that process's file. */
__attribute__((unused)) static struct path_sum path_sum_of_process(pid_t pid, uint64_t name_key, uint64_t r)
{
	struct path_sum sum = {0};
	struct path_file file;
	char path[512];

	if (CHECK(profile_path(pid, "", path)) && path_file_open(path, &file)) {
		sum = path_sum_of(&file, name_key, r);
		path_file_close(&file);
		path_check_read(path, name_key, &sum);
	}
	return sum;
}

#endif
