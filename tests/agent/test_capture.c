/*
 * test_capture.c LIBRARY - random paths through a library's functions: captured at their ends, or as what a handler has interrupted there, a point
 * is in the function that it is in, decodes to the calls that were made, and in one encoding two contexts are equal if the paths are.
 */
#include <stdio.h>
#include <string.h>

#include "agent/context/capture.h"
#include "agent/context/decode.h"
#include "agent/epoch/epoch.h"
#include "agent/program/program.h"
#include "agent/unit/unit.h"
#include "check.h"

enum {
	PATHS = 150,
	TIMES = 2,
};

static uint8_t path[UNIT_PATH_MAX + 1];
static size_t len;
static unsigned ends;
static struct decoded decoded;
static struct {
	uint8_t path[UNIT_PATH_MAX + 1];
	size_t len;
	wm_context context;
} seen[PATHS * TIMES];

static uint32_t function_of(size_t call)
{
	return agent_function_at((uintptr_t)unit_functions[call ? path[call - 1] : 0]);
}

static void test_point(const struct capture_point *point)
{
	CHECK(point->is_in_call);
	CHECK_U64(point->function, function_of(len));
	if (!CHECK(decode_context(point->function, point->id, point->entries, point->count, &decoded)) ||
	    !CHECK_U64(decoded.count, len))
		return;
	CHECK_U64(decoded.root, function_of(0));
	for (size_t i = 0; i < len; i++)
		CHECK_U64(agent_program.calls[decoded.calls[i].call].callee, function_of(len - i));
}

static void test_equal(void)
{
	for (unsigned i = 0; i < ends; i++) {
		bool is_same = seen[i].len == len && memcmp(seen[i].path, path, len) == 0;

		CHECK(is_same == (memcmp(&seen[i].context, &seen[ends].context, sizeof(wm_context)) == 0));
	}
}

static void end(int n)
{
	struct capture_point point;
	struct unwind_regs regs;
	struct agent_guard guard;
	struct lock_place place;

	CHECK_U64(n, 12345);
	memcpy(seen[ends].path, path, sizeof path);
	seen[ends].len = len;
	unit_lock(&guard, &regs, &place);
	CHECK(capture_is_between(&regs));
	if (CHECK(capture_at(&regs, &seen[ends].context, &point))) {
		test_point(&point);
		CHECK_U64(seen[ends].context.epoch, agent_epoch());
		test_equal();
	}
	agent_unlock(&guard);
	ends++;
}

int main(int argc, char **argv)
{
	struct unwind_regs regs;
	struct agent_guard guard;
	struct lock_place place;

	if (argc != 2 || !unit_start(argv[1]))
		return 1;
	CHECK(unit_reach());
	for (uint32_t epoch = 0; epoch < 3 && !check_status(); epoch++) {
		ends = 0;
		for (uint32_t i = 0; i < PATHS * TIMES && !check_status(); i++) {
			unit_seed(i % PATHS + 1);
			len = unit_path(path);
			unit_run(path, end);
			if (check_status())
				fprintf(stderr, "    seed %u\n", i % PATHS + 1);
		}
		CHECK_U64(ends, PATHS * TIMES);
		unit_lock(&guard, &regs, &place);
		CHECK(epoch_begin());
		agent_unlock(&guard);
	}
	return check_status();
}
