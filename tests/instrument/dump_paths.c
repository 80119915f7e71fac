/*
 * dump_paths.c - the counts of paths in recordings, as text that can be compared: by function, then by Ball-Larus number.
 *
 *      dump_paths SECTION FILE.wmk...      SECTION: the bytes of .debug_waymark_paths, for names
 *
 *      main 1 of 3 begun 1 ended 1         paths that ran, paths there are, activations begun, and ended at an exit
 *        0 1                                number, count
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <waymark/paths.h>

#include "base/vec.h"
#include "core/path_number.h"
#include "format/pathmeta.h"
#include "format/wmk.h"

struct row {
	const struct pathmeta_function *function;
	uint64_t number; /* BEGUN: activations begun */
	uint64_t count;
};
VEC_DECLARE(row_vec, struct row);

static const uint64_t BEGUN = UINT64_MAX;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "dump_paths: %s: %s\n", what, why);
	exit(1);
}

static void check(struct error *err)
{
	if (err)
		fail("cannot read", err->message);
}

static const void *map(const char *path, size_t *ret_len_bytes)
{
	struct stat info;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || fstat(file, &info))
		fail(path, "cannot open");
	void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (bytes == MAP_FAILED)
		fail(path, "cannot map");
	close(file);
	*ret_len_bytes = (size_t)info.st_size;
	return bytes;
}

static const struct pathmeta_function *find(const struct pathmeta *m, uint64_t name_key, uint64_t cfg_key)
{
	const struct pathmeta_function *f = pathmeta_find(m, name_key, cfg_key);
	if (!f)
		fail("a table", "of no function in the section");
	return f;
}

static void add_file(const struct pathmeta *m, const char *path, struct row_vec *rows)
{
	size_t len_bytes;
	const void *bytes = map(path, &len_bytes);
	struct wmk_file file;
	check(wmk_read(bytes, len_bytes, path, &file));
	struct wmk_walk walk = {0};
	struct wmk_path_table table;
	while (wmk_next_path_table(&file, &walk, &table)) {
		const struct pathmeta_function *f = find(m, table.record.name_key, table.record.cfg_key);
		check(row_vec_append(rows, (struct row){f, BEGUN, table.begun}));
		for (uint32_t i = 0; i < table.record.entry_count; i++) {
			struct row row = {.function = f};
			if (wmk_table_count(&file, &table, i, &row.number, &row.count))
				check(row_vec_append(rows, row));
		}
	}
	walk = (struct wmk_walk){0};
	struct wmk_path_count single;
	uint64_t number;
	while (wmk_next_path_count(&file, &walk, &single, &number)) {
		const struct pathmeta_function *f = find(m, single.name_key, single.cfg_key);
		check(row_vec_append(rows, (struct row){f, number, single.count}));
	}
	wmk_file_deinit(&file);
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	/* what begins before what ends */
	uint64_t p = x->number + 1, q = y->number + 1;
	return (p > q) - (p < q);
}

/* Paths of one activation that go on in another end at a cut edge, or before a jump. */
static uint64_t count_ended(const struct row *rows, size_t count)
{
	const struct pathmeta_function *f = rows->function;
	struct arena arena;
	arena_init(&arena);
	struct path_numbering numbering;
	check(path_number(&f->cfg, &arena, &numbering));
	struct path path = {.edges = arena_calloc(&arena, f->cfg.node_count, sizeof(uint32_t))};
	uint64_t ended = 0;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].number == BEGUN)
			continue;
		path_regenerate(&f->cfg, &numbering, rows[i].number, &path);
		uint32_t out = f->cfg.first_edge[path.end_node];
		bool goes_on = path.end_edge != NO_EDGE ||
			       (out < f->cfg.first_edge[path.end_node + 1] && f->cfg.edges[out].cut == CFG_CUT_JUMP);
		ended += goes_on ? 0 : rows[i].count;
	}
	arena_deinit(&arena);
	return ended;
}

static void print_function(const struct row *rows, size_t count)
{
	const struct pathmeta_function *f = rows->function;
	uint64_t begun = rows[0].number == BEGUN ? rows[0].count : 0;
	size_t first = rows[0].number == BEGUN;
	uint64_t ended = count_ended(rows, count);
	if (f->flags & WM1_PATHS_AT_ENTRY)
		begun = ended;
	printf("%s %zu of %llu begun %llu ended %llu\n", f->name, count - first, (unsigned long long)f->path_count,
	       (unsigned long long)begun, (unsigned long long)ended);
	for (size_t i = first; i < count; i++)
		printf("  %llu %llu\n", (unsigned long long)rows[i].number, (unsigned long long)rows[i].count);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		fail("usage", "dump_paths SECTION FILE.wmk...");
	struct pathmeta meta;
	struct row_vec rows = {0};
	size_t len_bytes;
	const void *section = map(argv[1], &len_bytes);
	pathmeta_init(&meta);
	check(pathmeta_read(section, len_bytes, argv[1], &meta));
	for (int i = 2; i < argc; i++)
		add_file(&meta, argv[i], &rows);
	if (!rows.count)
		fail(argv[2], "no counts");
	qsort(rows.items, rows.count, sizeof *rows.items, compare_rows);
	size_t kept = 0;
	for (size_t i = 0; i < rows.count; i++) {
		if (kept && !compare_rows(&rows.items[kept - 1], &rows.items[i]))
			rows.items[kept - 1].count += rows.items[i].count;
		else
			rows.items[kept++] = rows.items[i];
	}
	for (size_t i = 0, next; i < kept; i = next) {
		for (next = i + 1; next < kept && rows.items[next].function == rows.items[i].function;)
			next++;
		print_function(&rows.items[i], next - i);
	}
	row_vec_deinit(&rows);
	pathmeta_deinit(&meta);
	return 0;
}
