/*
 * test_paths.c - .wmk files joined with metadata of paths: counts of blocks, edges and lines by hand, activations, what is
 * damaged or unknown, several files, field against tests, and what the renderers make of it.
 */
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "model/contexts/context.h"
#include "model/paths/path_compare.h"
#include "model/paths/path_coverage.h"
#include "report/paths/path_renderer.h"
#include "model/paths/path_steps.h"
#include "support/builder.h"
#include "support/path_builder.h"

static const uint8_t build_id[] = {0xab, 0xcd, 0xef, 0x01};

#define OUTCOME(what)                    \
	{                                \
		.kind = PATHMETA_##what, \
	}

/*
 * loop: 0 -> 1; 1 -> 2 true, 1 -> 3 false; 2 -> 1 back; 3 leaves.
 * Its paths: 0 is 0 1 2, 1 is 0 1 3, 2 is 1 2, 3 is 1 3.
 */
static const struct build_edge loop_edges[] = {
	{0, 1, CFG_KEPT, OUTCOME(PLAIN)},
	{1, 2, CFG_KEPT, OUTCOME(TRUE)},
	{1, 3, CFG_KEPT, OUTCOME(FALSE)},
	{2, 1, CFG_CUT_BACK, OUTCOME(PLAIN)},
};

struct fixture {
	struct object_search search;
	struct path_profile p;
	struct path_builder *meta;
};

static void add_image(struct path_profile *p, struct path_builder *meta)
{
	struct object_wanted wanted = {.path = "/prog", .build_id.len_bytes = sizeof build_id};
	struct buffer bytes = {0};
	struct pathmeta m;

	memcpy(wanted.build_id.bytes, build_id, sizeof build_id);
	pathmeta_init(&m);
	CHECK_OK(pathmeta_write(&meta->meta, &bytes));
	CHECK_OK(pathmeta_read(bytes.bytes, bytes.len_bytes, "prog", &m));
	CHECK_OK(path_profile_add_image(p, &wanted, &m));
	buffer_deinit(&bytes);
}

static void open_fixture(struct fixture *f, struct path_builder *meta)
{
	object_search_init(&f->search);
	CHECK_OK(path_profile_init(&f->p, &f->search, NULL));
	f->meta = meta;
	add_image(&f->p, meta);
}

static void close_fixture(struct fixture *f)
{
	path_profile_deinit(&f->p);
	object_search_deinit(&f->search);
}

/* A file of the program, of a run of its own, ready for tables. */
static void begin_file(struct wmk_builder *b)
{
	static uint64_t run;
	uint64_t path;

	build_wmk_init(b, ++run, "/prog");
	build_chunk(b, WMK_STRINGS, 0, 0);
	path = build_string(b, 0, "/prog");
	build_chunk(b, WMK_IMAGES, 0, 0);
	build_image(b, 0, 16, 0, path, build_id, sizeof build_id);
	build_chunk(b, WMK_PATHS, 0, 0);
}

static struct wmk_paths head_of(const struct pathmeta_function *f, uint32_t entry_count)
{
	return (struct wmk_paths){.name_key = f->name_key,
				  .cfg_key = f->cfg_key,
				  .path_count = f->path_count,
				  .kind = f->kind,
				  .bits = f->bits,
				  .entry_count = entry_count};
}

static void add_array(struct wmk_builder *b, const struct pathmeta_function *f, uint32_t flags, uint64_t begun,
		      const uint64_t *counts, uint32_t count)
{
	struct wmk_paths head = head_of(f, f->kind == WM1_PATHS_ARRAY ? count : count / 2);

	head.flags = (uint16_t)flags;
	build_table(b, &head, begun, counts, count);
}

static void end_file(struct fixture *f, struct wmk_builder *b)
{
	struct wmk_file w;

	build_wmk_finish(b);
	if (CHECK_OK(wmk_read(b->out.bytes, b->out.len_bytes, "test.wmk", &w))) {
		CHECK_OK(path_profile_add_file(&f->p, &w));
		wmk_file_deinit(&w);
	}
	buffer_deinit(&b->out);
}

static const struct path_function *find(const struct path_profile *p, const char *name)
{
	for (size_t i = 0; i < p->functions.count; i++)
		if (strcmp(p->functions.items[i].name, name) == 0)
			return &p->functions.items[i];
	fprintf(stderr, "no function %s\n", name);
	exit(1);
}

static bool has_warning(const struct path_profile *p, const char *text)
{
	for (size_t i = 0; i < p->contexts.warnings.count; i++)
		if (strstr(p->contexts.warnings.items[i].text, text))
			return true;
	return false;
}

