/*
 * segments.c - a program and a library whose code lies in several executable segments, as linker scripts, node and BOLT make them: calls,
 * tail calls, jump tables, pointers and callbacks lead from each to the other.
 * hazards.sh: libraries 1
 * hazards.sh: link -Wl,--section-start=.second=0x900000 -Wl,--section-start=.third=0xd00000
 */
#ifdef LIBRARY
#define PROBE_IN_LIBRARY
#endif
#include <dlfcn.h>
#include <string.h>

#include "probe.h"

/* Each is alone in its pages: there are gaps between them. */
#define SECOND __attribute__((noinline, section(".second")))
#define THIRD __attribute__((noinline, section(".third")))
#define FIRST __attribute__((noinline))

typedef int (*step_fn)(int);

#ifdef LIBRARY
#define NAME(name) library_##name
#else
#define NAME(name) program_##name
#endif

FIRST int NAME(first)(int n, step_fn back);
SECOND int NAME(second)(int n, step_fn back);
THIRD int NAME(third)(int n, step_fn back);

/* A jump table in one segment of data, labels in a segment of code. */
SECOND int NAME(switch)(int n, step_fn back)
{
	switch (n & 7) {
	case 0:
		return back(n) + 1;
	case 1:
		return NAME(third)(n - 1, back) * 3;
	case 2:
		return NAME(first)(n - 1, back) - 7;
	case 3:
		PROBE();
		return n;
	case 4:
		return NAME(second)(n - 1, back) ^ 5;
	case 5:
		return back(n + 1) + back(n);
	case 6:
		return NAME(third)(n - 1, back);
	default:
		return NAME(first)(n - 3, back) + 2;
	}
}

THIRD int NAME(third)(int n, step_fn back)
{
	PROBE();
	return n > 0 ? NAME(switch)(n, back) + 1 : back(n);
}

SECOND int NAME(second)(int n, step_fn back)
{
	PROBE();
	return n > 0 ? NAME(first)(n - 1, back) + NAME(third)(n - 2, back) : 1;
}

FIRST int NAME(first)(int n, step_fn back)
{
	PROBE();
	return n > 0 ? NAME(second)(n - 1, back) : NAME(third)(0, back);
}

#ifdef LIBRARY
int NAME(run)(int n, step_fn back);
int NAME(run)(int n, step_fn back)
{
	return NAME(first)(n, back) + 1;
}
#else
FIRST static int back_first(int n)
{
	PROBE();
	return n + 1;
}

SECOND static int back_second(int n)
{
	PROBE();
	return back_first(n) + 1;
}

THIRD static int back_third(int n)
{
	PROBE();
	return back_second(n) + back_first(n);
}

SECOND static int compare(const void *a, const void *b)
{
	PROBE();
	return *(const int *)a - *(const int *)b;
}

static const step_fn backs[] = {back_first, back_second, back_third};

typedef int (*run_fn)(int, step_fn);

static run_fn open_library(const char *program)
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof path, "%s.1.so", program);
	handle = dlopen(path, RTLD_NOW);
	return handle ? (run_fn)dlsym(handle, "library_run") : NULL;
}

int main(int argc, char **argv)
{
	run_fn run = open_library(argv[0]);
	int items[16], sum = 0;

	(void)argc;
	if (!run)
		return 1;
	for (int n = 0; n < 12; n++)
		for (int i = 0; i < 3; i++) {
			sum += program_first(n, backs[i]) + run(n, backs[i]);
			PROBE();
		}
	for (int i = 0; i < 16; i++)
		items[i] = i * 7 % 16;
	qsort(items, 16, sizeof *items, compare);
	printf("%d %d\n", sum, items[3]);
	return 0;
}
#endif
