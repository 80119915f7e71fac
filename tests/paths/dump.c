/*
 * dump.c - what was counted, as sorted text: of Waymark (recordings and the metadata of the binaries, by way of src/format
 * and src/core), and of the trace that is its oracle. Both must be the same.
 *
 *	dump waymark BINARY... -- FILE.wmk...
 *	dump trace TRACE BINARY...
 *	dump numbers BINARY... -- FILE.wmk...
 *
 *	function<TAB>block,block,...<TAB>count
 *	function<TAB>unfinished<TAB>count
 *
 * `numbers` has a path's Ball-Larus number for its blocks, which tells edges between the same blocks apart.
 *
 * The binaries tell the trace which functions Waymark says that it does not count, and where it splits functions of too many
 * paths (whose choice is not the oracle's to make).
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/vec.h"
#include "core/paths/path_number.h"
#include "format/pathmeta.h"
#include "format/wmk.h"
#include "trace.h"

struct entry {
	char *text; /* up to the count */
	int64_t count;
};
VEC_DECLARE(entry_vec, struct entry);
VEC_DECLARE(block_vec, uint32_t);

static struct entry_vec entries;
static struct pathmeta *metas;
static int meta_count;
static bool want_numbers;

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	fprintf(stderr, "dump: ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	exit(2);
}

static void check(struct error *err)
{
	if (err)
		fail("%s", err->message);
}

static const uint8_t *map(const char *path, size_t *ret_len_bytes)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		fail("%s: cannot read it", path);
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		fail("%s: cannot map it", path);
	close(fd);
	*ret_len_bytes = (size_t)st.st_size;
	return bytes;
}

/* The binaries are ours: no checks of bounds. */
static void read_meta(const char *path, struct pathmeta *ret)
{
	size_t len_bytes;
	const uint8_t *bytes = map(path, &len_bytes);
	const Elf64_Ehdr *header = (const void *)bytes;
	const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
	const char *names = (const char *)bytes + sections[header->e_shstrndx].sh_offset;
	pathmeta_init(ret);
	for (int i = 0; i < header->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, ".debug_waymark_paths")) {
			check(pathmeta_read(bytes + sections[i].sh_offset, sections[i].sh_size, path, ret));
			return;
		}
	fail("%s: has no .debug_waymark_paths", path);
}

static void read_metas(char **paths, int count)
{
	metas = calloc((size_t)count + 1, sizeof *metas);
	meta_count = count;
	for (int i = 0; i < count; i++)
		read_meta(paths[i], &metas[i]);
}

__attribute__((format(printf, 2, 3))) static void add(int64_t count, const char *format, ...)
{
	struct entry entry = {.count = count};
	va_list ap;
	va_start(ap, format);
	if (vasprintf(&entry.text, format, ap) < 0)
		fail("no memory");
	va_end(ap);
	check(entry_vec_append(&entries, entry));
}

static void add_path(const char *name, const uint32_t *blocks, size_t block_count, uint64_t count)
{
	struct buffer text = {0};
	for (size_t i = 0; i < block_count; i++)
		buffer_printf(&text, "%s%" PRIu32, i ? "," : "", blocks[i]);
	add((int64_t)count, "%s\t%.*s", name, (int)text.len_bytes, (const char *)text.bytes);
	buffer_deinit(&text);
}

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->text, ((const struct entry *)b)->text);
}

static void print_entries(void)
{
	if (entries.count)
		qsort(entries.items, entries.count, sizeof *entries.items, compare_entries);
	for (size_t i = 0, end; i < entries.count; i = end) {
		int64_t sum = 0;
		for (end = i; end < entries.count && !strcmp(entries.items[i].text, entries.items[end].text); end++)
			sum += entries.items[end].count;
		if (sum)
			printf("%s\t%" PRId64 "\n", entries.items[i].text, sum);
	}
}

/* ---- Waymark's side ---- */

struct counted {
	const struct pathmeta_function *function;
	struct path_numbering numbering;
	uint32_t *edges;
	uint32_t *blocks;
	char name[300];
};

