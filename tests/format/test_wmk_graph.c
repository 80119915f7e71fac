/*
 * test_wmk_graph.c - code that no file describes: each record byte for byte as docs/format.md has it, read and written; damage;
 * files that end anywhere; files that grow.
 */
#include <stdlib.h>

#include "check.h"
#include "format/wmk.h"
#include "format/wmk_write.h"
#include "support/builder.h"

enum {
	KINDS = 7,
	BODY = WMK_CHUNK_HEADER_BYTES,
};

/* A chunk of each kind with one record. Every field has a number of its own. */
static const struct golden_chunk {
	enum wmk_kind kind;
	uint8_t first;
	uint8_t record_bytes;
	uint8_t record[96];
} golden[KINDS] = {
	/* clang-format off */
	{WMK_IMAGES, 0, 96, {[8] = 2, [24] = 3, [68] = WMK_IMAGE_LOADER, [92] = 1}},
	{WMK_FUNCTIONS, 5, 48, {1, [8] = 2, [12] = 3, [16] = 4, [20] = 5, [24] = 6, [28] = 7, [32] = 8, [44] = 1}},
	{WMK_SITES, 30, 32, {1, [4] = WMK_SITE_FOREIGN, [8] = 3, [12] = 5, [16] = 6, [20] = 7, [28] = 1}},
	{WMK_LINES, 0, 16, {1, [4] = 2, [8] = 3, [12] = 1}},
	{WMK_EPOCHS, 0, 32, {1, [8] = 2, [12] = 3, [16] = 4, [20] = 5, [24] = 6, [28] = 1}},
	{WMK_EPOCH_FUNCTIONS, 0, 32, {1, [8] = 2, [16] = 3, [20] = 4, [24] = 5, [28] = 1}},
	{WMK_EPOCH_EDGES, 0, 32, {1, [8] = 2, [12] = 3, [16] = 4, [20] = WMK_EDGE_CUT, [28] = 1}},
	/* clang-format on */
};

static size_t chunk_at(size_t i)
{
	return WMK_HEADER_BYTES + i * WMK_CHUNK_BYTES;
}

/* The golden file. The caller frees it. */
static uint8_t *golden_file(size_t *ret_len)
{
	static const uint8_t header[] = {0x89, 'W', 'M', 'K', 13, 10, 26, 10, 1, 0, 0, 0, 0, 0, 1, 0, 9};
	uint8_t *file = calloc(1, chunk_at(KINDS));

	if (!file)
		abort();
	memcpy(file, header, sizeof header);
	file[40] = KINDS;
	for (size_t i = 0; i < KINDS; i++) {
		uint8_t *chunk = file + chunk_at(i);

		memcpy(chunk, "WMCK", 4);
		chunk[4] = (uint8_t)(i ? 8 + i : 1); /* the number of the kind */
		chunk[8] = golden[i].record_bytes;
		chunk[16] = golden[i].first;
		memcpy(chunk + BODY, golden[i].record, golden[i].record_bytes);
	}
	*ret_len = chunk_at(KINDS);
	return file;
}

static void check_code(const struct wmk_file *w)
{
	struct wmk_walk functions = {0}, sites = {0}, lines = {0};
	struct wmk_function f;
	struct wmk_site s;
	struct wmk_line l;
	uint32_t number;

	if (CHECK(w->image_count == 1)) {
		CHECK_U64(w->images[0].record.kind, WMK_IMAGE_LOADER);
		CHECK_U64(w->images[0].record.path, 3);
	}
	if (CHECK(wmk_next_function(w, &functions, &number, &f))) {
		CHECK_U64(number, 5);
		CHECK_U64(f.address, 1);
		CHECK_U64(f.image, 2);
		CHECK_U64(f.name, 3);
		CHECK_U64(f.owner, 4);
		CHECK_U64(f.descriptor, 5);
		CHECK_U64(f.file, 6);
		CHECK_U64(f.line, 7);
		CHECK_U64(f.flags, 8);
	}
	CHECK(!wmk_next_function(w, &functions, &number, &f));
	if (CHECK(wmk_next_site(w, &sites, &number, &s))) {
		CHECK_U64(number, 30);
		CHECK_U64(s.function, 1);
		CHECK_U64(s.kind, WMK_SITE_FOREIGN);
		CHECK_U64(s.name, 3);
		CHECK_U64(s.position, 5);
		CHECK_U64(s.line, 6);
		CHECK_U64(s.flags, 7);
	}
	CHECK(!wmk_next_site(w, &sites, &number, &s));
	if (CHECK(wmk_next_line(w, &lines, &l))) {
		CHECK_U64(l.function, 1);
		CHECK_U64(l.position, 2);
		CHECK_U64(l.line, 3);
	}
	CHECK(!wmk_next_line(w, &lines, &l));
}

