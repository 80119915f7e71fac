/*
 * test_tracemeta.c - `.debug_waymark_trace` byte for byte, there and back, several units in one section, and what the reader
 * says of damage.
 */
#include "base/hash.h"
#include "golden.h"
#include "support/builder.h"
#include "support/trace_builder.h"

/* clang-format off */
/* The raw body of build_trace(), as docs/format.md says. */
static const uint8_t golden[] = {
	9, 54,						/* 9 strings, 54 bytes */
	'w', 'a', 'y', 'm', 'a', 'r', 'k', ' ', 't', 'e', 's', 't', 0, /* 1 */
	'u', '.', 'c', 0,				/* 2 */
	't', 'e', 's', 't', '.', 'c', 0,		/* 3 */
	'p', 'u', 't', 's', 0,				/* 4 */
	'i', 'n', 0,					/* 5 */
	'a', '.', 'h', 0,				/* 6 */
	's', 't', 'r', 'l', 'e', 'n', 0,		/* 7 */
	'h', 0,						/* 8 */
	'i', 's', ' ', 'n', 'a', 'k', 'e', 'd', 0,	/* 9 */
	1, 2, 1, 40,					/* producer name is_final coverage_bytes */
	2,						/* functions */
	1, 2, 3, 4, 5, 6, 7, 8,				/* name_key */
	9, 0, 0, 0, 0, 0, 0, 0x80,			/* cfg_key */
	13, 10,						/* root, tunable, states; blocks */
	3,						/* variants: scheme, frame_bytes, ... */
	0, 0,
	11, 40,	2, 1, 5, 9, 8, 25, 2, 1,		/* sum_bytes sum count ring slots local, 2 points, a bit each */
	4, 10,	0, 0, 0, 0, 0, 1, 9, 8,			/* a byte each */
	16, 1, 6,					/* function_off calls_off blocks_off */
	4,						/* calls */
	0x0c, 4,	0, 3,	22, 2,			/* block 0, DIRECT, may leave, elsewhere: puts; test.c; line 11 column 2 */
	0x01,			0, 7,			/* block 0, INDIRECT, the same line, column 7 */
	0x6a, 7,	5, 6,	15, 1,			/* block 3, PURE: strlen; in() of a.h, line 3, column 1 */
	0xdf, 1,	0, 0,	5, 0,			/* block 9, ASM, does not return; no line */
	0x22, 0x02,					/* blocks 1, 5, 9 have a register */
	0, 2, 4, 6, 8, 10, 12, 14, 15, 17,		/* values: 0 to 7, -8, -9 */
	0x10, 0, 0, 0, 0, 0, 0, 0,
	0x20, 0, 0, 0, 0, 0, 0, 0,
	2, 1,						/* taken; one block */
	0,						/* no variants */
	40, 0, 0,					/* function_off */
	0,						/* no calls */
	1, 8, 9,					/* skipped: name reason */
};
/* clang-format on */

static uint64_t write_example(struct buffer *out, const char *unit)
{
	struct trace_builder b;
	uint64_t key = 0;

	build_trace(&b, unit);
	CHECK_OK(tracemeta_write(&b.meta, &key, out));
	return key;
}

static void check_text_or_null(const char *got, const char *want)
{
	if (want && got)
		CHECK_TEXT(got, want);
	else
		CHECK(!got == !want);
}

