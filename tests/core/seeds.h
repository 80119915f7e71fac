/*
 * seeds.h - tests of many random inputs, each from a seed of its own: TEST [COUNT [SEED]].
 */
#ifndef WM_TESTS_CORE_SEEDS_H
#define WM_TESTS_CORE_SEEDS_H

#include "check.h"

#include <stdlib.h>

struct seeds {
	uint64_t count;
	uint64_t first;
};

/* These, or what the command line says. */
static inline struct seeds seeds_parse(int argc, char **argv, uint64_t count, uint64_t first)
{
	struct seeds s = {argc > 1 ? strtoull(argv[1], NULL, 10) : count,
			  argc > 2 ? strtoull(argv[2], NULL, 10) : first};

	printf("%llu inputs from seed %llu on\n", (unsigned long long)s.count, (unsigned long long)s.first);
	return s;
}

/* Says with which seeds checks failed, until there are 20; probe returns how large its input was. */
static inline void seeds_run(const struct seeds *s, uint32_t (*probe)(uint64_t seed))
{
	for (uint64_t i = 0; i < s->count && check_failures < 20; i++) {
		unsigned int failures = check_failures;
		uint32_t size = probe(s->first + i);

		if (check_failures != failures)
			fprintf(stderr, "seed %llu, of size %u\n", (unsigned long long)(s->first + i), size);
	}
}

/* The next number of a seed, below n. */
static inline uint32_t random_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % n;
}

#endif
