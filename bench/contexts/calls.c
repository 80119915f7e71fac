/*
 * calls.c - call-heavy loops, the hardest cases for a context encoder: nothing is done but calling.
 *
 *	calls MODE SIZE [VALUE]     prints a check sum
 *
 * One mode a kind of edge: fib (self recursion, two sites), tak (four sites), mutual (parser-like mutual recursion), tree
 * (acyclic chains with several callers each), leaf (one function of two instructions, called from two sites), indirect (a table of
 * functions), sort (callbacks from qsort).
 *
 * Each ends in a function that makes an event when it meets VALUE: never, when there is none. Without a capture that can be
 * reached, no call needs its context and Waymark adds no code at all. The compiler knows nothing of VALUE; the native build has
 * the comparison, too.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waymark.h>

#define NOINLINE __attribute__((noinline))

static long watched = LONG_MIN;

NOINLINE static void meet(long value)
{
	wm_event("met", 1);
	fprintf(stderr, "met %ld\n", value);
}

static inline long watch(long value)
{
	if (__builtin_expect(value == watched, 0))
		meet(value);
	return value;
}

NOINLINE static long fib(long n)
{
	return n < 2 ? watch(n) : fib(n - 1) + fib(n - 2);
}

NOINLINE static long tak(long x, long y, long z)
{
	return y >= x ? watch(z) : tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y));
}

/* expression = term { + term }; term = factor { * factor }; factor = digit | ( expression ) */
static const char *at;
static long expression(void);

NOINLINE static long factor(void)
{
	if (*at != '(')
		return watch(*at++ - '0');
	at++;
	long value = expression();
	at++;
	return value;
}

NOINLINE static long term(void)
{
	long value = factor();
	while (*at == '*') {
		at++;
		value = value * factor() % 10007;
	}
	return value;
}

NOINLINE static long expression(void)
{
	long value = term();
	while (*at == '+') {
		at++;
		value += term();
	}
	return value;
}

static long mutual(long rounds)
{
	long sum = 0;
	while (rounds--) {
		at = "((1+2)*(3+4*(5+6))+7*(8+9*(1+2*(3+4))))*((5+6)*7+(8*(9+1)))";
		sum += expression();
	}
	return sum;
}

/* A call graph of 6 levels with two callers a function: 2^6 contexts at the leaf, no recursion. */
NOINLINE static long leaf(long n)
{
	watch(n);
	return n ^ (n >> 3);
}
#define LEVEL(name, left, right)                   \
	NOINLINE static long name(long n)          \
	{                                          \
		return left(n + 1) + right(n ^ 5); \
	}
LEVEL(e1, leaf, leaf)
LEVEL(e2, leaf, leaf)
LEVEL(d1, e1, e2)
LEVEL(d2, e2, e1)
LEVEL(c1, d1, d2)
LEVEL(c2, d2, d1)
LEVEL(b1, c1, c2)
LEVEL(b2, c2, c1)
LEVEL(a1, b1, b2)

static long tree(long rounds)
{
	long sum = 0;
	while (rounds--)
		sum += a1(rounds);
	return sum;
}

static long leaves(long rounds)
{
	long sum = 0;
	while (rounds--)
		sum += leaf(rounds) + leaf(sum & 1023);
	return sum;
}

static long (*const table[4])(long) = {leaf, e1, e2, leaf};

static long indirect(long rounds)
{
	long sum = 0;
	while (rounds--)
		sum += table[(rounds ^ sum) & 3](rounds);
	return sum;
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	watch(x);
	return (x > y) - (x < y);
}

static long sort(long rounds)
{
	enum {
		COUNT = 1000
	};
	int values[COUNT];
	long sum = 0;
	unsigned state = 1;
	while (rounds--) {
		for (int i = 0; i < COUNT; i++)
			values[i] = (int)((state = state * 1664525 + 1013904223) >> 8);
		qsort(values, COUNT, sizeof *values, compare);
		sum += values[COUNT / 2];
	}
	return sum;
}

int main(int argc, char **argv)
{
	long size = argc > 2 ? atol(argv[2]) : 0, value = -1;
	const char *mode = argc > 1 ? argv[1] : "";
	if (argc > 3)
		watched = atol(argv[3]);
	if (!strcmp(mode, "fib"))
		value = fib(size);
	else if (!strcmp(mode, "tak"))
		value = tak(size, size * 2 / 3, size / 3);
	else if (!strcmp(mode, "mutual"))
		value = mutual(size);
	else if (!strcmp(mode, "tree"))
		value = tree(size);
	else if (!strcmp(mode, "leaf"))
		value = leaves(size);
	else if (!strcmp(mode, "indirect"))
		value = indirect(size);
	else if (!strcmp(mode, "sort"))
		value = sort(size);
	else {
		fprintf(stderr, "usage: calls fib|tak|mutual|tree|leaf|indirect|sort SIZE [VALUE]\n");
		return 2;
	}
	printf("%ld\n", value);
	return 0;
}
