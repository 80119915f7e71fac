/* Threads: create, join, detach, exit from depth, deferred cancellation with clean-up handlers, key destructors, once. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>

#include "shadow.h"

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t detached_done;

NOINLINE static int work(int n)
{
	ENTER();
	CHECK();
	int value = n ? work(n - 1) + 1 : 0;
	LEAVE();
	return value;
}

NOINLINE static void key_destructor(void *value)
{
	THREAD_ROOT();
	/* A thread that ended from within: its frames are unwound, yet the call that ended it may still be named. */
	if (shadow.depth > shadow.thread) {
		shadow.depth = shadow.thread;
		shadow_push("...");
	}
	ENTER();
	(void)value;
	CHECK();
	work(1);
	LEAVE();
}

NOINLINE static void init_once(void)
{
	ENTER();
	CHECK();
	EXPECT(pthread_key_create(&key, key_destructor) == 0);
	LEAVE();
}

NOINLINE static void *plain_thread(void *arg)
{
	THREAD_ROOT();
	ENTER();
	FOREIGN_VOID("pthread_once", pthread_once(&once, init_once));
	pthread_setspecific(key, arg);
	for (int i = 0; i < 8; i++)
		work(i);
	LEAVE();
	return arg;
}

NOINLINE static void exit_from(int n)
{
	ENTER();
	CHECK();
	if (n)
		exit_from(n - 1);
	FOREIGN_VOID("pthread_exit", pthread_exit(&key));
	LEAVE();
}

NOINLINE static void *exiting_thread(void *arg)
{
	THREAD_ROOT();
	ENTER();
	pthread_setspecific(key, &key);
	exit_from(3);
	LEAVE();
	return arg;
}

NOINLINE static void *detached_thread(void *arg)
{
	THREAD_ROOT();
	ENTER();
	work(2);
	LEAVE();
	sem_post(&detached_done);
	return arg;
}

static sem_t ready;

NOINLINE static void wait_for_cancel(void)
{
	ENTER();
	CHECK();
	sem_post(&ready);
	shadow_push("[pause]");
	for (;;)
		pause();
}

NOINLINE static void *cancelled_thread(void *arg)
{
	THREAD_ROOT();
	ENTER();
	pthread_setspecific(key, &key);
	wait_for_cancel();
	LEAVE();
	return arg;
}

NOINLINE static void clean(void *arg)
{
#ifdef __EXCEPTIONS /* -fexceptions in C: an inline function of the header calls it */
	shadow_push("__pthread_cleanup_routine");
#endif
	ENTER();
	++*(int *)arg;
	CHECK();
	work(1);
	LEAVE();
}

NOINLINE static void *cleaned_thread(void *arg)
{
	THREAD_ROOT();
	ENTER();
	pthread_cleanup_push(clean, arg);
	work(1);
	pthread_cleanup_pop(1);
	LEAVE();
	return arg;
}

NOINLINE static int c11_thread(void *arg)
{
	THREAD_ROOT();
	ENTER();
	work(3);
	LEAVE();
	return *(int *)arg;
}

NOINLINE static void *nested_thread(void *arg)
{
	THREAD_ROOT();
	ENTER();
	pthread_t inner;
	void *value;
	CHECK();
	EXPECT(CREATE(pthread_create(&inner, NULL, plain_thread, arg)) == 0);
	work(2);
	EXPECT(pthread_join(inner, &value) == 0 && value == arg);
	CHECK();
	LEAVE();
	return NULL;
}

int main(void)
{
	ENTER();
	pthread_t threads[4], one;
	pthread_attr_t attr;
	int number = 5;
	void *value;

	FOREIGN_VOID("pthread_once", pthread_once(&once, init_once));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 4; i++)
			EXPECT(CREATE(pthread_create(&threads[i], NULL, plain_thread, &number)) == 0);
		work(3);
		for (int i = 0; i < 4; i++)
			EXPECT(pthread_join(threads[i], &value) == 0 && value == &number);
	}
	EXPECT(CREATE(pthread_create(&one, NULL, exiting_thread, NULL)) == 0);
	EXPECT(pthread_join(one, &value) == 0 && value == &key);
	sem_init(&detached_done, 0, 0);
	sem_init(&ready, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	EXPECT(CREATE(pthread_create(&one, &attr, detached_thread, NULL)) == 0);
	while (sem_wait(&detached_done))
		;
	EXPECT(CREATE(pthread_create(&one, NULL, cancelled_thread, NULL)) == 0);
	while (sem_wait(&ready))
		;
	EXPECT(pthread_cancel(one) == 0);
	EXPECT(pthread_join(one, &value) == 0 && value == PTHREAD_CANCELED);
	number = 0;
	EXPECT(CREATE(pthread_create(&one, NULL, cleaned_thread, &number)) == 0);
	EXPECT(pthread_join(one, NULL) == 0 && number == 1);
	thrd_t c11;
	int result;
	EXPECT(CREATE(thrd_create(&c11, c11_thread, &number)) == thrd_success);
	EXPECT(thrd_join(c11, &result) == thrd_success && result == 1);
	EXPECT(CREATE(pthread_create(&one, NULL, nested_thread, &number)) == 0);
	EXPECT(pthread_join(one, NULL) == 0);
	work(1);
	LEAVE();
	return 0;
}
