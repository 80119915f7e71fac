/*
 * profile_merge_write.c - what was added up as one .wmk. Each function gets a table of the smaller kind, an array or pairs; paths that no
 * table of pairs takes, and residual ones, are counted one by one. Paths stand in rising order, runs too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/order.h"
#include "format/pathmeta.h"
#include "format/wmk_write.h"
#include "model/merge/profile_merge_model.h"
#include "waymark/abi.h"
#include "waymark/paths.h"

struct counted {
	struct key key;
	uint64_t count;
};

static uint32_t function_of(const struct counted *c)
{
	return (uint32_t)(c->key.words[0] >> MERGE_FUNCTION_SHIFT);
}

static unsigned int part_of(const struct counted *c)
{
	return c->key.words[0] >> MERGE_PART_SHIFT & 1;
}

static bool is_residual(const struct counted *c)
{
	return c->key.words[0] & MERGE_RESIDUAL;
}

static int compare_counted(const void *a, const void *b)
{
	const struct counted *i = a, *j = b;

	return compare_u64(i->key.words[0], j->key.words[0]) ?: compare_u64(i->key.words[1], j->key.words[1]) ?:
	       compare_u64(i->key.words[2], j->key.words[2]);
}

static int compare_runs(const void *a, const void *b)
{
	return compare_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Runs, and a number for the file that follows from them. */
static struct error *write_runs(const struct merge *m, struct wmk_writer *w, struct wmk_header *header)
{
	uint64_t *runs = calloc((size_t)m->runs.count + 1, sizeof *runs);

	if (!runs)
		return &error_no_memory;
	for (uint32_t i = 0; i < m->runs.count; i++)
		runs[i] = m->runs.keys[i].words[0];
	qsort(runs, m->runs.count, sizeof *runs, compare_runs);
	header->run = hash_bytes(HASH_START, runs, m->runs.count * sizeof *runs) | 1;
	header->merged_runs = m->runs.count;
	for (uint32_t i = 0; i < m->runs.count; i++)
		wmk_write_run(w, runs[i]);
	free(runs);
	return NULL;
}

/* A string may be missing. */
static uint32_t text_of(const uint64_t *texts, uint32_t number)
{
	return number == WMK_NO_STRING ? WMK_NO_STRING : (uint32_t)texts[number];
}

static void write_code(const struct merge_code *c, const uint64_t *texts, struct wmk_writer *w)
{
	for (size_t i = 0; i < c->functions.count; i++) {
		struct wmk_function f = c->functions.items[i];

		f.name = text_of(texts, f.name);
		f.owner = text_of(texts, f.owner);
		f.descriptor = text_of(texts, f.descriptor);
		f.file = text_of(texts, f.file);
		wmk_write_function(w, (uint32_t)i, &f);
	}
	for (size_t i = 0; i < c->sites.count; i++) {
		struct wmk_site site = c->sites.items[i].record;

		site.name = text_of(texts, site.name);
		wmk_write_site(w, c->sites.items[i].number, &site);
	}
	for (size_t i = 0; i < c->lines.count; i++)
		wmk_write_line(w, &c->lines.items[i]);
	for (size_t i = 0; i < c->epoch_functions.count; i++)
		wmk_write_epoch_function(w, &c->epoch_functions.items[i]);
	for (size_t i = 0; i < c->epoch_edges.count; i++)
		wmk_write_epoch_edge(w, &c->epoch_edges.items[i]);
	for (size_t i = 0; i < c->epochs.count; i++)
		wmk_write_epoch(w, &c->epochs.items[i]);
}

