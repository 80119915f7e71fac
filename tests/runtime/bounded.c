/*
 * bounded.c - more events than their recording has room for. bounded EVENTS CONTEXTS THREADS [END]: each thread logs so many, in so many contexts,
 * with its number as value. END: `killed` behind the last one, by another thread once the first has logged `END` of them, or `forked`.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "waymark.h"

static unsigned int events, contexts, last;
static volatile unsigned int progress; /* of the main thread */
static pthread_t main_thread;

/* As deep as the bits of n say: each n is another context. */
__attribute__((noinline)) void leaf(unsigned long value)
{
	wm_event("hit", value);
	__asm__ volatile("");
}
__attribute__((noinline)) void zero(unsigned int n, int bits, unsigned long value);
__attribute__((noinline)) void one(unsigned int n, int bits, unsigned long value);

__attribute__((noinline)) static void descend(unsigned int n, int bits, unsigned long value)
{
	if (bits == 0)
		leaf(value);
	else if (n & 1)
		one(n / 2, bits - 1, value);
	else
		zero(n / 2, bits - 1, value);
	__asm__ volatile("");
}

void zero(unsigned int n, int bits, unsigned long value)
{
	descend(n, bits, value);
	__asm__ volatile("");
}

void one(unsigned int n, int bits, unsigned long value)
{
	descend(n, bits, value);
	__asm__ volatile("");
}

/* The n-th context has n + 1 times as many as the first. */
static void *work(void *unused)
{
	unsigned int n = 0, left = 1;

	(void)unused;
	for (unsigned int i = 0; i < events; i++) {
		descend(n, 12, i);
		if (pthread_equal(pthread_self(), main_thread))
			progress = i + 1;
		if (--left == 0) {
			n = (n + 1) % contexts;
			left = n + 1;
		}
	}
	return NULL;
}

/* Wherever the main thread is then. */
static void *kill_midway(void *unused)
{
	while (progress < last)
		;
	kill(getpid(), SIGKILL);
	return unused;
}

static void run(int thread_count)
{
	pthread_t threads[16];

	for (int i = 1; i < thread_count; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	work(NULL);
	for (int i = 1; i < thread_count; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *end = argc > 4 ? argv[4] : "";
	pthread_t killer;
	int threads;

	main_thread = pthread_self();
	if (argc < 4)
		return 2;
	events = (unsigned int)atoi(argv[1]);
	contexts = (unsigned int)atoi(argv[2]);
	threads = atoi(argv[3]);
	last = (unsigned int)atoi(end);
	if (last)
		pthread_create(&killer, NULL, kill_midway, NULL);
	run(threads);
	if (strcmp(end, "forked") == 0) {
		if (fork() == 0) {
			run(1);
			_exit(0);
		}
		wait(NULL);
	}
	if (strcmp(end, "killed") == 0)
		raise(SIGKILL);
	return 0;
}
