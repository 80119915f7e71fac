/* The other instrumented library of plainprogram.c. */
#include <stdlib.h>

#include "shadow.h"

int embedded_second(int n);

NOINLINE static int compare(const void *a, const void *b)
{
	ENTER();
	CHECK();
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

NOINLINE int embedded_second(int n)
{
	ENTER();
	int values[] = {2, 1, 3};
	CHECK();
	FOREIGN_VOID("qsort", qsort(values, 3, sizeof *values, compare));
	int value = n ? embedded_second(n - 1) : 0;
	LEAVE();
	return value;
}
