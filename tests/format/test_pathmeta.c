/*
 * test_pathmeta.c - `.debug_waymark_paths` byte for byte, there and back, several units in one section, and what the reader
 * says of damage.
 */
#include "base/hash.h"
#include "golden.h"
#include "support/builder.h"
#include "support/path_builder.h"
#include "waymark/paths.h"

/* clang-format off */
/* The raw body of build_example(), as docs/format.md says. */
static const uint8_t golden[] = {
	10, 56,						/* 10 strings, 56 bytes */
	'w', 'a', 'y', 'm', 'a', 'r', 'k', ' ', 't', 'e', 's', 't', 0, /* 1 */
	'u', '.', 'c', 0,				/* 2 */
	'f', 0,						/* 3 */
	't', 'e', 's', 't', '.', 'c', 0,		/* 4 */
	'i', 'n', 0,					/* 5 */
	'a', '.', 'h', 0,				/* 6 */
	'k', 0,						/* 7 */
	'_', 'Z', '1', 'h', 'v', 0,			/* 8 */
	'g', 0,						/* 9 */
	'i', 's', ' ', 'n', 'o', 't', ' ', 'o', 'u', 'r', 's', '.', 0, /* 10 */
	1, 2, 0,					/* producer, name, stage */
	2,						/* functions */
	96,						/* bytes of f */
	1, 2, 3, 4, 5, 6, 7, 8,				/* name_key */
	9, 0, 0, 0, 0, 0, 0, 0x80,			/* cfg_key */
	4,						/* path_count */
	3, 3, 4, 10,					/* link_name name file line */
	3, 2, 1, 2, 0x80, 1,				/* kind bits flags interesting interval */
	3, 1, 2,					/* planned: paths 1 and 3 */
	4, 4, 4,					/* nodes, edges, lines */
	1, 1,	8, 2,	1, 0,				/* node 0: line 11 column 2; to 1 */
	2, 0,	2, 0x10,   3, 0x38, 9,			/* node 1: to 2 when true; to 3, fixed, case -5 */
	1, 2,	61, 5, 6, 1,   0x9a, 0x0c, 4,   1, 1,	/* node 2: in() of a.h at line 3 column 1, then a branch at line 198; back to 1 */
	0, 1,	0xbd, 11, 0, 4, 0xff, 0xff, 3,		/* node 3: of f itself again, line 14 */
	5, 2,						/* selects, switch tables */
	2,						/* tests */
	1, 0x0f, 2, 0, 4, 12, 3, 7, 1, 2, 0,		/* node 1: k at line 12 column 3, the second of two, from node 0 */
	0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0,			/* node 2: a character */
	2, 1, 8,					/* optimized; hides _Z1hv */
	2, 1, 2,					/* firm lines: 1 and 3 */
	37,						/* bytes of g */
	0x10, 0, 0, 0, 0, 0, 0, 0,
	0x20, 0, 0, 0, 0, 0, 0, 0,
	1,
	9, 9, 0, 0,
	1, 0, 0, 0, 0, 0,
	1, 0, 0,					/* one node, no edges, no lines */
	0, 0,
	0, 0,						/* no selects, no switch tables */
	0,						/* no tests */
	1, 0,						/* unseen, hides nothing */
	1, 8, 10,					/* skipped: name reason */
};
/* clang-format on */

