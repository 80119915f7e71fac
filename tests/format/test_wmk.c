/*
 * test_wmk.c - .wmk files: the reader against bytes put down by hand, files that end anywhere, and damage.
 */
#include <stddef.h>
#include <stdlib.h>

#include "check.h"
#include "format/wmk.h"
#include "format/wmk_write.h"
#include "support/builder.h"

static const uint8_t build_id[20] = {0xab, 0xcd, 1};

static void build_example(struct wmk_builder *b)
{
	uint64_t path, name;

	build_wmk_init(b, 0x1234, "/bin/prog");
	build_chunk(b, WMK_STRINGS, 0, 0);
	path = build_string(b, 0, "/bin/prog");
	name = build_string(b, 0, "tick");
	build_string(b, 0, "open");
	buffer_put_u32(&b->out, b->out.len_bytes - 12, 0); /* claimed, length known, not whole */
	build_string(b, 0, "after");
	build_chunk(b, WMK_IMAGES, 0, 0);
	build_image(b, 77, 50, 10, path, NULL, 0);
	build_image(b, 99, 16, 8, path, build_id, sizeof build_id);
	build_image(b, 1, 16, 8, path, NULL, 0);
	build_state(b, 2); /* given up */
	build_chunk(b, WMK_NODES, 2000, 0);
	build_node(b, 16, 7, 18, 1);
	build_epoch(b, 8);
	build_chunk(b, WMK_NODES, 16, 0);
	build_node(b, 1, 5, 17, 3);
	build_node(b, 16, 6, 17, 1);
	build_state(b, 0);
	build_chunk(b, WMK_EVENTS, 0, 4242);
	build_event(b, 100, 1, 2, 16, 20, (uint32_t)name);
	build_event(b, 101, 1, 2, 16, 20, (uint32_t)name);
	build_state(b, 0);
	build_event(b, 102, UINT64_MAX, 3, 1, 21, (uint32_t)name);
	build_chunk(b, WMK_HEAP, 0, 0);
	build_forked_heap(b, 2, 16, 20, 10, 1000, 4, 400, 800, (const uint64_t[]){5, 501, 3, 302});
	build_epoch(b, 9);
	build_chunk(b, WMK_THREADS, 0, 0);
	build_thread(b, 101, 4242, (uint32_t)name);
	build_thread(b, 102, 4243, (uint32_t)name);
	build_state(b, 2);
	build_wmk_finish(b);
}

