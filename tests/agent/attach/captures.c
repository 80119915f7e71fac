/*
 * captures.c - includes waymark.h and captures contexts before, while and after `waymark attach` is there, in the first thread and in others.
 * Each line of its input is a step, which prints "STACK TOKEN" for each capture, with the stack of names that it keeps itself, and then
 * the line.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "waymark.h"

#define NOINLINE __attribute__((noinline, noclone))

static __thread const char *names[64];
static __thread int depth;
static sem_t begins, done;
static char step[64];
static wm_context kept;
static long failures;
volatile int sink;

static void enter(const char *name)
{
	names[depth++] = name;
}

static void print(wm_context c)
{
	char token[WM_TOKEN_MAX];

	failures += wm_token(c, token, sizeof token) != (int)strlen(token);
	for (int i = 0; i < depth; i++)
		printf("%s%s", i ? ";" : "", names[i]);
	printf(" %s\n", token);
}

static NOINLINE void leaf(int n)
{
	enter("leaf");
	if (n)
		leaf(n - 1);
	else
		print(wm_capture());
	depth--;
	sink = n;
}

static NOINLINE void logs(void)
{
	for (int i = 0; i < 3; i++)
		wm_event("seven", 7);
	sink = 1;
}

static int compare(const void *a, const void *b)
{
	enter("compare");
	print(wm_capture());
	depth--;
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void sorts(void)
{
	int items[3] = {2, 1, 3};

	enter("sorts");
	enter("[qsort]");
	qsort(items, 3, sizeof items[0], compare);
	depth--;
	print(wm_capture());
	depth--;
	sink = items[0];
}

static NOINLINE void captures(void)
{
	wm_context first = wm_capture(), again;

	enter("captures");
	print(first);
	for (int i = 0; i < 4; i++)
		leaf(i);
	sorts();
	logs();
	/* Two points, but one context of its callers. */
	again = wm_capture();
	failures += memcmp(&first, &again, sizeof first) == 0 && first.epoch != WM_EPOCH_NONE;
	print(again);
	depth--;
	sink = 1;
}

static void *worker(void *unused)
{
	enter("[thread]");
	enter("worker");
	for (;;) {
		sem_wait(&begins);
		if (strcmp(step, "end") == 0)
			return unused;
		captures();
		sem_post(&done);
	}
}

static void *shortly(void *unused)
{
	enter("main");
	enter("starts");
	enter("[thread]");
	enter("shortly");
	captures();
	return unused;
}

static NOINLINE void starts(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, shortly, NULL) == 0)
		pthread_join(thread, NULL);
	sink = 1;
}

/* The worker is the only one that prints until it is done. */
static NOINLINE void lets_work(void)
{
	sem_post(&begins);
	sem_wait(&done);
	sink = 1;
}

int main(void)
{
	pthread_t thread;

	enter("main");
	sem_init(&begins, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&thread, NULL, worker, NULL);
	puts("ready");
	fflush(stdout);
	while (fgets(step, sizeof step, stdin)) {
		step[strcspn(step, "\n")] = '\0';
		if (strncmp(step, "kept", 4) == 0) {
			print(kept);
		} else {
			kept = wm_capture();
			captures();
			lets_work();
			starts();
		}
		puts(step);
		fflush(stdout);
	}
	strcpy(step, "end");
	sem_post(&begins);
	pthread_join(thread, NULL);
	printf("%ld failures\n", failures);
	return 0;
}
