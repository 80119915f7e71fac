/* core_bound.c - has a function in place of its library's (core_bound_library.c), in which it faults when it is called with 3 or 5. */
#include <stdlib.h>
#include <waymark.h>

int entry(int n);
int replaced(int n);
void visit(int (*function)(int), int n);

static volatile int sink;

#ifdef REPLACES
__attribute__((noinline)) static int fault(int n)
{
	sink += (int)wm_capture().id;
	if (n == 3 || n == 5)
		*(volatile int *)16 = n;
	sink += n;
	return n;
}

int replaced(int n)
{
	int result = n ? fault(n) : 0;

	sink++;
	return result;
}
#endif

__attribute__((noinline)) static int visited(int n)
{
	int result = entry(n);

	sink++;
	return result;
}

int main(int argc, char **argv)
{
	sink = atoi(argv[argc - 1]);
	visit(visited, sink);
	return sink;
}
