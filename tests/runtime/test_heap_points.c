/*
 * test_heap_points.c - an allocation in a call whose push has been put off has the record of the context that a capture has when it pushes the call,
 * however often, on random stacks with histories, runs, restarts and handlers, in several threads at once.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "profile.h"
#include "push.h"

enum {
	THREADS = 4,
	ROUNDS = 2000,
	DEPTH = 6,
	SITES = 2,
	BLOCK = 64,
	PREFIXES = 1 << 20,
};

#define thread ((volatile struct wm1_thread *)&wm1_thread_state)

static _Atomic uint32_t expected[PREFIXES];
static _Atomic uint32_t pushed, unpushed;
static _Thread_local uint64_t random_state;
static _Thread_local uintptr_t next_block;

static uint32_t next_random(uint32_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

/* A call of foreign code ends: whoever needed its entry has pushed it. */
static bool end_call(uint64_t sp)
{
	bool is_pushed = thread->deferred_sp != sp;

	if (is_pushed)
		wm1_put_back(sp);
	thread->deferred_sp = 0;
	return is_pushed;
}

static void begin_call(uint32_t site, uint64_t sp)
{
	thread->deferred_site = push_image.site_base + site;
	thread->deferred_sp = sp;
}

/* Some allocations in one call, then a capture in another one like it. */
static void allocate(uint64_t sp)
{
	uint32_t site = next_random(SITES), count = 1 + next_random(3), i;
	bool is_deferred = next_random(8) != 0;
	wm_context c;

	if (is_deferred)
		begin_call(site, sp);
	for (i = 0; i < count; i++) {
		next_block += BLOCK;
		wm1_heap_alloc_from((void *)next_block, 1 + next_random(BLOCK), NULL, WM1_HEAP_MALLOC);
		if (next_random(2))
			wm1_heap_free((void *)next_block);
	}
	if (is_deferred)
		atomic_fetch_add(end_call(sp) ? &pushed : &unpushed, 1);
	if (is_deferred)
		begin_call(site, sp);
	c = wm_capture();
	if (is_deferred)
		end_call(sp);
	CHECK(c.prefix < PREFIXES && !c.id);
	if (c.prefix < PREFIXES)
		atomic_fetch_add(&expected[c.prefix], count);
}

static void on_signal(int number);

static void walk(uint32_t depth, uint64_t sp)
{
	for (uint32_t i = 1 + next_random(3); i; i--) {
		uint32_t history = thread->history, choice = next_random(40);
		uint64_t id = thread->id;

		/* As if the function had called itself. */
		if (choice == 0)
			thread->history = 4 + next_random(2);
		thread->id = next_random(2);
		allocate(sp);
		if (choice == 1 && depth < DEPTH / 2)
			raise(SIGUSR1);
		if (depth < DEPTH) {
			struct push kept = push_at(next_random(SITES), thread->id, 0);

			/* Behind some pushes the history begins anew, behind others with the code of their call. */
			thread->top[-1].sp = sp + (choice == 2 ? WM1_SP_RESTARTS : choice == 3 ? WM1_SP_SPILLS : 0);
			if (choice == 2 || choice == 3)
				thread->history = choice == 2 ? WM1_HISTORY_NONE : 1 + next_random(2);
			walk(depth + 1 + next_random(2), sp - 64);
			push_end(kept);
		}
		thread->history = history;
		thread->id = id;
	}
}

static void on_signal(int number)
{
	(void)number;
	walk(DEPTH - 2, (UINT64_C(1) << 30) - 4096);
}

static void *work(void *data)
{
	uintptr_t n = (uintptr_t)data;

	random_state = n;
	next_block = n << 32;
	for (int i = 0; i < ROUNDS; i++)
		walk(0, UINT64_C(1) << 30);
	return NULL;
}

int main(void)
{
	static uint64_t found[PREFIXES];
	struct sigaction action = {.sa_handler = on_signal};
	struct wmk_walk place = {0};
	struct wmk_heap record;
	pthread_t threads[THREADS];
	uint32_t contexts = 0;
	struct profile p;

	wm1_heap_start();
	sigaction(SIGUSR1, &action, NULL);
	work((void *)(uintptr_t)1); /* alone: with counters of one thread */
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 2)); /* NOLINT(performance-no-int-to-ptr) */
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (!profile_of(getpid(), "", &p))
		return 1;
	while (wmk_next_heap(&p.file, &place, &record))
		if (record.prefix < PREFIXES)
			found[record.prefix] += record.count;
	for (uint32_t i = 0; i < PREFIXES; i++) {
		CHECK_U64(found[i], expected[i]);
		contexts += expected[i] != 0;
	}
	profile_close(&p);
	CHECK(contexts > 4096);                    /* more than a memo has places for */
	CHECK(pushed > 10000 && unpushed > 10000); /* by the first one of a kind, and none of the others */
	return check_status();
}