static void test_read(void)
{
	struct wmk_builder b;
	struct wmk_file w;
	struct wmk_node node;
	struct wmk_walk walk = {0};
	struct wmk_event event;
	struct wmk_heap heap;
	struct wmk_thread thread;

	build_example(&b);
	if (!CHECK_OK(wmk_read(b.out.bytes, b.out.len_bytes, "x.wmk", &w)))
		return;
	CHECK_U64(w.header.run, 0x1234);
	CHECK_U64(w.header.pid, 4242);
	CHECK_TEXT(w.header.program, "/bin/prog");
	CHECK(w.truncated == NULL);
	CHECK_U64(w.uncommitted, 3);
	CHECK_U64(w.whole_count[WMK_EVENTS], 2);
	CHECK_U64(w.whole_count[WMK_HEAP], 1);
	CHECK_U64(w.image_count, 2);
	CHECK_U64(w.images[0].record.site_base, 16);
	CHECK_U64(w.images[0].record.meta_key, 99);
	CHECK(memcmp(w.images[0].record.build_id, build_id, sizeof build_id) == 0);
	CHECK_TEXT(w.images[1].path, "/bin/prog");
	CHECK_U64(w.strings.count, 3);
	CHECK(wmk_find_string(&w, 4) == NULL);
	CHECK(wmk_find_image(&w, 15) == NULL);
	CHECK(wmk_find_image(&w, 23) == &w.images[0]);
	CHECK(wmk_find_image(&w, 24) == NULL);
	CHECK(wmk_find_image(&w, 59) == &w.images[1]);
	CHECK(wmk_find_image(&w, 60) == NULL);
	CHECK(!wmk_find_node(&w, 15, &node));
	CHECK(!wmk_find_node(&w, 17, &node)); /* not committed */
	CHECK(!wmk_find_node(&w, 2001, &node));
	if (CHECK(wmk_find_node(&w, 16, &node))) {
		CHECK_U64(node.parent, 1);
		CHECK_U64(node.id, 5);
		CHECK_U64(node.run, 3);
		CHECK_U64(node.epoch, 0);
	}
	if (CHECK(wmk_find_node(&w, 2000, &node))) {
		CHECK_U64(node.site, 18);
		CHECK_U64(node.epoch, 8);
	}
	CHECK(wmk_next_event(&w, &walk, &event));
	CHECK_U64(event.time_ns, 100);
	CHECK_TEXT(wmk_find_string(&w, event.name), "tick");
	CHECK(wmk_next_event(&w, &walk, &event));
	CHECK_U64(event.time_ns, 102);
	CHECK_U64(event.value, UINT64_MAX);
	CHECK_U64(event.tid, 4242);
	CHECK(!wmk_next_event(&w, &walk, &event));
	walk = (struct wmk_walk){0};
	CHECK(wmk_next_heap(&w, &walk, &heap));
	CHECK_U64(heap.freed_bytes, 400);
	CHECK_U64(heap.at_peak_bytes, 800);
	CHECK_U64(heap.inherited_count, 5);
	CHECK_U64(heap.inherited_bytes, 501);
	CHECK_U64(heap.inherited_freed_count, 3);
	CHECK_U64(heap.inherited_freed_bytes, 302);
	CHECK_U64(heap.epoch, 9);
	CHECK(!wmk_next_heap(&w, &walk, &heap));
	walk = (struct wmk_walk){0};
	CHECK(wmk_next_thread(&w, &walk, &thread));
	CHECK_U64(thread.time_ns, 101);
	CHECK_U64(thread.tid, 4242);
	CHECK_TEXT(wmk_find_string(&w, thread.name), "tick");
	CHECK(!wmk_next_thread(&w, &walk, &thread));
	wmk_file_deinit(&w);
	buffer_deinit(&b.out);
}

/* Field by field at the offsets of docs/format.md, not through the structs. */
static void test_golden(uint8_t version)
{
	uint8_t *file = calloc(1, WMK_HEADER_BYTES + WMK_CHUNK_BYTES);
	static const uint8_t header[] = {0x89, 'W',  'M',  'K',  13,   10,   26,   10,   1, 0, 0, 0, 0, 0, 1, 0,
					 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, /* run */
					 9,    0,    0,    0,    0,    0,    0,    0,    /* parent_run */
					 0x2a, 0,    0,    0,    3,    0,    0,    0,    1, 0, 0, 0, 0, 0, 0, 0};
	static const uint8_t chunk[] = {'W', 'M', 'C', 'K', 4, 0, 0, 0, 48, 0, 0, 0, 7, 0, 0, 0};
	static const uint8_t event[] = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
					4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0};
	struct wmk_file w;
	struct wmk_event e;
	struct wmk_walk walk = {0};

	if (!CHECK(file != NULL))
		return;
	memcpy(file, header, sizeof header);
	file[72] = 11; /* dropped_events */
	file[80] = 12; /* dropped_prefixes */
	file[88] = 13; /* dropped_heap_calls */
	file[96] = 28; /* drop_errno */
	file[8] = version;
	file[version < 3 ? 104 : 112] = 14; /* heap_live_bytes */
	file[version < 3 ? 112 : 120] = 15; /* heap_peak_bytes */
	file[version < 3 ? 120 : 104] = 16; /* heap_unknown_frees */
	memcpy(file + 128, "/p", 2);
	memcpy(file + 4096, chunk, sizeof chunk);
	memcpy(file + 4096 + 64, event, sizeof event);
	if (CHECK_OK(wmk_read(file, WMK_HEADER_BYTES + WMK_CHUNK_BYTES, "x.wmk", &w))) {
		CHECK_U64(w.header.run, 0x0123456789abcdef);
		CHECK_U64(w.header.parent_run, 9);
		CHECK_U64(w.header.pid, 42);
		CHECK_U64(w.header.flags, WMK_FLAG_HEAP | WMK_FLAG_CLOSED);
		CHECK_U64(w.header.dropped_events, 11);
		CHECK_U64(w.header.dropped_prefixes, 12);
		CHECK_U64(w.header.dropped_heap_calls, 13);
		CHECK_U64(w.header.drop_errno, 28);
		CHECK_U64(w.header.heap_live_bytes, 14);
		CHECK_U64(w.header.heap_peak_bytes, 15);
		CHECK_U64(w.header.heap_unknown_frees, 16);
		CHECK_TEXT(w.header.program, "/p");
		if (CHECK(wmk_next_event(&w, &walk, &e))) {
			CHECK_U64(e.time_ns, 1);
			CHECK_U64(e.value, 2);
			CHECK_U64(e.id, 3);
			CHECK_U64(e.prefix, 4);
			CHECK_U64(e.site, 5);
			CHECK_U64(e.name, 6);
			CHECK_U64(e.epoch, 7);
			CHECK_U64(e.tid, 8);
		}
		wmk_file_deinit(&w);
	}
	free(file);
}

