/*
 * test_heap_memo.c - what is found in the memo of the heap client is what was set for that point and no other, with threads that set the same
 * entries and a signal handler that does so on top of them.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "check.h"
#include "runtime/heap/heap_memo.h"

enum {
	THREADS = 4,
	ROUNDS = 100000,
	POINTS = 6000, /* more than there are entries */
	SIGNAL_EVERY = 64,
};

static _Atomic uint32_t found, wrong;

/* Points that differ in one member alone are among them. */
static struct heap_point point_of(uint32_t n)
{
	struct heap_point p = {.call = 0x401000, .id = 7, .prefix = 16, .epoch = 1, .generation = 0};

	switch (n % 6) {
	case 0:
		p.call += (uint64_t)n << 3 | (uint64_t)(n % 9) << 56;
		break;
	case 1:
		p.id += n;
		break;
	case 2:
		p.prefix += n;
		break;
	case 3:
		p.epoch += n;
		break;
	case 4:
		p.size_class += n;
		break;
	default:
		p.generation += n;
		break;
	}
	return p;
}

static void use(uint32_t n)
{
	struct heap_point p = point_of(n);
	uint32_t record;

	if (!heap_memo_find(&p, &record)) {
		heap_memo_set(&p, n + 1);
		return;
	}
	atomic_fetch_add(&found, 1);
	if (record != n + 1)
		atomic_fetch_add(&wrong, 1);
}

static void on_signal(int number)
{
	static _Thread_local uint32_t n;

	(void)number;
	for (int i = 0; i < 4; i++)
		use(n++ * 31 % POINTS);
}

static void *work(void *data)
{
	uint32_t n = (uint32_t)(uintptr_t)data;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		n = n * 1664525 + 1013904223;
		use((n >> 8) % (i % 2 ? POINTS : 64));
		if (i % SIGNAL_EVERY == 0)
			pthread_kill(pthread_self(), SIGUSR1);
	}
	return NULL;
}

int main(void)
{
	struct heap_point p = point_of(1);
	pthread_t threads[THREADS];
	uint32_t record;

	CHECK(!heap_memo_find(&p, &record));
	heap_memo_set(&p, 0);
	CHECK(heap_memo_find(&p, &record) && record == 0);
	heap_memo_clear();
	CHECK(!heap_memo_find(&p, &record));
	signal(SIGUSR1, on_signal);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1)); /* NOLINT(performance-no-int-to-ptr) */
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(wrong == 0);
	CHECK(found > THREADS * ROUNDS / 4);
	return check_status();
}
