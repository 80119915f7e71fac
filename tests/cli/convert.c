/* convert.c - allocations, events with values and a recursion that calls itself from two lines, in two threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <waymark.h>

static void *volatile kept[64];

__attribute__((noinline)) static void keep(int at, size_t bytes)
{
	kept[at % 64] = malloc(bytes);
	if (at % 3)
		free(kept[at % 64]);
}

__attribute__((noinline)) static int deep(int n)
{
	wm_event("step", (uint64_t)n);
	keep(n, (size_t)n * 10 + 1);
	if (n < 2)
		return 1;
	if (n % 2)
		return deep(n - 1) + 1;
	return deep(n - 2) + deep(n - 1);
}

static void *run(void *start)
{
	printf("%d\n", deep((int)(intptr_t)start));
	return NULL;
}

int main(void)
{
	pthread_t thread;

	wm_event("begin", 0);
	if (pthread_create(&thread, NULL, run, (void *)7))
		return 1;
	run((void *)9);
	return pthread_join(thread, NULL);
}
