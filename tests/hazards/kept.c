/*
 * Where a function keeps its own id and the top of the stack for its pushes and for callees that come back with others: on a way that is seldom gone,
 * in each arm by itself, in front of a loop, behind a loop around which the entry is pushed, in front of a call that only adds.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define SHADOW_MAX 4096
#include <stdlib.h>

#include "shadow.h"

typedef int op(int);

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n + 1;
}

NOINLINE static int other(int n)
{
	ENTER();
	CHECK();
	int value = leaf(n);
	LEAVE();
	return value;
}

/* Comes back with another id: its jumps are encoded. */
NOINLINE static int jumps(int n)
{
	shadow_push(__func__);
	return n & 1 ? leaf(n) : other(n);
}

static op *volatile ops[] = {leaf, other};

/* Most calls come back at once. */
NOINLINE static int seldom(int n)
{
	if (__builtin_expect(n % 5 != 0, 1))
		return n;
	ENTER();
	int value = ops[n & 1](n);
	CHECK();
	value += ops[!(n & 1)](value);
	CHECK();
	LEAVE();
	return value;
}

NOINLINE static int in_arms(int n)
{
	ENTER();
	int value = 0;
	switch (n % 4) {
	case 0:
		value = ops[0](n);
		break;
	case 1:
		for (int i = 0; i < n % 3; i++) {
			value += jumps(i);
			RESTORE();
			value += ops[1](i);
		}
		break;
	case 2:
		value = jumps(n);
		RESTORE();
		break;
	}
	CHECK();
	value += leaf(value);
	LEAVE();
	return value;
}

/* In the loop the state is not the function's own: what is kept for the calls behind it must come from in front of it. */
NOINLINE static int behind_loop(int n)
{
	ENTER();
	int i = 0, value = 0;
	do {
		value += ops[i & 1](i);
	} while (++i < n);
	value += ops[n & 1](n);
	CHECK();
	value += jumps(n);
	RESTORE();
	CHECK();
	LEAVE();
	return value;
}

/* Of the blocks in front of the calls behind it the loop itself runs least often. */
NOINLINE static int behind_seldom(int n)
{
	ENTER();
	int i = 0, value = n;
	if (__builtin_expect(n % 4 == 3, 0)) {
		do {
			value += ops[i & 1](i);
		} while (++i < n);
		value += ops[n & 1](value);
		CHECK();
		value += jumps(n);
		RESTORE();
		value += ops[!(n & 1)](value);
	}
	CHECK();
	LEAVE();
	return value;
}

NOINLINE static int between_loops(int n)
{
	ENTER();
	int value = 0;
	for (int k = 0; k < 3; k++) {
		int i = 0;
		do {
			value += ops[i & 1](i);
		} while (++i < n);
		CHECK();
		value += jumps(k);
		RESTORE();
		i = 0;
		do {
			value += ops[!(i & 1)](i);
		} while (++i < n);
	}
	value += leaf(n);
	value += ops[0](n);
	CHECK();
	LEAVE();
	return value;
}

/* The call that adds leaves the id to the push behind it. */
NOINLINE static int in_a_row(int n)
{
	ENTER();
	int value = leaf(n) + other(n) + ops[n & 1](n) + other(n) + leaf(n);
	CHECK();
	value += ops[n & 1](n) + ops[!(n & 1)](n);
	CHECK();
	LEAVE();
	return value;
}

static op *volatile calling[] = {seldom, in_arms, behind_loop, behind_seldom, between_loops, in_a_row};

NOINLINE static int all(int n)
{
	ENTER();
	int value = seldom(n);
	value += in_arms(n);
	value += behind_loop(n % 4);
	value += behind_seldom(n);
	value += between_loops(n % 3);
	value += in_a_row(n);
	for (size_t i = 0; i < sizeof calling / sizeof *calling; i++) {
		value += calling[i](n % 4);
		CHECK();
	}
	LEAVE();
	return value;
}

int main(void)
{
	ENTER();
	int value = 0;
	for (int n = 0; n < 12; n++) {
		value += all(n);
		CHECK();
	}
	CHECK();
	LEAVE();
	return value == 0;
}