static void check_dictionary(const struct wmk_file *w)
{
	struct wmk_walk epochs = {0}, functions = {0}, edges = {0};
	struct wmk_epoch e;
	struct wmk_epoch_function f;
	struct wmk_epoch_edge edge;

	if (CHECK(wmk_next_epoch(w, &epochs, &e))) {
		CHECK_U64(e.start_ns, 1);
		CHECK_U64(e.epoch, 2);
		CHECK_U64(e.function_count, 3);
		CHECK_U64(e.edge_count, 4);
		CHECK_U64(e.base, 5);
		CHECK_U64(e.flags, 6);
	}
	CHECK(!wmk_next_epoch(w, &epochs, &e));
	if (CHECK(wmk_next_epoch_function(w, &functions, &f))) {
		CHECK_U64(f.contexts, 1);
		CHECK_U64(f.restart, 2);
		CHECK_U64(f.epoch, 3);
		CHECK_U64(f.function, 4);
		CHECK_U64(f.flags, WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY);
	}
	CHECK(!wmk_next_epoch_function(w, &functions, &f));
	if (CHECK(wmk_next_epoch_edge(w, &edges, &edge))) {
		CHECK_U64(edge.addend, 1);
		CHECK_U64(edge.epoch, 2);
		CHECK_U64(edge.site, 3);
		CHECK_U64(edge.callee, 4);
		CHECK_U64(edge.kind, WMK_EDGE_CUT);
	}
	CHECK(!wmk_next_epoch_edge(w, &edges, &edge));
}

static void test_read(void)
{
	struct wmk_file w;
	size_t len;
	uint8_t *file = golden_file(&len);

	if (CHECK_OK(wmk_read(file, len, "x.wmk", &w))) {
		check_code(&w);
		check_dictionary(&w);
		wmk_file_deinit(&w);
	}
	if (CHECK_OK(wmk_read_contexts(file, len, "x.wmk", &w))) {
		check_code(&w);
		check_dictionary(&w);
		wmk_file_deinit(&w);
	}
	free(file);
}

static void test_write(void)
{
	const struct wmk_image image = {.load_address = 2, .path = 3, .kind = WMK_IMAGE_LOADER};
	const struct wmk_function f = {1, 2, 3, 4, 5, 6, 7, 8, {0}, 0};
	const struct wmk_site s = {1, WMK_SITE_FOREIGN, 3, 5, 6, 7, 0, 0};
	const struct wmk_line l = {1, 2, 3, 0};
	const struct wmk_epoch e = {1, 2, 3, 4, 5, 6, 0};
	const struct wmk_epoch_function ef = {1, 2, 3, 4, 5, 0};
	const struct wmk_epoch_edge edge = {1, 2, 3, 4, WMK_EDGE_CUT, 0, 0};
	const struct wmk_header header = {.run = 9};
	struct wmk_writer out;
	size_t len;
	uint8_t *file = golden_file(&len);

	wmk_writer_init(&out);
	wmk_write_image(&out, &image);
	wmk_write_function(&out, 5, &f);
	wmk_write_site(&out, 30, &s);
	wmk_write_line(&out, &l);
	wmk_write_epoch(&out, &e);
	wmk_write_epoch_function(&out, &ef);
	wmk_write_epoch_edge(&out, &edge);
	if (CHECK_OK(wmk_writer_finish(&out, &header)) && CHECK_U64(out.out.len_bytes, len))
		for (size_t i = 0; i < KINDS; i++)
			if (memcmp(out.out.bytes + chunk_at(i), file + chunk_at(i), WMK_CHUNK_BYTES) != 0)
				CHECK_U64(i, KINDS); /* of this kind */
	wmk_writer_deinit(&out);
	free(file);
}

/* Numbers that are apart, more than a chunk has, and again. */
static void test_numbers(void)
{
	const uint32_t ranges[][2] = {{16, 3}, {100, 3000}, {50, 2}};
	const struct wmk_header header = {.run = 9};
	struct wmk_walk walk = {0};
	struct wmk_writer out;
	struct wmk_file w;
	struct wmk_site s;
	uint32_t number;

	wmk_writer_init(&out);
	for (size_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < ranges[i][1]; k++)
			wmk_write_site(&out, ranges[i][0] + k, &(struct wmk_site){.position = ranges[i][0] + k});
	if (CHECK_OK(wmk_writer_finish(&out, &header)) &&
	    CHECK_OK(wmk_read(out.out.bytes, out.out.len_bytes, "x.wmk", &w))) {
		CHECK_U64(w.whole_count[WMK_SITES], 3005);
		CHECK_U64(w.chunks.count, 4);
		while (wmk_next_site(&w, &walk, &number, &s))
			if (number != s.position)
				CHECK_U64(number, s.position);
		wmk_file_deinit(&w);
	}
	wmk_writer_deinit(&out);
}

