/*
 * Tail calls. At -O2 every `return f(...)` below is a jump: the frame is gone, the context still names it. The shadow entry
 * of such a caller stays until the caller of the chain pops. With two callers per callee some edges have non-zero addends.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>

#include "shadow.h"

#define TAIL_ENTER() shadow_push(__func__) /* no LEAVE: what a frame that is gone cannot do */

NOINLINE static int here(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

/* Not a tail call: the chain's entries go with this frame. */
NOINLINE static int sink(int n)
{
	TAIL_ENTER();
	here(n);
	return n + 1;
}

NOINLINE static int left(int n)
{
	TAIL_ENTER();
	return sink(n);
}

NOINLINE static int right(int n)
{
	TAIL_ENTER();
	here(n);
	return n & 1 ? sink(n) : left(n);
}

NOINLINE static int middle(int n)
{
	TAIL_ENTER();
	if (n % 3 == 0)
		return right(n);
	here(n);
	return left(n);
}

typedef int function(int);
static function *volatile pointer = sink;

NOINLINE static int by_pointer(int n)
{
	TAIL_ENTER();
	return pointer(n);
}

NOINLINE static int callers(int n)
{
	ENTER();
	int sum = 0;
	sum += sink(n);
	RESTORE();
	here(1);
	sum += left(n);
	RESTORE();
	here(2);
	sum += right(n);
	RESTORE();
	CHECK();
	sum += middle(n);
	RESTORE();
	here(3);
	sum += by_pointer(n);
	RESTORE();
	here(4);
	for (int i = 0; i < 4; i++) {
		static function *const all[] = {sink, left, right, middle};
		pointer = all[i];
		sum += by_pointer(n + i);
		RESTORE();
		here(5);
	}
	pointer = sink;
	LEAVE();
	return sum;
}

/* A tail call to foreign code that calls back. */
NOINLINE static int compare(const void *a, const void *b)
{
	ENTER();
	CHECK();
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void sort_tail(int *values, size_t count)
{
	TAIL_ENTER();
	shadow_push("[qsort]");
	qsort(values, count, sizeof *values, compare);
}

/*
 * Mutual tail recursion, short enough to be checked; then deep enough to need that no stack is used. The context keeps the
 * first few of a frame's pushed tail calls and the last: what is between is left out, and said to be.
 */
static inline __attribute__((always_inline)) void loop_enter(const char *name)
{
	enum {
		KEPT = 4
	};
	if (shadow.depth > KEPT) {
		shadow.depth = KEPT + 1;
		shadow_push("...");
	}
	shadow_push(name);
}

static int tail_odd(int n, int total);

NOINLINE static int tail_even(int n, int total)
{
	if (total <= 64)
		loop_enter(__func__);
	if (total <= 64)
		here(n);
	return n ? tail_odd(n - 1, total) : 1;
}

NOINLINE static int tail_odd(int n, int total)
{
	if (total <= 64)
		loop_enter(__func__);
	return n ? tail_even(n - 1, total) : 0;
}

int main(void)
{
	ENTER();
	int values[] = {3, 1, 2};
	for (int n = 0; n < 7; n++)
		callers(n);
	here(6);
	sort_tail(values, 3);
	RESTORE();
	here(7);
	EXPECT(tail_even(31, 31) == 0);
	RESTORE();
	here(8);
	EXPECT(tail_odd(32, 32) == 0);
	RESTORE();
	here(9);
#ifdef __OPTIMIZE__
	EXPECT(tail_even(10000000, 10000000) == 1);
#endif
	here(10);
	CHECK();
	LEAVE();
	return 0;
}