/* The same function counted by two threads of one file and by another file. */
static void test_sums(void)
{
	static struct path_builder meta;
	const uint64_t first[] = {1, 1, 3, 0}, second[] = {1, 0, 4, 1};
	struct pathmeta_function *loop;
	struct wmk_builder b;
	struct fixture f;
	const struct path_function *got;

	build_paths_init(&meta, "u.c", PATHMETA_SOURCE);
	loop = build_paths_simple(&meta, "loop", 4, loop_edges, 4, 100);
	build_paths_simple(&meta, "never", 4, loop_edges, 4, 200);
	CHECK_U64(loop->path_count, 4);
	open_fixture(&f, &meta);
	for (int i = 0; i < 2; i++) {
		begin_file(&b);
		add_array(&b, loop, 0, 3, first, 4);
		add_array(&b, loop, 0, 2, second, 4);
		end_file(&f, &b);
	}
	CHECK_OK(path_profile_finish(&f.p));
	CHECK_OK(path_profile_check_counts(&f.p));
	CHECK_OK(path_profile_check_metadata(&f.p));
	got = find(&f.p, "loop");
	CHECK_U64(got->table_count, 4);
	CHECK_U64(got->entry_count, 4);
	CHECK_U64(got->entries[0].count, 4);
	CHECK_U64(got->entries[1].count, 2);
	CHECK_U64(got->entries[2].count, 14);
	CHECK_U64(got->entries[3].count, 2);
	CHECK_U64(got->total, 22);
	CHECK_U64(f.p.total, 22);
	CHECK_U64(got->activations, 10);
	CHECK_U64(got->calls, 10);
	CHECK_U64(got->ended, 4);
	CHECK_U64(got->unfinished, 6);
	CHECK_U64(got->blocks[0], 10); /* 6 paths from it, and what is unfinished */
	CHECK_U64(got->blocks[1], 22);
	CHECK_U64(got->blocks[2], 18);
	CHECK_U64(got->blocks[3], 4);
	CHECK_U64(got->edges[0], 6);
	CHECK_U64(got->edges[1], 18);
	CHECK_U64(got->edges[2], 4);
	CHECK_U64(got->edges[3], 18);
	got = find(&f.p, "never");
	CHECK_U64(got->total + got->activations + got->blocks[0], 0);
	CHECK_U64(f.p.contexts.warnings.count, 0);
	close_fixture(&f);
	build_paths_deinit(&meta);
}

/* What the forking thread had counted says which activations go on in the child. */
static void test_inherited(void)
{
	static struct path_builder meta;
	const uint64_t before[] = {0, 1, 0, 0}, after[] = {0, 2, 0, 0};
	struct pathmeta_function *loop;
	struct wmk_builder b;
	struct fixture f;
	const struct path_function *got;

	build_paths_init(&meta, "u.c", PATHMETA_SOURCE);
	loop = build_paths_simple(&meta, "loop", 4, loop_edges, 4, 100);
	open_fixture(&f, &meta);
	begin_file(&b);
	add_array(&b, loop, WMK_PATHS_INHERITED, 4, before, 4);
	add_array(&b, loop, 0, 0, after, 4);
	end_file(&f, &b);
	CHECK_OK(path_profile_finish(&f.p));
	got = find(&f.p, "loop");
	CHECK_U64(got->inherited, 3);
	CHECK_U64(got->activations, 0);
	CHECK_U64(got->ended, 2);
	CHECK_U64(got->unfinished, 1);
	CHECK_U64(got->total, 2);
	CHECK_U64(got->table_count, 1);
	close_fixture(&f);
	build_paths_deinit(&meta);
}

/* A call that returns twice, jumps to targets of their own and to a shared one, a function counted at its entry. */
static void test_cuts(void)
{
	static const struct build_edge twice[] = {{0, 1, CFG_CUT_TWICE, OUTCOME(PLAIN)}};
	static const struct build_edge jumps[] = {
		{0, 1, CFG_CUT_JUMP, OUTCOME(JUMP)},
		{0, 2, CFG_CUT_JUMP, OUTCOME(JUMP)},
		{1, 2, CFG_CUT_JUMP, OUTCOME(JUMP)},
	};
	static struct path_builder meta;
	const uint64_t twice_counts[] = {1, 2}, jump_counts[] = {5, 3, 4}, one[] = {9};
	struct pathmeta_function *t, *j, *leaf;
	struct wmk_builder b;
	struct fixture f;
	const struct path_function *got;

	build_paths_init(&meta, "u.c", PATHMETA_SOURCE);
	t = build_paths_simple(&meta, "t", 2, twice, 1, 100);
	j = build_paths_simple(&meta, "j", 3, jumps, 3, 200);
	leaf = build_paths_simple(&meta, "leaf", 1, NULL, 0, 300);
	leaf->flags = WM1_PATHS_AT_ENTRY;
	CHECK_U64(t->path_count, 2);
	CHECK_U64(j->path_count, 3);
	open_fixture(&f, &meta);
	begin_file(&b);
	add_array(&b, t, 0, 4, twice_counts, 2);
	add_array(&b, j, 0, 5, jump_counts, 3);
	add_array(&b, leaf, WMK_PATHS_AT_ENTRY, 0, one, 1);
	end_file(&f, &b);
	CHECK_OK(path_profile_finish(&f.p));
	got = find(&f.p, "t"); /* entered once, three returns of which one left no path */
	CHECK_U64(got->calls, 1);
	CHECK_U64(got->ended, 3);
	CHECK_U64(got->unfinished, 1);
	CHECK_U64(got->edges[0], 2);
	got = find(&f.p, "j");
	CHECK_U64(got->edges[0], 3);
	CHECK_U64(got->edges[1], PATH_UNKNOWN);
	CHECK_U64(got->edges[2], PATH_UNKNOWN);
	CHECK_U64(got->ended, 4);
	CHECK_U64(got->unfinished, 1);
	got = find(&f.p, "leaf");
	CHECK_U64(got->calls, 9);
	CHECK_U64(got->unfinished, 0);
	CHECK_U64(f.p.contexts.warnings.count, 0);
	close_fixture(&f);
	build_paths_deinit(&meta);
}

