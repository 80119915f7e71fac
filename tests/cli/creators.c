/*
 * creators.c - threads by two ways; events, heap use and tokens in them.
 *
 * creators             runs a worker by each way, and by the first again
 * creators deep N      a thread that creates one, and so on, N deep; a token in the last
 * creators crash WAY   the worker crashes: `direct`; `nested`: in a thread that a thread has created, below recursion
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waymark.h>

static const char *way = "";
static sem_t done;
static volatile int sink;
static void *volatile kept;

static void print_token(void)
{
	char token[WM_TOKEN_MAX];

	wm_token(wm_capture(), token, sizeof token);
	puts(token);
}

__attribute__((noinline)) static int fault(const void *a, const void *b)
{
	sink++;
	if (*way)
		*(volatile int *)16 = 1;
	if (sink < 0)
		wm_event("never", 1); /* so that contexts name this function */
	return (a > b) - (a < b);
}

static void *worker(void *argument)
{
	if (*way)
		sink += fault(argument, argument);
	wm_event("work", 1);
	kept = malloc(100);
	free(kept);
	return argument;
}

__attribute__((noinline)) static void start(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL) != 0 || pthread_join(thread, NULL) != 0)
		abort();
}

__attribute__((noinline)) static void first_way(void)
{
	start(worker);
	sink++;
}

__attribute__((noinline)) static void other_way(void)
{
	start(worker);
	sink--;
}

__attribute__((noinline)) static void recurse(int n)
{
	if (n)
		recurse(n - 1);
	else
		start(worker);
	sink++;
}

static void *outer(void *argument)
{
	recurse(3);
	return argument;
}

static int left;

static void *deep(void *argument)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (--left == 0) {
		print_token();
		sem_post(&done);
		return argument;
	}
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, deep, NULL) != 0)
		abort();
	return argument;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "deep") == 0) {
		left = atoi(argv[2]);
		sem_init(&done, 0, 0);
		start(deep);
		while (sem_wait(&done))
			;
		return 0;
	}
	if (argc == 3)
		way = argv[2];
	if (strcmp(way, "nested") == 0) {
		start(outer);
	} else {
		first_way();
		other_way();
		first_way();
	}
	return 0;
}
