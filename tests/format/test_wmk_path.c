/*
 * test_wmk_path.c - path counters in .wmk files: tables of every kind, over several chunks, with holes, cut off and damaged.
 */
#include <stddef.h>
#include <stdlib.h>

#include "check.h"
#include "format/wmk.h"
#include "support/builder.h"
#include "waymark/paths.h"

static const struct wmk_paths array_head = {.name_key = UINT64_C(0x0101010101010101),
					    .cfg_key = UINT64_C(0x0202020202020202),
					    .path_count = 4,
					    .image = 1,
					    .kind = WM1_PATHS_ARRAY,
					    .entry_count = 4};
static const struct wmk_paths hash_head = {.name_key = 3,
					   .cfg_key = UINT64_C(0x0404040404040404),
					   .path_count = 1000,
					   .image = 0,
					   .kind = WM1_PATHS_HASH,
					   .bits = 1,
					   .flags = WMK_PATHS_INHERITED,
					   .entry_count = 2};
static const struct wmk_paths plan_head = {
	.name_key = 5, .cfg_key = 6, .path_count = 100, .kind = WM1_PATHS_PLAN, .bits = 2, .entry_count = 4};
static const uint64_t array_words[] = {0, 7, 0, UINT64_MAX};
static const uint64_t hash_words[] = {1000, 5, 3, 0};
static const uint64_t plan_words[] = {0, 0, UINT64_C(1) << 62 | 100, 9, 0, 0, UINT64_C(3) << 62 | 1, 1};
static const struct wmk_path_count single = {.name_key = 3,
					     .cfg_key = 4,
					     .path_count = 1000,
					     .r = 500,
					     .count = 11,
					     .id = 12,
					     .prefix = 13,
					     .site = 14,
					     .image = 1,
					     .kind = WM1_PATHS_HASH,
					     .bits = 1,
					     .flags = WMK_PATHS_RESIDUAL};

static void build_example(struct wmk_builder *b)
{
	struct wmk_path_count other = single;

	build_wmk_init(b, 0x1234, "/bin/prog");
	build_chunk(b, WMK_IMAGES, 0, 0);
	build_image(b, 99, 16, 8, 0, NULL, 0);
	build_image(b, 0, 20, 0, 0, NULL, 0);
	build_image(b, 0, 0, 0, 0, NULL, 0);
	build_state(b, 2);
	build_image(b, 0, 24, 0, 0, NULL, 0);
	build_chunk(b, WMK_PATHS, 0, 0);
	build_table(b, &array_head, 10, array_words, 4);
	for (int i = 0; i < 32; i++)
		buffer_u64(&b->out, 0); /* a hole */
	build_table(b, &array_head, 77, array_words, 4);
	build_table_state(b, 0);
	build_table(b, &hash_head, 20, hash_words, 4);
	build_table(b, &array_head, 77, array_words, 4);
	build_table_state(b, 2);
	build_table(b, &plan_head, 30, plan_words, 8);
	build_chunk(b, WMK_PATH_COUNTS, 0, 0);
	build_path_count(b, &single);
	for (int i = 0; i < 9; i++)
		buffer_u64(&b->out, 0); /* a place that is kept */
	other.kind = WM1_PATHS_PLAN;
	other.bits = 16;
	other.r = UINT64_C(0xabcd) << 48 | 1;
	build_path_count(b, &other);
	build_path_count(b, &single);
	build_state(b, 0);
	other.kind = WM1_PATHS_ARRAY;
	other.r = 999;
	build_path_count(b, &other);
	build_chunk(b, WMK_RUNS, 0, 0);
	build_run(b, 5);
	build_run(b, 6);
	build_wmk_finish(b);
}