/* The two functions from `first` on are those of build_trace(). */
static void check_functions(const struct tracemeta *m, uint32_t first, uint32_t unit)
{
	struct trace_builder want;
	const struct tracemeta_function *f = &m->functions[first];

	build_trace(&want, "");
	for (uint32_t i = 0; i < 2; i++, f++) {
		const struct tracemeta_function *w = &want.functions[i];

		CHECK_U64(f->unit, unit);
		CHECK_U64(f->name_key, w->name_key);
		CHECK_U64(f->cfg_key, w->cfg_key);
		CHECK(f->is_root == w->is_root && f->is_address_taken == w->is_address_taken &&
		      f->is_tunable == w->is_tunable);
		CHECK_U64(f->node_count, w->node_count);
		CHECK_U64(f->function_off, w->function_off);
		CHECK_U64(f->calls_off, w->calls_off);
		CHECK_U64(f->blocks_off, w->blocks_off);
		CHECK_U64(f->call_count, w->call_count);
		if (!CHECK_U64(f->variant_count, w->variant_count) || !CHECK(!f->states == !w->states))
			continue;
		for (uint32_t k = 0; k < f->variant_count; k++) {
			const struct tracemeta_variant *a = &f->variants[k], *b = &w->variants[k];

			CHECK(a->scheme == b->scheme && a->sum_bytes == b->sum_bytes && a->sum_off == b->sum_off &&
			      a->count_off == b->count_off && a->ring_off == b->ring_off &&
			      a->ring_slots == b->ring_slots && a->local_off == b->local_off &&
			      a->local_points == b->local_points && a->local_bits == b->local_bits &&
			      a->frame_bytes == b->frame_bytes);
		}
		for (uint32_t k = 0; f->states && k < f->node_count; k++)
			CHECK(f->states[k].has_register == w->states[k].has_register &&
			      f->states[k].value == w->states[k].value);
		for (uint32_t k = 0; k < f->call_count; k++) {
			const struct tracemeta_call *a = &f->calls[k], *b = &w->calls[k];

			CHECK(a->node == b->node && a->kind == b->kind && a->may_leave == b->may_leave &&
			      a->no_return == b->no_return && a->line == b->line && a->column == b->column);
			check_text_or_null(a->callee, b->callee);
			check_text_or_null(a->function, b->function);
			check_text_or_null(a->file, b->file);
		}
	}
}

static void test_round_trip(void)
{
	struct buffer out = {0};
	struct tracemeta m;
	uint64_t key = write_example(&out, "u.c");

	tracemeta_init(&m);
	if (CHECK_OK(tracemeta_read(out.bytes, out.len_bytes, "x", &m))) {
		CHECK_U64(m.unit_count, 1);
		CHECK_U64(m.units[0].key, key);
		CHECK_TEXT(m.units[0].producer, "waymark test");
		CHECK_TEXT(m.units[0].name, "u.c");
		CHECK(m.units[0].is_final);
		CHECK_U64(m.units[0].coverage_bytes, 40);
		CHECK_U64(m.units[0].first_function, 0);
		CHECK_U64(m.units[0].function_count, 2);
		CHECK_U64(m.function_count, 2);
		CHECK_U64(m.skipped_count, 1);
		CHECK_TEXT(m.skipped[0].name, "h");
		CHECK_TEXT(m.skipped[0].reason, "is naked");
		check_functions(&m, 0, 0);
	}
	tracemeta_deinit(&m);
	buffer_deinit(&out);
}

/* As the linker puts them together: one after the other, maybe aligned. Functions stay, also those that are there twice. */
static void test_units(void)
{
	struct buffer out = {0};
	struct tracemeta m;
	uint64_t keys[2];

	keys[0] = write_example(&out, "a.c");
	for (int i = 0; i < 5; i++)
		buffer_u8(&out, 0);
	keys[1] = write_example(&out, "b.c");
	buffer_u8(&out, 0);
	CHECK(keys[0] != keys[1]);
	tracemeta_init(&m);
	if (CHECK_OK(tracemeta_read(out.bytes, out.len_bytes, "x", &m))) {
		CHECK_U64(m.unit_count, 2);
		CHECK_U64(m.function_count, 4);
		CHECK_U64(m.skipped_count, 2);
		CHECK_U64(m.skipped[1].unit, 1);
		for (uint32_t u = 0; u < 2; u++) {
			CHECK_U64(m.units[u].key, keys[u]);
			CHECK_U64(m.units[u].first_function, 2 * u);
			check_functions(&m, 2 * u, u);
		}
	}
	tracemeta_deinit(&m);
	buffer_deinit(&out);
}