/* Hash pairs and plan pairs, and counts that are in no table, inside and outside the plan. */
static void test_kinds(void)
{
	static struct path_builder meta;
	const uint64_t pairs[] = {2, 5, 0, 0, 4, 6, 3, 0}; /* r is number + 1; a place without a count */
	struct pathmeta_function *loop;
	struct wmk_path_count single;
	struct wmk_builder b;
	struct fixture f;
	const struct path_function *got;

	build_paths_init(&meta, "u.c", PATHMETA_SOURCE);
	loop = build_paths_simple(&meta, "loop", 4, loop_edges, 4, 100);
	loop->kind = WM1_PATHS_HASH;
	loop->bits = 2;
	open_fixture(&f, &meta);
	begin_file(&b);
	add_array(&b, loop, 0, 11, pairs, 8);
	single = (struct wmk_path_count){.name_key = loop->name_key,
					 .cfg_key = loop->cfg_key,
					 .path_count = 4,
					 .r = 3,
					 .count = 100,
					 .kind = WM1_PATHS_HASH,
					 .bits = 2};
	build_chunk(&b, WMK_PATH_COUNTS, 0, 0);
	build_path_count(&b, &single);
	single.flags = WMK_PATHS_RESIDUAL;
	single.count = 7;
	build_path_count(&b, &single);
	end_file(&f, &b);
	CHECK_OK(path_profile_finish(&f.p));
	got = find(&f.p, "loop");
	CHECK_U64(got->entry_count, 3);
	CHECK_U64(got->run_count, 3);
	CHECK_U64(got->entries[0].number, 1);
	CHECK_U64(got->entries[0].count, 5);
	CHECK_U64(got->entries[1].number, 2);
	CHECK_U64(got->entries[1].count, 107);
	CHECK_U64(got->entries[2].count, 6);
	CHECK_U64(got->residual, 7);
	CHECK_U64(f.p.residuals.count, 1);
	CHECK_U64(f.p.residuals.items[0].count, 7);
	CHECK_U64(f.p.residuals.items[0].node, 0);
	close_fixture(&f);
	build_paths_deinit(&meta);
}

/* A function with a plan that counts in an array: what the plan does not have is outside it. */
static void test_planned(void)
{
	static struct path_builder meta;
	static uint64_t planned[] = {1, 2};
	const uint64_t counts[] = {3, 1, 4, 5};
	struct pathmeta_function *loop;
	struct path_view_options options = {0};
	struct path_view v;
	struct wmk_builder b;
	struct fixture f;

	build_paths_init(&meta, "u.c", PATHMETA_SOURCE);
	loop = build_paths_simple(&meta, "loop", 4, loop_edges, 4, 100);
	loop->has_plan = true;
	loop->planned = planned;
	loop->planned_count = 2;
	open_fixture(&f, &meta);
	begin_file(&b);
	add_array(&b, loop, 0, 6, counts, 4);
	end_file(&f, &b);
	CHECK_OK(path_profile_finish(&f.p));
	CHECK_U64(find(&f.p, "loop")->residual, 8);
	CHECK_U64(f.p.residuals.count, 2);
	CHECK_U64(f.p.residuals.items[0].number, 3);
	CHECK_U64(f.p.residuals.items[0].count, 5);
	CHECK_OK(path_view_create(&f.p, &options, "test", &v));
	CHECK_U64(v.summary.residual, 8);
	path_view_deinit(&v);
	close_fixture(&f);
	build_paths_deinit(&meta);
}

