/*
 * workers.c - threads that call through pointers and recursion while calls are still found and encoded anew, with a mutex and a condition
 * that hand work around. More functions are reached as time goes on.
 * hazards.sh: again epochs,wall
 */
#include <pthread.h>

#include "../hazards/probe.h"

enum {
	THREADS = 5,
	ROUNDS = 400,
};

typedef unsigned long (*step_fn)(unsigned long, int);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long turn, total;

static unsigned long recurse(unsigned long x, int depth);

__attribute__((noinline)) static unsigned long leaf(unsigned long x, int depth)
{
	if (x % 61 == 0)
		PROBE();
	return x * 3 + (unsigned long)depth;
}

__attribute__((noinline)) static unsigned long twice(unsigned long x, int depth)
{
	unsigned long got = leaf(x, depth);

	return got + leaf(x + 1, depth - 1);
}

__attribute__((noinline)) static unsigned long around(unsigned long x, int depth)
{
	unsigned long got = recurse(x, depth - 1);

	return got + twice(x, depth);
}

__attribute__((noinline)) static unsigned long tail(unsigned long x, int depth)
{
	return depth % 2 ? leaf(x + 5, depth) : recurse(x + 6, depth - 2);
}

#define STEP(n)                                                                                             \
	__attribute__((noinline)) static unsigned long step_##n(unsigned long x, int depth)                 \
	{                                                                                                   \
		unsigned long got = (n) % 3 ? leaf(x + (n), depth) : recurse(x + (n), depth - 1 - (n) % 2); \
                                                                                                            \
		return got + ((n) % 2 ? twice(got, depth) : leaf(got, depth));                              \
	}
STEP(1)
STEP(2)
STEP(3)
STEP(4)
STEP(5)
STEP(6)
STEP(7)
STEP(8)

static const step_fn steps[] = {leaf,   around, twice,  recurse, tail,   step_1, step_2,
				step_3, step_4, step_5, step_6,  step_7, step_8};

__attribute__((noinline)) static unsigned long recurse(unsigned long x, int depth)
{
	unsigned long got;

	if (depth <= 0)
		return leaf(x, 0);
	got = steps[(x + (unsigned long)depth) % (5 + turn % 9)](x + 1, depth - 1);
	return got + recurse(got, depth - 2);
}

/* Waits for its turn: the sequence of turns, and so what is called, is the same in each run. */
__attribute__((noinline)) static void take_turn(unsigned long number, unsigned long got)
{
	pthread_mutex_lock(&mutex);
	while (turn % THREADS != number)
		pthread_cond_wait(&changed, &mutex);
	total = total * 31 + got;
	turn++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	PROBE();
}

static void *work(void *argument)
{
	unsigned long number = (unsigned long)argument, got = 0;

	for (unsigned long i = 0; i < ROUNDS; i++) {
		unsigned long local = 0;

		for (unsigned long k = 0; k < 6; k++)
			local += steps[(i + k) % (sizeof steps / sizeof *steps)](number * 7 + i + k,
										 3 + (int)(i % 5)) != 0;
		got += local;
		take_turn(number, got);
	}
	PROBE();
	return (void *)got;
}

int main(void)
{
	pthread_t threads[THREADS];
	unsigned long got = 0;

	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *one;

		pthread_join(threads[i], &one);
		got += (unsigned long)one;
		PROBE();
	}
	printf("%lu %lu %lu\n", got, total, turn);
	return 4;
}