static void expect_counts_at(const struct wmk_file *w, const struct wmk_path_table *t, const uint64_t *pairs,
			     size_t count, int line)
{
	size_t found = 0;

	for (uint32_t i = 0; i < t->record.entry_count; i++) {
		uint64_t number, times;

		if (!wmk_table_count(w, t, i, &number, &times))
			continue;
		check_that(found < count && number == pairs[2 * found] && times == pairs[2 * found + 1], __FILE__, line,
			   "number and count");
		found++;
	}
	check_equal_u64(found, count, __FILE__, line, "entries that count");
}
#define EXPECT_COUNTS(w, t, ...)                                                                                    \
	expect_counts_at(w, t, (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 2 / sizeof(uint64_t), \
			 __LINE__)

static void check_tables(const struct wmk_file *w)
{
	struct wmk_walk walk = {0};
	struct wmk_path_table t;

	CHECK_U64(w->whole_count[WMK_PATHS], 3);
	if (CHECK(wmk_next_path_table(w, &walk, &t))) {
		CHECK_U64(t.record.name_key, UINT64_C(0x0101010101010101));
		CHECK_U64(t.record.cfg_key, UINT64_C(0x0202020202020202));
		CHECK_U64(t.record.path_count, 4);
		CHECK_U64(t.record.image, 1);
		CHECK_U64(t.activations, 10);
		EXPECT_COUNTS(w, &t, 1, 7, 3, UINT64_MAX);
	}
	if (CHECK(wmk_next_path_table(w, &walk, &t))) {
		CHECK_U64(t.record.flags, WMK_PATHS_INHERITED);
		CHECK_U64(t.activations, 20);
		EXPECT_COUNTS(w, &t, 999, 5);
	}
	if (CHECK(wmk_next_path_table(w, &walk, &t))) {
		CHECK_U64(t.record.bits, 2);
		EXPECT_COUNTS(w, &t, 99, 9, 0, 1);
	}
	CHECK(!wmk_next_path_table(w, &walk, &t));
	CHECK(!wmk_next_path_table(w, &walk, &t));
}

static void check_single_counts(const struct wmk_file *w)
{
	struct wmk_walk walk = {0};
	struct wmk_path_count c;
	uint64_t number;

	CHECK_U64(w->whole_count[WMK_PATH_COUNTS], 3);
	if (CHECK(wmk_next_path_count(w, &walk, &c, &number))) {
		CHECK_U64(number, 499);
		CHECK_U64(c.count, 11);
		CHECK_U64(c.id, 12);
		CHECK_U64(c.prefix, 13);
		CHECK_U64(c.site, 14);
		CHECK_U64(c.image, 1);
		CHECK_U64(c.flags, WMK_PATHS_RESIDUAL);
	}
	CHECK(wmk_next_path_count(w, &walk, &c, &number));
	CHECK_U64(number, 0);
	CHECK(wmk_next_path_count(w, &walk, &c, &number));
	CHECK_U64(number, 999);
	CHECK(!wmk_next_path_count(w, &walk, &c, &number));
}

static void test_read(void)
{
	struct wmk_builder b;
	struct wmk_file w;
	struct wmk_walk walk = {0};
	uint64_t run;

	build_example(&b);
	build_header_u64(&b, offsetof(struct wmk_header, dropped_path_tables), 21);
	build_header_u64(&b, offsetof(struct wmk_header, dropped_paths), 22);
	build_header_u64(&b, offsetof(struct wmk_header, merged_runs), 2);
	if (!CHECK_OK(wmk_read(b.out.bytes, b.out.len_bytes, "x.wmk", &w)))
		return;
	CHECK_U64(w.header.dropped_path_tables, 21);
	CHECK_U64(w.header.dropped_paths, 22);
	CHECK_U64(w.header.merged_runs, 2);
	CHECK_U64(w.uncommitted, 2);
	CHECK_U64(w.lost_path_tables, 0);
	CHECK(w.truncated == NULL);
	check_tables(&w);
	check_single_counts(&w);
	CHECK_U64(w.whole_count[WMK_RUNS], 2);
	CHECK(wmk_next_run(&w, &walk, &run) && run == 5);
	CHECK(wmk_next_run(&w, &walk, &run) && run == 6);
	CHECK(!wmk_next_run(&w, &walk, &run));

	CHECK_U64(w.image_count, 3);
	CHECK_U64(wmk_image_by_record(&w, 0)->record.meta_key, 99);
	CHECK_U64(wmk_image_by_record(&w, 1)->record_number, 1);
	CHECK(wmk_image_by_record(&w, 2) == NULL);
	CHECK_U64(wmk_image_by_record(&w, 3)->record_number, 3);
	CHECK(wmk_image_by_record(&w, 4) == NULL);
	CHECK(wmk_image_by_record(&w, UINT32_MAX) == NULL);
	for (uint32_t site = 16; site < 24; site++)
		CHECK(wmk_find_image(&w, site) == wmk_image_by_record(&w, 0));
	CHECK(wmk_find_image(&w, 24) == NULL);
	CHECK(wmk_find_image(&w, 0) == NULL);
	wmk_file_deinit(&w);
	buffer_deinit(&b.out);
}

/* Field by field at the offsets of docs/format.md, not through the structs. */
static void test_golden(void)
{
	static const uint8_t chunk[] = {'W', 'M', 'C', 'K', 6, 0, 0, 0, 96, 0, 0, 0, 0, 0,
					0,   0,   0,   0,   0, 0, 0, 0, 0,  0, 1, 0, 0, 0};
	static const uint8_t table[] = {1,    2,    3, 4, 5, 6, 7, 8, 9,   10, 11, 12, 13, 14, 15, 16,
					0x12, 0x34, 0, 0, 0, 0, 0, 0, /* path_count */
					6,    0,    0, 0, 2, 0, 3, 0, /* image kind bits flags */
					1,    0,    0, 0, 9, 9, 9, 9, 0,   0,  0,  0,  0,  0,  0,  0,
					0,    0,    0, 0, 0, 0, 0, 0, 9,   9,  9,  9,  1,  0,  0,  0,
					0xfe, 0,    0, 0, 0, 0, 0, 0, 255, 1,  1,  1,  1,  1,  1,  1,
					0x05, 0x34, 0, 0, 0, 0, 0, 0, 33,  0,  0,  0,  0,  0,  0,  0};
	static const uint8_t chunk7[] = {'W', 'M', 'C', 'K', 7, 0, 0, 0, 72, 0, 0, 0};
	static const uint8_t count[] = {1,  0,  0, 0, 0, 0, 0, 0, 2,  0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
					2,  0,  0, 0, 0, 0, 0, 0, 5,  0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
					16, 17, 0, 0, 8, 0, 0, 0, 18, 0, 0, 0, 1, 4, 6, 0, 0, 0, 0, 0, 1, 0, 0, 0};
	static struct wmk_builder b;
	struct wmk_file w;
	struct wmk_walk walk = {0}, counts = {0};
	struct wmk_path_table t;
	struct wmk_path_count c;
	uint64_t number;
	uint8_t *file;

	build_wmk_init(&b, 1, "/p");
	build_chunk(&b, WMK_PATHS, 0, 0);
	build_chunk(&b, WMK_PATH_COUNTS, 0, 0);
	build_wmk_finish(&b);
	file = b.out.bytes;
	memcpy(file + 4096, chunk, sizeof chunk);
	memcpy(file + 4096 + 64, table, sizeof table);
	memcpy(file + 4096 + 65536, chunk7, sizeof chunk7);
	memcpy(file + 4096 + 65536 + 64, count, sizeof count);
	if (!CHECK_OK(wmk_read(file, b.out.len_bytes, "x.wmk", &w)))
		return;
	if (CHECK(wmk_next_path_table(&w, &walk, &t))) {
		CHECK_U64(t.record.name_key, UINT64_C(0x0807060504030201));
		CHECK_U64(t.record.cfg_key, UINT64_C(0x100f0e0d0c0b0a09));
		CHECK_U64(t.record.path_count, 0x3412);
		CHECK_U64(t.record.image, 6);
		CHECK_U64(t.record.kind, WM1_PATHS_HASH);
		CHECK_U64(t.record.bits, 0);
		CHECK_U64(t.record.flags, 3);
		CHECK_U64(t.record.entry_count, 1);
		CHECK_U64(t.activations, 0xfe);
		EXPECT_COUNTS(&w, &t, 0x3404, 33);
	}
	if (CHECK(wmk_next_path_count(&w, &counts, &c, &number))) {
		CHECK_U64(c.name_key, 1);
		CHECK_U64(c.cfg_key, 2);
		CHECK_U64(c.path_count, 3);
		CHECK_U64(c.count, 5);
		CHECK_U64(c.id, 6);
		CHECK_U64(c.prefix, 0x1110);
		CHECK_U64(c.site, 8);
		CHECK_U64(c.image, 18);
		CHECK_U64(c.kind, WM1_PATHS_ARRAY);
		CHECK_U64(c.bits, 4);
		CHECK_U64(c.flags, 6);
		CHECK_U64(number, 2);
	}
	wmk_file_deinit(&w);
	buffer_deinit(&b.out);
}

/* One chunk of 17 times 64 KiB, what follows it is read, and a file that ends within it. */
static void test_span(void)
{
	struct wmk_paths head = array_head;
	uint64_t *words = calloc(WM1_PATHS_MAX_COUNTERS, sizeof *words);
	struct wmk_builder b;
	struct wmk_file w;

	if (!CHECK(words != NULL))
		return;
	head.path_count = head.entry_count = WM1_PATHS_MAX_COUNTERS;
	words[WM1_PATHS_MAX_COUNTERS - 1] = 3;
	memset(words, 0x5a, 80000); /* where the second chunk would begin */
	build_wmk_init(&b, 1, "/p");
	build_chunk(&b, WMK_PATHS, 0, 0);
	build_table(&b, &array_head, 10, array_words, 4);
	build_table(&b, &head, 1, words, WM1_PATHS_MAX_COUNTERS);
	build_chunk(&b, WMK_RUNS, 0, 0);
	build_run(&b, 5);
	build_wmk_finish(&b);
	CHECK_U64(b.chunk_count, 18);
	if (CHECK_OK(wmk_read(b.out.bytes, b.out.len_bytes, "x.wmk", &w))) {
		struct wmk_walk walk = {0};
		struct wmk_path_table t;
		uint64_t number, count;

		CHECK_U64(w.chunks.count, 2);
		CHECK_U64(w.whole_count[WMK_RUNS], 1);
		CHECK(wmk_next_path_table(&w, &walk, &t) && wmk_next_path_table(&w, &walk, &t));
		CHECK(wmk_table_count(&w, &t, WM1_PATHS_MAX_COUNTERS - 1, &number, &count) && count == 3);
		CHECK(wmk_table_count(&w, &t, 9999, &number, &count) && count == UINT64_C(0x5a5a5a5a5a5a5a5a));
		wmk_file_deinit(&w);
	}
	for (size_t len = WMK_HEADER_BYTES + 300; len < WMK_HEADER_BYTES + 64 + 112 + 80 + 8 * WM1_PATHS_MAX_COUNTERS;
	     len += 99999) {
		uint8_t *copy = malloc(len);

		if (!copy)
			abort();
		memcpy(copy, b.out.bytes, len);
		if (CHECK_OK(wmk_read(copy, len, "x.wmk", &w))) {
			CHECK_U64(w.whole_count[WMK_PATHS], 1);
			CHECK_U64(w.lost_path_tables, 1);
			CHECK(w.truncated && strstr(w.truncated, "with 1 tables of paths or more"));
			wmk_file_deinit(&w);
		}
		free(copy);
	}
	buffer_put_u32(&b.out, WMK_HEADER_BYTES + offsetof(struct wmk_chunk_header, span), 19);
	CHECK_ERROR(wmk_read(b.out.bytes, b.out.len_bytes, "x.wmk", &w), ERROR_FORMAT, "spans 19, 18 can be");
	buffer_put_u32(&b.out, WMK_HEADER_BYTES + offsetof(struct wmk_chunk_header, span), 1);
	CHECK_ERROR(wmk_read(b.out.bytes, b.out.len_bytes, "x.wmk", &w), ERROR_FORMAT, "no chunk starts here");
	buffer_deinit(&b.out);
	free(words);
}

/* Cut anywhere: what is whole is read, no table by half. */
static void test_truncated(void)
{
	struct wmk_builder b;
	const size_t tables = WMK_HEADER_BYTES + WMK_CHUNK_BYTES;
	uint64_t last = 0;

	build_example(&b);
	for (size_t len = tables + 64; len < tables + 64 + 1100; len++) {
		uint8_t *copy = malloc(len);
		struct wmk_walk walk = {0};
		struct wmk_path_table t;
		struct wmk_file w;

		if (!copy)
			abort();
		memcpy(copy, b.out.bytes, len);
		if (CHECK_OK(wmk_read(copy, len, "x.wmk", &w))) {
			uint64_t count = 0;

			for (; wmk_next_path_table(&w, &walk, &t); count++)
				for (uint32_t i = 0; i < t.record.entry_count; i++) {
					uint64_t number, times;

					wmk_table_count(&w, &t, i, &number, &times);
				}
			CHECK_U64(w.whole_count[WMK_PATHS], count);
			CHECK(count >= last && w.lost_path_tables <= 1);
			last = count;
			wmk_file_deinit(&w);
		}
		free(copy);
	}
	CHECK_U64(last, 3);
	buffer_deinit(&b.out);
}

static void expect_at(struct wmk_builder *b, size_t off, uint32_t v, const char *text, int line)
{
	uint8_t saved[4];
	struct wmk_file w;

	memcpy(saved, b->out.bytes + off, 4);
	buffer_put_u32(&b->out, off, v);
	check_has_error(wmk_read(b->out.bytes, b->out.len_bytes, "x.wmk", &w), ERROR_FORMAT, text, __FILE__, line);
	memcpy(b->out.bytes + off, saved, 4);
}
#define EXPECT_DAMAGED(off, v, text) expect_at(&b, off, v, text, __LINE__)

static void test_damaged(void)
{
	const size_t chunk = WMK_HEADER_BYTES + WMK_CHUNK_BYTES, table = chunk + WMK_CHUNK_HEADER_BYTES;
	const size_t counts = table + WMK_CHUNK_BYTES;
	struct wmk_builder b;

	build_example(&b);
	EXPECT_DAMAGED(chunk + WMK_CHUNK_BYTES + 24, 2, "spans 2, 1 can be");
	EXPECT_DAMAGED(table + 16, 5, "a table of kind 1 with 4 entries for 5 paths");
	EXPECT_DAMAGED(table + 20, 0x40000001, "a function with 4611686022722355204 paths");
	EXPECT_DAMAGED(table + 28, 9, "unknown kind, 9");
	EXPECT_DAMAGED(table + 32, 100000, "passes the end of its chunk");
	EXPECT_DAMAGED(table + 60, 3, "a record in state 3");
	EXPECT_DAMAGED(counts + 24, 0, "a path that its function does not have");
	EXPECT_DAMAGED(counts + 24, 1001, "a path that its function does not have");
	memset(b.out.bytes + counts, 0, 12); /* all but the upper half of cfg_key */
	EXPECT_DAMAGED(counts + 12, 0, "a function without keys");
	EXPECT_DAMAGED(counts + 60, 4, "unknown kind, 4");
	EXPECT_DAMAGED(counts + 68, 3, "a record in state 3");
	/* The first pair of the second whole table: behind a table of 112 bytes, a hole and a table. */
	EXPECT_DAMAGED(table + 112 + 256 + 112 + 80, 1001, "a table with a path that its function does not have");
	EXPECT_DAMAGED(table + 112 + 256 + 112 + 28, WM1_PATHS_HASH | 2 << 8, "with 2 entries for 1000 paths");
	EXPECT_DAMAGED(table + 112 + 256 + 112 + 28, WM1_PATHS_HASH | 17 << 8, "2 with 17 bits");
	buffer_deinit(&b.out);
}

int main(void)
{
	test_read();
	test_golden();
	test_span();
	test_truncated();
	test_damaged();
	return check_status();
}
