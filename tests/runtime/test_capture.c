/*
 * test_capture.c - prefixes: equal contexts capture equal, different ones differ, runs fold, deep stacks work, and the
 * file says what was captured.
 */
#include "profile.h"
#include "push.h"
#include "recorder/prefix_table.h"

static wm_context here(void)
{
	return wm1_capture(push_image.site_base + 1);
}

static uint64_t node_count(void)
{
	struct profile p;
	uint64_t n;

	if (!profile_of(getpid(), "", &p))
		return 0;
	n = p.file.place_count[WMK_NODES];
	profile_close(&p);
	return n;
}

static void check_stack(wm_context c, const char *want)
{
	struct profile p;
	char got[4096];

	if (!profile_of(getpid(), "", &p))
		return;
	profile_stack(&p, push_image.site_base, c.prefix, got, sizeof got);
	CHECK_TEXT(got, want);
	profile_close(&p);
}

static void test_roots(void)
{
	wm_context a = here();
	char path[512];

	CHECK_U64(a.prefix, WM_PREFIX_PROCESS);
	CHECK_U64(a.id, 0);
	wm1_thread_state.id = 7;
	CHECK_U64(here().id, 7);
	wm1_thread_state.id = 0;
	CHECK(profile_path(getpid(), "", path)); /* though nothing was pushed */
}

static wm_context below(void)
{
	wm_context c;

	PUSHED(3, c = here());
	return c;
}

static void test_equal(void)
{
	wm_context a, b, c, d;

	PUSHED(2, a = here());
	PUSHED(2, b = here());
	PUSHED(3, c = here());
	PUSHED(2, d = below());
	CHECK(push_same(a, b));
	CHECK(!push_same(a, c));
	CHECK(!push_same(a, d));
	CHECK(!push_same(c, d));
	check_stack(a, "1 2/0*1");
	check_stack(d, "1 2/0*1 3/0*1");
}

/* Pushes (site, id) n times and captures at the end. */
static wm_context recurse(uint32_t site, uint64_t id, int n)
{
	wm_context c;
	struct push kept;

	if (n == 0)
		return here();
	kept = push_at(site, id, id);
	c = recurse(site, id, n - 1);
	push_end(kept);
	return c;
}

static void test_runs(void)
{
	wm_context a, b;
	uint64_t before;

	PUSHED(5, a = recurse(6, 0, 3));
	PUSHED(5, b = recurse(6, 0, 4));
	check_stack(a, "1 5/0*1 6/0*3");
	check_stack(b, "1 5/0*1 6/0*4");
	before = node_count();
	PUSHED(5, b = recurse(6, 0, 1500));
	check_stack(b, "1 5/0*1 6/0*1500");
	CHECK_U64(node_count() - before, 1);
	/* the same site with another id is another entry */
	PUSHED(5, a = recurse(6, 9, 2));
	check_stack(a, "1 5/0*1 6/9*2");
	CHECK(!push_same(a, b));
}

/* Two pushes of one site with these ids. */
static wm_context pair(uint64_t first, uint64_t second)
{
	struct push outer, inner;
	wm_context c;

	outer = push_at(7, first, 0);
	inner = push_at(7, second, 0);
	c = here();
	push_end(inner);
	push_end(outer);
	wm1_thread_state.id = 0;
	return c;
}

static void test_ids(void)
{
	wm_context seen[9];
	int i, j;

	for (i = 0; i < 9; i++)
		seen[i] = pair((uint64_t)i / 3, (uint64_t)i % 3);
	for (i = 0; i < 9; i++)
		for (j = 0; j < 9; j++)
			CHECK(push_same(seen[i], pair((uint64_t)j / 3, (uint64_t)j % 3)) == (i == j));
	check_stack(seen[5], "1 7/1*1 7/2*1");
	check_stack(seen[4], "1 7/1*2");
}

static wm_context mutual(int n)
{
	wm_context c;
	struct push kept;

	if (n == 0)
		return here();
	kept = push_at(10 + (uint32_t)n % 3, 0, 0);
	c = mutual(n - 1);
	push_end(kept);
	return c;
}

