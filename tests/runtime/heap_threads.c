/*
 * heap_threads.c - a program under the heap client: threads that allocate, move, hand to each other and free blocks in
 * known contexts, with calls that fail in between. heap_threads THREADS ROUNDS SEED
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "push.h"

enum {
	SHARED = 512,
};

static _Atomic(void *) shared[SHARED];
static unsigned int rounds;

struct worker {
	pthread_t thread;
	uint64_t random;
};

static uint32_t next_random(struct worker *w)
{
	w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(w->random >> 33);
}

static void fail(const char *what)
{
	fprintf(stderr, "heap_threads: %s\n", what);
	exit(1);
}

/* volatile: the compiler may not know what these calls do. */
static volatile size_t huge = (size_t)-4096;

static void *calls_that_fail(void *block)
{
	void *other;

	errno = 0;
	if (malloc(huge) || errno != ENOMEM)
		fail("malloc of too much");
	errno = 0;
	if (calloc(huge, 16) || errno != ENOMEM)
		fail("calloc of too much");
	errno = 0;
	if (reallocarray(block, huge, 16) || errno != ENOMEM)
		fail("reallocarray of too much");
	errno = 0;
	if (realloc(block, huge) || errno != ENOMEM)
		fail("realloc to too much");
	errno = 0;
	if (posix_memalign(&other, 3, 10) != EINVAL || errno != 0)
		fail("posix_memalign to 3");
	return block;
}

static void *allocate(struct worker *w, size_t size)
{
	void *block = NULL;
	char *zeros;
	size_t i;

	switch (next_random(w) % 9) {
	case 0:
		zeros = calloc(3, size);
		for (i = 0; i < 3 * size; i++)
			if (zeros[i])
				fail("calloc gave a byte that is not 0");
		memset(zeros, 0xaa, 3 * size);
		return zeros;
	case 1:
		block = realloc(NULL, size);
		break;
	case 2:
		if (posix_memalign(&block, 64, size))
			fail("posix_memalign");
		break;
	case 3:
		block = aligned_alloc(32, (size + 31) / 32 * 32);
		break;
	case 4:
		block = next_random(w) % 32 ? memalign(128, size) : next_random(w) % 2 ? valloc(size) : pvalloc(size);
		break;
	case 5:
		block = reallocarray(NULL, size, 2);
		break;
	default:
		block = malloc(size);
	}
	if (block && size)
		memset(block, 0x55, size);
	return block;
}

static void *change(struct worker *w, void *block)
{
	switch (next_random(w) % 8) {
	case 0:
		return realloc(block, 1 + next_random(w) % 3000);
	case 1:
		return block ? calls_that_fail(block) : NULL;
	case 2:
		return block ? realloc(block, 0) : NULL;
	case 3:
		return reallocarray(block, 1 + next_random(w) % 30, 7);
	default:
		return block;
	}
}

static void round_of(struct worker *w)
{
	uint32_t site = 100 + next_random(w) % 8;
	void *block = NULL;

	if (next_random(w) % 2)
		PUSHED(site, block = allocate(w, next_random(w) % 500));
	PUSHED(site + 10, block = change(w, block));
	block = atomic_exchange(&shared[next_random(w) % SHARED], block);
	PUSHED(site + 20, free(block));
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int i;

	for (i = 0; i < rounds; i++)
		PUSHED(99, round_of(w));
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 4;
	struct worker workers[16];
	int i;

	rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 20000;
	for (i = 0; i < count && i < 16; i++) {
		workers[i].random = (argc > 3 ? (uint64_t)atoi(argv[3]) : 1) * 1000 + (uint64_t)i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			fail("no thread");
	}
	for (i = 0; i < count && i < 16; i++)
		pthread_join(workers[i].thread, NULL);
	printf("done\n"); /* stdout's buffer is a block too */
	return 0;
}