static void expect_at(uint8_t *file, size_t len, size_t off, uint8_t v, const char *text, int line)
{
	uint8_t saved = file[off];
	struct wmk_file w;

	file[off] = v;
	check_has_error(wmk_read(file, len, "x.wmk", &w), ERROR_FORMAT, text, __FILE__, line);
	file[off] = saved;
}
#define EXPECT_DAMAGED(chunk, off, v, text) expect_at(file, len, chunk_at(chunk) + (off), v, text, __LINE__)

static void test_damaged(void)
{
	struct wmk_file w;
	size_t len;
	uint8_t *file = golden_file(&len);

	EXPECT_DAMAGED(0, BODY + 68, 4, "offset 0x1040: an image of kind 4 with 0 sites");
	EXPECT_DAMAGED(0, BODY + 20, 1, "an image of kind 3 with 1 sites");
	EXPECT_DAMAGED(2, BODY + 4, 1, "a call site of unknown kind, 1");
	EXPECT_DAMAGED(2, BODY + 4, 5, "a call site of unknown kind, 5");
	EXPECT_DAMAGED(2, BODY + 4, 8, "a call site of unknown kind, 8");
	EXPECT_DAMAGED(6, BODY + 20, 3, "a call of unknown kind, 3");
	EXPECT_DAMAGED(2, 16, 15, "sites 15 + 1");
	EXPECT_DAMAGED(2, 19, 0x80, "sites 2147483678 + 1");
	EXPECT_DAMAGED(2, 20, 1, "a record of site 4294967326");
	EXPECT_DAMAGED(1, 20, 1, "a record of function 4294967301");
	for (size_t i = 0; i < KINDS; i++)
		EXPECT_DAMAGED(i, BODY + golden[i].record_bytes - 4, 3, "a record in state 3");
	/* The chunk of lines becomes a second one of functions, then of sites. */
	file[chunk_at(3) + 8] = 48;
	file[chunk_at(3) + 16] = 5;
	file[chunk_at(3) + BODY + 12] = 0;
	EXPECT_DAMAGED(3, 4, WMK_FUNCTIONS, "two records of function 5");
	file[chunk_at(3) + 16] = 30;
	file[chunk_at(3) + BODY + 4] = 0;
	EXPECT_DAMAGED(3, 4, WMK_SITES, "two records of site 30");
	/* An image with a section and the same sites. */
	file[chunk_at(0) + BODY + 68] = 0;
	file[chunk_at(0) + BODY + 16] = 20;
	EXPECT_DAMAGED(0, BODY + 20, 11, "has the sites of records, too");
	file[chunk_at(0) + BODY + 20] = 10;
	if (CHECK_OK(wmk_read(file, len, "x.wmk", &w)))
		wmk_file_deinit(&w);
	free(file);
}

/* In memory of just its length. */
static uint8_t *copy_of(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len);

	if (!copy)
		abort();
	return memcpy(copy, bytes, len);
}

static void test_truncated(void)
{
	size_t len;
	uint8_t *file = golden_file(&len);

	for (size_t end = WMK_HEADER_BYTES; end < len; end += end % WMK_CHUNK_BYTES < 4500 ? 3 : 997) {
		uint8_t *part = copy_of(file, end);
		struct wmk_file w;

		if (CHECK_OK(wmk_read(part, end, "x.wmk", &w))) {
			struct wmk_walk walk = {0};
			struct wmk_epoch_edge edge;

			CHECK(w.truncated != NULL);
			CHECK(!wmk_next_epoch_edge(&w, &walk, &edge) || end >= chunk_at(6) + BODY + 32);
			wmk_file_deinit(&w);
		}
		free(part);
	}
	free(file);
}

/* Record after record comes in; what is followed is what is read at once. */
static void test_follow(void)
{
	size_t len;
	uint8_t *file = golden_file(&len), *before = copy_of(file, len);
	struct wmk_file w, fresh;
	bool is_new;

	for (size_t i = 0; i < KINDS; i++)
		before[chunk_at(i) + 8] = 0;
	if (!CHECK_OK(wmk_read_contexts(before, len, "x.wmk", &w)))
		return;
	for (size_t i = 0; i < KINDS; i++) {
		uint8_t *now = copy_of(before, len);

		now[chunk_at(i) + 8] = golden[i].record_bytes;
		CHECK_OK(wmk_follow(&w, now, len, &is_new));
		CHECK(is_new);
		free(before);
		before = now;
		if (CHECK_OK(wmk_read_contexts(now, len, "x.wmk", &fresh))) {
			CHECK(memcmp(w.whole_count, fresh.whole_count, sizeof w.whole_count) == 0);
			wmk_file_deinit(&fresh);
		}
		CHECK_OK(wmk_follow(&w, now, len, &is_new));
		CHECK(!is_new);
	}
	check_code(&w);
	check_dictionary(&w);
	wmk_file_deinit(&w);
	free(before);
	free(file);
}

int main(void)
{
	test_read();
	test_write();
	test_numbers();
	test_damaged();
	test_truncated();
	test_follow();
	return check_status();
}
