/* core_context.c - stops by a fault in inner, in a thread, below recursion, in a callback or a handler; tailer leaves by tail calls. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <waymark.h>

static volatile int sink;

__attribute__((noinline)) static int inner(int n)
{
	sink += (int)wm_capture().id;
	if (n == 3)
		*(volatile int *)16 = 1;
	return sink;
}

__attribute__((noinline)) static int tailer(int n)
{
	sink++;
	return inner(n + 1);
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	return tailer(*(const int *)a) + *(const int *)b;
}

__attribute__((noinline)) static int recurse(int n)
{
	int table[3] = {2, 0, 2};
	int result;

	if (n == 0) {
		qsort(table, 3, sizeof table[0], compare);
		return table[0];
	}
	result = recurse(n - 1);
	sink += result;
	return result;
}

static void *work(void *argument)
{
	sink += recurse(3);
	return argument;
}

static void handle(int signal)
{
	sink += signal;
	sink += tailer(2);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (strcmp(way, "signal") == 0) {
		signal(SIGUSR1, handle);
		raise(SIGUSR1);
	} else if (strcmp(way, "thread") == 0) {
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
	} else {
		sink += recurse(500);
	}
	return sink;
}
