/*
 * ends.c - threads that end in every way: early, detached, by pthread_exit, by cancellation, with cleanups and destructors that call.
 * hazards.sh: again epochs,wall
 */
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <unistd.h>

#include "../hazards/probe.h"

enum {
	STORM = 12,
	ROUNDS = 12,
};

static pthread_key_t key;
static sem_t done, ready;
static int counts[8];

__attribute__((noinline)) static long leaf(long x)
{
	PROBE();
	return x + 1;
}

__attribute__((noinline)) static long deep(long x, int depth)
{
	long got = depth > 0 ? deep(x, depth - 1) : leaf(x);

	return got + 1;
}

__attribute__((noinline)) static void count(int which)
{
	__atomic_fetch_add(&counts[which], 1, __ATOMIC_RELAXED);
}

static void destroy(void *value)
{
	PROBE();
	if (deep((long)value, 3) > 0)
		count(0);
	if ((long)value > 1)
		pthread_setspecific(key, (void *)((long)value - 1));
}

static void cleanup(void *which)
{
	PROBE();
	deep(1, 2);
	count((int)(long)which);
}

static void *early(void *argument)
{
	return (void *)leaf((long)argument);
}

static void *detached(void *argument)
{
	pthread_setspecific(key, argument);
	deep((long)argument, 4);
	count(1);
	sem_post(&done);
	return NULL;
}

__attribute__((noinline)) static void exits_below(int depth)
{
	if (depth > 0)
		exits_below(depth - 1);
	else
		pthread_exit((void *)deep(5, 2));
	PROBE();
}

static void *exits(void *argument)
{
	pthread_setspecific(key, argument);
	pthread_cleanup_push(cleanup, (void *)2);
	exits_below(3);
	pthread_cleanup_pop(0);
	return NULL;
}

__attribute__((noinline)) static void waits_below(int depth)
{
	if (depth > 0) {
		waits_below(depth - 1);
	} else {
		sem_post(&ready);
		for (;;)
			pause();
	}
	PROBE();
}

static void *waits(void *argument)
{
	pthread_setspecific(key, argument);
	pthread_cleanup_push(cleanup, (void *)3);
	pthread_cleanup_push(cleanup, (void *)4);
	waits_below(2);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}

static int c11(void *argument)
{
	count(5);
	if (argument)
		thrd_exit((int)deep(1, 3));
	return (int)deep(2, 2);
}

__attribute__((noinline)) static long storm(void)
{
	pthread_t threads[STORM];
	long got = 0;

	for (long i = 0; i < STORM; i++)
		pthread_create(&threads[i], NULL, early, (void *)i);
	for (int i = 0; i < STORM; i++) {
		void *one;

		pthread_join(threads[i], &one);
		got += (long)one;
		PROBE();
	}
	return got;
}

__attribute__((noinline)) static void detach(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	pthread_create(&thread, &attributes, detached, (void *)2);
	pthread_attr_destroy(&attributes);
	sem_wait(&done);
}

__attribute__((noinline)) static long leave(void)
{
	pthread_t one, other;
	thrd_t c11_threads[2];
	void *got, *cancelled;
	int a, b;

	pthread_create(&one, NULL, exits, (void *)1);
	pthread_create(&other, NULL, waits, (void *)3);
	thrd_create(&c11_threads[0], c11, NULL);
	thrd_create(&c11_threads[1], c11, counts);
	sem_wait(&ready);
	pthread_cancel(other);
	pthread_join(one, &got);
	pthread_join(other, &cancelled);
	thrd_join(c11_threads[0], &a);
	thrd_join(c11_threads[1], &b);
	PROBE();
	return (long)got + (cancelled == PTHREAD_CANCELED) + a + b;
}

int main(void)
{
	long got = 0;

	pthread_key_create(&key, destroy);
	sem_init(&done, 0, 0);
	sem_init(&ready, 0, 0);
	for (int i = 0; i < ROUNDS; i++) {
		got += storm();
		detach();
		got += leave();
	}
	printf("%ld %d %d %d %d %d\n", got, counts[1], counts[2], counts[3], counts[4], counts[5]);
	fflush(stdout);
	return 0;
}
