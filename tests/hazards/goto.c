/* Computed goto: a threaded interpreter whose operations call functions, itself and callbacks. */
#include <stdlib.h>

#include "shadow.h"

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

NOINLINE static int compare(const void *a, const void *b)
{
	ENTER();
	CHECK();
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

NOINLINE static int run(const unsigned char *code, int depth)
{
	ENTER();
	static const void *const labels[] = {&&halt, &&call, &&recurse, &&sort, &&check, &&jump};
	int sum = 0, values[] = {2, 1, 3};
	const unsigned char *start = code;
	goto *labels[*code++];
call:
	sum += leaf(depth);
	goto *labels[*code++];
recurse:
	if (depth)
		sum += run(start, depth - 1);
	goto *labels[*code++];
sort:
	FOREIGN_VOID("qsort", qsort(values, 3, sizeof *values, compare));
	goto *labels[*code++];
check:
	CHECK();
	goto *labels[*code++];
jump:
	code += *code;
	goto *labels[*code++];
halt:
	leaf(0);
	LEAVE();
	return sum;
}

int main(void)
{
	ENTER();
	static const unsigned char a[] = {1, 2, 4, 3, 1, 5, 1, 0}, b[] = {5, 2, 1, 2, 2, 4, 0};
	run(a, 3);
	run(b, 4);
	leaf(1);
	LEAVE();
	return 0;
}