static void build_example(struct path_builder *b)
{
	static const struct build_edge edges[] = {
		{0, 1, CFG_KEPT, {PATHMETA_PLAIN, 0, NULL}},
		{1, 2, CFG_KEPT, {PATHMETA_TRUE, 0, NULL}},
		{1, 3, CFG_KEPT, {PATHMETA_CASE, -5, NULL}},
		{2, 1, CFG_CUT_BACK, {PATHMETA_PLAIN, 0, NULL}},
	};
	static const struct build_line lines[] = {
		{0, {NULL, "test.c", 11, 2, false}},
		{2, {"in", "a.h", 3, 1, false}},
		{2, {"in", "a.h", 198, 4, true}},
		{3, {NULL, "test.c", 14, 65535, false}},
	};
	static struct pathmeta_test tests[] = {
		{1,
		 PATHMETA_TEST_AS_WRITTEN | PATHMETA_TEST_NEGATED | PATHMETA_TEST_ONE_OF | PATHMETA_TEST_JOINED,
		 PATHMETA_COMPARE_EQUAL,
		 {NULL, "test.c", 12, 3, false},
		 "k",
		 0,
		 1,
		 2},
		{2, PATHMETA_TEST_CHARACTER, 0, {0}, NULL, UINT32_MAX, 0, 0},
	};
	static uint64_t planned[] = {1, 3};
	static const char *hidden[] = {"_Z1hv"};
	static uint32_t firm[] = {1, 3};
	static struct skipped_function skipped = {.name = "_Z1hv", .reason = "is not ours."};
	struct pathmeta_function *f;

	build_paths_init(b, "u.c", PATHMETA_SOURCE);
	f = build_paths_function(b, "f", 4, edges, 4, lines, 4);
	CHECK_U64(f->path_count, 4);
	f->name_key = UINT64_C(0x0807060504030201);
	f->cfg_key = UINT64_C(0x8000000000000009);
	f->kind = WM1_PATHS_PLAN;
	f->bits = 2;
	f->flags = WM1_PATHS_AT_ENTRY;
	f->interesting = 2;
	f->interval = 128;
	f->selects = 5;
	f->switch_tables = 2;
	f->has_plan = true;
	f->planned = planned;
	f->planned_count = 2;
	f->cfg.edges[2].is_fixed = true;
	f->tests = tests;
	f->test_count = 2;
	f->is_optimized = true;
	f->hidden = hidden;
	f->hidden_count = 1;
	f->firm = firm;
	f->firm_count = 2;
	f = build_paths_function(b, "g", 1, NULL, 0, NULL, 0);
	f->name_key = 0x10;
	f->cfg_key = 0x20;
	f->file = NULL;
	f->line = 0;
	f->is_unseen = true;
	b->meta.skipped = &skipped;
	b->meta.skipped_count = 1;
}

static void write_example(struct buffer *out)
{
	static struct path_builder b;

	build_example(&b);
	CHECK_OK(pathmeta_write(&b.meta, out));
	build_paths_deinit(&b);
}

static void check_example(const struct pathmeta *m)
{
	const struct pathmeta_function *f =
		pathmeta_find(m, UINT64_C(0x0807060504030201), UINT64_C(0x8000000000000009));
	const struct pathmeta_function *g = pathmeta_find(m, 0x10, 0x20);

	if (!CHECK(f != NULL) || !CHECK(g != NULL))
		return;
	CHECK_TEXT(f->link_name, "f");
	CHECK_TEXT(f->file, "test.c");
	CHECK_U64(f->line, 10);
	CHECK_U64(f->path_count, 4);
	CHECK_U64(f->kind, WM1_PATHS_PLAN);
	CHECK_U64(f->bits, 2);
	CHECK_U64(f->flags, WM1_PATHS_AT_ENTRY);
	CHECK_U64(f->interesting, 2);
	CHECK_U64(f->interval, 128);
	CHECK_U64(f->selects, 5);
	CHECK_U64(f->switch_tables, 2);
	CHECK(!g->selects && !g->switch_tables);
	CHECK(f->has_plan && f->planned_count == 2 && f->planned[0] == 1 && f->planned[1] == 3);
	CHECK(!g->has_plan);
	CHECK_U64(f->cfg.node_count, 4);
	CHECK_U64(f->cfg.edge_count, 4);
	CHECK_U64(f->cfg.first_edge[2], 3);
	CHECK_U64(f->cfg.edges[2].from, 1);
	CHECK_U64(f->cfg.edges[2].to, 3);
	CHECK(f->cfg.edges[2].is_fixed && !f->cfg.edges[1].is_fixed);
	CHECK_U64(f->cfg.edges[3].cut, CFG_CUT_BACK);
	CHECK_U64(f->outcomes[2].kind, PATHMETA_CASE);
	CHECK(f->outcomes[2].value == -5);
	CHECK_U64(f->first_line[3] - f->first_line[2], 2);
	CHECK(f->lines[0].function == NULL);
	CHECK_TEXT(f->lines[1].function, "in");
	CHECK_TEXT(f->lines[2].file, "a.h");
	CHECK_U64(f->lines[2].line, 198);
	CHECK(f->lines[2].is_branch_only && !f->lines[1].is_branch_only && !f->lines[3].is_branch_only);
	CHECK(f->lines[3].function == NULL);
	CHECK_TEXT(f->lines[3].file, "test.c");
	CHECK_U64(f->lines[3].line, 14);
	CHECK_U64(f->lines[3].column, 65535);
	CHECK(pathmeta_find_test(f, 0) == NULL && pathmeta_find_test(f, 3) == NULL);
	CHECK(pathmeta_find_test(f, 1) == &f->tests[0] && pathmeta_find_test(f, 2) == &f->tests[1]);
	CHECK_U64(f->tests[0].flags, 15);
	CHECK_U64(f->tests[0].compare, PATHMETA_COMPARE_EQUAL);
	CHECK_TEXT(f->tests[0].at.file, "test.c");
	CHECK_U64(f->tests[0].at.line, 12);
	CHECK_U64(f->tests[0].at.column, 3);
	CHECK_TEXT(f->tests[0].name, "k");
	CHECK_U64(f->tests[0].from, 0);
	CHECK(f->tests[0].number == 1 && f->tests[0].count == 2);
	CHECK(f->tests[1].flags == PATHMETA_TEST_CHARACTER && !f->tests[1].at.line && !f->tests[1].name);
	CHECK_U64(f->tests[1].from, UINT32_MAX);
	CHECK_U64(g->test_count, 0);
	CHECK(f->is_optimized && !f->is_unseen && !g->is_optimized && g->is_unseen);
	if (CHECK_U64(f->hidden_count, 1))
		CHECK_TEXT(f->hidden[0], "_Z1hv");
	CHECK_U64(f->firm_count, 2);
	CHECK(!pathmeta_is_whole(f, 0) && pathmeta_is_whole(f, 1) && !pathmeta_is_whole(f, 2) &&
	      pathmeta_is_whole(f, 3));
	CHECK(!g->hidden_count && !g->firm_count && pathmeta_is_whole(g, 0));
	CHECK_TEXT(g->name, "g");
	CHECK(g->file == NULL);
	CHECK_U64(g->path_count, 1);
	CHECK(pathmeta_find(m, 0x10, 0x21) == NULL);
	CHECK(pathmeta_find(m, 0x20, 0x20) == NULL);
}