/* Numbers each function once. */
static struct counted *find_counted(uint64_t name_key, uint64_t cfg_key)
{
	static struct counted **known;
	static int *starts;
	if (!known) {
		size_t total = 0;
		starts = calloc((size_t)meta_count + 1, sizeof *starts);
		for (int i = 0; i < meta_count; i++) {
			starts[i] = (int)total;
			total += metas[i].function_count;
		}
		known = calloc(total + 1, sizeof(struct counted *));
	}
	for (int i = 0; i < meta_count; i++) {
		const struct pathmeta_function *f = pathmeta_find(&metas[i], name_key, cfg_key);
		if (!f)
			continue;
		struct counted **c = &known[starts[i] + (f - metas[i].functions)];
		if (*c)
			return *c;
		*c = calloc(1, sizeof **c);
		(*c)->function = f;
		(*c)->edges = calloc(f->cfg.node_count, sizeof(uint32_t));
		(*c)->blocks = calloc(f->cfg.node_count + 1, sizeof(uint32_t));
		snprintf((*c)->name, sizeof(*c)->name, "%s/%" PRIx64, f->link_name, name_key);
		check(path_number(&f->cfg, &metas[i].arena, &(*c)->numbering));
		return *c;
	}
	fail("counts of function %" PRIx64 " %" PRIx64 ", which no binary has", name_key, cfg_key);
}

/* Of an inherited record only what it says about activations counts. */
static void add_number(struct counted *c, uint64_t number, uint64_t count, bool is_inherited, bool has_begun)
{
	const struct cfg *g = &c->function->cfg;
	struct path path = {.edges = c->edges};
	path_regenerate(g, &c->numbering, number, &path);
	uint32_t len = path_nodes(g, &c->numbering, &path, c->blocks);
	if (!is_inherited && want_numbers)
		add((int64_t)count, "%s\t%" PRIu64, c->name, number);
	else if (!is_inherited)
		add_path(c->name, c->blocks, len, count);
	uint32_t first = g->first_edge[path.end_node];
	bool goes_on = path.end_edge != NO_EDGE || (!path.is_left && first < g->first_edge[path.end_node + 1] &&
						    g->edges[first].cut == CFG_CUT_JUMP);
	if (!goes_on && has_begun)
		add(-(int64_t)count, "%s\tunfinished", c->name);
}

static void add_file(const char *path)
{
	size_t len_bytes;
	const uint8_t *bytes = map(path, &len_bytes);
	struct wmk_file w;
	check(wmk_read(bytes, len_bytes, path, &w));
	if (w.truncated)
		fail("%s: %s", path, w.truncated);
	if (w.header.dropped_path_tables || w.header.dropped_paths)
		fail("%s: %" PRIu64 " tables and %" PRIu64 " counts are lost", path, w.header.dropped_path_tables,
		     w.header.dropped_paths);
	struct wmk_path_table table;
	for (struct wmk_walk walk = {0}; wmk_next_path_table(&w, &walk, &table);) {
		const struct wmk_paths *r = &table.record;
		bool has_begun = !(r->flags & WMK_PATHS_AT_ENTRY);
		struct counted *c = find_counted(r->name_key, r->cfg_key);
		if (has_begun)
			add((int64_t)table.activations, "%s\tunfinished", c->name);
		uint64_t number, count;
		for (uint32_t i = 0; i < r->entry_count; i++)
			if (wmk_table_count(&w, &table, i, &number, &count))
				add_number(c, number, count, r->flags & WMK_PATHS_INHERITED, has_begun);
	}
	struct wmk_path_count single;
	uint64_t number;
	for (struct wmk_walk walk = {0}; wmk_next_path_count(&w, &walk, &single, &number);)
		add_number(find_counted(single.name_key, single.cfg_key), number, single.count,
			   single.flags & WMK_PATHS_INHERITED, true);
	wmk_file_deinit(&w);
}

