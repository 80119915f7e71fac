/* test_tracepoint.c - records of `.debug_waymark_points`: order, units, places of frame records, damage. */
#include <stdlib.h>

#include "check.h"
#include "format/tracepoint.h"
#include "support/trace_builder.h"

enum {
	TRACED = BUILD_TRACE_SCHEME,
};

/* Two units, functions 0 and 1, 2 and 3. */
static void read_units(struct tracemeta *m)
{
	struct trace_builder b;
	struct buffer out = {0};
	uint64_t key;

	build_trace(&b, "a.c");
	CHECK_OK(tracemeta_write(&b.meta, &key, &out));
	build_trace(&b, "b.c");
	CHECK_OK(tracemeta_write(&b.meta, &key, &out));
	tracemeta_init(m);
	CHECK_OK(tracemeta_read(out.bytes, out.len_bytes, "x", m));
	buffer_deinit(&out);
}

/* As the assembler writes them: also out of order, and of code that the linker discarded. */
static void build_example(const struct tracemeta *m, struct buffer *out)
{
	build_point_unit(out, m->units[1].key, 0x5000);
	build_point(out, 0x2010, WM1_POINT_NODE, 0, TRACED, 9);
	build_point_frame(out, 0x2000, 0, TRACED, "-40(%rbp)");
	build_point(out, 0x2010, WM1_POINT_START, 0, TRACED, 3);
	build_point_unit(out, m->units[0].key, 0);
	build_point(out, 0, WM1_POINT_NODE, 0, TRACED, 1);
	build_point_frame(out, 0, 0, TRACED, "(%rbx)");
	build_point(out, 0x1000, WM1_POINT_ENTRY, 0, TRACED, 0);
	build_point(out, 0x3000, WM1_POINT_END, 0, WM1_SCHEME_BLOCKS, 2);
	build_point(out, 0x3010, WM1_POINT_COVERED, 0, TRACED, 3);
}

static void test_example(void)
{
	static const struct tracepoint want[] = {
		{.address = 0x1000, .scheme = TRACED, .kind = WM1_POINT_ENTRY},
		{.address = 0x2000,
		 .function = 2,
		 .scheme = TRACED,
		 .kind = WM1_POINT_FRAME,
		 .dwarf_register = 6,
		 .displacement = -40},
		{.address = 0x2010, .function = 2, .node = 9, .scheme = TRACED, .kind = WM1_POINT_NODE},
		{.address = 0x2010, .function = 2, .node = 3, .scheme = TRACED, .kind = WM1_POINT_START},
		{.address = 0x3000, .node = 2, .scheme = WM1_SCHEME_BLOCKS, .kind = WM1_POINT_END},
		{.address = 0x3010, .node = 3, .scheme = TRACED, .kind = WM1_POINT_COVERED},
	};
	const size_t count = sizeof want / sizeof want[0];
	struct buffer out = {0};
	struct tracepoints p;
	struct tracemeta m;

	read_units(&m);
	build_example(&m, &out);
	if (CHECK_OK(tracepoints_read(out.bytes, out.len_bytes, "x", &m, &p))) {
		CHECK_U64(p.coverage[0], 0);
		CHECK_U64(p.coverage[1], 0x5000);
		CHECK_U64(p.count, count);
		for (size_t i = 0; i < p.count && i < count; i++) {
			CHECK_U64(p.points[i].address, want[i].address);
			CHECK_U64(p.points[i].function, want[i].function);
			CHECK_U64(p.points[i].node, want[i].node);
			CHECK_U64(p.points[i].scheme, want[i].scheme);
			CHECK_U64(p.points[i].kind, want[i].kind);
			CHECK_U64(p.points[i].dwarf_register, want[i].dwarf_register);
			CHECK(p.points[i].displacement == want[i].displacement);
		}
		tracepoints_deinit(&p);
	}
	if (CHECK_OK(tracepoints_read(out.bytes, 0, "x", &m, &p))) {
		CHECK_U64(p.count, 0);
		CHECK_U64(p.coverage[0], 0);
		tracepoints_deinit(&p);
	}
	tracemeta_deinit(&m);
	buffer_deinit(&out);
}

/* Many, of all addresses below 2^12: still in order, and stable. */
static void test_order(void)
{
	enum {
		COUNT = 20000
	};
	struct buffer out = {0};
	struct tracepoints p;
	struct tracemeta m;
	uint32_t state = 1;

	read_units(&m);
	build_point_unit(&out, m.units[0].key, 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		state = state * 1103515245 + 12345;
		build_point(&out, 1 + (state >> 16 & 0xfff), WM1_POINT_NODE, 0, TRACED, i * 10 / COUNT);
	}
	if (CHECK_OK(tracepoints_read(out.bytes, out.len_bytes, "x", &m, &p))) {
		CHECK_U64(p.count, COUNT);
		for (size_t i = 1; i < p.count; i++)
			if (!CHECK(p.points[i - 1].address < p.points[i].address ||
				   (p.points[i - 1].address == p.points[i].address &&
				    p.points[i - 1].node <= p.points[i].node)))
				break;
		tracepoints_deinit(&p);
	}
	tracemeta_deinit(&m);
	buffer_deinit(&out);
}

