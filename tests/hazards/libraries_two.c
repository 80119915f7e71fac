/* The second instrumented library of libraries.c. */
#include "shadow.h"

int two_leaf(int n);
int two_apply(int (*f)(int), int n);

NOINLINE int two_leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

NOINLINE int two_apply(int (*f)(int), int n)
{
	ENTER();
	int value = f(n) + two_leaf(n);
	CHECK();
	LEAVE();
	return value;
}