/* Nothing that does not fit is dropped without a word. */
static void test_damage(void)
{
	static struct path_builder meta;
	const uint64_t counts[] = {1, 1, 0, 0, 0}, many[] = {0, 9, 0, 0};
	struct pathmeta_function *loop, stranger;
	struct wmk_path_count single;
	struct wmk_paths head;
	struct wmk_builder b;
	struct fixture f;
	struct path_view_options options = {0};
	struct path_view v;

	build_paths_init(&meta, "u.c", PATHMETA_SOURCE);
	loop = build_paths_simple(&meta, "loop", 4, loop_edges, 4, 100);
	open_fixture(&f, &meta);
	begin_file(&b);
	add_array(&b, loop, 0, 1, many, 4); /* more ended than were begun */
	stranger = *loop;
	stranger.name_key = 0x1234;
	stranger.cfg_key = 0x5678;
	add_array(&b, &stranger, 0, 2, counts, 4);
	head = head_of(loop, 5); /* another number of paths than the metadata says */
	head.path_count = 5;
	build_table(&b, &head, 2, counts, 5);
	build_chunk(&b, WMK_PATH_COUNTS, 0, 0);
	single = (struct wmk_path_count){.name_key = loop->name_key,
					 .cfg_key = loop->cfg_key,
					 .path_count = 4,
					 .r = 1,
					 .count = 3,
					 .image = 77,
					 .kind = WM1_PATHS_HASH};
	build_path_count(&b, &single);
	end_file(&f, &b);
	CHECK_OK(path_profile_finish(&f.p));
	CHECK(has_warning(&f.p, "loop: 9 activations ended, only 1 were begun"));
	CHECK(has_warning(&f.p, "loop has 4 paths, its counts are of 5"));
	CHECK(has_warning(&f.p, "test.wmk: counts of image 77, which it does not have"));
	CHECK_U64(find(&f.p, "loop")->unfinished, 0);
	CHECK_U64(find(&f.p, "[0000000000001234:0000000000005678]")->total, 2);
	CHECK(!find(&f.p, "[0000000000001234:0000000000005678]")->meta);
	CHECK_U64(f.p.images.items[0]->unknown, 4);
	CHECK_OK(path_view_create(&f.p, &options, "test", &v));
	CHECK_U64(v.summary.unknown_functions, 3);
	CHECK_U64(v.summary.unknown_total, 7);
	CHECK_U64(v.summary.total, 16);
	path_view_deinit(&v);
	close_fixture(&f);
	build_paths_deinit(&meta);
}

static void test_useless(void)
{
	struct object_search search;
	struct path_profile p;
	struct wmk_builder b;
	struct wmk_file w;
	const uint64_t counts[] = {1};
	struct wmk_paths head = {
		.name_key = 1, .cfg_key = 2, .path_count = 1, .kind = WM1_PATHS_ARRAY, .entry_count = 1};

	object_search_init(&search);
	CHECK_OK(path_profile_init(&p, &search, NULL));
	CHECK_OK(path_profile_finish(&p));
	CHECK_ERROR(path_profile_check_counts(&p), ERROR_NOT_FOUND, "no paths were recorded");
	begin_file(&b);
	build_table(&b, &head, 1, counts, 1);
	build_wmk_finish(&b);
	CHECK_OK(wmk_read(b.out.bytes, b.out.len_bytes, "test.wmk", &w));
	CHECK_OK(path_profile_add_file(&p, &w));
	CHECK_OK(path_profile_finish(&p));
	CHECK_OK(path_profile_check_counts(&p));
	CHECK_ERROR(path_profile_check_metadata(&p), ERROR_OS, "/prog: No such file or directory");
	CHECK(has_warning(&p, "/prog: No such file or directory"));
	wmk_file_deinit(&w);
	buffer_deinit(&b.out);
	path_profile_deinit(&p);
	object_search_deinit(&search);
}

/* Two functions of one place are added up, blocks of one function on one line are not, inlined code belongs to its own. */
static void test_lines(void)
{
	static const struct build_edge fork_edges[] = {
		{0, 1, CFG_KEPT, OUTCOME(TRUE)},
		{0, 2, CFG_KEPT, OUTCOME(FALSE)},
	};
	static const struct build_line lines[] = {
		{0, {.file = "a.h", .line = 5}}, {1, {.file = "a.h", .line = 5, .column = 9}},
		{1, {.file = "a.h", .line = 6}}, {2, {.function = "other", .file = "b.h", .line = 7}},
		{2, {.file = "b.h", .line = 8}},
	};
	static struct path_builder meta;
	const uint64_t one[] = {3, 4}, two[] = {10, 0}, third[] = {1, 0};
	struct pathmeta_function *a, *b, *other;
	struct wmk_builder file;
	struct fixture f;
	struct path_view_options options = {0};
	struct path_report report = {0};
	struct path_view v;
	char *text = NULL;
	size_t size;
	FILE *out;

	build_paths_init(&meta, "u.cc", PATHMETA_SOURCE);
	a = build_paths_function(&meta, "t<int>", 3, fork_edges, 2, lines, 5);
	b = build_paths_function(&meta, "t<char>", 3, fork_edges, 2, lines, 5);
	other = build_paths_function(&meta, "other", 3, fork_edges, 2, lines + 3, 2);
	a->file = b->file = "a.h";
	a->line = b->line = 4;
	other->file = "b.h";
	other->line = 6;
	open_fixture(&f, &meta);
	begin_file(&file);
	add_array(&file, a, 0, 7, one, 2);
	add_array(&file, b, 0, 10, two, 2);
	add_array(&file, other, 0, 1, third, 2);
	end_file(&f, &file);
	CHECK_OK(path_profile_finish(&f.p));
	CHECK_OK(path_view_create(&f.p, &options, "test", &v));
	report.view = &v;
	out = open_memstream(&text, &size);
	CHECK_OK(path_render_lcov(&report, out));
	fclose(out);
	CHECK_TEXT(text, "TN:\n"
			 "SF:a.h\nFN:4,t<char>\nFN:4,t<int>\nFNDA:10,t<char>\nFNDA:7,t<int>\nFNF:2\nFNH:2\n"
			 "BRDA:5,0,0,13\nBRDA:5,0,1,4\nBRF:2\nBRH:2\n"
			 "DA:5,17\nDA:6,13\nLF:2\nLH:2\nend_of_record\n"
			 "SF:b.h\nFN:6,other\nFNDA:1,other\nFNF:1\nFNH:1\n"
			 "BRF:0\nBRH:0\nDA:7,4\nDA:8,4\nLF:2\nLH:2\nend_of_record\n");
	free(text);
	path_view_deinit(&v);
	close_fixture(&f);
	build_paths_deinit(&meta);
}

