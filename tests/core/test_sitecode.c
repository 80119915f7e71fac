/*
 * test_sitecode.c - codes of a space are told apart from their low end; words of random calls, of functions with random spaces, decode to
 * these calls, whatever foreign code is between them. test_sitecode [COUNT [SEED]]
 *
 * The model executes calls as instrumented code does. Its oracle is a plain stack of the sites.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/contexts/sitecode.h"

static uint64_t state;

static uint32_t random_below(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

/* ---- codes and starts ---- */

static void test_codes(void)
{
	double sum = 0;

	for (uint32_t rank = 0; rank < SITECODE_RANKS; rank++) {
		struct sitecode code = sitecode_of(rank);
		uint32_t length = 0;

		CHECK(code.length > 0 && code.length <= SITECODE_MAX_LENGTH);
		CHECK(code.bits >> code.length == 0);
		/* Whatever is above it. */
		CHECK_U64(sitecode_rank(code.bits, &length), rank);
		CHECK_U64(length, code.length);
		CHECK_U64(sitecode_rank(code.bits | UINT64_MAX << code.length, &length), rank);
		CHECK_U64(length, code.length);
		sum += 1.0 / (double)(UINT32_C(1) << code.length);
	}
	CHECK(sum == 1.0);
}

/* The payload behind a push, and that of a thread's first function, which is at index 0: a 1, the length of the index, the index. */
static uint64_t start_of(uint32_t index)
{
	if (index < UINT32_C(1) << 5)
		return UINT64_C(0x2) << 5 | index;
	if (index < UINT32_C(1) << 10)
		return UINT64_C(0x6) << 10 | index;
	return UINT64_C(0x7) << 16 | index;
}

static void test_starts(void)
{
	for (uint32_t index = 0; index <= SITECODE_LOST_INDEX; index++) {
		uint64_t start = start_of(index);

		CHECK(sitecode_is_start(start));
		CHECK_U64(sitecode_index(sitecode_word(start, 3)), index);
		CHECK_U64(sitecode_index(sitecode_word(start << 7 | 0x55, 9)), index);
		CHECK(!sitecode_is_start(start << 1 | 1));
		CHECK(sitecode_enters(sitecode_word(start, 0), 0, SITECODE_MAX_LENGTH));
	}
	CHECK_U64(sitecode_index(0), 0);
}

/* ---- programs ---- */

enum {
	FUNCTIONS = 60,
	SPACES = 20,
	SITES = 12000,
	DEPTH_MAX = 700,
};

struct site {
	uint32_t caller, space;
	struct sitecode code;
};
static struct site sites[SITES];
static uint32_t spaces[FUNCTIONS], longest[FUNCTIONS];
static uint32_t codes[SPACES + 1][SITECODE_RANKS], code_count[SPACES + 1];

/* Spaces may be shared, and a call's need not be that of any callee. */
static void make_program(void)
{
	memset(code_count, 0, sizeof code_count);
	memset(longest, 0, sizeof longest);
	for (uint32_t f = 0; f < FUNCTIONS; f++)
		spaces[f] = 1 + random_below(SPACES);
	for (uint32_t s = 0; s < SITES; s++) {
		uint32_t space = 1 + random_below(SPACES);

		while (code_count[space] == SITECODE_RANKS)
			space = space % SPACES + 1;
		sites[s] = (struct site){random_below(FUNCTIONS), space, sitecode_of(code_count[space])};
		codes[space][code_count[space]++] = s;
		if (sites[s].code.length > longest[sites[s].caller])
			longest[sites[s].caller] = sites[s].code.length;
	}
}

/* A thread: its frames, and what instrumented code keeps of them. */
struct frame {
	uint32_t site; /* that entered it */
	uint64_t word, payload;
};
static struct frame frames[DEPTH_MAX + 1];
static uint64_t pushed[DEPTH_MAX + 1];
static uint32_t function_of_frame[DEPTH_MAX + 1], depth;

static void enter(uint32_t function, uint32_t site, uint64_t word)
{
	uint64_t payload = sitecode_payload(word);

	if (!sitecode_enters(word, spaces[function], longest[function])) {
		uint32_t index = sitecode_index(word);

		if (word)
			pushed[index++] = word;
		payload = start_of(index);
	}
	frames[depth] = (struct frame){site, word, payload};
	function_of_frame[depth++] = function;
}

/* The calls of the innermost frame, from the last one outwards, by words alone. */
static void check_context(void)
{
	uint64_t word = frames[depth - 1].word;
	uint32_t at = depth - 1, index = sitecode_index(word);

	while (word) {
		uint32_t space = sitecode_space(word), length = 0;
		uint64_t payload = sitecode_payload(word);

		CHECK(at > 0);
		for (;;) {
			uint32_t site = codes[space][sitecode_rank(payload, &length)];

			CHECK_U64(site, frames[at].site);
			CHECK_U64(sites[site].caller, function_of_frame[at - 1]);
			payload >>= length;
			at--;
			if (sitecode_is_start(payload))
				break;
			space = spaces[sites[site].caller];
		}
		CHECK_U64(sitecode_index(sitecode_word(payload, 0)), index);
		word = index ? pushed[--index] : 0;
	}
	CHECK_U64(at, 0);
}

/* A site of the function; SITES: it has none. */
static uint32_t find_site(uint32_t function)
{
	uint32_t first = random_below(SITES);

	for (uint32_t i = 0; i < SITES; i++)
		if (sites[(first + i) % SITES].caller == function)
			return (first + i) % SITES;
	return SITES;
}

static void run_program(void)
{
	uint32_t deepest = 1 + random_below(DEPTH_MAX);

	depth = 0;
	enter(random_below(FUNCTIONS), 0, 0);
	for (int i = 0; i < 3000; i++) {
		struct frame *top = &frames[depth - 1];
		uint32_t site = find_site(function_of_frame[depth - 1]);

		if (site == SITES || depth == deepest || random_below(5) < 2) {
			if (depth > 1)
				depth--;
			continue;
		}
		uint64_t word = sitecode_call(top->payload, sites[site].space, sites[site].code);
		uint32_t callee = random_below(FUNCTIONS);

		/* Most calls enter what they name. */
		for (int k = 0; k < 100 && random_below(4) && spaces[callee] != sites[site].space; k++)
			callee = random_below(FUNCTIONS);
		enter(callee, site, word);
		if (i % 7 == 0)
			check_context();
	}
	check_context();
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	printf("%lu programs from seed %llu\n", count, (unsigned long long)seed);
	test_codes();
	test_starts();
	for (unsigned long i = 0; i < count; i++) {
		state = seed + i;
		make_program();
		run_program();
	}
	return check_status();
}
