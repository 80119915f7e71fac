/*
 * fuzz_wmk.c - wmk_read, all that walks what it read, a merge of it, contexts of recorded code, and wmk_follow. The input is
 * unfolded to a file of whole chunks; an odd last byte cuts the file there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/wmk.h"
#include "fuzz/fuzz.h"
#include "model/contexts/context.h"
#include "model/contexts/recorded_graph.h"
#include "model/merge/profile_merge.h"

enum {
	DEPTH_MAX = 4096,
};

/* Returns the file's length. file: zeros; NULL: there is none yet. */
static size_t unfold(const uint8_t *data, size_t size, uint8_t *file)
{
	size_t part = size < FUZZ_WMK_HEADER_BYTES ? size : FUZZ_WMK_HEADER_BYTES;
	size_t len = part < FUZZ_WMK_HEADER_BYTES ? part : WMK_HEADER_BYTES;

	if (file)
		memcpy(file, data, part);
	for (data += part, size -= part; size && len < WMK_HEADER_BYTES + FUZZ_WMK_CHUNKS_MAX * WMK_CHUNK_BYTES;
	     data += part, size -= part) {
		part = size < FUZZ_WMK_CHUNK_BYTES ? size : FUZZ_WMK_CHUNK_BYTES;
		if (file)
			memcpy(file + len, data, part);
		len += part < FUZZ_WMK_CHUNK_BYTES && (data[part - 1] & 1) ? part : WMK_CHUNK_BYTES;
	}
	return len;
}

static void walk_tables(const struct wmk_file *w)
{
	struct wmk_walk walk = {0};
	struct wmk_path_table table;
	uint64_t number, count, found = 0;

	for (; wmk_next_path_table(w, &walk, &table); found++) {
		wmk_image_by_record(w, table.record.image);
		for (uint32_t i = 0; i < table.record.entry_count; i++)
			if (wmk_table_count(w, &table, i, &number, &count) && number >= table.record.path_count)
				abort();
	}
	if (found != w->whole_count[WMK_PATHS])
		abort();
}

static void walk_path_counts(const struct wmk_file *w)
{
	struct wmk_walk walk = {0}, runs = {0};
	struct wmk_path_count record;
	uint64_t number, found = 0;

	for (; wmk_next_path_count(w, &walk, &record, &number); found++)
		if (number >= record.path_count)
			abort();
	if (found != w->whole_count[WMK_PATH_COUNTS])
		abort();
	for (found = 0; wmk_next_run(w, &runs, &number); found++)
		;
	if (found != w->whole_count[WMK_RUNS])
		abort();
}

static void walk_code(const struct wmk_file *w)
{
	struct wmk_walk walk = {0};
	struct wmk_function function;
	struct wmk_site site;
	struct wmk_line line;
	struct wmk_epoch epoch;
	struct wmk_epoch_function epoch_function;
	struct wmk_epoch_edge edge;
	uint64_t found[WMK_KIND_END] = {0};
	uint32_t number;

	for (; wmk_next_function(w, &walk, &number, &function); found[WMK_FUNCTIONS]++)
		wmk_image_by_record(w, function.image);
	for (walk = (struct wmk_walk){0}; wmk_next_site(w, &walk, &number, &site); found[WMK_SITES]++)
		if (wmk_find_image(w, number))
			abort();
	for (walk = (struct wmk_walk){0}; wmk_next_line(w, &walk, &line); found[WMK_LINES]++)
		;
	for (walk = (struct wmk_walk){0}; wmk_next_epoch(w, &walk, &epoch); found[WMK_EPOCHS]++)
		;
	for (walk = (struct wmk_walk){0}; wmk_next_epoch_function(w, &walk, &epoch_function);
	     found[WMK_EPOCH_FUNCTIONS]++)
		;
	for (walk = (struct wmk_walk){0}; wmk_next_epoch_edge(w, &walk, &edge); found[WMK_EPOCH_EDGES]++)
		;
	for (int kind = WMK_FUNCTIONS; kind <= WMK_EPOCH_EDGES; kind++)
		if (found[kind] != w->whole_count[kind])
			abort();
}

/* What decodes has names, and no more frames than asked for. */
static void decode_one(const struct process *p, const struct context_key *key, struct frame_vec *frames)
{
	struct error *err = context_decode(p, key, DEPTH_MAX, frames);

	if (err ? frames->count != 0 : frames->count > DEPTH_MAX)
		abort();
	for (size_t i = 0; i < frames->count; i++)
		if (!frames->items[i].name || !frames->items[i].link_name)
			abort();
	frames->count = 0;
	error_destroy(err);
}

