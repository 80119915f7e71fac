/*
 * heap.c - allocates in known contexts and numbers before, while and after `waymark attach --heap` is there, in the first thread and in
 * others, in all ways there are. A line of its input is a step, which all threads take; then it prints the line.
 *
 *	before...	makes blocks that live on
 *	while...	frees some of them, resizes others, and allocates in known numbers
 *	after...	frees what is left
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

enum {
	THREADS = 3,
	BLOCKS = 100,
	ROUNDS = 1000,
};

static struct {
	void *old[BLOCKS];  /* from before */
	void *kept[BLOCKS]; /* from while the agent was there */
} own[THREADS + 1];
static atomic_long failures;
static sem_t begins[THREADS], done;
static const char *volatile step;
static void *(*volatile copied)(size_t) = malloc;
volatile long sink;

static void expect(int is_so)
{
	failures += !is_so;
}

static void *check(void *block)
{
	expect(block != NULL);
	sink++;
	return block;
}

static NOINLINE void *leaf(size_t bytes)
{
	return check(malloc(bytes));
}

static NOINLINE void before(int me)
{
	for (int i = 0; i < BLOCKS; i++)
		own[me].old[i] = leaf(24);
	sink++;
}

/* Blocks from before: 40 are freed, 30 get larger, 30 stay. */
static NOINLINE void meets_old(int me)
{
	for (int i = 0; i < 40; i++) {
		free(own[me].old[i]);
		own[me].old[i] = NULL;
	}
	for (int i = 40; i < 70; i++)
		own[me].old[i] = check(realloc(own[me].old[i], 5000));
	sink++;
}

static NOINLINE void *recurse(int n)
{
	void *block = n ? recurse(n - 1) : leaf(100);

	sink++;
	return block;
}

static NOINLINE void keeps(int me)
{
	for (int i = 0; i < BLOCKS; i++)
		own[me].kept[i] = recurse(i % 4);
	sink++;
}

static NOINLINE void passes(void)
{
	for (int i = 0; i < ROUNDS; i++)
		free(leaf(16));
	sink++;
}

static NOINLINE void by_pointer(void)
{
	for (int i = 0; i < 10; i++)
		free(check(copied(33)));
	sink++;
}

/* strdup is of the C library, which calls malloc. */
static NOINLINE void by_library(void)
{
	for (int i = 0; i < 10; i++)
		free(check(strdup("seven and more")));
	sink++;
}

static NOINLINE void all_kinds(void)
{
	void *volatile none = NULL;
	void *block;

	block = check(calloc(3, 5));
	block = check(realloc(block, 100));
	block = check(realloc(block, 200000));
	block = check(reallocarray(block, 10, 7));
	free(block);
	free(check(realloc(none, 11)));
	expect(!realloc(leaf(12), 0));
	expect(posix_memalign(&block, 64, 1000) == 0);
	free(block);
	expect(posix_memalign(&block, 8, 1001) == 0); /* which is malloc's */
	free(block);
	free(check(aligned_alloc(256, 512)));
	free(check(valloc(3)));
	free(check(pvalloc(4)));
	expect(!malloc(PTRDIFF_MAX));
	block = leaf(13);
	expect(!realloc(block, PTRDIFF_MAX));
	expect(!reallocarray(block, SIZE_MAX, 2));
	free(block);
	sink++;
}

static NOINLINE void while_there(int me)
{
	meets_old(me);
	keeps(me);
	passes();
	by_pointer();
	by_library();
	all_kinds();
	sink++;
}

static NOINLINE void after(int me)
{
	for (int i = 0; i < BLOCKS; i++) {
		free(own[me].kept[i]);
		free(own[me].old[i]);
		own[me].old[i] = own[me].kept[i] = NULL;
	}
	passes();
	sink++;
}

static NOINLINE void run(int me)
{
	if (strncmp(step, "before", 6) == 0)
		before(me);
	else if (strncmp(step, "while", 5) == 0)
		while_there(me);
	else if (strncmp(step, "after", 5) == 0)
		after(me);
	sink++;
}

static void *worker(void *argument)
{
	int me = (int)(intptr_t)argument, is_last;

	do {
		sem_wait(&begins[me]);
		is_last = strcmp(step, "end") == 0;
		run(me);
		sem_post(&done); /* the next step may come */
	} while (!is_last);
	return NULL;
}

/* Threads that begin while the agent is there know where. */
static void *shortly(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		free(leaf(17));
	return unused;
}

static NOINLINE void starts(void)
{
	pthread_t thread;

	expect(pthread_create(&thread, NULL, shortly, NULL) == 0);
	pthread_join(thread, NULL);
}

static NOINLINE void take_step(void)
{
	for (int i = 0; i < THREADS; i++)
		sem_post(&begins[i]);
	run(THREADS);
	for (int i = 0; i < THREADS; i++)
		sem_wait(&done);
	if (strncmp(step, "while", 5) == 0)
		starts();
	puts(step);
	fflush(stdout);
}

int main(void)
{
	static char line[64];
	pthread_t threads[THREADS];

	sem_init(&done, 0, 0);
	for (int i = 0; i < THREADS; i++) {
		sem_init(&begins[i], 0, 0);
		pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i);
	}
	step = line;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		take_step();
	}
	strcpy(line, "end");
	take_step();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld failures\n", (long)failures);
	return 0;
}
