/* test_sweep.c - a sweep gives the highest of those that are waiting below where it is, and begins anew where there is none: against a plain list. */
#include <stdlib.h>

#include "analyze/sweep.h"
#include "check.h"

enum {
	FUNCTIONS = 3,
	BLOCKS = 9,
	CONTEXTS = 3,
	ROUNDS = 20000,
};

/* Called functions first: 2, 0, 1. */
static struct code_function functions[FUNCTIONS] = {{.first_block = 0, .block_count = 4},
						    {.first_block = 4, .block_count = 2},
						    {.first_block = 6, .block_count = 3}};
static uint32_t calls_in_order[FUNCTIONS] = {2, 0, 1};
static const uint32_t backward[BLOCKS] = {8, 7, 6, 3, 2, 1, 0, 5, 4}, forward[BLOCKS] = {6, 7, 8, 0, 1, 2, 3, 4, 5};

static const struct code code = {.functions = functions, .function_count = FUNCTIONS, .block_count = BLOCKS};
static const struct call_order calls = {.functions = calls_in_order, .function_count = FUNCTIONS};

static void test_order(bool is_forward, const uint32_t *wanted)
{
	struct sweep s;
	uint32_t block, context;

	CHECK_OK(sweep_init(&code, &calls, is_forward, &s));
	for (uint32_t b = 0; b < BLOCKS; b++)
		CHECK_OK(sweep_push(&s, b, 0));
	for (int i = 0; i < BLOCKS && !sweep_is_done(&s); i++) {
		CHECK_OK(sweep_pop(&s, &block, &context));
		CHECK_U64(block, wanted[i]);
	}
	CHECK(sweep_is_done(&s));
	sweep_deinit(&s);
}

static uint64_t state = 20261201;

static uint32_t below(uint32_t limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % limit;
}

/* turns: of the whole order, highest last. */
static int next_of(const bool *is_waiting, int at)
{
	for (int i = at - 1; i >= 0; i--)
		if (is_waiting[i])
			return i;
	for (int i = BLOCKS * CONTEXTS - 1; i >= 0; i--)
		if (is_waiting[i])
			return i;
	return -1;
}

static void test_random(void)
{
	bool is_waiting[BLOCKS * CONTEXTS] = {false};
	int at = 0;
	struct sweep s;

	CHECK_OK(sweep_init(&code, &calls, false, &s));
	for (int round = 0; round < ROUNDS && !check_failures; round++) {
		uint32_t turn = below(BLOCKS * CONTEXTS), block, context;
		int next;

		if (below(2) && !is_waiting[turn]) {
			is_waiting[turn] = true;
			CHECK_OK(sweep_push(&s, backward[BLOCKS - 1 - turn / CONTEXTS], turn % CONTEXTS));
			continue;
		}
		next = next_of(is_waiting, at);
		CHECK(sweep_is_done(&s) == (next < 0));
		if (next < 0)
			continue;
		CHECK_OK(sweep_pop(&s, &block, &context));
		CHECK_U64(block, backward[BLOCKS - 1 - next / CONTEXTS]);
		CHECK_U64(context, (uint64_t)(next % CONTEXTS));
		is_waiting[next] = false;
		at = next;
	}
	sweep_deinit(&s);
}

int main(void)
{
	test_order(false, backward);
	test_order(true, forward);
	test_random();
	return check_status();
}
