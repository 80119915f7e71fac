/* The first instrumented plugin of plugins.c. */
#include "shadow.h"

int plugin_a_apply(int (*f)(int), int n);
int plugin_a_exported(int n);
int program_function(int n);

static __thread int calls;

NOINLINE static int a_static(int n)
{
	ENTER();
	calls++;
	CHECK();
	LEAVE();
	return n;
}

__attribute__((constructor)) static void a_constructor(void)
{
	ENTER();
	CHECK();
	a_static(0);
	LEAVE();
}

__attribute__((destructor)) static void a_destructor(void)
{
	ENTER();
	a_static(0);
	LEAVE();
}

NOINLINE int plugin_a_apply(int (*f)(int), int n)
{
	ENTER();
	int value = f(n) + a_static(n) + program_function(n);
	CHECK();
	LEAVE();
	return value;
}

NOINLINE int plugin_a_exported(int n)
{
	ENTER();
	CHECK();
	int value = n > 0 ? plugin_a_exported(n - 1) : a_static(n);
	LEAVE();
	return value;
}
