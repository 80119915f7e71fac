/* The part of foreign.c that comes through an archive, instrumented. */
#include "shadow.h"

int gcc_apply(int (*f)(int), int n);
int archive_apply(int (*f)(int), int n);
int archive_recursive(int n);

NOINLINE static int archive_static(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

NOINLINE int archive_apply(int (*f)(int), int n)
{
	ENTER();
	int value = f(n) + archive_static(n);
	LEAVE();
	return value;
}

NOINLINE int archive_recursive(int n)
{
	ENTER();
	CHECK();
	int value = n ? archive_recursive(n - 1) : FOREIGN("gcc_apply", gcc_apply(archive_static, n));
	LEAVE();
	return value;
}