static void build_folded(struct path_builder *meta)
{
	static const struct build_edge fork_edges[] = {{0, 1, CFG_KEPT, OUTCOME(TRUE)},
						       {0, 2, CFG_KEPT, OUTCOME(FALSE)}};
	static const struct build_line lines[] = {
		{0, {.file = "test.c", .line = 11}},
		{1, {.file = "test.c", .line = 12}},
		{1, {.function = "inner", .file = "test.c", .line = 50}},
		{1, {.function = "helper", .file = "test.c", .line = 62}},
		{2, {.file = "test.c", .line = 13}},
		{2, {.file = "test.c", .line = 14}},
		{2, {.function = "helper", .file = "test.c", .line = 61}},
	};
	static const struct build_line left[] = {{0, {.file = "test.c", .line = 70}},
						 {1, {.file = "test.c", .line = 71}}};
	static const char *hidden[] = {"inner"};
	static uint32_t firm[] = {4}; /* line 13 */
	struct pathmeta_function *f;

	build_paths_init(meta, "prog", PATHMETA_FINAL);
	f = build_paths_function(meta, "main", 3, fork_edges, 2, lines, 7);
	f->hidden = hidden;
	f->hidden_count = 1;
	f->firm = firm;
	f->firm_count = 1;
	build_paths_simple(meta, "inner", 3, fork_edges, 2, 50);
	build_paths_simple(meta, "helper", 3, fork_edges, 2, 60);
	build_paths_simple(meta, "half", 3, fork_edges, 2, 70);
	f = build_paths_function(meta, "half.specialized.1", 3, fork_edges, 2, left, 2);
	f->name = "half";
	f->line = f[-1].line;
	build_paths_simple(meta, "early", 3, fork_edges, 2, 80)->is_unseen = true;
	for (uint32_t i = 0; i < meta->meta.function_count; i++)
		meta->functions[i].is_optimized = true;
	build_paths_simple(meta, "plain", 3, fork_edges, 2, 90);
}

static void check_lcov(const struct path_profile *p, const char *function, const char *want)
{
	struct path_view_options options = {.functions = &function, .function_count = function != NULL};
	struct path_report report = {0};
	struct path_view v;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK_OK(path_view_create(p, &options, "test", &v));
	report.view = &v;
	CHECK_OK(path_render_lcov(&report, out));
	fclose(out);
	CHECK_TEXT(text, want);
	free(text);
	path_view_deinit(&v);
}

/*
 * Of optimized code a 0 is only said where it is known: main ran, with inner folded into it, lines moved, but for a firm one; half
 * ran as a copy without its last line; early when the program was linked. helper and plain did not run.
 */
