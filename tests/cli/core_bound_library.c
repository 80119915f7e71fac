/* core_bound_library.c - a shared library that calls functions of its own, which another image may replace. */
#include <waymark.h>

int entry(int n);
int middle(int n);
int replaced(int n);
void visit(int (*function)(int), int n);

static volatile int sink;

__attribute__((noinline)) int replaced(int n)
{
	sink += (int)wm_capture().id;
	return n + sink;
}

__attribute__((noinline)) static int leaves(int n)
{
	return replaced(n + 1);
}

__attribute__((noinline)) int middle(int n)
{
	int sum = n;

	if (n > 3)
		sum += leaves(n); /* which leaves by a tail call */
	else if (n > 2)
		sum += replaced(n);
	sum += leaves(0);
	sink++;
	return sum;
}

int entry(int n)
{
	int sum = middle(n);

	sink++;
	return sum + middle(n - 1);
}

void visit(int (*function)(int), int n)
{
	sink += function(n);
	sink++;
}
