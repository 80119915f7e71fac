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

static uint64_t checks[1 << PLAN_BITS];

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

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	test_array();
	test_hash();
	test_plan();
	return check_status();
}
