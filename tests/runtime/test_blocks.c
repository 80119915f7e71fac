/*
 * test_blocks.c - the heap client's records under threads, without an allocator: made-up blocks change hands through an
 * exchange, as freed and reused memory does, and the sums must come out. Small enough for ThreadSanitizer.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "profile.h"
#include "push.h"

enum {
	THREADS = 8,
	ROUNDS = 4000,
	MANY = 100000,     /* blocks at once: several tables */
	ADDRESSES = 20000, /* many more than the first table has places for at once */
};

/* A free address is in here, once; taking it out makes a thread its owner. */
static _Atomic uintptr_t pool[ADDRESSES];
static _Atomic uint64_t allocated, allocated_bytes, freed, freed_bytes;

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

static void alloc(uintptr_t address, size_t size)
{
	wm1_heap_alloc((void *)address, size);
	atomic_fetch_add(&allocated, 1);
	atomic_fetch_add(&allocated_bytes, size);
}

static void release(uintptr_t address, size_t size)
{
	struct wm1_heap_block taken = wm1_heap_take((void *)address);

	if (size % 3 == 0) { /* a realloc that fails */
		wm1_heap_put_back((void *)address, taken);
		taken = wm1_heap_take((void *)address);
	}
	if (taken.size_bytes != size || !taken.record)
		abort();
	wm1_heap_freed(taken);
	atomic_fetch_add(&freed, 1);
	atomic_fetch_add(&freed_bytes, size);
}

static pthread_barrier_t all_done;

static void *work(void *arg)
{
	uint64_t random = (uintptr_t)arg;
	uintptr_t held[64] = {0};
	size_t sizes[64] = {0};
	int i;

	for (i = 0; i < ROUNDS; i++) {
		uint32_t h = next_random(&random) % 64;
		_Atomic uintptr_t *place = &pool[next_random(&random) % ADDRESSES];
		uintptr_t address = atomic_exchange(place, 0);

		if (!address)
			continue;
		if (held[h]) {
			PUSHED(300, release(held[h], sizes[h]));
			atomic_store(place, held[h]); /* any thread may have it now */
		}
		held[h] = address;
		sizes[h] = next_random(&random) % 1000;
		PUSHED(301 + h, alloc(address, sizes[h]));
	}
	/* Nobody takes over the stack of one that is gone: ThreadSanitizer does not know that the kernel orders that. */
	pthread_barrier_wait(&all_done);
	return NULL;
}

int main(void)
{
	struct wmk_heap record, sum = {0};
	struct wmk_walk walk = {0};
	pthread_t threads[THREADS];
	struct profile p;
	uintptr_t i;

	for (i = 0; i < ADDRESSES; i++)
		pool[i] = 0x10000 + i * 16;
	wm1_heap_start();
	pthread_barrier_init(&all_done, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < MANY; i++)
		alloc(0x10000000 + i * 32, 10);
	for (i = 0; i < MANY; i += 2)
		release(0x10000000 + i * 32, 10);
	wm1_heap_freed(wm1_heap_take((void *)(uintptr_t)0x4242420));
	if (!profile_of(getpid(), "", &p))
		return 1;
	while (wmk_next_heap(&p.file, &walk, &record)) {
		sum.count += record.count;
		sum.bytes += record.bytes;
		sum.lives[0] += wmk_heap_freed(&record);
		sum.freed_bytes += record.freed_bytes;
	}
	CHECK(allocated > MANY + THREADS * ROUNDS / 4);
	CHECK_U64(sum.count, allocated);
	CHECK_U64(sum.bytes, allocated_bytes);
	CHECK_U64(sum.lives[0], freed);
	CHECK_U64(sum.freed_bytes, freed_bytes);
	CHECK_U64(p.file.header.heap_live_bytes, allocated_bytes - freed_bytes);
	CHECK_U64(p.file.header.heap_unknown_frees, 1);
	profile_close(&p);
	return check_status();
}