static void test_round_trip(void)
{
	struct buffer out = {0};
	struct pathmeta m;

	write_example(&out);
	pathmeta_init(&m);
	if (CHECK_OK(pathmeta_read(out.bytes, out.len_bytes, "x", &m))) {
		CHECK_U64(m.unit_count, 1);
		CHECK_TEXT(m.units[0].producer, "waymark test");
		CHECK_TEXT(m.units[0].name, "u.c");
		CHECK_U64(m.units[0].stage, PATHMETA_SOURCE);
		CHECK_U64(m.function_count, 2);
		CHECK_U64(m.skipped_count, 1);
		CHECK_TEXT(m.skipped[0].name, "_Z1hv");
		CHECK_TEXT(m.skipped[0].reason, "is not ours.");
		check_example(&m);
	}
	pathmeta_deinit(&m);
	buffer_deinit(&out);
}

static void write_unit(struct buffer *out, const char *name, const char *only_here)
{
	static const struct build_edge edges[] = {{0, 1, CFG_KEPT, {0}}, {0, 2, CFG_KEPT, {0}}};
	static struct path_builder b;

	build_paths_init(&b, name, PATHMETA_FINAL);
	build_paths_simple(&b, "shared", 3, edges, 2, 100);
	build_paths_simple(&b, only_here, 3, edges, 2, 200);
	CHECK_OK(pathmeta_write(&b.meta, out));
	build_paths_deinit(&b);
}

/* As the linker puts them together: one after the other, maybe aligned. */
static void test_units(void)
{
	struct buffer out = {0};
	struct pathmeta m;
	uint64_t cfg_key;

	write_unit(&out, "a.c", "a");
	for (int i = 0; i < 5; i++)
		buffer_u8(&out, 0);
	write_unit(&out, "b.c", "b");
	write_example(&out);
	buffer_u8(&out, 0);
	pathmeta_init(&m);
	if (CHECK_OK(pathmeta_read(out.bytes, out.len_bytes, "x", &m))) {
		CHECK_U64(m.unit_count, 3);
		CHECK_TEXT(m.units[1].name, "b.c");
		CHECK_U64(m.function_count, 5);
		CHECK_U64(m.skipped[0].unit, 2);
		check_example(&m);
		for (uint32_t i = 0; i < m.function_count; i++) {
			const struct pathmeta_function *f = &m.functions[i];

			if (i)
				CHECK(f[-1].name_key < f->name_key);
			if (strcmp(f->name, "shared") == 0 || strcmp(f->name, "a") == 0)
				CHECK_U64(f->unit, 0);
			if (strcmp(f->name, "b") == 0)
				CHECK_U64(f->unit, 1);
		}
		cfg_key = m.functions[0].cfg_key;
		CHECK(pathmeta_find(&m, hash_bytes(HASH_START, "shared", 6), cfg_key) ||
		      pathmeta_find(&m, hash_bytes(HASH_START, "shared", 6), m.functions[1].cfg_key) ||
		      pathmeta_find(&m, hash_bytes(HASH_START, "shared", 6), m.functions[2].cfg_key));
	}
	pathmeta_deinit(&m);
	buffer_deinit(&out);
}

