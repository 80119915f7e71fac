/*
 * test_epochs.c - a recording of two epochs, of code that no file describes: every context against its stack, which is written
 * out here from the graph in support/epoch_builder.h; each way in which a dictionary can be missing or wrong; chains that go
 * on in an image with a section; merged recordings; recordings that grow.
 */
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "model/contexts/context.h"
#include "model/contexts/token_contexts.h"
#include "model/paths/path_profile.h"
#include "model/merge/profile_merge.h"
#include "support/epoch_builder.h"
#include "waymark/paths.h"

/* link name, place */
#define MAIN "app//shop.Main.main([Ljava/lang/String;)V Main.java:7\n"
#define MAIN_STARTS "app//shop.Main.main([Ljava/lang/String;)V Main.java:12\n[java.lang.Thread.start]\n[thread]\n"
#define WORKER "app//shop.Worker.run()D Worker.java tail\n"
#define ORDER "app//shop.Order.total(I)J Order.java:23\n"
#define TAX "app//shop.Tax.rate()D Tax.java:31\n"
#define FIXED_TAX "app//shop.FixedTax.rate()D FixedTax.java:42\n"
#define PLUGIN_TAX "plugin//shop.Tax.rate()D Tax.java:8\n"
#define LOG "app//shop.Log.write(Ljava/lang/String;)V Log.java:12\n"
#define LOG_AGAIN "app//shop.Log.write(Ljava/lang/String;)V Log.java:15\n"
#define LOG_SORTS "app//shop.Log.write(Ljava/lang/String;)V Log.java:44\n"
#define ONCE_MORE ORDER TAX LOG_AGAIN

static const char *const stacks[EPOCHS_CONTEXTS] = {
	MAIN ORDER TAX LOG,
	MAIN ORDER FIXED_TAX LOG,
	MAIN ORDER PLUGIN_TAX LOG,
	MAIN_STARTS WORKER ORDER FIXED_TAX LOG,
	MAIN ONCE_MORE ONCE_MORE ONCE_MORE ORDER TAX LOG,
	WORKER ORDER PLUGIN_TAX LOG,
	MAIN ORDER FIXED_TAX LOG,
	MAIN ONCE_MORE ORDER FIXED_TAX LOG,
	WORKER ORDER PLUGIN_TAX LOG_AGAIN ORDER FIXED_TAX LOG,
	MAIN ORDER PLUGIN_TAX LOG,
	MAIN ORDER FIXED_TAX LOG_SORTS "plain_sort\nlibplain.so+0x1234\n",
	MAIN ORDER FIXED_TAX LOG_SORTS "plain_sort\n[indirect]\n",
	MAIN_STARTS WORKER ORDER PLUGIN_TAX LOG,
	MAIN ORDER TAX LOG,
};

/* A line a frame; the caller frees it. */
static char *describe(const struct frame_vec *frames)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	for (size_t i = 0; i < frames->count; i++) {
		const struct frame *f = &frames->items[i];

		fprintf(out, "%s", f->flags & FRAME_FOREIGN ? f->name : f->link_name);
		if (f->file)
			fprintf(out, " %s", f->file);
		if (f->line)
			fprintf(out, ":%u", f->line);
		fprintf(out, "%s\n", f->flags & FRAME_TAIL ? " tail" : "");
	}
	fclose(out);
	return text;
}

static struct error *decode(const struct process *p, const struct context_key *key, char **ret)
{
	struct frame_vec frames = {0};
	struct error *err = context_decode(p, key, 100, &frames);

	*ret = err ? NULL : describe(&frames);
	frame_vec_deinit(&frames);
	return err;
}

struct world {
	struct wmk_builder b;
	struct wmk_file w;
	struct image_cache cache;
	struct process p;
};

static bool open_world(struct world *t)
{
	image_cache_init(&t->cache);
	return CHECK_OK(wmk_read(t->b.out.bytes, t->b.out.len_bytes, "x.wmk", &t->w)) &&
	       CHECK_OK(process_init(&t->p, &t->w, &t->cache));
}

static void close_world(struct world *t)
{
	process_deinit(&t->p);
	image_cache_deinit(&t->cache);
	wmk_file_deinit(&t->w);
	buffer_deinit(&t->b.out);
}

static void expect_stack_at(struct world *t, const struct epochs_context *c, const char *want, int line)
{
	const struct context_key key = {.epoch = c->epoch, .id = c->id, .prefix = c->prefix, .site = c->site};
	char *got;

	if (check_no_error(decode(&t->p, &key, &got), __FILE__, line))
		check_equal_text(got, want, __FILE__, line);
	free(got);
}
#define EXPECT_STACK(epoch, prefix, id, site, want) \
	expect_stack_at(&t, &(struct epochs_context){epoch, prefix, id, site, 0}, want, __LINE__)