static void check_place(const char *text, uint8_t dwarf_register, int32_t displacement)
{
	struct buffer out = {0};
	struct tracepoints p;
	struct tracemeta m;

	read_units(&m);
	build_point_unit(&out, m.units[0].key, 0);
	build_point_frame(&out, 1, 0, TRACED, text);
	if (CHECK_OK(tracepoints_read(out.bytes, out.len_bytes, "x", &m, &p))) {
		if (!CHECK_U64(p.count, 1) || !CHECK_U64(p.points[0].dwarf_register, dwarf_register) ||
		    !CHECK(dwarf_register == TRACEPOINT_NO_REGISTER || p.points[0].displacement == displacement))
			fprintf(stderr, "place \"%s\"\n", text);
		tracepoints_deinit(&p);
	}
	tracemeta_deinit(&m);
	buffer_deinit(&out);
}

static void test_places(void)
{
	static const char *const unknown[] = {"",
					      "8",
					      "8(%rsp",
					      "8(%rsp))",
					      "(rsp)",
					      "-(%rsp)",
					      "8(%rip)",
					      "8(%rsp,%rax)",
					      "8(%esp)",
					      "x(%rsp)",
					      "0x8(%rsp)",
					      "2147483648(%rsp)",
					      "99999999999999999999(%rsp)",
					      "(%)"};

	check_place("16(%rsp)", 7, 16);
	check_place("-40(%rbp)", 6, -40);
	check_place("(%rbx)", 3, 0);
	check_place("2147483647(%rax)", 0, INT32_MAX);
	check_place("0(%r8)", 8, 0);
	check_place("8(%r15)", 15, 8);
	check_place("8(%rdx)", 1, 8);
	check_place("8(%rcx)", 2, 8);
	check_place("8(%rsi)", 4, 8);
	check_place("8(%rdi)", 5, 8);
	for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
		check_place(unknown[i], TRACEPOINT_NO_REGISTER, 0);
}

static void expect_at(const struct tracemeta *m, const struct buffer *b, const char *text, int line)
{
	struct tracepoints p;
	uint8_t *copy = malloc(b->len_bytes ? b->len_bytes : 1); /* so that a sanitizer sees any read behind it */

	if (!copy)
		abort();
	memcpy(copy, b->bytes, b->len_bytes);
	check_has_error(tracepoints_read(copy, b->len_bytes, "x", m, &p), ERROR_FORMAT, text, __FILE__, line);
	free(copy);
}
#define EXPECT(m, b, text) expect_at(m, b, text, __LINE__)

static void test_damage(void)
{
	struct buffer out = {0};
	struct tracemeta m;

	read_units(&m);
	build_point(&out, 1, WM1_POINT_NODE, 0, TRACED, 0);
	EXPECT(&m, &out, "a record before the first unit");
	out.len_bytes = 0;
	build_point_unit(&out, 7, 0);
	EXPECT(&m, &out, "a unit with key 0000000000000007 that .debug_waymark_trace does not have");
	out.len_bytes = 0;
	build_point_unit(&out, m.units[0].key, 0);
	build_point_unit(&out, m.units[0].key, 8);
	EXPECT(&m, &out, "that .debug_waymark_trace does not have");
	out.len_bytes = 24;
	build_point(&out, 1, WM1_POINT_NODE, 2, TRACED, 0);
	EXPECT(&m, &out, "function 2 of 2");
	out.len_bytes = 24;
	build_point(&out, 1, WM1_POINT_NODE, 0, TRACED, 10);
	EXPECT(&m, &out, "number 10 of 10");
	out.len_bytes = 24;
	build_point(&out, 1, WM1_POINT_COVERED, 0, TRACED, m.functions[0].call_count);
	EXPECT(&m, &out, "a record of kind 6, scheme 11, number 4 of 4");
	out.len_bytes = 24;
	build_point(&out, 1, WM1_POINT_COVERED, 0, WM1_SCHEME_BLOCKS, 10);
	EXPECT(&m, &out, "number 10 of 10");
	out.len_bytes = 24;
	build_point(&out, 1, WM1_POINT_COVERED, 0, 0, 0);
	EXPECT(&m, &out, "a record of kind 6, scheme 0, number 0 of 0");
	out.len_bytes = 24;
	build_point(&out, 1, WM1_POINT_NODE, 0, WM1_SCHEME_FUNCTION, 0);
	EXPECT(&m, &out, "a record of kind 0, scheme 1");
	out.len_bytes = 24;
	build_point(&out, 1, (enum wm1_point)7, 0, TRACED, 0);
	EXPECT(&m, &out, "a record of kind 7");
	out.len_bytes = 24;
	build_point(&out, 1, WM1_POINT_NODE, 1, 0, 0);
	EXPECT(&m, &out, "scheme 0"); /* function 1 is not traced at all */
	out.len_bytes = 24;
	build_point_frame(&out, 1, 0, TRACED, "(%rsp)");
	out.len_bytes--;
	EXPECT(&m, &out, "has no end");
	tracemeta_deinit(&m);
	buffer_deinit(&out);
}

