/*
 * test_threads.c - threads that capture the same stacks get the same numbers, different stacks different ones; their
 * slots serve again when they are gone; nothing recorded is lost or mixed.
 *
 *     test_threads [ROUNDS]
 */
#include <pthread.h>
#include <stdlib.h>

#include "profile.h"
#include "push.h"

enum {
	THREADS = 8,
	STACKS = 400, /* that all threads capture */
	DEPTH = 40,
};

static wm_context shared[THREADS][STACKS];
static wm_context own[THREADS][STACKS];
static wm_context roots[THREADS];
static pthread_barrier_t barrier;
static unsigned int rounds = 20;

static wm_context here(void)
{
	return wm1_capture(push_image.site_base + 1);
}

static wm_context descend(int n, uint32_t seed, uint32_t sites)
{
	wm_context c;
	struct push kept;

	if (n == 0)
		return here();
	kept = push_at(sites + (seed >> (n % 16) & 7), wm1_thread_state.id, seed % 3);
	c = descend(n - 1, seed, sites);
	push_end(kept);
	return c;
}

static void *work(void *arg)
{
	uint32_t t = (uint32_t)(uintptr_t)arg;
	uint32_t i, r;

	for (r = 0; r < rounds; r++) {
		/* all at once on the same new stacks */
		pthread_barrier_wait(&barrier);
		for (i = 0; i < STACKS; i++) {
			uint32_t seed = (i + r * STACKS) * 2654435761u >> 8;
			wm_context a = descend(DEPTH, seed, 100);
			wm_context b = descend(DEPTH, seed, 200 + 8 * t);

			if (r && i == 0 && !push_same(roots[t], here()))
				abort();
			if (r + 1 == rounds) {
				shared[t][i] = a;
				own[t][i] = b;
			}
			PUSHED(50, wm1_event(push_image.site_base + 1, t % 2 ? "odd" : "even",
					     t * 1000000 + r * STACKS + i));
		}
		roots[t] = here();
	}
	return NULL;
}

static void test_same(void)
{
	pthread_t threads[THREADS];
	uintptr_t t;
	int i, equal = 0;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, work, (void *)t);
	for (t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (t = 0; t < THREADS; t++) {
		CHECK_U64(roots[t].prefix, WM_PREFIX_THREAD);
		for (i = 0; i < STACKS; i++) {
			CHECK(push_same(shared[t][i], shared[0][i]));
			equal += t && push_same(own[t][i], own[0][i]);
		}
	}
	CHECK_U64(equal, 0);
}

/* Each thread's events, in order and none missing. */
static void test_events(void)
{
	uint64_t next[THREADS] = {0};
	struct wmk_walk walk = {0};
	struct wmk_event event;
	struct profile p;
	int i;

	if (!profile_of(getpid(), "", &p))
		return;
	while (wmk_next_event(&p.file, &walk, &event)) {
		uint64_t t = event.value / 1000000;

		if (!CHECK(t < THREADS) || !CHECK_U64(event.value % 1000000, next[t]))
			break;
		next[t]++;
		if (!CHECK_TEXT(wmk_find_string(&p.file, event.name), t % 2 ? "odd" : "even"))
			break;
	}
	for (i = 0; i < THREADS; i++)
		CHECK_U64(next[i], (uint64_t)rounds * STACKS);
	CHECK_U64(p.file.uncommitted, 0);
	profile_close(&p);
}

static void *one_event(void *arg)
{
	PUSHED(60, wm1_event(push_image.site_base + 1, "short", (uintptr_t)arg));
	return NULL;
}

/* Thousands of threads one after the other take a handful of slots, not a chunk each. */
static void test_short_lived(void)
{
	struct profile p;
	uintptr_t i;
	uint64_t before, after;

	if (!profile_of(getpid(), "", &p))
		return;
	before = p.file.chunks.count;
	profile_close(&p);
	for (i = 0; i < 1000; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, one_event, (void *)i);
		pthread_join(thread, NULL);
	}
	if (!profile_of(getpid(), "", &p))
		return;
	after = p.file.chunks.count;
	CHECK(after - before <= 16);
	profile_close(&p);
}

static pthread_key_t key;
static wm_context in_destructor;

static void destroy(void *value)
{
	(void)value;
	in_destructor = here();
}

static void *with_destructor(void *arg)
{
	pthread_setspecific(key, arg);
	return NULL;
}

static void test_destructor(void)
{
	pthread_t thread;
	int value;

	pthread_key_create(&key, destroy);
	pthread_create(&thread, NULL, with_destructor, &value);
	pthread_join(thread, NULL);
	CHECK_U64(in_destructor.prefix, WM_PREFIX_THREAD);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = (unsigned int)atoi(argv[1]);
	test_same();
	test_events();
	test_short_lived();
	test_destructor();
	return check_status();
}
