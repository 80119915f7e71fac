/*
 * pgo.c - a program whose hot calls are not those that look hot. Argument: how often the hot calls run; "0" prints contexts.
 */
#include <stdio.h>
#include <stdlib.h>

#include <waymark.h>

#define NOINLINE __attribute__((noinline))

static volatile int zero, sink;
static int prints;

NOINLINE static void target(int n)
{
	wm_context c = wm_capture();
	sink = (int)c.id + n;
	if (prints) {
		char token[WM_TOKEN_MAX];
		wm_token(c, token, sizeof token);
		puts(token);
	}
}

/* Looks hot: a loop in a loop. Runs twice. */
NOINLINE static void looks_hot(int n)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			target(k);
	sink++;
}

/* Looks cold beside it: no loop. */
NOINLINE static void is_hot(int n)
{
	target(n);
	sink++;
}

NOINLINE static void often(int n)
{
	target(n);
	sink++;
}

NOINLINE static void seldom(int n)
{
	target(n + 1);
	sink++;
}

static void (*volatile choices[2])(int) = {often, seldom};

/* One target takes nearly all calls, so LLVM compares with it and calls it directly. */
NOINLINE static void dispatch(int n)
{
	choices[n % 64 == 63](n);
	sink++;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 0;
	prints = !times;
	for (int i = 0; i < times; i++) {
		is_hot(i);
		dispatch(i);
	}
	looks_hot(1 + zero);
	is_hot(1);
	dispatch(0);
	dispatch(63);
	return 0;
}