/* Captures on the way down and up give the same as one capture at the end. */
static wm_context mutual_captured(int n, wm_context *seen)
{
	wm_context c;
	struct push kept;

	if (n == 0)
		return here();
	seen[n] = here();
	kept = push_at(10 + (uint32_t)n % 3, 0, 0);
	c = mutual_captured(n - 1, seen);
	push_end(kept);
	CHECK(push_same(seen[n], here()));
	return c;
}

static void test_incremental(void)
{
	static wm_context seen[5000];
	wm_context a = mutual(4999);
	wm_context b = mutual_captured(4999, seen);

	CHECK(push_same(a, b));
	CHECK(push_same(mutual(4999), a));
}

/* A million pushes: many segments, one node. Not by native recursion, so that the native stack does not matter. */
static void test_deep(int n)
{
	struct push outer = {wm1_thread_state.top, 0};
	uint64_t before = node_count();
	wm_context a, b;
	int i;

	for (i = 0; i < n; i++)
		push_at(20, 0, 0);
	a = here();
	b = here();
	CHECK(push_same(a, b));
	push_end(outer);
	CHECK_U64(node_count() - before, 1);
	check_stack(a, n == 1000000 ? "1 20/0*1000000" : "?");
	/* the segments serve again */
	for (i = 0; i < n; i++)
		push_at(20, 0, 0);
	CHECK(push_same(a, here()));
	push_end(outer);
}

static void test_errno_and_depth(void)
{
	struct push outer = {wm1_thread_state.top, 0};
	uint32_t i;

	/* every depth around a segment's end */
	for (i = 0; i < 2 * WM1_SEGMENT_BYTES / sizeof(struct wm1_entry) + 3; i++) {
		wm_context a, b;

		push_at(30 + i % 7, i, 0);
		a = here();
		b = here();
		if (!push_same(a, b) || a.prefix < WM_PREFIX_FIRST)
			break;
	}
	CHECK_U64(i, 2 * WM1_SEGMENT_BYTES / sizeof(struct wm1_entry) + 3);
	push_end(outer);
}

static void test_token(void)
{
	char text[WM_TOKEN_MAX], cut[10];
	wm_context none = {0, 0, 0, WM_EPOCH_NONE, 0};
	wm_context c;
	int len;

	PUSHED(2, c = here());
	len = wm_token(c, text, sizeof text);
	CHECK_U64(len, strlen(text));
	CHECK(strncmp(text, "wm1:", 4) == 0);
	CHECK(strncmp(text + 4, "0000000000000000:", 17) != 0);
	CHECK_U64(wm_token(c, cut, sizeof cut), len);
	CHECK(strncmp(text, cut, 9) == 0 && cut[9] == '\0');
	CHECK_U64(wm_token(c, NULL, 0), len);
	wm_token(none, text, sizeof text);
	CHECK_TEXT(text, "wm1:not-instrumented");
}

/* Epochs are other contexts' names: nothing of two of them is one thing. */
static void test_epochs(void)
{
	uint32_t site = push_image.site_base + 2;
	uint32_t first = wmrt_intern(WM_PREFIX_PROCESS, 0, 5, site, 1);
	uint32_t second = wmrt_intern(WM_PREFIX_PROCESS, 1, 5, site, 1);
	wm_context c = {5, second, site, 0, 0};
	char text[WM_TOKEN_MAX], later[WM_TOKEN_MAX];
	struct wmk_node node;
	struct profile p;
	int len;

	CHECK(first != second);
	CHECK_U64(wmrt_intern(WM_PREFIX_PROCESS, 0, 5, site, 1), first);
	CHECK_U64(wmrt_intern(WM_PREFIX_PROCESS, 1, 5, site, 1), second);
	if (profile_of(getpid(), "", &p)) {
		if (CHECK(wmk_find_node(&p.file, first, &node)))
			CHECK_U64(node.epoch, 0);
		if (CHECK(wmk_find_node(&p.file, second, &node)))
			CHECK_U64(node.epoch, 1);
		profile_close(&p);
	}
	len = wm_token(c, text, sizeof text);
	c.epoch = 0x1a;
	CHECK_U64(wm_token(c, later, sizeof later), len + 4);
	CHECK(memcmp(text, later, (size_t)len - 4) == 0);
	CHECK(memcmp(later + len - 4, "v1a:", 4) == 0);
}

