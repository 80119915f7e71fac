/*
 * test_plan.c - plans: text and profiles, what they choose, and what is said of lines that make no sense. The paths through
 * given lines are compared with trying every path.
 */
#include <stdlib.h>

#include "check.h"
#include "format/plan.h"
#include "support/builder.h"
#include "support/path_builder.h"
#include "waymark/paths.h"

struct file {
	const char *path;
	const void *bytes;
	size_t len_bytes;
};

static struct file files[4];

static struct error *open_file(void *state, const char *path, const void **ret_bytes, size_t *ret_len_bytes)
{
	CHECK(state == files);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		if (files[i].path && strcmp(files[i].path, path) == 0) {
			*ret_bytes = files[i].bytes;
			*ret_len_bytes = files[i].len_bytes;
			return NULL;
		}
	}
	return error_create(ERROR_NOT_FOUND, "%s: no such file", path);
}

static struct error *create(const char *text, struct plan **ret)
{
	static const struct plan_files opener = {files, open_file};

	files[0] = (struct file){"dir/p.plan", text, strlen(text)};
	return plan_create("dir/p.plan", &opener, ret);
}

static void expect_error_at(const char *text, enum error_code code, const char *message, int line)
{
	struct plan *plan = NULL;

	check_has_error(create(text, &plan), code, message, __FILE__, line);
	plan_destroy(plan);
}
#define EXPECT_ERROR(text, message) expect_error_at("waymark-plan 1\n" text, ERROR_FORMAT, message, __LINE__)

static void test_damaged_text(void)
{
	static const char nul[] = "waymark-plan 1\nfunction a\0b\n";
	static const struct plan_files opener = {files, open_file};
	struct plan *plan = NULL;

	expect_error_at("", ERROR_FORMAT, "dir/p.plan: is empty, no plan", __LINE__);
	expect_error_at("# nothing\n\n", ERROR_FORMAT, "is empty, no plan", __LINE__);
	expect_error_at("waymark-plan 2\n", ERROR_FORMAT, "dir/p.plan: is no plan", __LINE__);
	expect_error_at("function f\n", ERROR_FORMAT, "is no plan", __LINE__);
	expect_error_at("\x89WMX", ERROR_FORMAT, "this is no .wmk file", __LINE__);
	expect_error_at("waymark-plan 1\nprofile none.wmk\n", ERROR_NOT_FOUND,
			"dir/p.plan:2: dir/none.wmk: no such file", __LINE__);
	expect_error_at("waymark-plan 1\nprofile /none.wmk\n", ERROR_NOT_FOUND, "dir/p.plan:2: /none.wmk: no such file",
			__LINE__);
	EXPECT_ERROR("", "chooses no paths");
	EXPECT_ERROR("hot 99%\nfunction f\n", "hot needs a profile");
	EXPECT_ERROR("\n\nfunktion f\n", "dir/p.plan:4: unknown word funktion");
	EXPECT_ERROR("function\n", "dir/p.plan:2: function is followed by nothing");
	EXPECT_ERROR("function # f\n", "function is followed by nothing");
	EXPECT_ERROR("hot 0%\n", "hot 0%: must be");
	EXPECT_ERROR("hot 101%\n", "hot 101%: must be");
	EXPECT_ERROR("hot 100.01%\n", "hot 100.01%: must be");
	EXPECT_ERROR("hot 99\n", "hot 99: must be");
	EXPECT_ERROR("hot x%\n", "hot x%: must be");
	EXPECT_ERROR("hot 99%\nhot 98%\n", "dir/p.plan:3: hot is there twice");
	EXPECT_ERROR("line a.c\n", "line a.c: must be FILE:12");
	EXPECT_ERROR("line a.c:\n", "line a.c:: must be FILE:12");
	EXPECT_ERROR("line :3\n", "line :3: must be FILE:12");
	EXPECT_ERROR("line a.c:0\n", "line a.c:0: must be FILE:12");
	EXPECT_ERROR("line a.c:4-3\n", "line a.c:4-3: must be FILE:12");
	EXPECT_ERROR("line a.c:4-\n", "line a.c:4-: must be FILE:12");
	EXPECT_ERROR("line a.c:4294967296\n", "must be FILE:12");
	EXPECT_ERROR("profile p.plan\n", "dir/p.plan:2: dir/p.plan: offset 0x0: this is no .wmk file");
	files[0] = (struct file){"dir/p.plan", nul, sizeof nul - 1};
	CHECK_ERROR(plan_create("dir/p.plan", &opener, &plan), ERROR_FORMAT, "dir/p.plan:2: a NUL byte");
}

