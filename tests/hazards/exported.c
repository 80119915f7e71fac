/*
 * A program with -rdynamic: every function is a root, called directly, by pointer, through dlsym in the middle of encoded calls, by
 * the C library, by a signal; among them functions with variable arguments, many, large and floating-point ones, recursion. The
 * loader finds their names by the addresses of their code.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

#include "shadow.h"

struct large {
	long words[9];
};
struct pair {
	double x;
	long y;
};

NOINLINE int leaf(int n)
{
	ENTER();
	CHECK();
	Dl_info caller;
	EXPECT(dladdr((char *)__builtin_return_address(0) - 1, &caller) && caller.dli_sname);
	EXPECT(!strcmp(caller.dli_sname, shadow.name[shadow.depth - 2]));
	LEAVE();
	return n + 1;
}

NOINLINE int sum(int count, ...)
{
	ENTER();
	va_list ap;
	double d = 0;
	long n = 0;
	va_start(ap, count);
	for (int i = 0; i < count; i++)
		if (i % 2)
			d += va_arg(ap, double);
		else
			n += va_arg(ap, long);
	va_end(ap);
	CHECK();
	n += leaf((int)d);
	LEAVE();
	return (int)n;
}

NOINLINE struct large spread(struct large in, long double factor, int a, int b, int c, int d, int e, int f, int g,
			     double x)
{
	ENTER();
	for (int i = 0; i < 9; i++)
		in.words[i] = in.words[i] * (long)factor + a + b + c + d + e + f + g + (long)x;
	leaf(1);
	CHECK();
	LEAVE();
	return in;
}

NOINLINE struct pair two(double x, long y)
{
	ENTER();
	CHECK();
	struct pair p = {x + leaf(0), y + 1};
	LEAVE();
	return p;
}

NOINLINE int depth(int n)
{
	ENTER();
	CHECK();
	int r = n ? depth(n - 1) + leaf(n) : sum(4, 1L, 2.0, 3L, 4.0);
	LEAVE();
	return r;
}

static int (*found)(int);
static int (*found_sum)(int, ...);

NOINLINE int middle(int n)
{
	ENTER();
	int r = leaf(n);
	r += found(n);
	r += found_sum(2, 7L, 0.5);
	r += leaf(n);
	CHECK();
	LEAVE();
	return r;
}

NOINLINE int compare(const void *a, const void *b)
{
	ENTER();
	CHECK();
	leaf(*(const int *)a);
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

NOINLINE void handler(int sig)
{
	SIGNAL_ENTER();
	CHECK();
	leaf(sig);
	LEAVE();
}

/* Itself a root, in the middle: called directly and by the C library. */
NOINLINE int work(int n)
{
	ENTER();
	int numbers[] = {3, 1, 2};
	int r = middle(n) + middle(n + 1) + depth(3);
	FOREIGN_VOID("qsort", qsort(numbers, 3, sizeof numbers[0], compare));
	compare(&numbers[0], &numbers[1]);
	FOREIGN_VOID("raise", raise(SIGUSR1));
	struct large in = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
	struct large out = spread(in, 2, 1, 1, 1, 1, 1, 1, 1, 3.0);
	EXPECT(out.words[8] == 28 && out.words[0] == 12);
	struct pair p = two(1.5, 6);
	EXPECT(p.x == 2.5 && p.y == 7);
	CHECK();
	LEAVE();
	return r;
}

int main(void)
{
	ENTER();
	found = (int (*)(int))(uintptr_t)dlsym(RTLD_DEFAULT, "leaf");
	found_sum = (int (*)(int, ...))(uintptr_t)dlsym(RTLD_DEFAULT, "sum");
	EXPECT(found == leaf && found_sum == sum);
	signal(SIGUSR1, handler);
	EXPECT(sum(5, 1L, 2.0, 3L, 4.0, 5L) == 16);
	int (*pointer)(int) = (int (*)(int))(uintptr_t)dlsym(RTLD_DEFAULT, "work");
	int r = work(1);
	r += pointer(2);
	r += found(3);
	EXPECT(r == work(1) + work(2) + 4);
	struct large (*far)(struct large, long double, int, int, int, int, int, int, int, double) = spread;
	struct large in = {{1}};
	EXPECT(far(in, 3, 1, 2, 3, 4, 5, 6, 7, 8.0).words[0] == 39);
	CHECK();
	LEAVE();
	return 0;
}