static void expect_reason_at(struct world *t, const struct epochs_context *c, const char *why, int line)
{
	const struct context_key key = {.epoch = c->epoch, .id = c->id, .prefix = c->prefix, .site = c->site};
	char *got = NULL;
	struct error *err = decode(&t->p, &key, &got);

	if (check_that(err != NULL, __FILE__, line, got ? got : "an error"))
		check_that(strstr(err->message, why) != NULL, __FILE__, line, err->message);
	error_destroy(err);
	free(got);
}
#define EXPECT_REASON(epoch, prefix, id, site, why) \
	expect_reason_at(&t, &(struct epochs_context){epoch, prefix, id, site, 0}, why, __LINE__)

static void test_stacks(void)
{
	struct world t;

	build_epochs(&t.b);
	if (!open_world(&t))
		return;
	for (size_t round = 0; round < 2; round++) /* epochs in turn, dictionaries known in the second */
		for (size_t i = 0; i < EPOCHS_CONTEXTS; i++)
			expect_stack_at(&t, &epochs_contexts[round ? EPOCHS_CONTEXTS - 1 - i : i],
					stacks[round ? EPOCHS_CONTEXTS - 1 - i : i], __LINE__);
	close_world(&t);
}

static void test_names(void)
{
	struct world t;
	struct frame_vec frames = {0};
	const struct context_key key = {.epoch = 0, .id = 7, .prefix = 16, .site = 25};

	build_epochs(&t.b);
	if (!open_world(&t))
		return;
	if (CHECK_OK(context_decode(&t.p, &key, 100, &frames)) && CHECK_U64(frames.count, 4)) {
		CHECK_TEXT(frames.items[0].name, "shop.Main.main");
		CHECK_TEXT(frames.items[2].name, "shop.Tax.rate");
		CHECK_TEXT(frames.items[3].name, "shop.Log.write");
	}
	frame_vec_deinit(&frames);
	close_world(&t);
}

/* ---- what cannot be decoded ---- */

static void put_node(struct wmk_builder *b, uint32_t epoch, uint32_t parent, uint64_t id, uint32_t site)
{
	build_node(b, parent, id, site, 1);
	build_epoch(b, epoch);
}

/* Numbers of contexts that no run has. Each has its reason, and the rest of the file decodes. */
static void test_impossible(void)
{
	struct world t;

	build_epochs_code(&t.b);
	build_chunk(&t.b, WMK_NODES, WM_PREFIX_FIRST, 0);
	put_node(&t.b, 0, 1, 0, 21);  /* 16 */
	put_node(&t.b, 0, 1, 0, 29);  /* 17 */
	put_node(&t.b, 1, 99, 0, 61); /* 18: stands on nothing */
	put_node(&t.b, 1, 1, 0, 61);  /* 19 */
	put_node(&t.b, 0, 1, 0, 20);  /* 20 */
	put_node(&t.b, 0, 1, 4, 25);  /* 21 */
	put_node(&t.b, 0, 1, 9, 26);  /* 22 */
	put_node(&t.b, 2, 1, 0, 26);  /* 23 */
	put_node(&t.b, 0, 1, 0, 40);  /* 24 */
	put_node(&t.b, 0, 1, 0, 27);  /* 25 */
	build_wmk_finish(&t.b);
	if (!open_world(&t))
		return;
	EXPECT_STACK(0, 16, 7, 25, MAIN ORDER PLUGIN_TAX LOG);
	EXPECT_STACK(1, 17, 2, 25, MAIN ORDER PLUGIN_TAX LOG);
	/* FixedTax begins anew, but the site reaches it by an encoded call only. */
	EXPECT_REASON(0, 16, 3, 25,
		      "site 21 of x.wmk has no call to app//shop.FixedTax.rate()D that pushes in epoch 0");
	/* Order.total was to begin anew, FixedTax does. */
	EXPECT_REASON(1, 17, 6, 25, "lead to app//shop.FixedTax.rate()D, the call before it to another function");
	EXPECT_REASON(1, 17, 0, WM_SITE_FOREIGN, "site 29 of x.wmk does not call foreign code");
	EXPECT_REASON(1, 18, 0, 62, "prefix 99 was not recorded");
	EXPECT_REASON(1, 19, 7, 25, "lead to app//shop.Tax.rate()D, which an unknown caller cannot reach");
	EXPECT_STACK(1, 19, 6, 25, "plain_sort\n" FIXED_TAX LOG);
	EXPECT_REASON(0, 20, 3, 25,
		      "site 20 of x.wmk has no call to app//shop.FixedTax.rate()D that pushes in epoch 0");
	EXPECT_REASON(0, 21, 3, 25, "site 25 of x.wmk does not push");
	EXPECT_REASON(0, 22, 2, 25, "x.wmk: epoch 0: app//shop.Log.write(Ljava/lang/String;)V has no context 9");
	EXPECT_REASON(0, 23, 2, 25, "x.wmk: epoch 2: how calls were encoded in it was not recorded");
	EXPECT_REASON(2, 1, 0, 25, "x.wmk: epoch 2: how calls were encoded in it was not recorded");
	EXPECT_REASON(0, 24, 0, 25, "no image has site 40");
	EXPECT_REASON(0, 1, 0, 40, "no image has site 40");
	EXPECT_REASON(0, 1, 0, 20, "site 20 of x.wmk does not capture");
	EXPECT_REASON(0, 1, 0, 62, "x.wmk: epoch 0: libplain.so+0x1234 is not in it");
	EXPECT_REASON(1, 1, 5, 25, "lead to app//shop.Order.total(I)J, which is no place to begin");
	/* An id of epoch 0 for a piece of epoch 1: other numbers, no other stack. */
	EXPECT_REASON(1, 1, 8, 25, "x.wmk: epoch 1: app//shop.Log.write(Ljava/lang/String;)V has no context 8");
	EXPECT_STACK(0, 25, 0, WM_SITE_FOREIGN,
		     "app//shop.Main.main([Ljava/lang/String;)V Main.java:12\n[java.lang.Thread.start]\n");
	close_world(&t);
}