/* A chain of `count` diamonds, 3 nodes each, that begin at lines base, base + 3 and so on: 2^count paths. */
static struct pathmeta_function *build_diamonds(struct path_builder *b, const char *name, uint32_t count, uint32_t base)
{
	struct build_edge edges[256];
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t n = 3 * i;

		edges[used++] = (struct build_edge){n, n + 1, CFG_KEPT, {PATHMETA_TRUE, 0, NULL}};
		edges[used++] = (struct build_edge){n, n + 2, CFG_KEPT, {PATHMETA_FALSE, 0, NULL}};
		edges[used++] = (struct build_edge){n + 1, n + 3, CFG_KEPT, {0}};
		edges[used++] = (struct build_edge){n + 2, n + 3, CFG_KEPT, {0}};
	}
	return build_paths_simple(b, name, 3 * count + 1, edges, used, base);
}

static void choose(const char *text, const struct pathmeta_function *f, struct arena *arena, struct plan_choice *ret)
{
	struct path_numbering n;
	struct plan *plan = NULL;

	memset(ret, 0, sizeof *ret);
	if (CHECK_OK(path_number(&f->cfg, arena, &n)) && CHECK_OK(create(text, &plan)))
		CHECK_OK(plan_choose(plan, f, &n, arena, ret));
	plan_destroy(plan);
}

static void expect_paths_at(const struct plan_choice *c, const uint64_t *paths, size_t count, int line)
{
	check_equal_u64(c->state, PLAN_KNOWN, __FILE__, line, "state");
	check_equal_u64(c->count, count, __FILE__, line, "count");
	for (size_t i = 0; i < count && i < c->count; i++)
		check_equal_u64(c->paths[i], paths[i], __FILE__, line, "path");
}
#define EXPECT_PATHS(c, ...) \
	expect_paths_at(c, (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), __LINE__)

static void test_unprofiled(void)
{
	static struct path_builder b;
	struct pathmeta_function *f;
	struct plan_choice c;

	build_paths_init(&b, "u.c", PATHMETA_SOURCE);
	f = build_diamonds(&b, "_Z3foov", 2, 1);
	f->name = "foo()";
	choose("waymark-plan 1\nfunction fo[op]*\n", f, &b.meta.arena, &c);
	EXPECT_PATHS(&c, 0, 1, 2, 3);
	CHECK_U64(c.left_out, 0);
	choose("\n# one\nwaymark-plan 1 # two\r\n\tfunction  _Z3foov  # three\r\n", f, &b.meta.arena, &c);
	CHECK_U64(c.count, 4);
	choose("waymark-plan 1\nfunction bar\nfunction fo\n", f, &b.meta.arena, &c);
	CHECK_U64(c.count, 0);
	CHECK_U64(c.state, PLAN_KNOWN);
	choose("waymark-plan 1\nline test.c:2", f, &b.meta.arena, &c); /* the first branch taken */
	EXPECT_PATHS(&c, 0, 1);
	choose("waymark-plan 1\nline ./test.c:6\n", f, &b.meta.arena, &c); /* the second not taken */
	EXPECT_PATHS(&c, 1, 3);
	choose("waymark-plan 1\nline test.c:2\nline test.c:6-6\n", f, &b.meta.arena, &c);
	EXPECT_PATHS(&c, 0, 1, 3);
	choose("waymark-plan 1\nline test.c:7\n", f, &b.meta.arena, &c);
	CHECK_U64(c.count, 4);
	choose("waymark-plan 1\nline est.c:2\nline x/test.c:2\nline test.c:8-900\n", f, &b.meta.arena, &c);
	CHECK_U64(c.count, 0);
	f->lines[2].file = "/src/x/test.c";
	choose("waymark-plan 1\nline x/test.c:1-1000\n", f, &b.meta.arena, &c);
	EXPECT_PATHS(&c, 2, 3);
	choose("waymark-plan 1\nline x/test.c:1-1000\nfunction foo()\n", f, &b.meta.arena, &c);
	CHECK_U64(c.count, 4);
	build_paths_deinit(&b);
}

static bool passes_line(const struct pathmeta_function *f, const struct path_numbering *n, uint64_t number,
			uint32_t line)
{
	uint32_t edges[256];
	struct path p = {.edges = edges};

	path_regenerate(&f->cfg, n, number, &p);
	for (uint32_t i = 0; i <= p.edge_count; i++) {
		uint32_t node = i < p.edge_count ? f->cfg.edges[edges[i]].from : p.end_node;

		if (f->lines[f->first_line[node]].line == line)
			return true;
	}
	return false;
}