static void expect_at(const uint8_t *bytes, size_t len, const char *text, int line)
{
	struct pathmeta m;

	pathmeta_init(&m);
	check_has_error(pathmeta_read(bytes, len, "x", &m), ERROR_FORMAT, text, __FILE__, line);
	pathmeta_deinit(&m);
}

static void expect_same_or_damaged(const struct buffer *b)
{
	struct pathmeta m;
	struct error *err;

	pathmeta_init(&m);
	err = pathmeta_read(b->bytes, b->len_bytes, "x", &m);
	if (!err)
		check_example(&m);
	else
		CHECK(err->code == ERROR_FORMAT && strstr(err->message, "x: offset 0x"));
	error_destroy(err);
	pathmeta_deinit(&m);
}

static const struct golden section = {
	.kind = 'P',
	.version = 1,
	.raw = golden,
	.raw_bytes = sizeof golden,
	.where = "x: offset 0x",
	.build = build_paths_section,
	.expect_damaged = expect_at,
	.expect_same_or_damaged = expect_same_or_damaged,
};

/* Where paths may be left, there are more. */
static void test_left(void)
{
	static const struct build_edge edges[] = {{0, 1, CFG_CUT_TWICE, {0}}, {1, 2, CFG_KEPT, {0}}};
	static struct path_builder b;
	struct buffer out = {0};
	struct pathmeta_function *f;
	struct pathmeta m;

	build_paths_init(&b, "u.c", PATHMETA_SOURCE);
	f = build_paths_simple(&b, "f", 3, edges, 2, 1);
	CHECK_U64(f->path_count, 2);
	f->flags = WM1_PATHS_LEFT;
	CHECK_ERROR(pathmeta_write(&b.meta, &out), ERROR_ARGUMENT, "flags of another control flow");
	f->cfg.may_be_left = true;
	CHECK_ERROR(pathmeta_write(&b.meta, &out), ERROR_ARGUMENT, "2 paths, its control flow has 5");
	f->path_count = 5; /* 0, 0 left, 1 2, 1 2 left, 1 left */
	CHECK_OK(pathmeta_write(&b.meta, &out));
	pathmeta_init(&m);
	if (CHECK_OK(pathmeta_read(out.bytes, out.len_bytes, "test", &m)))
		CHECK(m.functions[0].cfg.may_be_left && m.functions[0].path_count == 5);
	pathmeta_deinit(&m);
	buffer_deinit(&out);
	build_paths_deinit(&b);
}

static void test_golden(void)
{
	struct buffer out = {0};

	write_example(&out);
	golden_check(&section, &out);
	golden_check_every_byte(&section, &out, __LINE__);
	buffer_u8(&out, 'x');
	golden_expect(&section, out.bytes, out.len_bytes, "1 bytes are no metadata section", __LINE__);
	buffer_deinit(&out);
}

#define EXPECT_BODY(at, v, text) golden_check_body(&section, at, v, text, __LINE__)

