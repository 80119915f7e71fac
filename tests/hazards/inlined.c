/* Inlining: always_inline chains, inlined callers of pushes and of recursion, inline functions of a header, static ones. */
#include <stdlib.h>

#include "shadow.h"

#define ALWAYS static inline __attribute__((always_inline))

NOINLINE static int solid(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

ALWAYS int inner(int n)
{
	ENTER();
	CHECK();
	int value = solid(n);
	LEAVE();
	return value;
}

ALWAYS int mid(int n)
{
	ENTER();
	int value = inner(n) + inner(n + 1);
	CHECK();
	LEAVE();
	return value;
}

ALWAYS int outer(int n)
{
	ENTER();
	int value = mid(n) + solid(n);
	LEAVE();
	return value;
}

static int recursive(int n);

ALWAYS int between(int n)
{
	ENTER();
	int value = n ? recursive(n - 1) + outer(n) : 0;
	LEAVE();
	return value;
}

NOINLINE static int recursive(int n)
{
	ENTER();
	CHECK();
	int value = between(n);
	LEAVE();
	return value;
}

ALWAYS int compare_inlined(int a, int b)
{
	ENTER();
	CHECK();
	LEAVE();
	return a - b;
}

static int compare(const void *a, const void *b)
{
	ENTER();
	int order = compare_inlined(*(const int *)a, *(const int *)b);
	LEAVE();
	return order;
}

ALWAYS void sort(int *values, size_t count)
{
	ENTER();
	FOREIGN_VOID("qsort", qsort(values, count, sizeof *values, compare));
	LEAVE();
}

/* What the optimizer inlines, clones or splits by itself has no attribute. */
static int chosen(int n, int kind)
{
	ENTER();
	int value = kind == 3 ? inner(n) : solid(n) + kind;
	LEAVE();
	return value;
}

static int chooser(int n)
{
	ENTER();
	CHECK();
	int value = chosen(n, 3) + chosen(n, 4);
	LEAVE();
	return value;
}

int free_chain(int n);
int free_chain(int n)
{
	ENTER();
	int value = n > 2 ? chooser(n) : n ? free_chain(n - 1) : inner(n);
	LEAVE();
	return value;
}

int main(void)
{
	ENTER();
	int values[] = {4, 2, 3, 1};
	outer(1);
	mid(2);
	recursive(4);
	sort(values, 4);
	for (int n = 0; n < 5; n++)
		free_chain(n);
	(mid)(3);
	inner(4);
	LEAVE();
	return 0;
}