static void check_node(uint32_t prefix, uint32_t parent, uint64_t id, uint32_t site, uint32_t run)
{
	struct wmk_node node;

	if (!CHECK(wmrt_prefix_read(prefix, &node)))
		return;
	CHECK_U64(node.parent, parent);
	CHECK_U64(node.id, id);
	CHECK_U64(node.site, site);
	CHECK_U64(node.run, run);
}

static wm_context pushed_again(void)
{
	wm_context c;

	PUSHED(2, c = here());
	return c;
}

/* A history is a node of its own, below a push and above it, if it has changed since the push before. */
static void test_histories(void)
{
	const uint32_t site = push_image.site_base + 2;
	uint32_t history, pushed;
	wm_context c;

	wm1_thread_state.history = 6;
	c = here();
	history = c.prefix;
	check_node(history, WM_PREFIX_PROCESS, 6, WM_SITE_HISTORY, 1);
	PUSHED(2, c = here());
	pushed = c.prefix;
	check_node(pushed, history, 0, site, 1);
	PUSHED(2, c = pushed_again());
	check_node(c.prefix, history, 0, site, 2);
	PUSHED(2, (wm1_thread_state.history = 13, c = here(), wm1_thread_state.history = 6));
	check_node(c.prefix, pushed, 13, WM_SITE_HISTORY, 1);
	wm1_thread_state.history = WM1_HISTORY_NONE;
	PUSHED(2, c = here());
	check_node(c.prefix, WM_PREFIX_PROCESS, 0, site, 1);
}

static wm_context spilled(int count, uint32_t mark)
{
	struct push kept;
	wm_context c;

	if (!count)
		return here();
	wm1_thread_state.history = 100;
	kept = push_at(3, 5, 0);
	wm1_thread_state.top[-1].sp = 4096 + mark;
	wm1_thread_state.history = mark == WM1_SP_RESTARTS ? WM1_HISTORY_NONE : 1;
	c = spilled(count - 1, mark);
	push_end(kept);
	return c;
}

/* Behind a push for want of room it starts again; equal ones are one node. */
static void test_restarts(void)
{
	const uint32_t site = push_image.site_base + 3;
	struct wmk_node node;
	wm_context c = spilled(5000, WM1_SP_RESTARTS);

	if (CHECK(wmrt_prefix_read(c.prefix, &node)))
		check_node(c.prefix, node.parent, 5, site, 5000);
	check_node(node.parent, WM_PREFIX_PROCESS, 100, WM_SITE_HISTORY, 1);
	c = spilled(3, WM1_SP_SPILLS);
	if (CHECK(wmrt_prefix_read(c.prefix, &node))) /* 1 is a code there */
		check_node(c.prefix, node.parent, 1, WM_SITE_HISTORY, 1);
	wm1_thread_state.history = WM1_HISTORY_NONE;
}

static void test_images(void)
{
	struct wm1_image again = push_image;
	struct wm1_image other = push_image;
	struct wm1_image future = push_image;
	struct profile p;

	wm1_register(&again);
	CHECK_U64(again.site_base, push_image.site_base);
	other.meta_key++;
	wm1_register(&other);
	CHECK_U64(other.site_base, push_image.site_base + PUSH_SITES);
	future.abi_version++;
	future.meta_key += 2;
	wm1_register(&future);
	CHECK(future.site_base >= other.site_base + PUSH_SITES);
	if (!profile_of(getpid(), "", &p))
		return;
	CHECK_U64(p.file.image_count, 2);
	CHECK(wmk_find_image(&p.file, push_image.site_base + 3) != NULL);
	CHECK(wmk_find_image(&p.file, future.site_base) == NULL);
	CHECK(p.file.images[0].record.build_id_bytes > 0);
	CHECK_TEXT(p.file.images[0].path, p.file.header.program);
	profile_close(&p);
}

int main(void)
{
	test_roots();
	test_equal();
	test_runs();
	wm1_thread_state.id = 0;
	test_histories();
	test_restarts();
	test_ids();
	test_incremental();
	test_deep(1000000);
	test_errno_and_depth();
	test_token();
	test_epochs();
	test_images();
	return check_status();
}
