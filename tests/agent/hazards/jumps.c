/*
 * jumps.c - longjmp over instrumented frames, over callbacks, into the middle of loops, and back many times.
 * hazards.sh: again epochs,wall,check,sample=1997
 */
#include <setjmp.h>
#include <string.h>

#include "probe.h"

static jmp_buf out, inner;
static volatile int total;

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

__attribute__((noinline)) static int down(int n, jmp_buf *to)
{
	PROBE();
	if (n == 0)
		longjmp(*to, 3);
	total += leaf(n);
	total += down(n - 1, to);
	PROBE();
	return total;
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	PROBE();
	if (x == 7 && total % 3 == 0)
		longjmp(out, 9);
	leaf(x);
	return (x > y) - (x < y);
}

__attribute__((noinline)) static int compare_caught(const void *a, const void *b)
{
	jmp_buf here;

	if (!setjmp(here))
		down(2, &here);
	PROBE();
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int sorts(int (*f)(const void *, const void *))
{
	int values[] = {5, 3, 7, 1, 2};

	PROBE();
	qsort(values, 5, sizeof *values, f);
	PROBE();
	return values[0] + leaf(values[4]);
}

__attribute__((noinline)) static int loops(void)
{
	volatile int i = 0;

	if (setjmp(inner) < 9)
		PROBE();
	PROBE();
	if (i++ < 6)
		down(i, &inner);
	leaf(1);
	PROBE();
	return i;
}

__attribute__((noinline)) static int catches(int round)
{
	int (*volatile f)(const void *, const void *) = round & 1 ? compare : compare_caught;
	int got = setjmp(out);

	PROBE();
	if (!got)
		return sorts(f) + loops();
	leaf(got);
	PROBE();
	return got;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 40; i++) {
		total += i;
		sum += catches(i);
		PROBE();
		sum += leaf(i);
	}
	printf("%d %d\n", sum, total);
	return 0;
}