static void write_sums(const struct merge *m, const uint64_t *texts, struct wmk_writer *w)
{
	for (uint32_t i = 0; i < m->heaps.count; i++) {
		const uint64_t *context = m->contexts.keys[m->heaps.keys[i].words[0]].words;
		struct wmk_heap_sum sum = m->heap_values.items[i];

		sum.id = context[0];
		sum.prefix = (uint32_t)(context[1] >> 32);
		sum.site = (uint32_t)context[1];
		sum.epoch = (uint32_t)context[2];
		wmk_write_heap_sum(w, &sum);
	}
	for (uint32_t i = 0; i < m->events.count; i++) {
		const struct key *key = &m->events.keys[i];
		const uint64_t *context = m->contexts.keys[key->words[0]].words;
		const struct wmk_sum sum = {.count = m->event_values.items[i].count,
					    .value = m->event_values.items[i].value,
					    .id = context[0],
					    .prefix = (uint32_t)(context[1] >> 32),
					    .site = (uint32_t)context[1],
					    .name = text_of(texts, (uint32_t)key->words[1]),
					    .epoch = (uint32_t)context[2]};

		wmk_write_sum(w, &sum);
	}
}

/* With all that has strings: these come before any other record. */
static struct error *write_images(const struct merge *m, struct wmk_writer *w)
{
	uint64_t *paths = calloc(m->images.count + m->code.texts.count + 1, sizeof *paths);
	uint64_t *texts = paths + m->images.count;

	if (!paths)
		return &error_no_memory;
	for (size_t i = 0; i < m->images.count; i++)
		paths[i] = wmk_write_string(w, m->images.items[i].path);
	for (size_t i = 0; i < m->code.texts.count; i++)
		texts[i] = wmk_write_string(w, m->code.texts.items[i]);
	for (size_t i = 0; i < m->images.count; i++) {
		struct wmk_image record = m->images.items[i].record;

		record.path = paths[i];
		wmk_write_image(w, &record);
	}
	write_code(&m->code, texts, w);
	write_sums(m, texts, w);
	free(paths);
	return NULL;
}

static void write_nodes(const struct merge *m, struct wmk_writer *w)
{
	for (uint32_t i = 0; i < m->nodes.count; i++) {
		const uint64_t *words = m->nodes.keys[i].words;
		struct wmk_node node = {.id = words[0],
					.parent = (uint32_t)(words[1] >> 32),
					.site = (uint32_t)words[1],
					.run = (uint32_t)words[2],
					.epoch = (uint32_t)(words[2] >> 32)};

		wmk_write_node(w, &node);
	}
}

/* The bits of the smallest table of pairs for so many, the largest when there are more. */
static uint8_t pair_bits(size_t count)
{
	uint8_t bits = 0;

	while (bits < WM1_PATHS_MAX_BITS && (size_t)1 << bits < count)
		bits++;
	return bits;
}

/* A function's own, or inherited, counts that are not residual. Those that are in no table are left, from *ret_rest on. */
static struct error *write_table(const struct merge *m, struct wmk_writer *w, uint32_t function, unsigned int part,
				 const struct counted *counted, size_t count, size_t *ret_rest)
{
	const struct merge_function *f = &m->function_totals.items[function];
	const struct key *key = &m->functions.keys[function];
	uint8_t bits = pair_bits(count);
	struct wmk_paths head = {.name_key = key->words[1],
				 .cfg_key = key->words[2],
				 .path_count = f->path_count,
				 .image = (uint32_t)key->words[0],
				 .kind = WM1_PATHS_HASH,
				 .bits = bits,
				 .flags = part == MERGE_INHERITED ? WMK_PATHS_INHERITED : 0,
				 .entry_count = count ? UINT32_C(1) << bits : 0};
	uint64_t *words;

	if (count && f->path_count <= WM1_PATHS_MAX_COUNTERS && f->path_count <= UINT64_C(2) * head.entry_count) {
		head.kind = WM1_PATHS_ARRAY;
		head.bits = 0;
		head.entry_count = (uint32_t)f->path_count;
	}
	words = calloc((size_t)head.entry_count * 2 + 1, sizeof *words);
	if (!words)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++) {
		if (head.kind == WM1_PATHS_ARRAY) {
			words[counted[i].key.words[1]] = counted[i].count;
		} else if (i < head.entry_count) {
			words[2 * i] = counted[i].key.words[1] + 1;
			words[2 * i + 1] = counted[i].count;
		}
	}
	*ret_rest = head.kind == WM1_PATHS_ARRAY || count < head.entry_count ? count : head.entry_count;
	wmk_write_path_table(w, &head, f->activations[part], words);
	free(words);
	return NULL;
}

