/* The second instrumented plugin of plugins.c; it calls the first one by name. */
#include "shadow.h"

int plugin_b_apply(int (*f)(int), int n);
int plugin_a_exported(int n);

NOINLINE int plugin_b_apply(int (*f)(int), int n)
{
	ENTER();
	CHECK();
	int value = f(n) + plugin_a_exported(n);
	CHECK();
	LEAVE();
	return value;
}
