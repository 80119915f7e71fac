/*
 * test_put_back.c - wm1_put_back, which takes a push off by its stack pointer: on top, below what calls left behind, at and across
 * the beginning of a segment, below a signal handler's entry, without memory, and when it is not there.
 */
#include <sys/resource.h>

#include "profile.h"
#include "push.h"

enum {
	ENTRIES = WM1_SEGMENT_BYTES / sizeof(struct wm1_entry),
	DEEP = 3 * ENTRIES,
	UNTOUCHED = 77,
};

#define thread ((volatile struct wm1_thread *)&wm1_thread_state)

/* A push at a stack pointer of our choice: site and id say which it is. */
static void push_with(uint64_t sp, uint32_t site)
{
	push_at(site, sp + 1, 0);
	thread->top[-1].sp = sp;
}

/* Takes the push off: its id is put back, and what it was pushed on is on top. */
static void put_back(uint64_t sp, const struct wm1_entry *want_top)
{
	thread->id = UNTOUCHED;
	wm1_put_back(sp);
	CHECK_U64(thread->id, sp + 1);
	CHECK(thread->top == want_top);
}

static void put_back_nothing(uint64_t sp)
{
	const struct wm1_entry *top = thread->top;

	thread->id = UNTOUCHED;
	wm1_put_back(sp);
	CHECK_U64(thread->id, UINT64_MAX);
	CHECK(thread->top == top);
}

static void test_none(void)
{
	put_back_nothing(16);
	push_with(16, 1);
	put_back_nothing(32);
	put_back(16, thread->top - 1);
	put_back_nothing(16);
}

static void test_left_behind(void)
{
	const struct wm1_entry *bottom = thread->top;

	push_with(4096, 1);
	push_with(2048, 2);
	push_with(1024, 3);
	put_back(1024, bottom + 2);
	push_with(1024, 3);
	push_with(2048, 4); /* the newest of an equal stack pointer */
	put_back(2048, bottom + 3);
	put_back(4096, bottom);
}

/* Any of many pushes, from any height above it. */
static void test_segments(void)
{
	static const int heights[] = {1,       2,           ENTRIES - 2,     ENTRIES - 1,
				      ENTRIES, ENTRIES + 1, 2 * ENTRIES - 2, 2 * ENTRIES};
	static const struct wm1_entry *tops[DEEP];
	const size_t count = sizeof heights / sizeof heights[0];

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j <= i; j++) {
			const struct wm1_entry *bottom = thread->top;
			const int height = heights[i], taken = heights[i] - heights[j];

			for (int n = 0; n < height; n++) {
				tops[n] = thread->top;
				push_with((uint64_t)(DEEP - n) * 16, 1);
			}
			put_back((uint64_t)(DEEP - taken) * 16, tops[taken]);
			if (taken)
				put_back((uint64_t)DEEP * 16, tops[0]);
			CHECK(thread->top == bottom);
		}
}

/* As the runtime enters a handler (signal.c): its entry names the top that it interrupted. */
static void test_handler(void)
{
	struct wm1_entry *bottom = thread->top;
	struct wm1_entry *interrupted;

	push_with(4096, 1);
	interrupted = thread->top;
	interrupted[1] = (struct wm1_entry){.id = (uintptr_t)interrupted, .sp = 4096, .prefix = WM_PREFIX_SIGNAL};
	thread->top = interrupted + 2;
	push_with(2048, 2);
	put_back(2048, interrupted + 2);
	push_with(2048, 2);
	put_back(4096, bottom);
}

/* Pushes that find no memory have no place of their own; those from before are found again. */
static void test_without_memory(void)
{
	const struct wm1_entry *bottom = thread->top;
	struct rlimit limit, none = {0};
	uint64_t sp = (uint64_t)DEEP * 4 * 16;

	push_with(sp + 16, 1);
	if (getrlimit(RLIMIT_AS, &limit) != 0)
		return;
	none.rlim_max = limit.rlim_max;
	CHECK(setrlimit(RLIMIT_AS, &none) == 0);
	for (int n = 0; n < 4 * DEEP; n++, sp -= 16)
		push_with(sp, 2);
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	put_back(sp + 16, thread->top - 1);
	put_back_nothing(UINT64_MAX - 7);
	put_back((uint64_t)DEEP * 4 * 16 + 16, bottom);
}

int main(void)
{
	test_none();
	test_left_behind();
	test_segments();
	test_handler();
	test_without_memory();
	return check_status();
}