static void test_bodies(void)
{
	const size_t unit = 2 + 56, function = unit + 4, head = function + 1, names = head + 17;
	const size_t plan = names + 4 + 6, graph = plan + 3, nodes = graph + 3, tests = nodes + 35, hiding = tests + 22,
		     second = function + 97;

	EXPECT_BODY(0, 11, "string pool");
	EXPECT_BODY(unit + 2, 2, "stage 2");
	EXPECT_BODY(unit + 3, 120, "120 functions cannot fit");
	EXPECT_BODY(unit + 3, 1, "");
	EXPECT_BODY(second, 127, "127 bytes of a function cannot fit");
	EXPECT_BODY(function, 97, "1 bytes behind the end of a function");
	EXPECT_BODY(function, 95, "x: unit 0, unpacked: offset 0x");
	EXPECT_BODY(head + 16, 5, "function f: 5 paths, its control flow has 4");
	EXPECT_BODY(names, 0, "has no name");
	EXPECT_BODY(names, 11, "string 11 of 10");
	EXPECT_BODY(names + 4, 4, "tables of kind 4");
	EXPECT_BODY(names + 5, 17, "with 17 bits");
	EXPECT_BODY(plan, 127, "126 planned paths cannot fit");
	EXPECT_BODY(plan + 2, 3, "function f: a plan with path 4 of 4");
	EXPECT_BODY(plan + 2, 0, "function f: a plan with path 1 of 4");
	EXPECT_BODY(graph, 0, "");
	EXPECT_BODY(graph, 127, "127 blocks cannot fit");
	EXPECT_BODY(graph + 1, 60, "60 edges cannot fit");
	EXPECT_BODY(graph + 2, 60, "60 lines cannot fit");
	EXPECT_BODY(graph + 1, 3, "more edges or lines");
	EXPECT_BODY(graph + 1, 5, "in no block");
	EXPECT_BODY(graph + 2, 5, "in no block");
	EXPECT_BODY(nodes, 9, "more edges or lines");
	EXPECT_BODY(nodes + 2, 0x54, "line -");
	EXPECT_BODY(nodes + 4, 4, "control flow");      /* to node 4 */
	EXPECT_BODY(nodes + 5, 6, "an edge of kind 6"); /* cut */
	EXPECT_BODY(nodes + 9, 0x7e, "an edge of kind 126");
	EXPECT_BODY(nodes + 9, 0x74, "function f: control flow"); /* one of two edges is TWICE */
	EXPECT_BODY(nodes + 11, 0, "");
	EXPECT_BODY(tests, 127, "127 tests cannot fit");
	EXPECT_BODY(tests, 1, "16 hidden functions cannot fit");
	EXPECT_BODY(hiding, 4, "a function that hides as 4");
	EXPECT_BODY(hiding, 0, "3 bytes behind the end of a function");
	EXPECT_BODY(hiding + 1, 127, "127 hidden functions cannot fit");
	EXPECT_BODY(hiding + 2, 0, "a hidden function without a name");
	EXPECT_BODY(hiding + 3, 127, "127 firm lines cannot fit");
	EXPECT_BODY(hiding + 4, 4, "a firm line that is none"); /* of four */
	EXPECT_BODY(hiding + 5, 0, "a firm line that is none"); /* the same one again */
	EXPECT_BODY(tests + 1, 4, "a test of no block");        /* node 4 */
	EXPECT_BODY(tests + 1, 3, "a test of no block");        /* and the next one behind it */
	EXPECT_BODY(tests + 2, 0x80, "a test with flags 256");
	EXPECT_BODY(tests + 3, 8, "compares as 8");
	EXPECT_BODY(tests + 8, 11, "string 11 of 10");
	EXPECT_BODY(tests + 9, 2, "a test of no block");  /* the third of two */
	EXPECT_BODY(tests + 11, 4, "a test of no block"); /* from node 4 */
	EXPECT_BODY(second + 17, 2, "function g: 2 paths, its control flow has 1");
	EXPECT_BODY(sizeof golden - 3, 0, "2 bytes behind the last table");
	EXPECT_BODY(sizeof golden - 2, 0, "without a name or reason");
	/* g with the keys of f: known, but not the same. */
	{
		uint8_t raw[sizeof golden];
		struct buffer out = {0};

		memcpy(raw, golden, sizeof raw);
		memcpy(raw + second + 1, raw + head, 16);
		build_paths_section(&out, raw, sizeof raw);
		golden_expect(&section, out.bytes, out.len_bytes, "function f has 4 paths in one unit, 1 in another",
			      __LINE__);
		buffer_deinit(&out);
	}
}

static void test_writer_refuses(void)
{
	static struct path_builder b;
	struct buffer out = {0};

	build_example(&b);
	b.functions[0].path_count = 3;
	CHECK_ERROR(pathmeta_write(&b.meta, &out), ERROR_ARGUMENT, "function 0 (f): 3 paths, its control flow has 4");
	b.functions[0].path_count = 4;
	b.functions[1].link_name = NULL;
	CHECK_ERROR(pathmeta_write(&b.meta, &out), ERROR_ARGUMENT, "function 1 (?): has no name");
	b.functions[1].link_name = "g";
	b.functions[0].cfg.edges[0].to = 9;
	CHECK_ERROR(pathmeta_write(&b.meta, &out), ERROR_FORMAT, "function 0 (f): control flow");
	b.functions[0].cfg.edges[0].to = 1;
	b.functions[0].firm_count = 0;
	b.functions[0].hidden[0] = NULL;
	CHECK_ERROR(pathmeta_write(&b.meta, &out), ERROR_ARGUMENT, "function 0 (f): a hidden function without a name");
	b.functions[0].hidden[0] = "_Z1hv";
	b.functions[0].firm_count = 2;
	b.functions[0].firm[1] = 4;
	CHECK_ERROR(pathmeta_write(&b.meta, &out), ERROR_ARGUMENT, "function 0 (f): a firm line that is none");
	b.functions[0].firm[1] = 3;
	b.meta.unit_count = 0;
	CHECK_ERROR(pathmeta_write(&b.meta, &out), ERROR_ARGUMENT, "0 units");
	CHECK_U64(out.len_bytes, 0);
	build_paths_deinit(&b);
	buffer_deinit(&out);
}

