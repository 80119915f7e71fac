/*
 * test_coroutine.c - coroutines of makecontext and swapcontext keep their contexts, whatever order they run in, and
 * arguments arrive.
 */
#include <ucontext.h>

#include "profile.h"
#include "push.h"

enum {
	COROUTINES = 5,
	ROUNDS = 7,
};

static ucontext_t main_context, contexts[COROUTINES];
static char stacks[COROUTINES][65536];
static int finished;
static uint64_t argument_sum;

static wm_context here(void)
{
	return wm1_capture(push_image.site_base + 1);
}

/* Foreign code that switches and, when it is back, calls back. */
static wm_context yield_and_look(int i)
{
	swapcontext(&contexts[i], &main_context);
	return here();
}

/* Goes down with yields on the way, and checks each context again after the others ran. */
static void descend(int i, int n)
{
	wm_context before = here();
	wm_context after;
	struct push kept;

	after = yield_and_look(i);
	CHECK(push_same(before, after));
	CHECK(push_same(before, here()));
	if (n == 0)
		return;
	kept = push_at(90 + (uint32_t)i, wm1_thread_state.id, 0);
	descend(i, n - 1);
	push_end(kept);
	CHECK(push_same(before, here()));
}

static void body(int i, int a, int b, int c, int d, int e, int f, int g)
{
	argument_sum += (uint64_t)(a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g);
	descend(i, ROUNDS);
	finished++;
}

static void start(int i)
{
	getcontext(&contexts[i]);
	contexts[i].uc_stack.ss_sp = stacks[i];
	contexts[i].uc_stack.ss_size = sizeof stacks[i];
	contexts[i].uc_link = &main_context;
	makecontext(&contexts[i], (void (*)(void))(void *)body, 8, i, 1, 2, 3, 4, 5, 6, 7);
}

static void run_all(void)
{
	int i, round;

	finished = 0;
	argument_sum = 0;
	for (i = 0; i < COROUTINES; i++)
		PUSHED(80 + (uint32_t)i, start(i));
	for (round = 0; round < ROUNDS + 2; round++) {
		for (i = 0; i < COROUTINES; i++) {
			wm_context before = here();

			PUSHED(85, swapcontext(&main_context, &contexts[i]));
			CHECK(push_same(before, here()));
		}
	}
	CHECK_U64(finished, COROUTINES);
	CHECK_U64(argument_sum, UINT64_C(7654321) * COROUTINES);
}

int main(void)
{
	run_all();
	run_all(); /* the same stacks once more */
	return check_status();
}
