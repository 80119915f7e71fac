/*
 * test_frame_table.c - tables of frame sizes: text and back, damaged text, and what two links have in common.
 */
#include "check.h"

#include "format/frame_table.h"

static void read(const char *text, struct frame_table *t)
{
	frame_table_init(t);
	CHECK_OK(frame_table_read(text, "sizes", t));
}

static void check_text(const struct frame_table *t, const char *want)
{
	struct buffer text = {0};

	CHECK_OK(frame_table_write(t, &text));
	buffer_u8(&text, 0);
	CHECK_TEXT((const char *)text.bytes, want);
	buffer_deinit(&text);
}

static const char example[] = "frame 0 alloca\nframe 24 f\nframe 8 main\njump 1 0 0\njump 2 1 1\n";

static void test_text(void)
{
	struct frame_table t;

	read(example, &t);
	check_text(&t, example);
	CHECK_U64(frame_table_find(&t, "f")->frame_bytes, 24);
	CHECK(frame_table_find(&t, "g") == NULL);
	CHECK(frame_table_jump(&t, "main", "f")->calls);
	CHECK(!frame_table_jump(&t, "f", "alloca")->calls);
	CHECK(frame_table_jump(&t, "f", "main") == NULL);
	CHECK(frame_table_jump(&t, "f", "g") == NULL);
	frame_table_deinit(&t);
	read("", &t);
	CHECK(frame_table_find(&t, "f") == NULL);
	CHECK(frame_table_jump(&t, "f", "f") == NULL);
	frame_table_deinit(&t);
}

/* Sites are kept from link to link once it settles, and a size that changes is no less one. */
static void test_sites(void)
{
	static const char sites[] = "site 3\nsite 9\n";
	struct frame_table now, before;
	struct buffer text = {0};

	read("frame 8 a\nsite 3\nsite 9\n", &before);
	CHECK(frame_table_has_site(&before, 3));
	CHECK(!frame_table_has_site(&before, 4));
	CHECK_OK(frame_table_write_sites(&before, &text));
	buffer_u8(&text, 0);
	CHECK_TEXT((const char *)text.bytes, sites);
	buffer_deinit(&text);
	read("frame 24 a\nsite 4\nsite 9\n", &now);
	CHECK_OK(frame_table_merge(&now, &before, FRAME_MERGE_SETTLES));
	check_text(&now, "frame 24 a\n");
	CHECK_U64(now.sites.count, 3);
	CHECK(frame_table_has_site(&now, 3) && frame_table_has_site(&now, 4) && frame_table_has_site(&now, 9));
	CHECK_OK(frame_table_merge(&now, &before, FRAME_MERGE_FREE));
	CHECK(!frame_table_has_site(&now, 9));
	frame_table_deinit(&now);
	frame_table_deinit(&before);
}

static void test_damaged(void)
{
	static const char *const texts[] = {"frame 1 a",
					    "frame a\n",
					    "frame x a\n",
					    "frame 1 \n",
					    "frame 4294967296 a\n",
					    "frame 1 b\nframe 1 a\n",
					    "frame 1 a\nframe 1 a\n",
					    "frame 1 a\njump 0 1 0\n",
					    "frame 1 a\njump 0 0\n",
					    "leap\n",
					    "site x\n",
					    "site 2\nsite 2\n",
					    "\n"};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct frame_table t;

		frame_table_init(&t);
		CHECK_ERROR(frame_table_read(texts[i], "sizes", &t), ERROR_FORMAT, "sizes:");
		frame_table_deinit(&t);
	}
}

static void test_merge(void)
{
	struct frame_table now, before;

	/* b changes, c had no size, d is new; b jumps to c no more, and calls it; a jumps to b now. */
	read("frame 8 a\nframe 16 b\nframe 0 c\njump 1 2 0\n", &before);
	read("frame 8 a\nframe 24 b\nframe 8 c\nframe 8 d\njump 0 1 0\n", &now);
	CHECK_OK(frame_jump_vec_append(&now.jumps, (struct frame_jump){.caller = 1, .callee = 2, .calls = true}));
	CHECK_OK(frame_table_merge(&now, &before, FRAME_MERGE_FREE));
	check_text(&now, "frame 8 a\nframe 24 b\nframe 0 c\nframe 8 d\njump 0 1 0\njump 1 2 1\n");
	CHECK_OK(frame_table_merge(&now, &before, FRAME_MERGE_ENDS));
	check_text(&now, "frame 8 a\nframe 0 b\nframe 0 c\nframe 8 d\njump 0 1 0\njump 1 2 1\n");
	frame_table_deinit(&now);
	/* The pair is gone altogether. */
	read("frame 8 a\nframe 16 b\nframe 0 c\n", &now);
	CHECK_OK(frame_table_merge(&now, &before, FRAME_MERGE_FREE));
	check_text(&now, "frame 8 a\nframe 16 b\nframe 0 c\njump 1 2 0\n");
	frame_table_deinit(&now);
	frame_table_deinit(&before);
}

int main(void)
{
	test_text();
	test_sites();
	test_damaged();
	test_merge();
	return check_status();
}
