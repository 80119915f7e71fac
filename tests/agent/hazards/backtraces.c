/* backtraces.c - backtrace() from code, from callbacks and from handlers: frames of the program are all there. */
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>

#include "probe.h"

extern char __executable_start, etext;
static volatile int depth, cut, seen, total;

/* Frames of this program, but for those of this function, of a handler, and of _start. */
__attribute__((noinline)) static int frames(void)
{
	void *at[256];
	int n = backtrace(at, 256), found = 0;

	for (int i = 0; i < n; i++)
		found += (uintptr_t)at[i] - (uintptr_t)&__executable_start < (uintptr_t)(&etext - &__executable_start);
	return found;
}

/* main is in every whole backtrace, and so are the calls of `down` that have begun and not ended. */
__attribute__((noinline)) static void on_signal(int sig)
{
	int least = depth;

	(void)sig;
	seen++;
	if (frames() < least + 2)
		cut++;
}

__attribute__((noinline)) static int down(int n)
{
	int got = 0;

	depth++;
	for (int i = 0; i < 2 && n > 0; i++)
		got += down(n - 1);
	if (n == 0)
		raise(SIGPROF);
	total += got & 1;
	depth--;
	return got + 1;
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	PROBE();
	total += frames();
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int values[] = {5, 3, 7, 1, 2};

	for (int i = 0; i < 20; i++) {
		int again[5];

		__builtin_memcpy(again, values, sizeof again);
		qsort(again, 5, sizeof *again, compare);
		total += frames();
		PROBE();
	}
	printf("%d\n", total);
	frames();
	signal(SIGPROF, on_signal);
	total += down(6);
	PROBE();
	printf("%d of %d cut\n", cut, seen);
	return 0;
}