/* Loops too: 2^9 paths from the entry, and from the loop's head. Every line, compared with every path. */
static void test_against_all_paths(void)
{
	static struct path_builder b;
	struct pathmeta_function *f;
	struct build_edge edges[] = {
		{0, 1, CFG_KEPT, {0}}, {1, 2, CFG_KEPT, {0}},     {1, 5, CFG_KEPT, {0}},     {2, 3, CFG_KEPT, {0}},
		{2, 4, CFG_KEPT, {0}}, {3, 1, CFG_CUT_BACK, {0}}, {3, 4, CFG_KEPT, {0}},     {4, 1, CFG_CUT_BACK, {0}},
		{4, 5, CFG_KEPT, {0}}, {5, 6, CFG_CUT_JUMP, {0}}, {5, 7, CFG_CUT_JUMP, {0}}, {6, 7, CFG_KEPT, {0}},
	};

	build_paths_init(&b, "u.c", PATHMETA_SOURCE);
	build_diamonds(&b, "diamonds", 9, 1);
	build_paths_simple(&b, "loops", 8, edges, sizeof edges / sizeof edges[0], 1);
	build_paths_simple(&b, "left", 8, edges, sizeof edges / sizeof edges[0], 1);
	b.functions[2].cfg.may_be_left = true;
	for (f = b.functions; f < b.functions + 3; f++) {
		for (uint32_t line = 1; line <= f->cfg.node_count; line++) {
			struct path_numbering n;
			struct plan_choice c;
			char text[64];
			uint32_t found = 0;

			snprintf(text, sizeof text, "waymark-plan 1\nline test.c:%u\n", line);
			choose(text, f, &b.meta.arena, &c);
			CHECK_OK(path_number(&f->cfg, &b.meta.arena, &n));
			for (uint64_t i = 0; i < n.path_count; i++)
				if (passes_line(f, &n, i, line))
					CHECK(found < c.count && c.paths[found++] == i);
			CHECK_U64(c.count, found);
			CHECK(found > 0);
			CHECK_U64(c.left_out, 0);
		}
	}
	build_paths_deinit(&b);
}

static void test_limits(void)
{
	static struct path_builder b;
	const struct pathmeta_function *f;
	struct plan_choice c;

	build_paths_init(&b, "u.c", PATHMETA_SOURCE);
	f = build_diamonds(&b, "large", 40, 1);
	choose("waymark-plan 1\nfunction large\n", f, &b.meta.arena, &c);
	CHECK_U64(c.count, PLAN_UNPROFILED_MAX);
	CHECK_U64(c.left_out, (UINT64_C(1) << 40) - PLAN_UNPROFILED_MAX);
	choose("waymark-plan 1\nline test.c:3\n", f, &b.meta.arena, &c); /* half of them */
	CHECK_U64(c.count, PLAN_UNPROFILED_MAX);
	CHECK_U64(c.left_out, (UINT64_C(1) << 39) - PLAN_UNPROFILED_MAX);
	CHECK_U64(c.paths[0], UINT64_C(1) << 39);
	CHECK_U64(c.paths[4095], (UINT64_C(1) << 39) + 4095);
	choose("waymark-plan 1\nline test.c:120\n", f, &b.meta.arena, &c); /* every second one */
	CHECK_U64(c.paths[0], 1);
	CHECK_U64(c.paths[4095], 8191);
	build_paths_deinit(&b);
}

static void build_profile(struct wmk_builder *b, const struct pathmeta_function *f, const uint64_t counts[4])
{
	struct wmk_paths head = {.name_key = f->name_key,
				 .cfg_key = f->cfg_key,
				 .path_count = 4,
				 .kind = WM1_PATHS_ARRAY,
				 .entry_count = 4};
	struct wmk_path_count single = {.name_key = f->name_key,
					.cfg_key = f->cfg_key,
					.path_count = 4,
					.r = 2,
					.count = 5,
					.kind = WM1_PATHS_HASH};

	build_wmk_init(b, 7, "/bin/p");
	build_chunk(b, WMK_PATHS, 0, 0);
	build_table(b, &head, 1, counts, 4);
	head.flags = WMK_PATHS_INHERITED;
	build_table(b, &head, 1, (uint64_t[]){9, 9, 9, 9}, 4);
	head.flags = 0;
	head.name_key++;
	build_table(b, &head, 1, counts, 4);
	build_chunk(b, WMK_PATH_COUNTS, 0, 0);
	build_path_count(b, &single);
	single.flags = WMK_PATHS_INHERITED;
	build_path_count(b, &single);
	build_wmk_finish(b);
}

