/* One of the two instrumented libraries of plainprogram.c. */
#include "shadow.h"

int embedded_first(int (*f)(int), int n);
int embedded_second(int n);
void embedded_thread_root(void);

void embedded_thread_root(void)
{
	THREAD_ROOT();
}

NOINLINE static int first_static(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

NOINLINE int embedded_first(int (*f)(int), int n)
{
	ENTER();
	CHECK();
	int value = f(n) + first_static(n) + embedded_second(n);
	CHECK();
	LEAVE();
	return value;
}