static void test_folded(void)
{
	static struct path_builder meta;
	const uint64_t first[] = {3, 0}, second[] = {1, 0};
	struct path_compare_options options = {.hot = 90};
	struct path_comparison c;
	struct wmk_builder file;
	struct fixture f, field;

	build_folded(&meta);
	open_fixture(&f, &meta);
	open_fixture(&field, &meta);
	begin_file(&file);
	add_array(&file, &meta.functions[0], 0, 3, first, 2);
	add_array(&file, &meta.functions[4], 0, 1, second, 2);
	end_file(&f, &file);
	begin_file(&file);
	add_array(&file, &meta.functions[1], 0, 1, second, 2);
	add_array(&file, &meta.functions[6], 0, 1, second, 2);
	end_file(&field, &file);
	CHECK_OK(path_profile_finish(&f.p));
	CHECK_OK(path_profile_finish(&field.p));
	CHECK(find(&f.p, "inner")->is_part && find(&f.p, "early")->is_part);
	CHECK(!find(&f.p, "main")->is_part && !find(&f.p, "helper")->is_part && !find(&f.p, "plain")->is_part);
	CHECK(!find(&field.p, "inner")->is_part); /* main did not run */
	check_lcov(
		&f.p, NULL,
		"TN:\nSF:test.c\nFN:10,main\nFN:30,helper\nFN:40,half.specialized.1\nFN:70,plain\n"
		"FNDA:3,main\nFNDA:0,helper\nFNDA:1,half.specialized.1\nFNDA:0,plain\nFNF:4\nFNH:2\n"
		"BRDA:11,0,0,3\nBRDA:60,0,0,-\nBRDA:60,0,1,-\nBRDA:70,0,0,1\nBRDA:90,0,0,-\nBRDA:90,0,1,-\nBRF:6\nBRH:2\n"
		"DA:11,3\nDA:12,3\nDA:13,0\nDA:50,3\nDA:60,0\nDA:62,3\nDA:70,1\nDA:71,1\nDA:90,0\nDA:91,0\nDA:92,0\n"
		"LF:11\nLH:6\nend_of_record\n");
	/* What main, which is not chosen, has of it. */
	check_lcov(&f.p, "helper",
		   "TN:\nSF:test.c\nFN:30,helper\nFNDA:0,helper\nFNF:1\nFNH:0\n"
		   "BRDA:60,0,0,-\nBRDA:60,0,1,-\nBRF:2\nBRH:0\nDA:60,0\nLF:1\nLH:0\nend_of_record\n");
	CHECK_OK(path_compare(&f.p, &field.p, &options, "test", &c));
	if (CHECK_U64(c.news.count, 2))
		for (size_t i = 0; i < 2; i++)
			CHECK_U64(c.news.items[i].news, strcmp(c.news.items[i].function->name, "inner") == 0
								? PATH_NOVEL_BODY
								: PATH_NOVEL_FUNCTION);
	path_comparison_deinit(&c);
	close_fixture(&field);
	close_fixture(&f);
	build_paths_deinit(&meta);
}

/* Of two versions of a function only one was linked; the other one is not shown as never run. */
static void test_superseded(void)
{
	static const struct build_edge fork_edges[] = {{0, 1, CFG_KEPT, OUTCOME(TRUE)},
						       {0, 2, CFG_KEPT, OUTCOME(FALSE)}};
	static struct path_builder meta;
	const uint64_t counts[] = {3, 4};
	struct pathmeta_function *a, *b;
	struct path_view_options options = {0};
	struct path_view v;
	struct wmk_builder file;
	struct fixture f;

	build_paths_init(&meta, "u.c", PATHMETA_SOURCE);
	a = build_paths_simple(&meta, "f", 3, fork_edges, 2, 100);
	b = build_paths_simple(&meta, "f", 4, loop_edges, 4, 100);
	CHECK_U64(a->name_key, b->name_key);
	CHECK(a->cfg_key != b->cfg_key);
	open_fixture(&f, &meta);
	begin_file(&file);
	add_array(&file, a, 0, 7, counts, 2);
	end_file(&f, &file);
	CHECK_OK(path_profile_finish(&f.p));
	CHECK_OK(path_view_create(&f.p, &options, "test", &v));
	CHECK_U64(v.function_count, 1);
	CHECK_U64(v.summary.functions, 1);
	CHECK_U64(v.summary.functions_run, 1);
	CHECK_U64(v.summary.blocks, 3);
	path_view_deinit(&v);
	close_fixture(&f);
	build_paths_deinit(&meta);
}

static void test_steps(void)
{
	static struct path_builder meta;
	const uint64_t counts[] = {1, 1, 1, 1};
	struct pathmeta_function *loop;
	struct path_steps s;
	struct wmk_builder b;
	struct fixture f;
	const struct path_function *got;

	build_paths_init(&meta, "u.c", PATHMETA_SOURCE);
	loop = build_paths_simple(&meta, "loop", 4, loop_edges, 4, 100);
	open_fixture(&f, &meta);
	begin_file(&b);
	add_array(&b, loop, 0, 2, counts, 4);
	end_file(&f, &b);
	CHECK_OK(path_profile_finish(&f.p));
	got = find(&f.p, "loop");
	CHECK_OK(path_steps_create(&f.p, got, 2, NULL, &s)); /* 1 2, back */
	CHECK_TEXT(s.start, "after a round of the loop");
	CHECK_TEXT(s.end, "back to line 101");
	CHECK_U64(s.node_count, 2);
	CHECK_U64(s.steps.count, 2);
	CHECK_U64(s.steps.items[0].line, 101);
	CHECK_TEXT(s.steps.items[0].outcome, "true");
	CHECK_U64(s.steps.items[1].line, 102);
	CHECK(!s.steps.items[1].outcome);
	path_steps_deinit(&s);
	CHECK_OK(path_steps_create(&f.p, got, 1, NULL, &s));
	CHECK_TEXT(s.start, "enters");
	CHECK_TEXT(s.end, "leaves");
	CHECK_U64(s.nodes[2], 3);
	path_steps_deinit(&s);
	close_fixture(&f);
	build_paths_deinit(&meta);
}