enum {
	ROOT = WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY,
};

/* An epoch 9 that these functions write: why its only context cannot be decoded, each time; NULL: it can. Those of other epochs
 * can. */
static void expect_epoch_at(void (*put_functions)(struct wmk_builder *), void (*put_edges)(struct wmk_builder *),
			    void (*put_epoch)(struct wmk_builder *), const char *why, int line)
{
	struct world t;

	build_epochs_code(&t.b);
	build_chunk(&t.b, WMK_EPOCH_FUNCTIONS, 0, 0);
	put_functions(&t.b);
	build_chunk(&t.b, WMK_EPOCH_EDGES, 0, 0);
	put_edges(&t.b);
	build_chunk(&t.b, WMK_EPOCHS, 0, 0);
	put_epoch(&t.b);
	build_wmk_finish(&t.b);
	if (!open_world(&t))
		return;
	if (why)
		for (int i = 0; i < 2; i++)
			expect_reason_at(&t, &(struct epochs_context){9, 1, 0, 25, 0}, why, line);
	else
		expect_stack_at(&t, &(struct epochs_context){9, 1, 0, 25, 0}, "app//shop.Tax.rate()D Tax.java:31\n" LOG,
				line);
	expect_stack_at(&t, &(struct epochs_context){0, 1, 4, 25, 0}, MAIN ORDER FIXED_TAX LOG, line);
	close_world(&t);
}
#define EXPECT_EPOCH(functions, edges, epoch, why) expect_epoch_at(functions, edges, epoch, why, __LINE__)

static void two_functions(struct wmk_builder *b)
{
	build_epoch_function(b, 9, EPOCHS_TAX, 1, 0, ROOT);
	build_epoch_function(b, 9, EPOCHS_LOG, 1, 0, 0);
}

static void one_edge(struct wmk_builder *b)
{
	build_epoch_edge(b, 9, 22, EPOCHS_LOG, WMK_EDGE_ENCODED, 0);
}

static void one_record(struct wmk_builder *b)
{
	build_epoch_record(b, 9, 2, 1);
}

static void many_functions(struct wmk_builder *b)
{
	two_functions(b);
	build_epoch_function(b, 9, EPOCHS_MAIN, 1, 0, ROOT);
	build_epoch_function(b, 9, EPOCHS_MAIN, 1, 0, ROOT);
}

static void no_function(struct wmk_builder *b)
{
	two_functions(b);
	build_epoch_function(b, 9, 77, 1, 0, ROOT);
}

static void no_contexts(struct wmk_builder *b)
{
	two_functions(b);
	build_epoch_function(b, 9, EPOCHS_MAIN, 0, 0, ROOT);
}

static void no_dummy(struct wmk_builder *b)
{
	two_functions(b);
	build_epoch_function(b, 9, EPOCHS_MAIN, 1, 0, WMK_EPOCH_ROOT);
}

static void cycle_functions(struct wmk_builder *b)
{
	build_epoch_function(b, 9, EPOCHS_TAX, 5, 0, ROOT);
	build_epoch_function(b, 9, EPOCHS_LOG, 5, 0, 0);
	build_epoch_function(b, 9, EPOCHS_ORDER, 5, 0, 0);
}

