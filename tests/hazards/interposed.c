/*
 * A library whose functions another image replaces: first nobody does, then what LD_PRELOAD names. With -DDEFINES_STEP the program
 * itself does, both times.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "shadow.h"

int step(int n);
int work(int n, void (*callback)(void));

#ifdef DEFINES_STEP
NOINLINE int step(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n + 51;
}
#endif

static NOINLINE void callback(void)
{
	ENTER();
	CHECK();
	step(7);
	LEAVE();
}

int main(int argc, char **argv)
{
	ENTER();
	const int n = 3 + argc - 1;
	const int plain =
		1 + n + n * (n - 1) / 2 + n + n * (n - 1) / 2 + 5 * n + n * 29 + n * (n - 1) / 2 + 5 + n + n + 1 - n;
	int more = 0;
	const int steps = 1 + n + n + 1; /* direct ones and those of total */
#ifdef DEFINES_STEP
	more = steps * 50;
#else
	more = getenv("LD_PRELOAD") ? steps * 1000 : 0;
#endif
	more += getenv("LD_PRELOAD") ? n * 1000000 : 0;
#ifndef SYMBOLIC
	EXPECT(work(n, callback) == plain + more);
#else
	(void)plain;
	(void)more;
	EXPECT(work(n, callback) == plain);
#endif
	CHECK();
	if (!getenv("LD_PRELOAD")) {
		setenv("LD_PRELOAD", "./libother.so", 1);
		execv(argv[0], argv);
	}
	LEAVE();
	return 0;
}