/* Names and source that would be markup or commands of a terminal are neither. */
static void test_hostile(void)
{
	static const char bad[] = "<script>\"&'\033[31m\xff";
	static struct path_builder meta;
	const uint64_t counts[] = {1, 1, 1, 1};
	struct pathmeta_function *loop;
	struct path_view_options options = {0};
	struct sources sources;
	struct path_report report = {0};
	struct path_view v;
	struct wmk_builder b;
	struct fixture f;

	build_paths_init(&meta, "u.c", PATHMETA_SOURCE);
	loop = build_paths_simple(&meta, bad, 4, loop_edges, 4, 1);
	loop->file = bad;
	open_fixture(&f, &meta);
	begin_file(&b);
	add_array(&b, loop, 0, 2, counts, 4);
	end_file(&f, &b);
	CHECK_OK(path_profile_finish(&f.p));
	CHECK_OK(path_view_create(&f.p, &options, "test", &v));
	sources_init(&sources);
	report.view = &v;
	report.style = (struct path_style){.sources = &sources, .width = 100};
	for (const struct path_renderer *r = path_formats.rows; r->format.name; r++) {
		char *text = NULL;
		size_t size;
		bool is_markup;
		FILE *out = open_memstream(&text, &size);

		CHECK_OK(r->render(&report, out));
		fclose(out);
		is_markup = r->render == path_render_html || r->render == path_render_cobertura;
		CHECK(strstr(text, is_markup ? "&lt;script&gt;&quot;&amp;&#39;" : "<script>"));
		CHECK(!is_markup || !strstr(text, "<script>\""));
		if (r->render != path_render_lcov) {
			CHECK(!strchr(text, '\033'));
			CHECK(!strchr(text, '\xff'));
		}
		free(text);
	}
	sources_deinit(&sources);
	path_view_deinit(&v);
	close_fixture(&f);
	build_paths_deinit(&meta);
}

/* A source line of every kind: tabs, bytes that are no characters, longer than the page. */
static void test_source(void)
{
	char dir[] = "/tmp/waymark-source.XXXXXX";
	struct arena arena;
	struct sources s;
	const struct source_file *file;
	char path[64], old[96];
	const char *text;
	FILE *out;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/x.c", dir);
	snprintf(old, sizeof old, "/old/place=%s", dir);
	out = fopen(path, "w");
	fwrite("one\r\n\tt\0wo\nlast", 1, 15, out);
	fclose(out);
	arena_init(&arena);
	sources_init(&s);
	CHECK_OK(sources_get(&s, "/old/place/x.c", &file));
	CHECK(!file->path && strstr(file->why, "/old/place/x.c: No such file or directory"));
	sources_deinit(&s);
	sources_init(&s);
	CHECK_OK(sources_add_place(&s, old));
	CHECK_OK(sources_get(&s, "/old/placebo/x.c", &file));
	CHECK(!file->path);
	CHECK_OK(sources_get(&s, "/old/place/x.c", &file));
	CHECK_TEXT(file->path, path);
	CHECK_U64(file->line_count, 3);
	CHECK_OK(source_line(file, 1, &arena, &text));
	CHECK_TEXT(text, "one");
	CHECK_OK(source_line(file, 2, &arena, &text));
	CHECK_TEXT(text, "\tt wo");
	CHECK_OK(source_line(file, 3, &arena, &text));
	CHECK_TEXT(text, "last");
	CHECK_OK(source_line(file, 4, &arena, &text));
	CHECK(!text);
	CHECK_OK(source_line(file, 0, &arena, &text));
	CHECK(!text);
	sources_deinit(&s);
	sources_init(&s);
	CHECK_OK(sources_add_place(&s, dir)); /* any name, by the longest end that is there */
	CHECK_OK(sources_get(&s, "/elsewhere/deep/x.c", &file));
	CHECK_TEXT(file->path, path);
	CHECK_ERROR(sources_add_place(&s, "/no/such/dir"), ERROR_OS, "/no/such/dir: No such file or directory");
	CHECK_ERROR(sources_add_place(&s, path), ERROR_ARGUMENT, "is not a directory");
	CHECK_TEXT(source_plain_name("/usr/lib/gcc/../../include/./c++/x.h", &arena), "/usr/include/c++/x.h");
	CHECK_TEXT(source_plain_name("../a/../b.c", &arena), "../b.c");
	CHECK_TEXT(source_plain_name("/../x.c", &arena), "/../x.c");
	sources_deinit(&s);
	arena_deinit(&arena);
	unlink(path);
	rmdir(dir);
}