static void cycle(struct wmk_builder *b)
{
	build_epoch_edge(b, 9, 22, EPOCHS_LOG, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(b, 9, 26, EPOCHS_ORDER, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(b, 9, 21, EPOCHS_TAX, WMK_EDGE_ENCODED, 0);
}

static void large_addend(struct wmk_builder *b)
{
	build_epoch_edge(b, 9, 22, EPOCHS_LOG, WMK_EDGE_ENCODED, 1);
}

static void largest_addend(struct wmk_builder *b)
{
	build_epoch_edge(b, 9, 22, EPOCHS_LOG, WMK_EDGE_ENCODED, UINT64_MAX);
}

static void twice(struct wmk_builder *b)
{
	one_edge(b);
	build_epoch_edge(b, 9, 22, EPOCHS_LOG, WMK_EDGE_CUT, 0);
}

static void pushed_without_dummy(struct wmk_builder *b)
{
	build_epoch_edge(b, 9, 22, EPOCHS_LOG, WMK_EDGE_CUT, 0);
}

static void of_capture(struct wmk_builder *b)
{
	one_edge(b);
	build_epoch_edge(b, 9, 25, EPOCHS_LOG, WMK_EDGE_ENCODED, 0);
}

static void of_no_site(struct wmk_builder *b)
{
	one_edge(b);
	build_epoch_edge(b, 9, 40, EPOCHS_LOG, WMK_EDGE_ENCODED, 0);
}

static void to_other_epoch(struct wmk_builder *b)
{
	one_edge(b);
	build_epoch_edge(b, 9, 22, EPOCHS_ORDER, WMK_EDGE_CUT, 0);
}

static void open_edge(struct wmk_builder *b)
{
	one_edge(b);
	build_state(b, 0);
}

static void two_records(struct wmk_builder *b)
{
	one_record(b);
	one_record(b);
}

static void larger_record(struct wmk_builder *b)
{
	build_epoch_record(b, 9, 3, 1);
}

static void smaller_record(struct wmk_builder *b)
{
	build_epoch_record(b, 9, 0, 0);
}

static void open_record(struct wmk_builder *b)
{
	one_record(b);
	build_state(b, 0);
}

static void test_dictionaries(void)
{
	EXPECT_EPOCH(two_functions, one_edge, one_record, NULL);
	EXPECT_EPOCH(two_functions, one_edge, smaller_record, NULL); /* what was found since it began */
	EXPECT_EPOCH(two_functions, one_edge, open_record, "epoch 9: how calls were encoded in it was not recorded");
	EXPECT_EPOCH(two_functions, one_edge, two_records, "epoch 9: damaged: it began twice");
	EXPECT_EPOCH(two_functions, one_edge, larger_record,
		     "epoch 9: 2 of 3 functions and 1 of 1 calls of it are there");
	EXPECT_EPOCH(two_functions, open_edge, one_record,
		     "epoch 9: 2 of 2 functions and 0 of 1 calls of it are there");
	EXPECT_EPOCH(many_functions, one_edge, one_record, "epoch 9: damaged: function 10 is in it twice");
	EXPECT_EPOCH(no_function, one_edge, one_record, "epoch 9: damaged: function 77 was not recorded");
	EXPECT_EPOCH(no_contexts, one_edge, one_record, "epoch 9: damaged: function 10 has no context");
	EXPECT_EPOCH(no_dummy, one_edge, one_record, "epoch 9: function 2 is a root but has no id to start at");
	EXPECT_EPOCH(two_functions, large_addend, one_record,
		     "epoch 9: a call to function 1 leads past its 1 contexts");
	EXPECT_EPOCH(two_functions, largest_addend, one_record,
		     "epoch 9: a call to function 1 leads past its 1 contexts");
	EXPECT_EPOCH(two_functions, twice, one_record, "epoch 9: damaged: site 22 calls function 14 twice");
	EXPECT_EPOCH(two_functions, pushed_without_dummy, one_record,
		     "epoch 9: call 0 is a push, but function 1 has no id for it");
	EXPECT_EPOCH(two_functions, of_capture, one_record, "epoch 9: damaged: site 25 makes no such call");
	EXPECT_EPOCH(two_functions, of_no_site, one_record, "epoch 9: damaged: site 40 makes no such call");
	EXPECT_EPOCH(two_functions, to_other_epoch, one_record,
		     "epoch 9: damaged: site 22 calls function 11, and one of them is not in it");
	EXPECT_EPOCH(cycle_functions, cycle, one_record, "epoch 9: the encoded calls to function 0 come from a cycle");
}

/* Pushes that are no frames, four billions in a row: there is nothing to repeat, and nothing to take time for. */
static void test_empty_runs(void)
{
	struct world t;

	build_epochs_code(&t.b);
	build_chunk(&t.b, WMK_NODES, WM_PREFIX_FIRST, 0);
	build_node(&t.b, WM_PREFIX_PROCESS, 0, 29, 1); /* 16 */
	build_epoch(&t.b, 0);
	build_node(&t.b, 16, 2, 29, UINT32_MAX); /* 17 */
	build_epoch(&t.b, 0);
	build_wmk_finish(&t.b);
	if (!open_world(&t))
		return;
	EXPECT_STACK(1, 16, 2, 25, stacks[9]);
	EXPECT_STACK(1, 17, 2, 25, stacks[9]);
	close_world(&t);
}

/* ---- dictionaries that change others ---- */

static const char *const changed_stacks[EPOCHS_CHANGED] = {TAX LOG,       FIXED_TAX LOG,  TAX LOG,
							   FIXED_TAX LOG, PLUGIN_TAX LOG, TAX LOG};

/* A fault of epoch 9's own dictionary or of one that it changes fails its contexts, and those of no other epoch. */
static void expect_change_at(uint32_t base, uint32_t function_count, uint32_t edge, uint64_t rank, const char *why,
			     int line)
{
	struct world t;

	build_epochs_code(&t.b);
	build_chunk(&t.b, WMK_EPOCH_FUNCTIONS, 0, 0);
	build_epoch_function(&t.b, 8, EPOCHS_TAX, 0, 0, ROOT);
	build_epoch_function(&t.b, 8, EPOCHS_FIXED_TAX, 0, 0, ROOT);
	build_epoch_function(&t.b, 8, EPOCHS_LOG, 0, 0, ROOT);
	build_epoch_function(&t.b, 9, EPOCHS_PLUGIN_TAX, 0, 0, ROOT);
	build_chunk(&t.b, WMK_EPOCH_EDGES, 0, 0);
	build_epoch_edge(&t.b, 8, 22, EPOCHS_LOG, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(&t.b, 9, edge, edge == 26 ? EPOCHS_ORDER : EPOCHS_LOG, WMK_EDGE_ENCODED, rank);
	build_chunk(&t.b, WMK_EPOCHS, 0, 0);
	build_ranked_epoch_record(&t.b, 8, 0, 3, 1);
	build_ranked_epoch_record(&t.b, 9, base, function_count, 1);
	build_wmk_finish(&t.b);
	if (!open_world(&t))
		return;
	if (why)
		expect_reason_at(&t, &(struct epochs_context){9, 1, 0, 25, 0}, why, line);
	else
		expect_stack_at(&t, &(struct epochs_context){9, 1, 0, 25, 0}, TAX LOG, line);
	expect_stack_at(&t, &(struct epochs_context){8, 1, 0, 25, 0}, TAX LOG, line);
	expect_stack_at(&t, &(struct epochs_context){8, 1, 1, 25, 0}, LOG, line); /* the dummy is behind the first */
	close_world(&t);
}
#define EXPECT_CHANGE(base, function_count, edge, rank, why) \
	expect_change_at(base, function_count, edge, rank, why, __LINE__)

static void test_changes(void)
{
	struct world t;

	build_epochs_changes(&t.b, 1);
	if (open_world(&t)) {
		for (size_t i = 0; i < EPOCHS_CHANGED; i++)
			expect_stack_at(&t, &epochs_changed[i], changed_stacks[i], __LINE__);
		EXPECT_REASON(7, 1, 1, 25, "epoch 7: app//shop.Log.write(Ljava/lang/String;)V has no context 1");
		EXPECT_REASON(9, 1, 3, 25, "epoch 9: app//shop.Log.write(Ljava/lang/String;)V has no context 3");
	}
	close_world(&t);
	EXPECT_CHANGE(8, 1, 23, 1, NULL);
	EXPECT_CHANGE(8, 2, 23, 1, "epoch 9: 1 of 2 functions and 1 of 1 calls of it are there");
	EXPECT_CHANGE(8, 1, 23, 0, "epoch 9: no order of the calls to function ");
	EXPECT_CHANGE(8, 1, 23, 2, "epoch 9: no order of the calls to function ");
	EXPECT_CHANGE(8, 1, 23, UINT64_MAX, "epoch 9: no order of the calls to function ");
	EXPECT_CHANGE(6, 1, 23, 1, "epoch 9: epoch 6, which it changes: how calls were encoded in it was not recorded");
	EXPECT_CHANGE(9, 1, 23, 1, "epoch 9: epoch 9, which it changes: damaged: it changes itself");
	EXPECT_CHANGE(1, 1, 23, 1, "epoch 9: epoch 1, which it changes: damaged: one with ranks and one with numbers");
	EXPECT_CHANGE(8, 1, 26, 0, "epoch 9: damaged: site 26 calls function 11, and one of them is not in it");
}

/* Records that refer to nothing: no context of recorded code can be trusted then. */
static void test_damaged_code(void)
{
	const struct wmk_function lost = {.image = 9, .name = 0, .owner = WMK_NO_STRING, .descriptor = WMK_NO_STRING};
	struct world t;

	build_epochs_code(&t.b);
	build_chunk(&t.b, WMK_FUNCTIONS, 90, 0);
	build_recorded_function(&t.b, &lost);
	build_wmk_finish(&t.b);
	if (open_world(&t))
		EXPECT_REASON(0, 1, 0, 25, "x.wmk: function 90 is of no image that is recorded: damaged");
	close_world(&t);
	build_epochs_code(&t.b);
	build_chunk(&t.b, WMK_SITES, 90, 0);
	build_recorded_site(&t.b, 5, WMK_SITE_CALL, WMK_NO_STRING, 0, 0, 0);
	build_wmk_finish(&t.b);
	if (open_world(&t))
		EXPECT_REASON(0, 1, 0, 25, "x.wmk: site 90 is in no function that was recorded: damaged");
	close_world(&t);
	build_epochs_code(&t.b);
	build_chunk(&t.b, WMK_SITES, 90, 0);
	build_recorded_site(&t.b, EPOCHS_MAIN, WMK_SITE_FOREIGN, WMK_NO_STRING, 0, 0, 0);
	build_wmk_finish(&t.b);
	if (open_world(&t))
		EXPECT_REASON(0, 1, 0, 25, "x.wmk: site 90 calls what has no name: damaged");
	close_world(&t);
}

/* ---- beside an image with a section ---- */

enum {
	PROGRAM_BASE = 200,
};

/* main calls f at site 1, f plain_sort at site 2, which calls back at site 61; back captures at site 3. */
static struct image *build_program(void)
{
	const uint32_t root = META_FUNCTION_ROOT | META_FUNCTION_HAS_DUMMY;
	static struct meta_builder b;
	struct buffer bytes = {0};
	struct image *image = NULL;
	struct meta m;
	uint32_t main_function, f, back;

	build_meta_init(&b, "program");
	main_function = build_function(&b, "main", root, 1, 0);
	f = build_function(&b, "f", 0, 1, 0);
	back = build_function(&b, "back", root, 1, 0);
	build_call(&b, META_SITE_CALL, main_function, f, 0);
	build_site(&b, META_SITE_FOREIGN, f, "plain_sort");
	build_site(&b, META_SITE_CAPTURE, back, NULL);
	meta_init(&m);
	if (CHECK_OK(meta_write(&b.meta, &bytes)) && CHECK_OK(meta_read(bytes.bytes, bytes.len_bytes, "program", &m)))
		CHECK_OK(image_create(&m, &image));
	meta_deinit(&m);
	buffer_deinit(&bytes);
	return image;
}

static void test_mixed(void)
{
	struct process_image images[1] = {{.site_base = PROGRAM_BASE}};
	struct world t;

	build_epochs_code(&t.b);
	build_chunk(&t.b, WMK_NODES, WM_PREFIX_FIRST, 0);
	put_node(&t.b, 0, 1, 0, PROGRAM_BASE + 2); /* 16 */
	put_node(&t.b, 1, 1, 0, PROGRAM_BASE + 2); /* 17: the same place, its encoding is the same in all epochs */
	put_node(&t.b, 1, 16, 0, 61);              /* 18 */
	put_node(&t.b, 1, 17, 0, 61);              /* 19 */
	put_node(&t.b, 0, 17, 0, 61);              /* 20 */
	build_wmk_finish(&t.b);
	if (!open_world(&t))
		return;
	images[0].image = build_program();
	images[0].site_count = images[0].image ? images[0].image->meta.site_count : 0;
	free(t.p.images);
	t.p.images = images;
	t.p.image_count = 1;
	EXPECT_STACK(1, 18, 0, PROGRAM_BASE + 3, "main test.c\nf test.c\nplain_sort\nback test.c\n");
	EXPECT_STACK(77, 19, 0, PROGRAM_BASE + 3, "main test.c\nf test.c\nplain_sort\nback test.c\n");
	EXPECT_REASON(1, 20, 0, PROGRAM_BASE + 3, "epoch 0: plain_sort is not in it");
	EXPECT_STACK(1, 19, 0, 62, "main test.c\nf test.c\nplain_sort\nlibplain.so+0x1234\n");
	image_destroy(images[0].image);
	t.p.images = NULL;
	close_world(&t);
}

/* ---- merged ---- */

static struct error *merge(struct buffer *out, const struct buffer *const *files)
{
	struct merge *m;
	struct error *err = merge_create(&m);
	char name[] = "1.wmk";

	*out = (struct buffer){0};
	for (; *files && !err; files++, name[0]++) {
		struct wmk_file w;

		err = wmk_read((*files)->bytes, (*files)->len_bytes, name, &w);
		if (!err) {
			err = merge_add(m, &w);
			wmk_file_deinit(&w);
		}
	}
	if (!err)
		err = merge_write(m, out);
	merge_destroy(m);
	return err;
}

/* The contexts of residual paths: `files` times those of each file. Takes the bytes. */
static void check_paths(struct buffer *merged, uint64_t files)
{
	struct world t = {.b.out = *merged};
	struct wmk_walk walk = {0};
	struct wmk_path_count c;
	uint64_t number, count[EPOCHS_CONTEXTS] = {0};

	if (!open_world(&t))
		return;
	while (wmk_next_path_count(&t.w, &walk, &c, &number)) {
		size_t i = 0;

		while (i < EPOCHS_CONTEXTS && epochs_contexts[i].value != c.count)
			i++;
		if (!CHECK(i < EPOCHS_CONTEXTS))
			continue;
		CHECK_U64(number, 2);
		EXPECT_STACK(c.epoch, c.prefix, c.id, c.site, stacks[i]);
		count[i]++;
	}
	for (size_t i = 0; i < EPOCHS_CONTEXTS; i++)
		CHECK_U64(count[i], i > 0 && i < 4 ? 0 : files);
	close_world(&t);
}

/* Processes encode their calls each in its own way: their numbers are no longer the same, their stacks are. */
static void test_merged(void)
{
	struct wmk_builder a, b, plain, damaged;
	struct buffer once, twice, thrice;
	const struct wmk_path_count counted = {
		.name_key = 1, .cfg_key = 2, .path_count = 4, .r = 1, .count = 3, .kind = WM1_PATHS_ARRAY};
	struct wmk_path_count lost = counted;

	build_epochs(&a);
	build_epochs(&b);
	build_header_u64(&b, offsetof(struct wmk_header, run), EPOCHS_RUN + 1);
	build_wmk_init(&plain, 5, "/bin/plain"); /* without recorded code */
	build_chunk(&plain, WMK_PATH_COUNTS, 0, 0);
	build_path_count(&plain, &counted);
	build_wmk_finish(&plain);
	build_wmk_init(&damaged, 6, "/bin/damaged"); /* the same, of functions that are not there */
	build_chunk(&damaged, WMK_SITES, 16, 0);
	build_recorded_site(&damaged, 70, WMK_SITE_CALL, WMK_NO_STRING, 0, 0, 0);
	build_chunk(&damaged, WMK_LINES, 0, 0);
	build_recorded_line(&damaged, 70, 1, 2);
	build_chunk(&damaged, WMK_EPOCH_FUNCTIONS, 0, 0);
	build_epoch_function(&damaged, 0, 70, 1, 0, 0);
	build_chunk(&damaged, WMK_EPOCH_EDGES, 0, 0);
	build_epoch_edge(&damaged, 0, 16, 70, 0, 0);
	build_chunk(&damaged, WMK_EPOCHS, 0, 0);
	build_epoch_record(&damaged, 0, 1, 1);
	build_chunk(&damaged, WMK_PATH_COUNTS, 0, 0);
	lost.flags = WMK_PATHS_RESIDUAL | WMK_PATHS_INHERITED;
	lost.prefix = WM_PREFIX_PROCESS;
	lost.site = 16;
	lost.count = 0; /* counts nothing, but its code is taken over */
	build_path_count(&damaged, &lost);
	build_wmk_finish(&damaged);
	if (CHECK_OK(merge(&once, (const struct buffer *const[]){&a.out, NULL})))
		check_paths(&once, 1);
	if (CHECK_OK(merge(&twice, (const struct buffer *const[]){&a.out, &damaged.out, &b.out, NULL})) &&
	    CHECK_OK(merge(&thrice, (const struct buffer *const[]){&twice, NULL}))) {
		check_paths(&twice, 2);
		check_paths(&thrice, 2);
	}
	/* Without a context that needs it, no code is taken over. */
	if (CHECK_OK(merge(&once, (const struct buffer *const[]){&plain.out, NULL}))) {
		struct wmk_file w;

		if (CHECK_OK(wmk_read(once.bytes, once.len_bytes, "merged", &w))) {
			CHECK_U64(w.place_count[WMK_SITES] + w.place_count[WMK_EPOCHS], 0);
			wmk_file_deinit(&w);
		}
		buffer_deinit(&once);
	}
	buffer_deinit(&a.out);
	buffer_deinit(&b.out);
	buffer_deinit(&plain.out);
	buffer_deinit(&damaged.out);
}

/* Dictionaries that change others do so under their new numbers. */
static void test_merged_changes(void)
{
	struct wmk_builder a, b;
	struct world t = {0};
	struct wmk_walk walk = {0};
	struct wmk_path_count c;
	uint64_t number, found = 0;

	build_epochs_changes(&a, 1);
	build_epochs_changes(&b, 2);
	if (CHECK_OK(merge(&t.b.out, (const struct buffer *const[]){&a.out, &b.out, NULL})) && open_world(&t)) {
		for (; wmk_next_path_count(&t.w, &walk, &c, &number); found++)
			for (size_t i = 0; i < EPOCHS_CHANGED; i++)
				if (epochs_changed[i].value == c.count)
					EXPECT_STACK(c.epoch, c.prefix, c.id, c.site, changed_stacks[i]);
		CHECK_U64(found, 2 * EPOCHS_CHANGED);
		close_world(&t);
	}
	buffer_deinit(&a.out);
	buffer_deinit(&b.out);
}

/* What `waymark paths` knows of the contexts of residual paths. */
static void test_residual_paths(void)
{
	struct object_search search;
	struct path_profile p;
	struct world t;
	uint64_t total = 0;

	build_epochs(&t.b);
	object_search_init(&search);
	if (!open_world(&t) || !CHECK_OK(path_profile_init(&p, &search, &t.cache)))
		return;
	CHECK_OK(path_profile_add_file(&p, &t.w));
	CHECK_OK(path_profile_finish(&p));
	CHECK_U64(p.residuals.count, EPOCHS_CONTEXTS - 3 - 1); /* contexts 0 and 13 are one stack */
	for (size_t i = 0; i < p.residuals.count; i++) {
		const struct path_residual *r = &p.residuals.items[i];
		struct frame_vec frames = {0};
		char *got;

		for (uint32_t node = r->node; node; node = p.contexts.nodes.items[node].parent)
			CHECK_OK(
				frame_vec_append(&frames, p.contexts.frames.items[p.contexts.nodes.items[node].frame]));
		for (size_t k = 0; k < frames.count / 2; k++) { /* outermost first */
			struct frame swap = frames.items[k];

			frames.items[k] = frames.items[frames.count - 1 - k];
			frames.items[frames.count - 1 - k] = swap;
		}
		got = describe(&frames);
		for (size_t k = 0; k < EPOCHS_CONTEXTS; k++)
			if (epochs_contexts[k].value & r->count)
				CHECK_TEXT(got, stacks[k]);
		total += r->count;
		free(got);
		frame_vec_deinit(&frames);
	}
	CHECK_U64(total, (1 << EPOCHS_CONTEXTS) - 1 - 2 - 4 - 8);
	path_profile_deinit(&p);
	object_search_deinit(&search);
	close_world(&t);
}

/* ---- recordings that grow ---- */

static void write_file(const char *path, const struct buffer *b)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fwrite(b->bytes, 1, b->len_bytes, f) == b->len_bytes);
	if (f)
		fclose(f);
}

/* The file as it was when only so many chunks were in use. */
static void write_part(const char *path, const struct wmk_builder *b, uint32_t chunks)
{
	struct buffer part = {0};

	buffer_bytes(&part, b->out.bytes, b->out.len_bytes);
	buffer_put_u32(&part, offsetof(struct wmk_header, chunk_count), chunks);
	for (size_t off = WMK_HEADER_BYTES + (size_t)chunks * WMK_CHUNK_BYTES; off < part.len_bytes; off++)
		part.bytes[off] = 0;
	write_file(path, &part);
	buffer_deinit(&part);
}

static struct error *decode_token(struct token_decoder *d, const struct epochs_context *c, char **ret)
{
	const struct token t = {.kind = TOKEN_CONTEXT,
				.run = EPOCHS_RUN,
				.site = c->site,
				.id = c->id,
				.prefix = c->prefix,
				.epoch = c->epoch};
	struct frame_vec frames = {0};
	struct error *err = token_decode(d, &t, &frames);

	*ret = err ? NULL : describe(&frames);
	frame_vec_deinit(&frames);
	return err;
}

/* Chunk after chunk comes in. A context is decoded right as soon as all of it is there, and said not to be known before. */
static void test_follow(void)
{
	char dir[] = "/tmp/waymark-epochs.XXXXXX", path[64];
	struct token_decoder d;
	struct wmk_builder b;
	size_t decoded = 0, failed = 0;

	build_epochs(&b);
	if (!CHECK(mkdtemp(dir) != NULL))
		return;
	snprintf(path, sizeof path, "%s/x.wmk", dir);
	write_part(path, &b, 0);
	token_decoder_init(&d);
	CHECK_OK(token_decoder_add_place(&d, path));
	for (uint32_t chunks = 0; chunks <= b.chunk_count; chunks++) {
		write_part(path, &b, chunks);
		for (size_t i = 0; i < EPOCHS_CONTEXTS; i++) {
			char *got;
			struct error *err = decode_token(&d, &epochs_contexts[i], &got);

			if (!err)
				CHECK_TEXT(got, stacks[i]);
			decoded += !err;
			failed += err != NULL;
			error_destroy(err);
			free(got);
		}
	}
	/* The 9th chunk completes epoch 0, the 12th epoch 1, the 13th has the nodes. Of each epoch two contexts stand on none. */
	CHECK_U64(b.chunk_count, EPOCHS_CHUNKS);
	CHECK_U64(decoded, 2 * (EPOCHS_CHUNKS + 1 - 9) + 2 * (EPOCHS_CHUNKS + 1 - 12) + 10 * (EPOCHS_CHUNKS + 1 - 13));
	CHECK_U64(decoded + failed, (EPOCHS_CHUNKS + 1) * EPOCHS_CONTEXTS);
	token_decoder_deinit(&d);
	unlink(path);
	rmdir(dir);
	buffer_deinit(&b.out);
}

int main(void)
{
	test_stacks();
	test_names();
	test_impossible();
	test_dictionaries();
	test_empty_runs();
	test_changes();
	test_merged_changes();
	test_damaged_code();
	test_mixed();
	test_merged();
	test_residual_paths();
	test_follow();
	return check_status();
}
