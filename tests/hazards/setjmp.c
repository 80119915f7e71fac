/* setjmp and longjmp: nested, repeated, over pushes, out of qsort, out of signal handlers, into the same frame again. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "shadow.h"

static jmp_buf outer_env, inner_env;
static sigjmp_buf signal_env;

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

NOINLINE static void dive(int n, int value)
{
	ENTER();
	if (n)
		dive(n - 1, value);
	CHECK();
	longjmp(outer_env, value);
	LEAVE();
}

/* Two call paths to the setjmp frame and below it, so that ids are not all zero. */
NOINLINE static int catcher(int n)
{
	ENTER();
	volatile int turns = 0;
	int value = setjmp(outer_env);
	RESTORE();
	CHECK();
	leaf(value);
	if (turns++ < n)
		dive(turns, turns + 1);
	EXPECT(value == (n ? n + 1 : 0));
	leaf(1);
	LEAVE();
	return value;
}

NOINLINE static int catcher_twice(int n)
{
	ENTER();
	int value = catcher(n) + catcher(n + 1);
	leaf(2);
	CHECK();
	LEAVE();
	return value;
}

NOINLINE static void throw_inner(int n)
{
	ENTER();
	leaf(0);
	if (n & 1)
		longjmp(inner_env, n);
	longjmp(outer_env, n);
	LEAVE();
}

NOINLINE static void nested_inner(int n)
{
	ENTER();
	if (!setjmp(inner_env)) {
		throw_inner(n);
	} else {
		RESTORE();
		CHECK();
		leaf(3);
		throw_inner(n + 1);
	}
	LEAVE();
}

NOINLINE static void nested(int n)
{
	ENTER();
	if (!setjmp(outer_env))
		nested_inner(n);
	RESTORE();
	CHECK();
	leaf(4);
	LEAVE();
}

NOINLINE static int compare(const void *a, const void *b)
{
	ENTER();
	CHECK();
	leaf(5);
	if (*(const int *)a == 4 || *(const int *)b == 4)
		longjmp(outer_env, 9);
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void out_of_qsort(int n)
{
	ENTER();
	int values[] = {1, 3, 2, 5, 6, 4, 7};
	if (n)
		out_of_qsort(n - 1);
	if (!setjmp(outer_env))
		FOREIGN_VOID("qsort", qsort(values, 7, sizeof *values, compare));
	else
		RESTORE();
	CHECK();
	leaf(6);
	LEAVE();
}

/* Between calls of one block, of which the first leaves to the second what it has added to the id. */
NOINLINE static void between_calls(int n)
{
	ENTER();
	leaf(n);
	setjmp(inner_env);
	leaf(n + 1);
	setjmp(outer_env);
	leaf(n + 2);
	LEAVE();
}

/* The same of calls by itself: to the history. */
NOINLINE static int between_own_calls(int n)
{
	ENTER();
	int sum = n < 2 ? leaf(n) : 0;
	if (n >= 2) {
		sum = between_own_calls(n - 1);
		setjmp(inner_env);
		sum += between_own_calls(n - 2);
		setjmp(outer_env);
		sum += between_own_calls(n - 2);
	}
	LEAVE();
	return sum;
}

static void handler(int signo)
{
	SIGNAL_ENTER();
	CHECK();
	leaf(signo);
	siglongjmp(signal_env, signo);
	LEAVE();
}

NOINLINE static void raise_below(int n)
{
	ENTER();
	CHECK();
	if (n)
		raise_below(n - 1);
	else
		raise(SIGUSR1);
	LEAVE();
}

NOINLINE static void out_of_handler(void)
{
	ENTER();
	struct sigaction action;
	volatile int rounds = 0;
	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, NULL);
	if (sigsetjmp(signal_env, 1))
		RESTORE();
	CHECK();
	leaf(7);
	if (rounds++ < 3)
		raise_below(rounds);
	EXPECT(rounds == 4);
	CHECK();
	LEAVE();
}

NOINLINE static int compare_raises(const void *a, const void *b)
{
	ENTER();
	leaf(8);
	raise(SIGUSR1);
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void out_of_handler_in_qsort(void)
{
	ENTER();
	int values[] = {2, 1};
	if (!sigsetjmp(signal_env, 0))
		FOREIGN_VOID("qsort", qsort(values, 2, sizeof *values, compare_raises));
	RESTORE();
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	CHECK();
	leaf(9);
	LEAVE();
}

int main(void)
{
	ENTER();
	for (int n = 0; n < 4; n++) {
		catcher(n);
		catcher_twice(n);
		nested(n);
		nested(n + 1);
		leaf(11);
	}
	between_calls(20);
	between_own_calls(5);
	out_of_qsort(2);
	leaf(12);
	out_of_handler();
	out_of_handler();
	out_of_handler_in_qsort();
	CHECK();
	leaf(13);
	LEAVE();
	return 0;
}