static void test_compare(void)
{
	static const struct build_edge fork_edges[] = {{0, 1, CFG_KEPT, OUTCOME(TRUE)},
						       {0, 2, CFG_KEPT, OUTCOME(FALSE)}};
	static struct path_builder old_meta, new_meta;
	const uint64_t tested[] = {100, 900, 0, 0}, field[] = {100, 0, 5, 0}, some[] = {3, 4}, four[] = {1, 2, 0, 0};
	struct path_compare_options options = {.hot = 90};
	struct path_comparison c;
	struct wmk_builder b;
	struct fixture t, f;

	build_paths_init(&old_meta, "u.c", PATHMETA_SOURCE);
	build_paths_simple(&old_meta, "loop", 4, loop_edges, 4, 100);
	build_paths_simple(&old_meta, "changed", 3, fork_edges, 2, 200);
	build_paths_simple(&old_meta, "idle", 3, fork_edges, 2, 300);
	build_paths_simple(&old_meta, "removed", 4, loop_edges, 4, 400);
	build_paths_init(&new_meta, "u.c", PATHMETA_SOURCE);
	build_paths_simple(&new_meta, "loop", 4, loop_edges, 4, 1100);
	build_paths_simple(&new_meta, "changed", 4, loop_edges, 4, 1200);
	build_paths_simple(&new_meta, "idle", 3, fork_edges, 2, 1300);
	build_paths_simple(&new_meta, "added", 3, fork_edges, 2, 1400);
	open_fixture(&t, &old_meta);
	open_fixture(&f, &new_meta);
	begin_file(&b);
	add_array(&b, &old_meta.functions[0], 0, 1000, tested, 4);
	add_array(&b, &old_meta.functions[1], 0, 7, some, 2);
	add_array(&b, &old_meta.functions[3], 0, 1000, tested, 4); /* hot, and nothing to do with the field */
	end_file(&t, &b);
	begin_file(&b);
	add_array(&b, &new_meta.functions[0], 0, 100, field, 4);
	add_array(&b, &new_meta.functions[1], 0, 3, four, 4);
	add_array(&b, &new_meta.functions[2], 0, 7, some, 2);
	add_array(&b, &new_meta.functions[3], 0, 7, some, 2);
	end_file(&f, &b);
	CHECK_OK(path_profile_finish(&t.p));
	CHECK_OK(path_profile_finish(&f.p));
	CHECK_OK(path_compare(&t.p, &f.p, &options, "test", &c));
	CHECK_U64(path_comparison_verdict(&c), PATH_VERDICT_NEW);
	CHECK_U64(c.news.count, 5);
	CHECK_TEXT(c.news.items[0].function->name, "loop");
	CHECK_U64(c.news.items[0].number, 2);
	CHECK_U64(c.news.items[0].field, 5);
	CHECK_U64(c.news.items[0].news, PATH_NOVEL_PATH);
	CHECK_U64(c.news_total, 5 + 7 + 7);
	for (size_t i = 1; i < c.news.count; i++) {
		bool is_idle = strcmp(c.news.items[i].function->name, "idle") == 0;

		CHECK(is_idle || strcmp(c.news.items[i].function->name, "added") == 0);
		CHECK_U64(c.news.items[i].news, is_idle ? PATH_NOVEL_FUNCTION : PATH_NOVEL_UNTESTED);
	}
	CHECK_U64(c.cold.count, 1);
	CHECK_U64(c.cold.items[0].tested, 900);
	CHECK_U64(c.cold.items[0].field, 0);
	CHECK_U64(c.changes.count, 1);
	CHECK_TEXT(c.changes.items[0].field->name, "changed");
	CHECK_U64(c.changes.items[0].count, 3);
	CHECK_U64(c.changes_total, 3);
	path_comparison_deinit(&c);
	CHECK_OK(path_compare(&t.p, &t.p, &options, "test", &c));
	CHECK_U64(path_comparison_verdict(&c), PATH_VERDICT_COVERED);
	CHECK_U64(c.cold.count, 0);
	path_comparison_deinit(&c);
	/* Paths through a select count as one; in functions that the field did not run this does not matter. */
	t.p.images.items[0]->meta.functions[0].selects = 2;
	CHECK_OK(path_compare(&t.p, &t.p, &options, "test", &c));
	CHECK_U64(path_comparison_verdict(&c), PATH_VERDICT_UNKNOWN);
	CHECK_U64(c.choices.selects, 2);
	CHECK_U64(c.blurs.count, 1);
	path_comparison_deinit(&c);
	t.p.images.items[0]->meta.functions[0].selects = 0;
	t.p.images.items[0]->meta.units[0].stage = PATHMETA_FINAL;
	CHECK_OK(path_compare(&t.p, &t.p, &options, "test", &c));
	CHECK_U64(path_comparison_verdict(&c), PATH_VERDICT_UNKNOWN);
	CHECK_U64(c.choices.final_functions, c.choices.functions);
	path_comparison_deinit(&c);
	t.p.images.items[0]->meta.units[0].stage = PATHMETA_SOURCE;
	t.p.recordings.items[0].header.dropped_paths = 1;
	CHECK_OK(path_compare(&t.p, &t.p, &options, "test", &c));
	CHECK_U64(path_comparison_verdict(&c), PATH_VERDICT_UNKNOWN);
	path_comparison_deinit(&c);
	close_fixture(&f);
	close_fixture(&t);
	build_paths_deinit(&old_meta);
	build_paths_deinit(&new_meta);
}

int main(void)
{
	test_sums();
	test_inherited();
	test_cuts();
	test_kinds();
	test_planned();
	test_damage();
	test_useless();
	test_lines();
	test_folded();
	test_superseded();
	test_steps();
	test_hostile();
	test_source();
	test_compare();
	return check_status();
}