static void expect_at(const uint8_t *bytes, size_t len, const char *text, int line)
{
	struct tracemeta m;

	tracemeta_init(&m);
	check_has_error(tracemeta_read(bytes, len, "x", &m), ERROR_FORMAT, text, __FILE__, line);
	CHECK_U64(m.function_count, 0);
	tracemeta_deinit(&m);
}

static void expect_same_or_damaged(const struct buffer *b)
{
	struct tracemeta m;
	struct error *err;

	tracemeta_init(&m);
	err = tracemeta_read(b->bytes, b->len_bytes, "x", &m);
	if (!err)
		check_functions(&m, 0, 0);
	else
		CHECK(err->code == ERROR_FORMAT && strstr(err->message, "x: offset 0x"));
	error_destroy(err);
	tracemeta_deinit(&m);
}

static const struct golden section = {
	.kind = 'T',
	.version = 1,
	.raw = golden,
	.raw_bytes = sizeof golden,
	.where = "x: offset 0x",
	.build = build_trace_section,
	.expect_damaged = expect_at,
	.expect_same_or_damaged = expect_same_or_damaged,
};

static void test_golden(void)
{
	struct buffer out = {0};

	CHECK_U64(write_example(&out, "u.c"), hash_bytes(HASH_START, golden, sizeof golden));
	golden_check(&section, &out);
	golden_check_every_byte(&section, &out, __LINE__);
	buffer_u8(&out, 'x');
	golden_expect(&section, out.bytes, out.len_bytes, "1 bytes are no metadata section", __LINE__);
	buffer_deinit(&out);
}

#define EXPECT_BODY(at, v, text) golden_check_body(&section, at, v, text, __LINE__)

static void test_bodies(void)
{
	const size_t unit = 2 + 54, head = unit + 5 + 16, variants = head + 3, paths = variants + 2,
		     blocks = paths + 10, offs = blocks + 10, calls = offs + 4, states = calls + 6 + 3 + 6 + 6,
		     second = states + 12 + 16;

	EXPECT_BODY(0, 10, "string pool");
	EXPECT_BODY(unit, 10, "string 10 of 9");
	EXPECT_BODY(unit + 2, 2, "stage 2");
	EXPECT_BODY(unit + 3, 39, "coverage outside of the unit's 39 bytes");
	EXPECT_BODY(unit + 4, 127, "127 functions cannot fit");
	EXPECT_BODY(unit + 4, 1, "x: unit 0, unpacked: offset 0x");
	EXPECT_BODY(head, 0x8d, "a function with flags 1293");
	EXPECT_BODY(head, 5, "paths without states");
	EXPECT_BODY(head + 1, 127, "states of 127 blocks cannot fit");
	EXPECT_BODY(head + 1, 0, ": the section is damaged");
	EXPECT_BODY(head + 1, 9, "call 3 in block 9 of 9");
	EXPECT_BODY(head + 2, 11, "variants 11");
	EXPECT_BODY(head + 2, 1, ": the section is damaged");
	EXPECT_BODY(variants, 5, "scheme 5");
	EXPECT_BODY(variants, 16, "scheme 16");
	EXPECT_BODY(variants, 4, "scheme 4 twice");
	EXPECT_BODY(paths, 2, "a frame record that scheme 2 has not");
	EXPECT_BODY(paths, 3, "a frame record that scheme 3 has not");
	EXPECT_BODY(paths, 9, "a frame record that scheme 9 has not");
	EXPECT_BODY(paths + 1, 24, "a frame record of 24 bytes that holds more");
	EXPECT_BODY(paths + 2, 3, "sums of 3 bytes");
	EXPECT_BODY(paths + 2, 0, "sums of 0 bytes");
	EXPECT_BODY(paths + 2, 9, "sums with bytes 9");
	EXPECT_BODY(paths + 3, 40, "that holds more");
	EXPECT_BODY(paths + 4, 38, "that holds more");
	EXPECT_BODY(paths + 4, 0, "a ring of 8 paths");
	EXPECT_BODY(paths + 5, 26, "that holds more");
	EXPECT_BODY(paths + 5, 0, "a ring of 8 paths");
	EXPECT_BODY(paths + 6, 6, "a ring of 6 paths");
	EXPECT_BODY(paths + 6, 32, "that holds more");
	EXPECT_BODY(paths + 7, 41, "that holds more");
	EXPECT_BODY(paths + 8, 5, "a frame record that scheme 11 has not");
	EXPECT_BODY(paths + 9, 0, "a frame record that scheme 11 has not");
	EXPECT_BODY(paths + 9, 9, "points with bits 9");
	EXPECT_BODY(blocks + 8, 11, "a frame record that scheme 4 has not");
	EXPECT_BODY(blocks + 1, 8, "a frame record of 8 bytes that holds more");
	EXPECT_BODY(blocks + 7, 0, "a frame record that scheme 4 has not");
	EXPECT_BODY(blocks + 2, 1, "a frame record that scheme 4 has not");
	EXPECT_BODY(offs, 41, "coverage outside");
	EXPECT_BODY(offs + 1, 38, "coverage outside");
	EXPECT_BODY(offs + 2, 32, "coverage outside");
	EXPECT_BODY(offs + 3, 127, "127 calls cannot fit");
	EXPECT_BODY(calls, 0x2c, "call 3 in block 10 of 10");
	EXPECT_BODY(calls + 1, 0, "call 0 calls nothing known");
	EXPECT_BODY(calls + 4, 21, "line -");
	EXPECT_BODY(second, 4, "0 variants");
	EXPECT_BODY(second + 1, 0, "0 blocks");
	EXPECT_BODY(sizeof golden - 3, 0, "2 bytes behind the last table");
	EXPECT_BODY(sizeof golden - 2, 0, "without a name or reason");
}