/* More functions than the first table of keys takes, in many units, half of them known already. */
static void test_many(void)
{
	enum {
		UNITS = 100,
		EACH = 40
	};
	static const struct build_edge edges[] = {{0, 1, CFG_KEPT, {0}}};
	static struct path_builder b;
	struct buffer out = {0};
	struct pathmeta m;
	char name[32];

	for (uint32_t u = 0; u < UNITS; u++) {
		build_paths_init(&b, "many.c", PATHMETA_SOURCE);
		for (uint32_t i = 0; i < EACH; i++) {
			struct pathmeta_function *f;

			snprintf(name, sizeof name, "f%u", u * EACH / 2 + i);
			f = build_paths_simple(&b, name, 2, edges, 1, 1);
			f->link_name = f->name = arena_strdup(&b.meta.arena, name);
		}
		CHECK_OK(pathmeta_write(&b.meta, &out));
		build_paths_deinit(&b);
	}
	pathmeta_init(&m);
	if (CHECK_OK(pathmeta_read(out.bytes, out.len_bytes, "x", &m))) {
		CHECK_U64(m.unit_count, UNITS);
		CHECK_U64(m.function_count, (UNITS + 1) * EACH / 2);
		for (uint32_t i = 0; i < (UNITS + 1) * EACH / 2; i += 7) {
			int len = snprintf(name, sizeof name, "f%u", i);
			const struct pathmeta_function *f =
				pathmeta_find(&m, hash_bytes(HASH_START, name, (size_t)len), m.functions[0].cfg_key);

			if (CHECK(f != NULL))
				CHECK_TEXT(f->name, name);
		}
	}
	pathmeta_deinit(&m);
	buffer_deinit(&out);
}

/* Ranges of cases, up to both ends of what a value can be. */
static void test_cases(void)
{
	static const struct pathmeta_cases written[] = {
		{.ranges = {{INT64_MIN, INT64_MIN}, {-3, 7}, {9, 9}, {INT64_MAX - 1, INT64_MAX}}, .count = 4},
		{.ranges = {{1, 2}, {4, 4}, {6, 6}, {8, 8}, {10, 10}, {12, 12}, {14, 14}, {16, 90}},
		 .count = 8,
		 .has_more = true},
		{.has_more = true},
		{.ranges = {{5, 6}, {6, 7}}, .count = 2}, /* do not rise */
	};
	for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
		const struct build_edge edges[] = {{0, 1, CFG_KEPT, {PATHMETA_CASES, 0, &written[i]}},
						   {0, 2, CFG_KEPT, {PATHMETA_DEFAULT, 0, NULL}}};
		static struct path_builder b;
		struct buffer out = {0};
		struct pathmeta m;
		build_paths_init(&b, "u.c", PATHMETA_SOURCE);
		build_paths_function(&b, "f", 3, edges, 2, NULL, 0);
		CHECK_OK(pathmeta_write(&b.meta, &out));
		pathmeta_init(&m);
		struct error *err = pathmeta_read(out.bytes, out.len_bytes, "section", &m);
		if (i == 3) {
			CHECK(err && strstr(err->message, "do not rise"));
		} else if (CHECK(!err)) {
			const struct pathmeta_outcome *o = &m.functions[0].outcomes[0];
			CHECK_U64(o->kind, PATHMETA_CASES);
			CHECK_U64(o->cases->count, written[i].count);
			CHECK(o->cases->has_more == written[i].has_more);
			CHECK(!memcmp(o->cases->ranges, written[i].ranges, sizeof written[i].ranges));
		}
		error_destroy(err);
		pathmeta_deinit(&m);
		buffer_deinit(&out);
		build_paths_deinit(&b);
	}
}

int main(void)
{
	test_cases();
	test_golden();
	test_round_trip();
	test_left();
	test_units();
	test_bodies();
	test_writer_refuses();
	test_many();
	return check_status();
}
