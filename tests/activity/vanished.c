/*
 * Constructors that the link runs and drops: what they called is reached by pointers, too, and did run, before there was a program;
 * what these call in turn, and what another constructor, which stays, calls. For source.sh.
 */
#include <stdio.h>

#ifndef FAULT
#define FAULT (*(volatile int *)8 = 1)
#endif

static int squares[8];
static int sum;
static volatile int sink;

__attribute__((noinline)) static int square(int x)
{
	return x * x;
}

__attribute__((noinline)) static int twice_square(int x)
{
	int half = square(x);

	return half + half;
}

/* Really does not run. */
__attribute__((noinline)) static int cube(int x)
{
	return x * square(x);
}

__attribute__((constructor)) static void fill(void)
{
	for (int i = 0; i < 8; i++)
		squares[i] = square(i);
}

__attribute__((constructor)) static void add(void)
{
	sum = twice_square(3);
}

__attribute__((noinline)) static int stays_called(int x)
{
	sink = x;
	return x + 1;
}

__attribute__((constructor)) static void stays(void)
{
	sink = stays_called(4);
}

static int (*volatile const table[])(int) = {square, twice_square, cube, stays_called};

int main(int argc, char **argv)
{
	(void)argv;
	sink = squares[argc] + sum;
	if (argc > 3) {
		sink = table[argc](argc);
		squares[argc & 7]++;
		sum++;
		puts("more");
	}
	FAULT;
	return sink;
}