/* Node and path count as docs/format.md has them, written and read. */
static void test_golden_contexts(void)
{
	static const uint8_t node[] = {5, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0x11, 0, 0, 0,
				       3, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1,    0, 0, 0};
	static const uint8_t count[] = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9,  0, 0, 0, 0, 0, 0, 0,
					4, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 5,  0, 0, 0, 0, 0, 0, 0,
					4, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 1, 0, 4, 0, 10, 0, 0, 0, 1, 0, 0, 0};
	const struct wmk_node n = {.id = 5, .parent = 4, .site = 0x11, .run = 3, .epoch = 7};
	const struct wmk_path_count c = {.name_key = 1,
					 .cfg_key = 2,
					 .path_count = 9,
					 .r = 4,
					 .count = 6,
					 .id = 5,
					 .prefix = 4,
					 .site = 8,
					 .image = 3,
					 .kind = 1,
					 .flags = WMK_PATHS_RESIDUAL,
					 .epoch = 10};
	const size_t first = WMK_HEADER_BYTES + WMK_CHUNK_HEADER_BYTES;
	const struct wmk_header header = {.run = 1};
	struct wmk_walk walk = {0};
	struct wmk_writer out;
	struct wmk_path_count got;
	struct wmk_node got_node;
	struct wmk_file w;
	uint64_t number;

	wmk_writer_init(&out);
	wmk_write_node(&out, &n);
	wmk_write_path_count(&out, &c);
	if (CHECK_OK(wmk_writer_finish(&out, &header))) {
		CHECK(memcmp(out.out.bytes + first, node, sizeof node) == 0);
		CHECK(memcmp(out.out.bytes + first + WMK_CHUNK_BYTES, count, sizeof count) == 0);
	}
	if (CHECK_OK(wmk_read(out.out.bytes, out.out.len_bytes, "x.wmk", &w))) {
		if (CHECK(wmk_find_node(&w, 16, &got_node)))
			CHECK_U64(got_node.epoch, 7);
		if (CHECK(wmk_next_path_count(&w, &walk, &got, &number)))
			CHECK_U64(got.epoch, 10);
		wmk_file_deinit(&w);
	}
	wmk_writer_deinit(&out);
}

