/*
 * test_deferred.c - calls of foreign code whose push is put off: what captures and handlers find, what a root makes of them, how they
 * end, and what a switch of stacks leaves of another stack's.
 */
#include <signal.h>

#include "profile.h"
#include "push.h"

enum {
	ENTRIES = WM1_SEGMENT_BYTES / sizeof(struct wm1_entry),
	UNTOUCHED = 77,
};

#define thread ((volatile struct wm1_thread *)&wm1_thread_state)

/* The stores of a call that is put off, in their order. */
static void defer_at(uint32_t site, uint64_t sp)
{
	thread->deferred_site = push_image.site_base + site;
	thread->deferred_sp = sp;
}

/* After the call: nobody has pushed it. */
static bool is_deferred_still(uint64_t sp)
{
	if (thread->deferred_sp != sp)
		return false;
	thread->deferred_sp = 0;
	return true;
}

static wm_context capture_pushed(uint32_t site, uint64_t id)
{
	wm_context ret;
	struct push kept = push_at(site, id, 0);

	ret = wm_capture();
	push_end(kept);
	return ret;
}

/* A capture sees the call as if it were pushed, and the call finds that it is. */
static void test_capture(void)
{
	wm_context want = capture_pushed(5, 8), got;

	thread->id = 8;
	defer_at(5, 4096);
	got = wm_capture();
	CHECK(push_same(got, want));
	CHECK_U64(thread->top[-1].sp, 4096);
	CHECK(!is_deferred_still(4096));
	thread->id = UNTOUCHED;
	wm1_put_back(4096);
	CHECK_U64(thread->id, 8);
	thread->id = 0;
}

static void test_push(void)
{
	const struct wm1_entry *top = thread->top;

	thread->id = 9;
	wm1_push_deferred(); /* there is none */
	CHECK(thread->top == top);
	defer_at(6, 2048);
	wm1_push_deferred();
	wm1_push_deferred();
	CHECK(thread->top == top + 1);
	CHECK_U64(thread->top[-1].id, 9);
	CHECK_U64(thread->top[-1].sp, 2048);
	CHECK_U64(thread->top[-1].site, push_image.site_base + 6);
	wm1_put_back(2048);
	CHECK(thread->top == top);
	defer_at(6, 2048);
	CHECK(is_deferred_still(2048));
	CHECK(thread->top == top);
	thread->id = 0;
}

/* Whoever takes a push off was not left by the call that is put off: another stack's is. */
static void test_other_stack(void)
{
	const struct wm1_entry *top = thread->top;

	push_at(3, 4, 0);
	thread->top[-1].sp = 1024;
	defer_at(7, 512);
	wm1_put_back(1024);
	CHECK_U64(thread->deferred_sp, 0);
	CHECK_U64(thread->id, 4);
	CHECK(thread->top == top);
	thread->id = 0;
}

static wm_context in_handler;
static uint64_t deferred_in_handler;

static void handle(int number)
{
	(void)number;
	deferred_in_handler = thread->deferred_sp;
	in_handler = wm_capture();
}

/* A handler stands on the call that it interrupts, and leaves it as it was. */
static void test_signal(void)
{
	const struct wm1_entry *top = thread->top;
	wm_context want;
	struct push kept;

	signal(SIGUSR1, handle);
	kept = push_at(5, 8, 8);
	thread->top[-1].sp = 1 << 20;
	raise(SIGUSR1);
	want = in_handler;
	push_end(kept);
	thread->id = 8;
	defer_at(5, 1 << 20);
	raise(SIGUSR1);
	CHECK(push_same(in_handler, want));
	CHECK_U64(deferred_in_handler, 0);
	CHECK(thread->top == top);
	CHECK_U64(thread->id, 8);
	CHECK(is_deferred_still(1 << 20));
	thread->id = 0;
}

/* The same at each height of a stack of several segments. */
static void test_heights(void)
{
	for (int n = 0; n < 2 * ENTRIES + 3; n++) {
		const struct wm1_entry *top = thread->top;

		thread->id = (uint64_t)n;
		defer_at(6, 8);
		if (n % 64 == 0)
			raise(SIGUSR1);
		wm1_push_deferred();
		CHECK_U64(thread->top[-1].id, (uint64_t)n);
		wm1_put_back(8);
		CHECK(thread->top == top);
		push_at(1, (uint64_t)n, 0);
	}
}

int main(void)
{
	test_capture();
	test_push();
	test_other_stack();
	test_signal();
	test_heights();
	return check_status();
}