static void write_single(const struct merge *m, struct wmk_writer *w, const struct counted *c)
{
	const struct key *key = &m->functions.keys[function_of(c)];
	struct wmk_path_count record = {.name_key = key->words[1],
					.cfg_key = key->words[2],
					.path_count = m->function_totals.items[function_of(c)].path_count,
					.r = c->key.words[1] + 1,
					.count = c->count,
					.image = (uint32_t)key->words[0],
					.kind = WM1_PATHS_HASH,
					.flags = (uint16_t)((is_residual(c) ? WMK_PATHS_RESIDUAL : 0) |
							    (part_of(c) == MERGE_INHERITED ? WMK_PATHS_INHERITED : 0))};

	if (c->key.words[2]) {
		const uint64_t *context = m->contexts.keys[c->key.words[2] - 1].words;

		record.id = context[0];
		record.prefix = (uint32_t)(context[1] >> 32);
		record.site = (uint32_t)context[1];
		record.epoch = (uint32_t)context[2];
	}
	wmk_write_path_count(w, &record);
}

/* Tables of all functions, then single counts. sorted is packed down to the latter as tables take the rest. */
static struct error *write_counts(const struct merge *m, struct wmk_writer *w, struct counted *sorted, size_t count)
{
	size_t at = 0, singles = 0;
	struct error *err = NULL;

	for (uint32_t function = 0; function < m->function_totals.count && !err; function++) {
		for (unsigned int part = 0; part < MERGE_PARTS && !err; part++) {
			size_t first = at, rest = 0;

			while (at < count && function_of(&sorted[at]) == function && part_of(&sorted[at]) == part &&
			       !is_residual(&sorted[at]))
				at++;
			if (m->function_totals.items[function].has[part])
				err = write_table(m, w, function, part, sorted + first, at - first, &rest);
			while (at < count && function_of(&sorted[at]) == function && part_of(&sorted[at]) == part)
				at++;
			for (size_t i = first + rest; i < at; i++)
				sorted[singles++] = sorted[i];
		}
	}
	for (size_t i = 0; i < singles && !err; i++)
		write_single(m, w, &sorted[i]);
	return err;
}

static struct error *write_paths(const struct merge *m, struct wmk_writer *w)
{
	struct counted *sorted = calloc((size_t)m->counts.count + 1, sizeof *sorted);
	struct error *err;

	if (!sorted)
		return &error_no_memory;
	for (uint32_t i = 0; i < m->counts.count; i++)
		sorted[i] = (struct counted){m->counts.keys[i], m->count_values.items[i]};
	qsort(sorted, m->counts.count, sizeof *sorted, compare_counted);
	err = write_counts(m, w, sorted, m->counts.count);
	free(sorted);
	return err;
}

struct error *merge_write(const struct merge *m, struct buffer *out)
{
	struct wmk_header header = m->header;
	struct wmk_writer w;
	struct error *err;

	if (!m->function_totals.count && !m->heaps.count && !m->events.count)
		return error_create(ERROR_MISMATCH,
				    "nothing is recorded in what is to be merged: no paths, no heap and no events");
	wmk_writer_init(&w);
	err = write_images(m, &w);
	if (!err)
		err = write_runs(m, &w, &header);
	if (!err) {
		write_nodes(m, &w);
		err = write_paths(m, &w);
	}
	if (!err)
		err = wmk_writer_finish(&w, &header);
	if (!err) {
		buffer_bytes(out, w.out.bytes, w.out.len_bytes);
		err = buffer_error(out);
	}
	wmk_writer_deinit(&w);
	return err;
}