/* A record of the heap as docs/format.md has it, read, and added up by itself, as a merged file has that. */
static void test_golden_heap(void)
{
	static const struct {
		size_t off, bytes, sum_off; /* sum_off 0: not in the sum */
	} fields[] = {{16, 8, 16},  {24, 8, 24},  {32, 8, 40},  {40, 4, 256}, {44, 4, 264},  {192, 8, 88},
		      {200, 8, 56}, {208, 8, 64}, {216, 8, 72}, {224, 8, 80}, {232, 8, 112}, {240, 8, 120}};
	uint8_t *file = calloc(1, WMK_HEADER_BYTES + WMK_CHUNK_BYTES), *record, sum_bytes[272] = {0};
	const struct wmk_header header = {.run = 1};
	struct wmk_walk walk = {0}, sums = {0};
	struct wmk_writer out;
	struct wmk_heap h;
	struct wmk_heap_sum sum, again;
	struct wmk_file w;

	if (!CHECK(file != NULL))
		return;
	memcpy(file, WMK_MAGIC, 8);
	file[8] = 4;
	file[14] = 1; /* chunks of 65536 bytes */
	file[40] = 1;
	file[36] = WMK_FLAG_HEAP | WMK_FLAG_CLOSED;
	file[120] = 200;                             /* heap_peak_bytes */
	memcpy(file + 4096, "WMCK\5\0\0\0\0\1", 10); /* 256 bytes are used */
	file[1352] = WMK_REACH_TOLD;
	record = file + 4096 + 64;
	record[0] = 1;
	record[8] = 4; /* prefix */
	record[12] = 6;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		record[fields[i].off] = (uint8_t)(30 + i);
	record[17] = 1; /* 286 allocations */
	record[25] = 2; /* 543 bytes */
	record[48] = 7; /* at the peak */
	record[56] = 200;
	for (size_t i = 0; i < WMK_LIVES; i++)
		record[64 + 8 * i] = (uint8_t)(1 + i);
	record[252] = 1;
	if (!CHECK_OK(wmk_read(file, WMK_HEADER_BYTES + WMK_CHUNK_BYTES, "x.wmk", &w)) ||
	    !CHECK(wmk_next_heap(&w, &walk, &h)))
		return;
	CHECK_U64(w.header.heap_reach, WMK_REACH_TOLD);
	sum = wmk_sum_of_heap(&w, &h);
	wmk_writer_init(&out);
	wmk_write_heap_sum(&out, &sum);
	sum_bytes[0] = 1;
	sum_bytes[8] = 4;
	sum_bytes[12] = 6;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		memcpy(sum_bytes + fields[i].sum_off, record + fields[i].off, fields[i].bytes);
	sum_bytes[32] = 136;                    /* freed: 1 + 2 + ... + 16 */
	sum_bytes[48] = 7;                      /* at the peak */
	sum_bytes[96] = 286 - 136 - 40;         /* reachable */
	sum_bytes[104] = (543 - 32 - 41) % 256; /* their bytes */
	sum_bytes[105] = (543 - 32 - 41) / 256;
	memcpy(sum_bytes + 128, record + 64, 8 * WMK_LIVES);
	sum_bytes[260] = WMK_HEAP_SUM_ENDED;
	sum_bytes[268] = 1;
	if (CHECK_OK(wmk_writer_finish(&out, &header)))
		CHECK(memcmp(out.out.bytes + WMK_HEADER_BYTES + WMK_CHUNK_HEADER_BYTES, sum_bytes, sizeof sum_bytes) ==
		      0);
	wmk_file_deinit(&w);
	if (CHECK_OK(wmk_read(out.out.bytes, out.out.len_bytes, "x.wmk", &w))) {
		CHECK(wmk_next_heap_sum(&w, &sums, &again));
		again.state = sum.state;
		CHECK(memcmp(&again, &sum, sizeof sum) == 0);
		wmk_file_deinit(&w);
	}
	wmk_writer_deinit(&out);
	/* What version 3 had there is something else. */
	file[8] = 3;
	walk = (struct wmk_walk){0};
	if (CHECK_OK(wmk_read(file, WMK_HEADER_BYTES + WMK_CHUNK_BYTES, "x.wmk", &w))) {
		CHECK(!wmk_next_heap(&w, &walk, &h));
		wmk_file_deinit(&w);
	}
	free(file);
}

/* Reads a heap copy of exactly len bytes, so that a sanitizer sees any read behind it. */
static struct error *read_part(const struct wmk_builder *b, size_t len, struct wmk_file *ret)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct error *err;

	if (!copy)
		abort();
	memcpy(copy, b->out.bytes, len);
	err = wmk_read(copy, len, "x.wmk", ret);
	if (!err) {
		struct wmk_walk walk = {0};
		struct wmk_event event;
		struct wmk_node node;

		while (wmk_next_event(ret, &walk, &event))
			;
		wmk_find_node(ret, 16, &node);
		check_that(ret->truncated != NULL, __FILE__, __LINE__, "truncated is set");
		wmk_file_deinit(ret);
	}
	free(copy);
	return err;
}