static void test_profile(void)
{
	static struct path_builder b;
	static struct wmk_builder first, second, none;
	struct pathmeta_function *f;
	struct plan_choice c;

	build_paths_init(&b, "u.c", PATHMETA_SOURCE);
	f = build_diamonds(&b, "foo", 2, 1);
	build_profile(&first, f, (uint64_t[]){90, 0, 9, 1});
	build_profile(&second, f, (uint64_t[]){0, 0, 1000, 0});
	build_wmk_init(&none, 1, "/bin/p");
	build_wmk_finish(&none);
	files[1] = (struct file){"dir/first.wmk", first.out.bytes, first.out.len_bytes};
	files[2] = (struct file){"/second.wmk", second.out.bytes, second.out.len_bytes};
	files[3] = (struct file){"dir/none.wmk", none.out.bytes, none.out.len_bytes};

	choose("waymark-plan 1\nprofile first.wmk\n", f, &b.meta.arena, &c);
	EXPECT_PATHS(&c, 0, 2, 1, 3); /* 90, 9, 5 from a single count, 1 */
	CHECK_U64(c.counts[0], 90);
	CHECK_U64(c.counts[2], 5);
	choose("waymark-plan 1\nprofile first.wmk\nprofile /second.wmk\n", f, &b.meta.arena, &c);
	EXPECT_PATHS(&c, 2, 0, 1, 3);
	CHECK_U64(c.counts[0], 1009);
	CHECK_U64(c.counts[2], 10);
	choose("waymark-plan 1\nprofile first.wmk\nhot 85%\n", f, &b.meta.arena, &c);
	EXPECT_PATHS(&c, 0);
	choose("waymark-plan 1\nprofile first.wmk\nhot 85.72 %\n", f, &b.meta.arena, &c); /* 90 of 105 are 85.714 % */
	EXPECT_PATHS(&c, 0, 2);
	choose("waymark-plan 1\nprofile first.wmk\nhot 100%\n", f, &b.meta.arena, &c);
	CHECK_U64(c.count, 4);
	choose("waymark-plan 1\nprofile first.wmk\nline test.c:3\n", f, &b.meta.arena, &c);
	EXPECT_PATHS(&c, 2, 3);
	choose("waymark-plan 1\nprofile first.wmk\nfunction bar\n", f, &b.meta.arena, &c);
	CHECK_U64(c.count, 0);
	f->cfg_key++;
	choose("waymark-plan 1\nprofile first.wmk\n", f, &b.meta.arena, &c);
	CHECK_U64(c.state, PLAN_CHANGED);
	f->name_key += 5; /* not in the profile: it never ran */
	choose("waymark-plan 1\nprofile first.wmk\n", f, &b.meta.arena, &c);
	CHECK_U64(c.state, PLAN_KNOWN);
	CHECK_U64(c.count, 0);
	expect_error_at("waymark-plan 1\nprofile none.wmk\n", ERROR_MISMATCH, "dir/none.wmk: counts no paths",
			__LINE__);
	expect_error_at("waymark-plan 1\nprofile first.wmk none.wmk\n", ERROR_NOT_FOUND, "dir/first.wmk none.wmk",
			__LINE__);
	build_paths_deinit(&b);
	buffer_deinit(&first.out);
	buffer_deinit(&second.out);
	buffer_deinit(&none.out);
}

/* The .wmk itself is a plan. */
static void test_profile_alone(void)
{
	static const struct plan_files opener = {files, open_file};
	static struct path_builder b;
	static struct wmk_builder w;
	struct path_numbering n;
	struct plan_choice c = {0};
	struct plan *plan = NULL;
	struct pathmeta_function *f;

	build_paths_init(&b, "u.c", PATHMETA_SOURCE);
	f = build_diamonds(&b, "foo", 2, 1);
	build_profile(&w, f, (uint64_t[]){0, 0, 1, 1});
	files[1] = (struct file){"w.wmk", w.out.bytes, w.out.len_bytes};
	CHECK_OK(path_number(&f->cfg, &b.meta.arena, &n));
	if (CHECK_OK(plan_create("w.wmk", &opener, &plan)))
		CHECK_OK(plan_choose(plan, f, &n, &b.meta.arena, &c));
	EXPECT_PATHS(&c, 1, 2, 3);
	plan_destroy(plan);
	build_paths_deinit(&b);
	buffer_deinit(&w.out);
}

int main(void)
{
	test_damaged_text();
	test_unprofiled();
	test_against_all_paths();
	test_limits();
	test_profile();
	test_profile_alone();
	return check_status();
}
