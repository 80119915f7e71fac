/*
 * Functions that are also reached by pointers, and whose calls are inlined, folded to constants, dropped, specialized: what ran has
 * no code of its own any more. For source.sh and source_paths.sh.
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef FAULT
#define FAULT (*(volatile int *)8 = 1)
#endif

static volatile int sink;

/* Of the inlined copy, half is left. */
static int scale(int x)
{
	if (x > 100) {
		sink = x;
		return x * 3;
	}
	sink = x + 1;
	return x * 2;
}

/* Nothing is left. */
static int constant(int x)
{
	int y = x * 5;

	return y + 1;
}

static int through(int x)
{
	return constant(x) + 2;
}

/* Its result is not wanted: the call goes. */
__attribute__((noinline)) static int sum_to(int x)
{
	int sum = 0;

	for (int i = 0; i < x; i++)
		sum += i * x;
	return sum;
}

/* All calls have the same argument, so the body knows it, and the one behind the pointer does not. */
__attribute__((noinline)) static int chosen(int x, int (*how)(int))
{
	if (x == 7)
		sink = how(x);
	else
		sink = how(x + 1);
	return sink;
}

/* One copy each round, of which some are folded. */
static int step(int round, int x)
{
	if (round == 0)
		return x;
	sink = x + round;
	return x + round;
}

/* Runs only in a function that is not instrumented: inlined there, but not for who counts the code as written. */
#ifdef __clang__
#define INLINED __attribute__((always_inline))
#else
#define INLINED
#endif
INLINED static inline int lent(int x)
{
	sink = x * 7;
	return x + 7;
}

__attribute__((noinline, no_profile_instrument_function)) static int borrows(int x)
{
	return lent(x) * 2;
}

/* Really does not run. */
static int idle(int x)
{
	sink = x;
	puts("idle");
	return x;
}

static int (*volatile const table[])(int) = {scale, constant, through, sum_to, idle, lent};
static int (*volatile const steps[])(int, int) = {step};

int main(int argc, char **argv)
{
	int sum = scale(argc) + through(3);

	(void)argv;
	sum_to(argc);
	sum += chosen(7, scale) + borrows(argc);
	for (int i = 0; i < 2; i++)
		sum += step(i, 4);
	if (argc > 3)
		sum += table[argc](argc) + steps[argc](argc, 1) + chosen(argc, table[0]);
	if (argc > 6)
		return idle(sum);
	sink = sum;
	FAULT;
	return sum;
}