static void test_writer_refuses(void)
{
	struct trace_builder b;
	struct buffer out = {0};
	uint64_t key = 0;

	build_trace(&b, "u.c");
	b.functions[0].variants[1].frame_bytes = 24;
	CHECK_ERROR(tracemeta_write(&b.meta, &key, &out), ERROR_ARGUMENT,
		    "function 0: a frame record of 24 bytes that holds more");
	build_trace(&b, "u.c");
	b.functions[0].variants[2].frame_bytes = 8;
	CHECK_ERROR(tracemeta_write(&b.meta, &key, &out), ERROR_ARGUMENT,
		    "function 0: a frame record of 8 bytes that holds more");
	build_trace(&b, "u.c");
	b.functions[0].variants[2].local_bits = 2;
	CHECK_ERROR(tracemeta_write(&b.meta, &key, &out), ERROR_ARGUMENT, "a frame record that scheme 4 has not");
	build_trace(&b, "u.c");
	b.calls[2].callee = NULL;
	CHECK_ERROR(tracemeta_write(&b.meta, &key, &out), ERROR_ARGUMENT, "call 2 calls nothing known");
	build_trace(&b, "u.c");
	b.calls[3].node = 2;
	CHECK_ERROR(tracemeta_write(&b.meta, &key, &out), ERROR_ARGUMENT, "call 3 in block 2 of 10");
	build_trace(&b, "u.c");
	b.functions[1].is_tunable = true;
	CHECK_ERROR(tracemeta_write(&b.meta, &key, &out), ERROR_ARGUMENT, "function 1: 0 variants");
	build_trace(&b, "u.c");
	b.skipped.reason = NULL;
	CHECK_ERROR(tracemeta_write(&b.meta, &key, &out), ERROR_ARGUMENT, "without a name or reason");
	b.meta.unit_count = 0;
	CHECK_ERROR(tracemeta_write(&b.meta, &key, &out), ERROR_ARGUMENT, "0 units");
	CHECK_U64(out.len_bytes, 0);
	CHECK_U64(key, 0);
	buffer_deinit(&out);
}

int main(void)
{
	test_golden();
	test_round_trip();
	test_units();
	test_bodies();
	test_writer_refuses();
	return check_status();
}
