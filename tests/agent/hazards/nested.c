/*
 * nested.c - the C library calls back a function that was never seen, which calls the library again, which calls back one that it is known to
 * call: nothing but the stack says that the first one is between them.
 */
#include <search.h>
#include <stdlib.h>

#include "probe.h"

typedef int comparator(const void *a, const void *b);

static int calls;

__attribute__((noinline)) static int inner(const void *a, const void *b)
{
	PROBE();
	calls++;
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void sorts(comparator *compare)
{
	int numbers[] = {3, 1, 2};

	qsort(numbers, 3, sizeof *numbers, compare);
}

__attribute__((noinline)) static int outer(const void *a, const void *b)
{
	sorts(inner);
	calls++;
	return inner(a, b);
}

/* By a variable. */
__attribute__((noinline)) static int stored(const void *a, const void *b)
{
	int numbers[] = {5, 4};

	qsort(numbers, 2, sizeof *numbers, inner);
	calls++;
	return *(const int *)a - *(const int *)b;
}
static comparator *volatile by_variable = stored;

/* Called by the library for the first time in a function that does the same. */
__attribute__((noinline)) static int outermost(const void *a, const void *b)
{
	sorts(outer);
	calls++;
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void visits(const void *node, VISIT visit, int level)
{
	if (visit == leaf)
		sorts(inner);
	calls += level;
	(void)node;
}

int main(void)
{
	static int keys[] = {2, 1, 3};
	void *root = NULL;

	sorts(inner);
	sorts(outermost);
	sorts(by_variable);
	sorts(outer);
	for (int i = 0; i < 3; i++)
		tsearch(&keys[i], &root, inner);
	twalk(root, visits);
	printf("%d\n", calls);
	return 0;
}