/* ---- the trace's side ---- */

static const uint8_t *trace;

static const void *at(uint64_t off)
{
	return trace + off;
}

static bool is_skipped(const char *name)
{
	for (int i = 0; i < meta_count; i++)
		for (uint32_t k = 0; k < metas[i].skipped_count; k++)
			if (!strcmp(metas[i].skipped[k].name, name)) {
				fprintf(stderr, "skipped: %s: %s\n", name, metas[i].skipped[k].reason);
				return true;
			}
	return false;
}

static const struct pathmeta_function *find_function(uint64_t name_key)
{
	for (int i = 0; i < meta_count; i++)
		for (uint32_t k = 0; k < metas[i].function_count; k++)
			if (metas[i].functions[k].name_key == name_key)
				return &metas[i].functions[k];
	return NULL;
}

static bool is_split_between(const struct cfg *g, uint32_t from, uint32_t to)
{
	for (uint32_t e = g->first_edge[from]; e < g->first_edge[from + 1]; e++)
		if (g->edges[e].to == to)
			return g->edges[e].cut == CFG_CUT_SPLIT;
	return false;
}

/*
 * All sequences below the nodes of a list. The trace knows nothing of split functions: where a sequence goes over a split edge,
 * the path that began at blocks[begin] has ended, as often as the block behind that edge was come to.
 */
static void add_tree(const char *name, uint64_t first, struct block_vec *blocks, size_t begin,
		     const struct pathmeta_function *split)
{
	for (uint64_t off = first; off; off = ((const struct wmtrace_node *)at(off))->next) {
		const struct wmtrace_node *node = at(off);
		const size_t last = blocks->count;
		size_t from = begin;
		if (split && last && is_split_between(&split->cfg, blocks->items[last - 1], (uint32_t)node->block)) {
			add_path(name, blocks->items + begin, last - begin, node->entered);
			from = last;
		}
		check(block_vec_append(blocks, (uint32_t)node->block));
		if (node->count)
			add_path(name, blocks->items + from, blocks->count - from, node->count);
		add_tree(name, node->first, blocks, from, split);
		blocks->count--;
	}
}

static void add_trace(const char *path)
{
	size_t len_bytes;
	trace = map(path, &len_bytes);
	const struct wmtrace_file *header = at(0);
	for (uint64_t off = header->functions; off; off = ((const struct wmtrace_record *)at(off))->next) {
		const struct wmtrace_record *r = at(off);
		const char *bare = strrchr(r->name, ':') ? strrchr(r->name, ':') + 1 : r->name;
		uint64_t key = hash_bytes(HASH_START, r->name, strlen(r->name));
		const struct pathmeta_function *f = find_function(key);
		if (!f && is_skipped(bare))
			continue;
		struct block_vec blocks = {0};
		char name[300];
		snprintf(name, sizeof name, "%s/%" PRIx64, f ? f->link_name : r->name, key);
		add((int64_t)(r->begun - r->finished), "%s\tunfinished", name);
		add_tree(name, r->first, &blocks, 0, f && cfg_count_cuts(&f->cfg, CFG_CUT_SPLIT) ? f : NULL);
		block_vec_deinit(&blocks);
	}
}

int main(int argc, char **argv)
{
	int separator = 2;
	while (separator < argc && strcmp(argv[separator], "--"))
		separator++;
	want_numbers = argc > 1 && !strcmp(argv[1], "numbers");
	if (argc > 2 && (want_numbers || !strcmp(argv[1], "waymark")) && separator < argc) {
		read_metas(argv + 2, separator - 2);
		for (int i = separator + 1; i < argc; i++)
			add_file(argv[i]);
	} else if (argc > 2 && !strcmp(argv[1], "trace")) {
		read_metas(argv + 3, argc - 3);
		add_trace(argv[2]);
	} else {
		fail("usage: dump waymark|numbers BINARY... -- FILE.wmk... | dump trace TRACE BINARY...");
	}
	print_entries();
	return 0;
}
