/*
 * chance.h - which allocations are sampled, and how many each stands for.
 *
 * Points lie on the bytes that a thread allocates, one after the other, at distances of an exponential distribution: an allocation is sampled
 * if there is a point in it. So a block of `size` bytes is sampled with the probability 1 - exp(-size / interval), whatever was allocated
 * before it, and stands for the reciprocal of that: sums of counts and of bytes over all samples are unbiased. One without bytes counts as one
 * byte here. A count is whole: the fraction is rounded up as often as it is large.
 *
 * Each thread draws numbers of its own (splitmix64), from the seed and its number on.
 */
#ifndef WM_RUNTIME_HEAP_CHANCE_H
#define WM_RUNTIME_HEAP_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANCE_INTERVAL_MAX (UINT64_C(1) << 30)

/* What a thread knows. All zero: nothing was drawn. */
struct chance {
	uint64_t left;  /* bytes before the next point */
	uint64_t state; /* of its random numbers; 0: none */
	uint32_t pid;   /* that drew them */
};

/* Once, before the first draw; interval: from 1 to CHANCE_INTERVAL_MAX. */
void chance_start(uint64_t interval_bytes, uint64_t seed);
/* A point is in the allocation, or nothing was drawn yet. Returns as chance_of. */
uint32_t chance_draw(struct chance *c, size_t size_bytes);

/* How many allocations this one stands for; 0: it is not sampled. */
static inline uint32_t chance_of(struct chance *c, size_t size_bytes)
{
	size_t bytes = size_bytes + !size_bytes;

	if (__builtin_expect(c->left >= bytes, 1)) {
		c->left -= bytes;
		return 0;
	}
	return chance_draw(c, size_bytes);
}

#endif
