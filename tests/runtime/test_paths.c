/*
 * test_paths.c - tables of path counters: the kinds, what finds no place in them, threads, signals.
 *
 *     test_paths [ROUNDS]
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "path.h"
#include "push.h"

enum {
	HASH_BITS = 4,
	PLAN_BITS = 3,
};

PATH_FUNCTION(array, WM1_PATHS_ARRAY, 0, 10, 101);
PATH_FUNCTION(large, WM1_PATHS_ARRAY, 0, WM1_PATHS_MAX_COUNTERS, 102);
PATH_FUNCTION(hash, WM1_PATHS_HASH, HASH_BITS, 1 << HASH_BITS, 103);
PATH_FUNCTION(called, WM1_PATHS_HASH, 0, 0, 104);
PATH_FUNCTION(planned, WM1_PATHS_PLAN, PLAN_BITS, 1 << PLAN_BITS, 105);

PATH_FUNCTION(counted_array, WM1_PATHS_ARRAY, 0, 10, 111);
PATH_FUNCTION(counted_hash, WM1_PATHS_HASH, HASH_BITS, 1 << HASH_BITS, 112);
PATH_FUNCTION(counted_called, WM1_PATHS_HASH, 0, 0, 113);
PATH_FUNCTION(counted_planned, WM1_PATHS_PLAN, PLAN_BITS, 1 << PLAN_BITS, 114);
PATH_BUNDLE(counted_bundle, 115);

static uint64_t checks[1 << PLAN_BITS];
static uint64_t planned_checks[1 << PLAN_BITS];

static struct path_sum sum_now(uint64_t name_key, uint64_t r)
{
	return path_sum_of_process(getpid(), name_key, r);
}

static void test_array(void)
{
	uint64_t i;

	for (i = 0; i < 1000; i++)
		path_end_array(path_enter(&array, &array_slot), i % 10);
	CHECK_U64(sum_now(101, 3).begun, 1000);
	CHECK_U64(sum_now(101, 3).ended, 1000);
	CHECK_U64(sum_now(101, 3).path, 100);
	CHECK_U64(sum_now(101, 3).tables, 1);
	for (i = 0; i < WM1_PATHS_MAX_COUNTERS; i++)
		path_end_array(path_enter(&large, &large_slot), i);
	CHECK_U64(sum_now(102, 99999).ended, WM1_PATHS_MAX_COUNTERS);
	CHECK_U64(sum_now(102, 99999).path, 1);
}

/* More paths than pairs. */
static void test_hash(void)
{
	uint64_t i, r;

	for (i = 0; i < 100; i++)
		for (r = 1; r <= 1000; r++)
			path_end_hash(&hash, path_enter(&hash, &hash_slot), r, HASH_BITS);
	for (i = 0; i < 100; i++)
		for (r = 1; r <= 1000; r++)
			path_end_hash(&called, path_enter(&called, &called_slot), r, 0);
	CHECK_U64(sum_now(103, 1).begun, 100000);
	CHECK_U64(sum_now(103, 1).ended, 100000);
	CHECK_U64(sum_now(103, 1).singles, 1000 - (1 << HASH_BITS));
	CHECK_U64(sum_now(104, 1).ended, 100000);
	CHECK_U64(sum_now(104, 1).singles, 1000);
	for (r = 1; r <= 1000; r += 37) {
		CHECK_U64(sum_now(103, r).path, 100);
		CHECK_U64(sum_now(104, r).path, 100);
	}
}

static void test_plan(void)
{
	uint64_t *table;
	uint64_t i;

	for (i = 0; i < 1 << PLAN_BITS; i++)
		checks[i] = i << (64 - PLAN_BITS) | (i * 7 + 1);
	planned.checks = checks;
	table = path_enter(&planned, &planned_slot);
	for (i = 0; i < 80; i++)
		path_end_plan(&planned, table, checks[i % 8], PLAN_BITS, 0);
	for (i = 0; i < 30; i++)
		path_end_plan(&planned, table, checks[i % 8] + 100, PLAN_BITS, 0);
	/* the same path from two contexts */
	PUSHED(21, path_end_plan(&planned, table, 12345, PLAN_BITS, push_image.site_base + 5));
	for (i = 0; i < 5; i++)
		PUSHED(20, path_end_plan(&planned, table, 12345, PLAN_BITS, push_image.site_base + 5));
	CHECK_U64(sum_now(105, checks[3]).path, 10);
	CHECK_U64(sum_now(105, 12345).path, 6);
	CHECK_U64(sum_now(105, 12345).singles, 10);
	CHECK_U64(sum_now(105, 12345).residual, 36);
	CHECK_U64(sum_now(105, 12345).with_context, 6);
	CHECK_U64(sum_now(105, 12345).ended, 80 + 30 + 6);
}

