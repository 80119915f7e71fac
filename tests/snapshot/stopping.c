/*
 * stopping.c - stops in the way that its first argument names, the second is how deep it recurses before. Two threads wait
 * elsewhere meanwhile.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;
static const char *way;
static int (*volatile nowhere)(void);
static pthread_barrier_t barrier;

static inline __attribute__((always_inline)) int load(const volatile int *p)
{
	return *p + sink;
}

__attribute__((noinline)) static int stop(void)
{
	if (strcmp(way, "jump") == 0)
		return nowhere() + 1;
	if (strcmp(way, "signal") == 0)
		return raise(SIGUSR1) + sink;
	if (strcmp(way, "trap") == 0)
		return raise(SIGTRAP) + sink;
	if (strcmp(way, "wait") == 0) {
		puts("ready");
		fflush(stdout);
		for (;;)
			pause();
	}
	return load((const volatile int *)0x10) + 1;
}

__attribute__((noinline)) static int deep(int n)
{
	int result = n ? deep(n - 1) : stop();

	sink += result;
	return result + 1;
}

__attribute__((noinline)) static int endless(int n)
{
	volatile char room[4096];

	room[n % 4096] = (char)n;
	return endless(n + 1) + room[(n + 1) % 4096];
}

static void handle(int signal)
{
	(void)signal;
	load((const volatile int *)0x20);
}

static void *work(void *unused)
{
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	way = argc > 1 ? argv[1] : "fault";
	signal(SIGUSR1, handle);
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, work, NULL);
	pthread_barrier_wait(&barrier);
	if (strcmp(way, "overflow") == 0)
		return endless(0);
	return deep(argc > 2 ? atoi(argv[2]) : 0);
}
