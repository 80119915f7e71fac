/*
 * lazy.c - functions that lead to no event for a while, and then do, as plain compilers make them, with the stack that the program keeps
 * itself (shadow.h).
 *
 * They are called from everywhere with what says whether an event is to happen, and how deep below. So they have frames on a stack, below a signal's handler, behind setjmp and in another thread when their first event happens elsewhere.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "shadow.h"

enum {
	ROUNDS = 3,
	QUIET_CALLS = 100,
};

static volatile unsigned work_done;

NOINLINE static void event(void)
{
	ENTER();
	CHECK();
	LEAVE();
}

/* ---- on one stack ---- */

#define CHAIN(name, next)                                          \
	NOINLINE static unsigned name(unsigned depth, int is_loud) \
	{                                                          \
		ENTER();                                           \
		unsigned ret = depth;                              \
		if (depth)                                         \
			ret += next(depth - 1, is_loud);           \
		else if (is_loud)                                  \
			event();                                   \
		work_done += ret;                                  \
		LEAVE();                                           \
		return ret;                                        \
	}
#define CHAINS(letter)                                                                                  \
	static unsigned letter##1(unsigned depth, int is_loud), letter##2(unsigned depth, int is_loud); \
	CHAIN(letter##0, letter##1)                                                                     \
	CHAIN(letter##1, letter##2)                                                                     \
	CHAIN(letter##2, letter##0)

CHAINS(one)
CHAINS(handled)
CHAINS(jumped)
CHAINS(threaded)
CHAINS(sorted)

/* The event happens deeper and deeper, and above frames that have been quiet; then in other places below them. */
NOINLINE static void on_one_stack(void)
{
	ENTER();
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < QUIET_CALLS; i++)
			one0(i % 7, 0);
		one0(round, 1);
		one1(3 * round, 1);
	}
	LEAVE();
}

/* ---- through pointers: more targets than are compared one after the other ---- */

typedef unsigned operation(unsigned depth, int is_loud);
#define OPERATION(n)                                                       \
	NOINLINE static unsigned operation##n(unsigned depth, int is_loud) \
	{                                                                  \
		ENTER();                                                   \
		if (is_loud)                                               \
			event();                                           \
		work_done += depth + n;                                    \
		LEAVE();                                                   \
		return n;                                                  \
	}
#define OPERATIONS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18)
OPERATIONS(OPERATION)
#define LISTED(n) operation##n,
static operation *const operations[] = {OPERATIONS(LISTED)};
enum {
	OPERATION_COUNT = sizeof operations / sizeof *operations,
};

/* Two sites: each has a table of its own, also while the other's call makes an operation loud. */
#define DISPATCH(name)                                         \
	NOINLINE static unsigned name(unsigned n, int is_loud) \
	{                                                      \
		ENTER();                                       \
		unsigned ret = operations[n](n, is_loud);      \
		work_done += ret;                              \
		LEAVE();                                       \
		return ret;                                    \
	}
DISPATCH(dispatch)
DISPATCH(dispatch_again)

NOINLINE static void through_pointers(void)
{
	ENTER();
	for (unsigned i = 0; i < QUIET_CALLS; i++)
		work_done += dispatch(i % OPERATION_COUNT, 0) + dispatch_again(i % OPERATION_COUNT, 0);
	for (unsigned n = 0; n < OPERATION_COUNT; n += 3) {
		dispatch(n, 1);
		dispatch_again(n, 1);
		for (unsigned i = 0; i < QUIET_CALLS; i++)
			dispatch(i % OPERATION_COUNT, i % OPERATION_COUNT == n);
	}
	LEAVE();
}

/* ---- a comparator ---- */

static int is_sort_loud;

NOINLINE static int compare(const void *a, const void *b)
{
	ENTER();
	int ret = *(const int *)a - *(const int *)b;
	sorted0(2, is_sort_loud);
	LEAVE();
	return ret;
}

NOINLINE static void sort(void)
{
	ENTER();
	for (is_sort_loud = 0; is_sort_loud < 2; is_sort_loud++) {
		int numbers[4] = {3, 1, 2, 0};

		FOREIGN_VOID("qsort", qsort(numbers, 4, sizeof *numbers, compare));
	}
	LEAVE();
}

/* ---- behind setjmp ---- */

static jmp_buf buffer;

NOINLINE static void jump(unsigned depth, int is_loud)
{
	ENTER();
	jumped0(depth, is_loud);
	longjmp(buffer, 1);
}

NOINLINE static void catches(unsigned depth, int is_loud)
{
	ENTER();
	if (!setjmp(buffer)) {
		jump(depth, is_loud);
	} else {
		RESTORE();
		jumped1(depth, 0);
	}
	LEAVE();
}

NOINLINE static void jumps(void)
{
	ENTER();
	for (unsigned round = 0; round < ROUNDS; round++) {
		catches(round, 0);
		catches(round, 1);
		event();
	}
	LEAVE();
}

/* ---- in a handler ---- */

static volatile sig_atomic_t is_handler_loud;

static void handler(int sig)
{
	SIGNAL_ENTER();
	(void)sig;
	handled0(1, is_handler_loud);
	LEAVE();
}

/* Its frame is below the handler, which makes the functions loud that go on afterwards. */
NOINLINE static void interrupted(unsigned depth, int is_loud)
{
	ENTER();
	if (depth)
		interrupted(depth - 1, is_loud);
	else
		FOREIGN("raise", raise(SIGUSR1));
	handled1(depth, is_loud);
	LEAVE();
}

NOINLINE static void signals(void)
{
	ENTER();
	FOREIGN("signal", signal(SIGUSR1, handler));
	for (int i = 0; i < 2; i++) {
		is_handler_loud = i;
		interrupted(3, 0);
	}
	interrupted(2, 1);
	LEAVE();
}

/* ---- in another thread ---- */

static atomic_int turn;

static void wait_for(int number)
{
	while (atomic_load(&turn) != number)
		sched_yield();
}

/* The thread waits in it, without a call that would be an event, until the other has made it loud. */
NOINLINE static unsigned waits(unsigned depth, int number, int is_loud)
{
	ENTER();
	unsigned ret = depth;

	if (depth) {
		ret += waits(depth - 1, number, is_loud);
	} else if (number) {
		atomic_store(&turn, number);
		while (atomic_load(&turn) != number + 1)
			work_done++;
	}
	threaded0(ret % 3, is_loud);
	LEAVE();
	return ret;
}

static void *thread(void *nothing)
{
	THREAD_ROOT();
	ENTER();
	waits(3, 0, 0);
	waits(4, 1, 1);
	waits(2, 3, 0);
	event();
	LEAVE();
	return nothing;
}

NOINLINE static void threads(void)
{
	ENTER();
	pthread_t id;

	EXPECT(CREATE(pthread_create(&id, NULL, thread, NULL)) == 0);
	wait_for(1);
	waits(2, 0, 1);
	atomic_store(&turn, 2);
	wait_for(3);
	threaded1(1, 1);
	atomic_store(&turn, 4);
	EXPECT(pthread_join(id, NULL) == 0);
	LEAVE();
}

int main(void)
{
	ENTER();
	on_one_stack();
	through_pointers();
	sort();
	jumps();
	signals();
	threads();
	on_one_stack();
	LEAVE();
	return 0;
}
