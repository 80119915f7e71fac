/*
 * depths.c - how deep the contexts of allocations are, in frames and in entries of the context stack: for figures.sh.
 *
 *	bench-context-depths [--all] FILE.wmk...
 *
 * The recordings are of `waymark run --heap`, also several of one program's processes. Prints one line, tab-separated:
 *
 *	CONTEXTS ALLOCATIONS  ENTRIES-MAX ENTRIES-90  FRAMES-MAX FRAMES-90
 *
 * An entry is one push, or a run of equal ones; the call of malloc itself is one. Frames are those of the source: inlined ones
 * count. 90: what suffices for 90 % of the allocations. --all prints the whole distributions instead, a line for each depth:
 * `entries|frames DEPTH ALLOCATIONS`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/contexts/context.h"
#include "model/base/recording.h"
#include "waymark/abi.h"
#include "waymark/wmk.h"

struct depth {
	uint64_t depth;
	uint64_t allocations;
};

VEC_DECLARE(depth_vec, struct depth);

struct depths {
	uint64_t contexts;
	uint64_t allocations;
	struct depth_vec entries;
	struct depth_vec frames;
};

static int compare(const void *a, const void *b)
{
	const struct depth *x = a, *y = b;

	return (x->depth > y->depth) - (x->depth < y->depth);
}

static struct error *add_record(const struct process *p, const struct wmk_heap *record, struct depths *d)
{
	struct context_key key = {record->id, record->prefix, record->site, record->epoch};
	struct depth entries = {0, record->count}, frames = {0, record->count};
	struct frame_vec chain = {0};
	struct error *err = context_decode(p, &key, 0, &chain);
	uint32_t prefix = record->prefix;

	while (!err && (prefix < WM_PREFIX_PROCESS || prefix > WM_PREFIX_LOST)) {
		struct wmk_node node;

		err = context_find_node(p, prefix, &node);
		entries.depth++;
		prefix = node.parent;
	}
	frames.depth = chain.count;
	frame_vec_deinit(&chain);
	if (!err)
		err = depth_vec_append(&d->entries, entries);
	if (!err)
		err = depth_vec_append(&d->frames, frames);
	d->contexts++;
	d->allocations += record->count;
	return err;
}

static struct error *add_file(const char *path, struct image_cache *cache, struct depths *d)
{
	struct recording r;
	struct process p;
	struct wmk_walk walk = {0};
	struct wmk_heap record;
	struct error *err = recording_open(path, &r);

	if (err)
		return err;
	err = process_init(&p, &r.wmk, cache);
	if (!err) {
		while (!err && wmk_next_heap(&r.wmk, &walk, &record))
			err = add_record(&p, &record, d);
		process_deinit(&p);
	}
	recording_close(&r);
	return err;
}

static void print_all(struct depth_vec *v, const char *what)
{
	uint64_t sum = 0;

	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, compare);
	for (size_t i = 0; i < v->count; i++) {
		sum += v->items[i].allocations;
		if (i + 1 < v->count && v->items[i + 1].depth == v->items[i].depth)
			continue;
		printf("%s %" PRIu64 " %" PRIu64 "\n", what, v->items[i].depth, sum);
		sum = 0;
	}
}

/* The largest depth, and the one that suffices for 90 %. */
static void print(struct depth_vec *v, uint64_t allocations)
{
	uint64_t sum = 0;
	size_t i = 0;

	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, compare);
	while (i < v->count && (sum += v->items[i].allocations) * 10 < allocations * 9)
		i++;
	printf("\t%" PRIu64 "\t%" PRIu64, v->count ? v->items[v->count - 1].depth : 0,
	       i < v->count ? v->items[i].depth : 0);
}

int main(int argc, char **argv)
{
	struct image_cache cache;
	struct depths d = {0};
	struct error *err = NULL;
	bool all = argc > 1 && !strcmp(argv[1], "--all");

	image_cache_init(&cache);
	for (int i = 1 + all; i < argc && !err; i++)
		err = add_file(argv[i], &cache, &d);
	if (err) {
		fprintf(stderr, "bench-context-depths: %s\n", err->message);
		error_destroy(err);
		err = NULL;
		argc = 0;
	} else if (all) {
		print_all(&d.entries, "entries");
		print_all(&d.frames, "frames");
	} else {
		printf("%" PRIu64 "\t%" PRIu64, d.contexts, d.allocations);
		print(&d.entries, d.allocations);
		print(&d.frames, d.allocations);
		putchar('\n');
	}
	depth_vec_deinit(&d.entries);
	depth_vec_deinit(&d.frames);
	image_cache_deinit(&cache);
	return argc == 0;
}