/* Cut off, and each bit changed: refused, or something that is in bounds. */
static void test_every_byte(void)
{
	struct buffer out = {0};
	struct tracepoints p;
	struct tracemeta m;

	read_units(&m);
	build_example(&m, &out);
	for (size_t i = 0; i < out.len_bytes * 8; i++) {
		struct error *err;

		out.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		err = tracepoints_read(out.bytes, i % 8 ? out.len_bytes : i / 8, "x", &m, &p);
		if (err) {
			CHECK(err->code == ERROR_FORMAT && strstr(err->message, "x: offset 0x"));
			error_destroy(err);
		} else {
			for (size_t k = 0; k < p.count; k++)
				CHECK(p.points[k].address && p.points[k].function < m.function_count &&
				      p.points[k].node < m.functions[p.points[k].function].node_count);
			tracepoints_deinit(&p);
		}
		out.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	tracemeta_deinit(&m);
	buffer_deinit(&out);
}

/* Link-time optimization mixes units; a file that is linked twice is two units with one key. */
static void test_mixed_units(void)
{
	static const uint64_t coverage[] = {0x5000, 0x6000, 0x7000};
	static const uint32_t order[] = {0, 1, 2, 1, 0, 2, 2};
	struct buffer section = {0}, out = {0};
	struct trace_builder b;
	struct tracepoints p;
	struct tracemeta m;
	uint64_t keys[3];

	for (uint32_t i = 0; i < 3; i++) {
		build_trace(&b, i == 1 ? "b.c" : "a.c");
		CHECK_OK(tracemeta_write(&b.meta, &keys[i], &section));
	}
	CHECK_U64(keys[0], keys[2]);
	tracemeta_init(&m);
	CHECK_OK(tracemeta_read(section.bytes, section.len_bytes, "x", &m));
	for (uint32_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		build_point_unit(&out, keys[order[i]], coverage[order[i]]);
		build_point(&out, i + 1, WM1_POINT_NODE, 0, TRACED, order[i]);
	}
	if (CHECK_OK(tracepoints_read(out.bytes, out.len_bytes, "x", &m, &p))) {
		for (uint32_t i = 0; i < 3; i++)
			CHECK_U64(p.coverage[i], coverage[i]);
		for (size_t i = 0; i < p.count; i++)
			CHECK(p.points[i].node == order[i] && p.points[i].function == 2 * order[i]);
		tracepoints_deinit(&p);
	}
	tracemeta_deinit(&m);
	buffer_deinit(&section);
	buffer_deinit(&out);
}

/* One unit needs no record of its own: module assembly may come in another part of the link. */
static void test_one_unit(void)
{
	struct buffer out = {0}, section = {0};
	struct trace_builder b;
	struct tracepoints p;
	struct tracemeta m;
	uint64_t key;

	build_trace(&b, "a.c");
	CHECK_OK(tracemeta_write(&b.meta, &key, &section));
	tracemeta_init(&m);
	CHECK_OK(tracemeta_read(section.bytes, section.len_bytes, "x", &m));
	build_point(&out, 1, WM1_POINT_NODE, 0, TRACED, 0);
	build_point_unit(&out, key, 0x10);
	build_point(&out, 2, WM1_POINT_NODE, 0, TRACED, 1);
	if (CHECK_OK(tracepoints_read(out.bytes, out.len_bytes, "x", &m, &p))) {
		CHECK_U64(p.count, 2);
		CHECK_U64(p.coverage[0], 0x10);
		tracepoints_deinit(&p);
	}
	tracemeta_deinit(&m);
	buffer_deinit(&section);
	buffer_deinit(&out);
}

int main(void)
{
	test_example();
	test_order();
	test_places();
	test_damage();
	test_every_byte();
	test_mixed_units();
	test_one_unit();
	return check_status();
}