/* Without images that have a section: those are looked for in files. */
static void decode_code(const struct wmk_file *w)
{
	struct process p = {.wmk = w};
	struct wmk_walk events = {0}, heap = {0}, sums = {0}, heap_sums = {0};
	struct frame_vec frames = {0};
	struct wmk_event event;
	struct wmk_heap record;
	struct wmk_sum sum;
	struct wmk_heap_sum heap_sum;

	p.recorded_why = recorded_image_create(w, NULL, &p.recorded);
	while (wmk_next_event(w, &events, &event))
		decode_one(&p, &(struct context_key){event.id, event.prefix, event.site, event.epoch}, &frames);
	while (wmk_next_heap(w, &heap, &record))
		decode_one(&p, &(struct context_key){record.id, record.prefix, record.site, record.epoch}, &frames);
	while (wmk_next_sum(w, &sums, &sum))
		decode_one(&p, &(struct context_key){sum.id, sum.prefix, sum.site, sum.epoch}, &frames);
	while (wmk_next_heap_sum(w, &heap_sums, &heap_sum))
		decode_one(&p, &(struct context_key){heap_sum.id, heap_sum.prefix, heap_sum.site, heap_sum.epoch},
			   &frames);
	frame_vec_deinit(&frames);
	process_deinit(&p);
}

/* What merges must be read again, with nothing more to merge. */
static void merge_it(const struct wmk_file *w)
{
	struct merge *m = NULL;
	struct buffer out = {0};
	struct wmk_file back;
	struct error *err = merge_create(&m);

	if (!err)
		err = merge_add(m, w);
	if (!err)
		err = merge_write(m, &out);
	if (!err) {
		err = wmk_read(out.bytes, out.len_bytes, "merged", &back);
		if (err) {
			fprintf(stderr, "%s\n", err->message);
			abort();
		}
		if (back.uncommitted || back.truncated || back.whole_count[WMK_EVENTS] || back.whole_count[WMK_HEAP])
			abort();
		walk_tables(&back);
		walk_path_counts(&back);
		walk_code(&back);
		wmk_file_deinit(&back);
	}
	error_destroy(err);
	buffer_deinit(&out);
	merge_destroy(m);
}

static void walk_all(const struct wmk_file *w)
{
	struct wmk_walk walk = {0};
	struct wmk_event event;
	struct wmk_heap heap;
	struct wmk_heap_time heap_time;
	struct wmk_thread thread;
	struct wmk_node node;
	uint64_t count = 0;

	while (wmk_next_event(w, &walk, &event)) {
		wmk_find_string(w, event.name);
		wmk_find_image(w, event.site);
		wmk_find_node(w, event.prefix, &node);
		count++;
	}
	if (count != w->whole_count[WMK_EVENTS])
		abort();
	walk = (struct wmk_walk){0};
	for (count = 0; wmk_next_thread(w, &walk, &thread); count++)
		wmk_find_string(w, thread.name);
	if (count != w->whole_count[WMK_THREADS])
		abort();
	walk = (struct wmk_walk){0};
	for (count = 0; wmk_next_heap(w, &walk, &heap); count++)
		wmk_find_node(w, heap.prefix, &node);
	if (count != w->whole_count[WMK_HEAP])
		abort();
	walk = (struct wmk_walk){0};
	for (count = 0; wmk_next_heap_time(w, &walk, &heap_time); count++)
		;
	if (count != w->whole_count[WMK_HEAP_TIMES])
		abort();
	for (uint32_t i = 0; i < w->image_count; i++)
		if (wmk_find_image(w, w->images[i].record.site_base) != &w->images[i] && w->images[i].record.site_count)
			abort();
}

/* The same file when it had fewer chunks and less in them, followed to what it is now. */
static void follow_it(const uint8_t *bytes, size_t len, size_t size)
{
	uint8_t *before = malloc(len);
	struct wmk_file w, now;
	struct error *err;
	bool is_new;

	if (!before)
		return;
	memcpy(before, bytes, len);
	if (len >= WMK_HEADER_BYTES)
		before[40] = (uint8_t)(before[40] - size % 4 % (before[40] + 1u));
	for (size_t off = WMK_HEADER_BYTES; off + WMK_CHUNK_HEADER_BYTES <= len; off += WMK_CHUNK_BYTES)
		before[off + 9] = (uint8_t)(before[off + 9] / 2);
	err = wmk_read_contexts(before, len, "input", &w);
	if (!err) {
		err = wmk_follow(&w, bytes, len, &is_new);
		if (!err)
			err = wmk_read_contexts(bytes, len, "input", &now);
		if (!err) {
			if (memcmp(w.place_count, now.place_count, sizeof w.place_count) != 0 ||
			    w.image_count != now.image_count)
				abort();
			wmk_file_deinit(&now);
		}
		wmk_file_deinit(&w);
	}
	error_destroy(err);
	free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = unfold(data, size, NULL);
	uint8_t *file = calloc(1, len ? len : 1); /* no more, so that a read behind the end is seen */
	struct wmk_file w;
	struct error *err;

	if (!file)
		return 0;
	unfold(data, size, file);
	err = wmk_read(file, len, "input", &w);
	if (!err) {
		walk_all(&w);
		walk_tables(&w);
		walk_path_counts(&w);
		walk_code(&w);
		decode_code(&w);
		merge_it(&w);
		wmk_file_deinit(&w);
	}
	error_destroy(err);
	follow_it(file, len, size);
	free(file);
	return 0;
}