static void test_truncated(void)
{
	struct wmk_builder b;
	struct wmk_file w;

	build_example(&b);
	for (size_t len = 0; len < WMK_HEADER_BYTES; len += 101)
		CHECK_ERROR(read_part(&b, len, &w), ERROR_FORMAT, len ? "truncated" : "empty");
	for (size_t chunk = 0; chunk < b.chunk_count; chunk++)
		for (size_t len = 0; len < 600; len += 7)
			CHECK_OK(read_part(&b, WMK_HEADER_BYTES + chunk * WMK_CHUNK_BYTES + len, &w));
	CHECK_OK(read_part(&b, b.out.len_bytes - 1, &w));
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
/* What was written by an earlier version, and what a process writes now: the same chunks in other units. */
static void test_units(void)
{
	struct wmk_builder b;
	struct wmk_file before, now;
	size_t places = 0;

	build_example(&b);
	buffer_put_u32(&b.out, offsetof(struct wmk_header, version), 1);
	CHECK_OK(wmk_read(b.out.bytes, b.out.len_bytes, "x.wmk", &before));
	buffer_put_u32(&b.out, offsetof(struct wmk_header, version), 4);
	buffer_put_u32(&b.out, offsetof(struct wmk_header, chunk_bytes), WMK_UNIT_BYTES);
	buffer_put_u32(&b.out, offsetof(struct wmk_header, chunk_count),
		       b.chunk_count * (WMK_CHUNK_BYTES / WMK_UNIT_BYTES));
	for (size_t off = WMK_HEADER_BYTES; off < b.out.len_bytes; off += WMK_CHUNK_BYTES)
		buffer_put_u32(&b.out, off + offsetof(struct wmk_chunk_header, span), WMK_CHUNK_BYTES / WMK_UNIT_BYTES);
	if (CHECK_OK(wmk_read(b.out.bytes, b.out.len_bytes, "x.wmk", &now))) {
		CHECK_U64(now.chunks.count, before.chunks.count);
		CHECK_U64(now.strings.count, before.strings.count);
		for (int kind = 0; kind < WMK_KIND_END; kind++) {
			/* Of the heap earlier versions had something else. */
			CHECK_U64(before.place_count[kind], kind == WMK_HEAP ? 0 : now.place_count[kind]);
			CHECK_U64(before.whole_count[kind], kind == WMK_HEAP ? 0 : now.whole_count[kind]);
			places += now.place_count[kind];
		}
		CHECK(places > 0);
		wmk_file_deinit(&now);
	}
	wmk_file_deinit(&before);
	buffer_deinit(&b.out);
}

/* Labels of the first page; files of version 1 have none. */
static void test_labels(void)
{
	static const char labels[] = "k=v\0rank=3\0";
	struct wmk_builder b;
	struct wmk_file w;
	size_t off = 0;

	build_example(&b);
	memcpy(b.out.bytes + WMK_LABELS_OFF, labels, sizeof labels);
	CHECK_OK(wmk_read(b.out.bytes, b.out.len_bytes, "x.wmk", &w));
	CHECK(strcmp(wmk_next_label(&w, &off), "k=v") == 0);
	CHECK(strcmp(wmk_next_label(&w, &off), "rank=3") == 0);
	CHECK(!wmk_next_label(&w, &off));
	memset(b.out.bytes + WMK_LABELS_OFF, 'x', WMK_LABELS_BYTES);
	off = 0;
	CHECK(!wmk_next_label(&w, &off));
	w.header.version = WMK_VERSION_OLDEST;
	memcpy(b.out.bytes + WMK_LABELS_OFF, labels, sizeof labels);
	CHECK(!wmk_next_label(&w, &off));
	wmk_file_deinit(&w);
	buffer_deinit(&b.out);
}

#define EXPECT_DAMAGED(off, v, text) expect_at(&b, off, v, text, __LINE__)

static void test_damaged(void)
{
	struct wmk_builder b;
	const size_t strings = WMK_HEADER_BYTES, images = strings + WMK_CHUNK_BYTES, nodes = images + WMK_CHUNK_BYTES;
	const size_t body = WMK_CHUNK_HEADER_BYTES;

	build_example(&b);
	EXPECT_DAMAGED(0, 0, "x.wmk: offset 0x0: this is no .wmk file");
	EXPECT_DAMAGED(8, 5, "version 5, this waymark reads versions 1 to 4");
	EXPECT_DAMAGED(8, 0, "version 0, this waymark reads versions 1 to 4");
	EXPECT_DAMAGED(12, 8192, "chunks of 8192 bytes");
	EXPECT_DAMAGED(images, 5, "x.wmk: offset 0x11000: no chunk starts here");
	EXPECT_DAMAGED(images + 4, WMK_KIND_END, "unknown kind, 19");
	EXPECT_DAMAGED(images + body + 92, 3, "a record in state 3");
	EXPECT_DAMAGED(images + body + 64, 33, "build id of 33 bytes");
	EXPECT_DAMAGED(images + body + 16, 3, "sites 3 + 10");
	EXPECT_DAMAGED(images + body + 16, 20, "share site 20");
	EXPECT_DAMAGED(strings + body, 65536, "a string of 65536 bytes");
	EXPECT_DAMAGED(nodes + 16, 16, "two records of prefix 16");
	memset(b.out.bytes + 128, 'x', WMK_PROGRAM_BYTES);
	EXPECT_DAMAGED(8, 1, "path does not end");
	buffer_deinit(&b.out);
}

/* used_bytes may pass the end of the chunk, and space may be allocated that nobody uses yet. */
static void test_live_file(void)
{
	struct wmk_builder b;
	struct wmk_file w;

	build_wmk_init(&b, 1, "/p");
	build_chunk(&b, WMK_EVENTS, 0, 1);
	for (int i = 0; i < (WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES) / (int)sizeof(struct wmk_event); i++)
		build_event(&b, 1, 1, 0, 1, 17, 0);
	build_chunk(&b, WMK_EVENTS, 0, 1);
	build_wmk_finish(&b);
	buffer_put_u32(&b.out, WMK_HEADER_BYTES + 8, 70000);
	memset(b.out.bytes + WMK_HEADER_BYTES + WMK_CHUNK_BYTES, 0, WMK_CHUNK_BYTES);
	if (CHECK_OK(wmk_read(b.out.bytes, b.out.len_bytes, "x.wmk", &w))) {
		CHECK_U64(w.whole_count[WMK_EVENTS], 1364);
		CHECK_U64(w.chunks.count, 1);
		wmk_file_deinit(&w);
	}
	buffer_deinit(&b.out);
}

/* ---- files that grow ---- */

enum {
	GROW_CHUNKS = 7,
	GROW_NODES = 2046, /* a chunk */
};

/* Chunk i has records of this many bytes each. */
static const uint32_t record_bytes[GROW_CHUNKS] = {16, 96, 32, 48, 32, 96, 16};

static void build_grown(struct wmk_builder *b)
{
	uint64_t path;

	build_wmk_init(b, 0x77, "/bin/prog");
	build_chunk(b, WMK_STRINGS, 0, 0);
	path = build_string(b, 0, "/bin/a");
	build_string(b, 0, "/bin/b");
	build_chunk(b, WMK_IMAGES, 0, 0);
	build_image(b, 1, 16, 10, path, build_id, sizeof build_id);
	build_image(b, 2, 100, 10, 16, build_id, sizeof build_id);
	build_chunk(b, WMK_NODES, 16, 0);
	for (uint32_t i = 0; i < GROW_NODES; i++)
		build_node(b, 1, i, 17, 1);
	build_chunk(b, WMK_EVENTS, 0, 3);
	build_event(b, 1, 1, 0, 1, 17, 0);
	build_chunk(b, WMK_NODES, 16 + GROW_NODES, 0);
	for (uint32_t i = 0; i < 9; i++)
		build_node(b, 16 + i, i, 18, 2);
	build_chunk(b, WMK_IMAGES, 2, 0);
	build_image(b, 3, 50, 50, 65472, build_id, sizeof build_id);
	build_chunk(b, WMK_STRINGS, 65472, 0);
	build_string(b, 65472, "/bin/c");
	build_wmk_finish(b);
}

/* The file when it had so many bytes in use of each chunk, and so many chunks; in memory of just its length. */
static uint8_t *at_moment(const struct wmk_builder *b, const uint32_t used[GROW_CHUNKS], uint32_t chunks,
			  size_t *ret_len)
{
	size_t len = WMK_HEADER_BYTES + (size_t)chunks * WMK_CHUNK_BYTES;
	uint8_t *bytes = malloc(len);

	if (!bytes)
		abort();
	memcpy(bytes, b->out.bytes, len);
	bytes[40] = (uint8_t)chunks;
	for (uint32_t i = 0; i < chunks; i++) {
		uint8_t *chunk = bytes + WMK_HEADER_BYTES + (size_t)i * WMK_CHUNK_BYTES;

		chunk[8] = (uint8_t)used[i];
		chunk[9] = (uint8_t)(used[i] >> 8);
		memset(chunk + WMK_CHUNK_HEADER_BYTES + used[i], 0, WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES - used[i]);
	}
	*ret_len = len;
	return bytes;
}

static void check_same(const struct wmk_file *a, const struct wmk_file *b)
{
	CHECK_U64(a->place_count[WMK_NODES], b->place_count[WMK_NODES]);
	CHECK_U64(a->image_count, b->image_count);
	CHECK_U64(a->strings.count, b->strings.count);
	for (uint32_t prefix = 0; prefix < 16 + 2 * GROW_NODES; prefix++) {
		struct wmk_node x = {0}, y = {0};
		bool is_there = wmk_find_node(a, prefix, &x);

		if (is_there != wmk_find_node(b, prefix, &y) || memcmp(&x, &y, sizeof x) != 0)
			CHECK_U64(prefix, 0); /* not the same */
	}
	for (uint32_t i = 0; i < a->image_count && i < b->image_count; i++) {
		CHECK_U64(a->images[i].record.site_base, b->images[i].record.site_base);
		CHECK_TEXT(a->images[i].path, b->images[i].path);
		CHECK(wmk_image_by_record(a, a->images[i].record_number) == &a->images[i]);
		CHECK_U64(a->images[i].record_number, b->images[i].record_number);
	}
}

/* Grows in small and large steps, several chunks at a time; what is followed is what is read at once. */
static void test_follow(void)
{
	struct wmk_builder b;
	uint32_t whole[GROW_CHUNKS], used[GROW_CHUNKS] = {0}, chunks = 0;
	struct wmk_file w, fresh;
	uint8_t *bytes, *more;
	size_t len;
	bool is_new;

	build_grown(&b);
	for (uint32_t i = 0; i < GROW_CHUNKS; i++) {
		const uint8_t *chunk = b.out.bytes + WMK_HEADER_BYTES + (size_t)i * WMK_CHUNK_BYTES;

		whole[i] = (uint32_t)(chunk[8] | chunk[9] << 8);
	}
	bytes = at_moment(&b, used, chunks, &len);
	if (!CHECK_OK(wmk_read_contexts(bytes, len, "x.wmk", &w)))
		return;
	for (unsigned int step = 1; memcmp(used, whole, sizeof used) != 0; step++) {
		uint64_t before = w.place_count[WMK_NODES] + w.image_count + w.strings.count;

		if (step % 3 == 0 && chunks < GROW_CHUNKS)
			chunks++;
		for (uint32_t i = 0; i < chunks; i++) {
			uint32_t records = (step + i) % 5 * (record_bytes[i] == 32 ? step % 64 : 1);

			used[i] += records * record_bytes[i];
			if (used[i] > whole[i])
				used[i] = whole[i];
		}
		more = at_moment(&b, used, chunks, &len);
		if (!CHECK_OK(wmk_follow(&w, more, len, &is_new)) ||
		    !CHECK_OK(wmk_read_contexts(more, len, "x.wmk", &fresh)))
			return;
		free(bytes);
		bytes = more;
		CHECK(is_new == (before != w.place_count[WMK_NODES] + w.image_count + w.strings.count));
		check_same(&w, &fresh);
		wmk_file_deinit(&fresh);
		CHECK_OK(wmk_follow(&w, bytes, len, &is_new));
		CHECK(!is_new);
	}
	CHECK_U64(w.place_count[WMK_NODES], GROW_NODES + 9);
	CHECK_U64(w.image_count, 3);
	CHECK_TEXT(w.images[1].path, "/bin/c");
	CHECK_U64(w.whole_count[WMK_EVENTS], 0);
	bytes[WMK_HEADER_BYTES + 8] = 0; /* the first chunk */
	CHECK_ERROR(wmk_follow(&w, bytes, len, &is_new), ERROR_FORMAT, "a chunk became another one");
	wmk_file_deinit(&w);
	free(bytes);
	buffer_deinit(&b.out);
}

int main(void)
{
	test_follow();
	test_read();
	test_golden(1);
	test_golden(4);
	test_golden_contexts();
	test_golden_heap();
	test_truncated();
	test_units();
	test_labels();
	test_damaged();
	test_live_file();
	return check_status();
}