/* -- threads -- */

enum {
	THREADS = 8,
	PATHS = 300,
};

static unsigned int rounds = 20;

static void count_all(unsigned int n)
{
	unsigned int i, which;

	for (i = 0; i < n; i++) {
		uint64_t r = 1 + i * 2654435761u % PATHS;

		path_end_array(path_enter(&counted_array, &counted_array_slot), r % 10);
		path_end_hash(&counted_hash, path_enter(&counted_hash, &counted_hash_slot), r, HASH_BITS);
		path_end_hash(&counted_called, path_enter(&counted_called, &counted_called_slot), r, 0);
		path_end_plan(&counted_planned, path_enter(&counted_planned, &counted_planned_slot), r << 61 | r,
			      PLAN_BITS, r % 3 ? 0 : push_image.site_base + 5);
		for (which = 0; which < PATH_BUNDLED; which++)
			path_end_array(path_enter_bundled(counted_bundle, &counted_bundle_slot, which),
				       r % counted_bundle[which].entry_count);
	}
}

static void *work(void *arg)
{
	(void)arg;
	count_all(rounds * 5000);
	return NULL;
}

static void check_all(uint64_t n)
{
	uint64_t key;

	for (key = 111; key < 115 + PATH_BUNDLED; key++) {
		CHECK_U64(sum_now(key, 0).begun, n);
		CHECK_U64(sum_now(key, 0).ended, n);
		CHECK_U64(sum_now(key, 0).uncommitted, 0);
	}
}

static void test_threads(void)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	check_all(UINT64_C(5000) * THREADS * rounds);
	CHECK(sum_now(111, 0).tables <= THREADS);
}

static void *work_little(void *arg)
{
	(void)arg;
	count_all(3);
	return NULL;
}

static uint64_t file_bytes(void)
{
	struct path_file file;
	char path[512];
	uint64_t n = 0;

	if (CHECK(profile_path(getpid(), "", path)) && path_file_open(path, &file)) {
		n = file.len_bytes;
		path_file_close(&file);
	}
	return n;
}

/* ThreadSanitizer does not know that a thread whose number the kernel no longer has is over: there, each is joined before
 * the next one may take over what it had. */
#if defined(__has_feature) && __has_feature(thread_sanitizer)
enum {
	BUNCH = 1
};
#else
enum {
	BUNCH = 10
};
#endif

/* Threads that come and go, in bunches: later ones go on with the tables of earlier ones. */
static void test_short_lived(void)
{
	uint64_t before = sum_now(111, 0).begun;
	unsigned int n = rounds * 500 / BUNCH, i, j;
	uint64_t tables, bytes;
	pthread_t threads[BUNCH];

	for (i = 0; i < n; i++) {
		if (i == n / 10) {
			tables = sum_now(111, 0).tables;
			bytes = file_bytes();
		}
		for (j = 0; j < BUNCH; j++)
			pthread_create(&threads[j], NULL, work_little, NULL);
		for (j = 0; j < BUNCH; j++)
			pthread_join(threads[j], NULL);
	}
	check_all(before + 3 * (uint64_t)n * BUNCH);
	/* On a busy machine a bunch may have more threads at a time than one before it; each table may need a chunk of 64 KB, and what names it another. */
	CHECK(sum_now(111, 0).tables <= tables + 8);
	CHECK(file_bytes() <= bytes + (1 << 20));
}

/* -- signals at any instruction, on the thread that counts -- */

static _Atomic uint64_t handled;

static void on_signal(int sig)
{
	(void)sig;
	handled++;
	count_all(2);
}

static void test_signals(void)
{
	struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	uint64_t before = sum_now(111, 0).begun;
	uint64_t n = 0;

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 200 * rounds) {
		count_all(100);
		n += 100;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	check_all(before + n + 2 * handled);
}

int main(int argc, char **argv)
{
	uint64_t i;

	if (argc > 1)
		rounds = (unsigned int)atoi(argv[1]);
	for (i = 0; i < 1 << PLAN_BITS; i++)
		planned_checks[i] = i << 61 | (i + 8);
	counted_planned.checks = planned_checks;
	test_array();
	test_hash();
	test_plan();
	test_threads();
	test_short_lived();
	test_signals();
	return check_status();
}
