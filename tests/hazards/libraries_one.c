/* The instrumented library of libraries.c. */
#include "shadow.h"

typedef int function(int);
int one_leaf(int n);
int one_apply(function *f, int n);
int one_calls_program(int n);
int one_ping(int n);
int one_uses_interposed(int n);
int one_uses_two(int n);
int one_real(int n);
int two_apply(function *f, int n);
int two_leaf(int n);
int program_function(int n);
int program_pong(int n);
int interposed(int n);

__attribute__((constructor)) static void one_constructor(void)
{
	ENTER();
	CHECK();
	two_leaf(0);
	LEAVE();
}

__attribute__((destructor)) static void one_destructor(void)
{
	ENTER();
	CHECK();
	LEAVE();
}

NOINLINE static int one_static(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

NOINLINE int one_leaf(int n)
{
	ENTER();
	CHECK();
	one_static(n);
	LEAVE();
	return n;
}

NOINLINE int one_apply(function *f, int n)
{
	ENTER();
	CHECK();
	int value = f(n);
	one_static(n);
	LEAVE();
	return value;
}

NOINLINE int one_calls_program(int n)
{
	ENTER();
	int value = program_function(n);
	CHECK();
	LEAVE();
	return value;
}

NOINLINE int one_ping(int n)
{
	ENTER();
	CHECK();
	int value = n ? program_pong(n - 1) : one_static(n);
	LEAVE();
	return value;
}

NOINLINE int interposed(int n)
{
	ENTER_AS("the library's interposed");
	EXPECT(n < 0);
	one_static(n);
	CHECK();
	LEAVE();
	return n;
}

NOINLINE int one_uses_interposed(int n)
{
	ENTER();
	one_static(n);
	int value = interposed(n);
	CHECK();
	LEAVE();
	return value;
}

NOINLINE int one_uses_two(int n)
{
	ENTER();
	int value = two_leaf(n) + two_apply(one_static, n) + two_apply(one_leaf, n);
	CHECK();
	LEAVE();
	return value;
}

NOINLINE int one_real(int n)
{
	ENTER();
	CHECK();
	one_static(n);
	LEAVE();
	return n;
}

extern __typeof__(one_real) one_alias __attribute__((alias("one_real")));
