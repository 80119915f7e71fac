/*
 * test_memo.c - what is found in a memo is what was set for that key and no other, with threads that set the same places and a signal handler
 * that does so on top of them.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "check.h"
#include "recorder/memo.h"

enum {
	THREADS = 4,
	ROUNDS = 100000,
	KEYS = 6000, /* more than there are places */
	SIGNAL_EVERY = 64,
};

static _Atomic uint32_t found, wrong;

static struct wmrt_memo memo;

/* Keys that differ in one word alone are among them. */
static struct wmrt_memo_key key_of(uint32_t n)
{
	struct wmrt_memo_key key = {{0x401000, 7, 16, 1}};

	key.words[n % WMRT_MEMO_WORDS] += (uint64_t)n << (n % 2 * 32);
	return key;
}

/* Many keys have one hash, also in the same place. */
static uint64_t hash_of(uint32_t n)
{
	return n / 3 * 7;
}

static void use(uint32_t n)
{
	struct wmrt_memo_key key = key_of(n);
	uint32_t number = wmrt_memo_find(&memo, hash_of(n), &key);

	if (!number) {
		wmrt_memo_set(&memo, hash_of(n), &key, n + 1);
		return;
	}
	atomic_fetch_add(&found, 1);
	if (number != n + 1)
		atomic_fetch_add(&wrong, 1);
}

static void on_signal(int number)
{
	static _Thread_local uint32_t n;

	(void)number;
	for (int i = 0; i < 4; i++)
		use(n++ * 31 % KEYS);
}

static void *work(void *data)
{
	uint32_t n = (uint32_t)(uintptr_t)data;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		n = n * 1664525 + 1013904223;
		use((n >> 8) % (i % 2 ? KEYS : 64));
		if (i % SIGNAL_EVERY == 0)
			pthread_kill(pthread_self(), SIGUSR1);
	}
	return NULL;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct wmrt_memo_key key = key_of(1), none = {{0}};
	pthread_t threads[THREADS];

	CHECK(!wmrt_memo_find(&memo, 0, &none));
	CHECK(!wmrt_memo_find(&memo, 1, &key));
	wmrt_memo_set(&memo, 1, &key, 5);
	CHECK(wmrt_memo_find(&memo, 1, &key) == 5);
	CHECK(!wmrt_memo_find(&memo, 2, &key));
	wmrt_memo_clear(&memo);
	CHECK(!wmrt_memo_find(&memo, 1, &key));
	sigaction(SIGUSR1, &action, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1)); /* NOLINT(performance-no-int-to-ptr) */
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(wrong == 0);
	CHECK(found > THREADS * ROUNDS / 4);
	return check_status();
}
