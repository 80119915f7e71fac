/*
 * heap.c - work that does little but allocate, at a depth: for the heap client beside other heap profilers.
 *
 *	heap ROUNDS DEPTH     prints ns per malloc and free
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))
enum {
	SLOTS = 1024
};
static void *slots[SLOTS];
static volatile long sink;

NOINLINE static void *allocate_small(unsigned n)
{
	return malloc(16 + n % 200);
}

NOINLINE static void *allocate_large(unsigned n)
{
	return malloc(300 + n % 2000);
}

NOINLINE static void work(long rounds)
{
	unsigned state = 7;
	while (rounds--) {
		state = state * 1664525 + 1013904223;
		unsigned slot = (state >> 8) % SLOTS;
		free(slots[slot]);
		slots[slot] = state >> 31 ? allocate_small(state >> 4) : allocate_large(state >> 4);
	}
}

NOINLINE static void down(int depth, long rounds)
{
	if (depth > 0)
		down(depth - 1, rounds);
	else
		work(rounds);
	sink++;
}

int main(int argc, char **argv)
{
	struct timespec start, end;
	long rounds = argc > 1 ? atol(argv[1]) : 1000000;
	clock_gettime(CLOCK_MONOTONIC, &start);
	down(argc > 2 ? atoi(argv[2]) : 20, rounds);
	clock_gettime(CLOCK_MONOTONIC, &end);
	double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
	printf("%.0f\n", ns / (double)rounds);
	return 0;
}
