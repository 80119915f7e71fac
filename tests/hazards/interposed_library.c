/* A library whose exported functions call each other, in loops and elsewhere; others may define step, total and spread, too. */
#include <stdarg.h>

#include "shadow.h"

int step(int n);
int total(int count, ...);
long spread(long a, long b, long c, long d, long e, long f, long g, double x);
void visit(void (*callback)(void), int times);

NOINLINE int step(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n + 1;
}

NOINLINE int total(int count, ...)
{
	ENTER();
	va_list ap;
	int sum = 0;
	va_start(ap, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(ap, int);
	va_end(ap);
	CHECK();
	sum += step(0);
	LEAVE();
	return sum;
}

NOINLINE long spread(long a, long b, long c, long d, long e, long f, long g, double x)
{
	ENTER();
	CHECK();
	LEAVE();
	return a + b + c + d + e + f + g + (long)x;
}

NOINLINE void visit(void (*callback)(void), int times)
{
	ENTER();
	for (int i = 0; i < times; i++) {
		callback();
		step(i);
	}
	CHECK();
	LEAVE();
}

int work(int n, void (*callback)(void));
NOINLINE int work(int n, void (*callback)(void))
{
	ENTER();
	int sum = step(n);
	for (int i = 0; i < n; i++) {
		sum += step(i);
		sum += total(3, i, 2, 3);
		sum += (int)spread(1, 2, 3, 4, 5, 6, i, 8.0);
		CHECK();
	}
	visit(callback, 2);
	sum += total(1, 5);
	CHECK();
	LEAVE();
	return sum;
}
