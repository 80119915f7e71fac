/*
 * test_heap_chance.c [SEED] - sampled allocations are unbiased: over many threads with seeds of their own, the numbers of what was allocated come
 * out of the samples, for single sizes and for mixes of them. What is right is computed from libm's expm1 and from the sizes.
 *
 * Of an allocation that is sampled with the probability p, the count has the mean 1 and the variance 1/p - 1, and at most 1/4 more for its
 * rounding. Sums may be off by six standard deviations.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "runtime/heap/chance.h"

enum {
	THREADS = 100,
	ALLOCATIONS = 3000,
	DEVIATIONS = 6,
	SAMPLES_MIN = 20, /* else the sum is far from normally distributed */
};

static int checked;

struct sums {
	double count, bytes, samples;               /* estimated, and how many were taken */
	double count_variance, bytes_variance;      /* of these */
	double true_count, true_bytes, probability; /* probability: the sum of all */
	double sample_variance;
};

static bool is_near(double value, double wanted, double variance)
{
	return fabs(value - wanted) <= (double)DEVIATIONS * sqrt(variance) + 1e-6 * wanted;
}

static void allocate(struct chance *c, size_t size, uint64_t interval, struct sums *s)
{
	double bytes = size ? (double)size : 1, p = -expm1(-bytes / (double)interval), variance = 1 / p - 1 + 0.25;
	uint32_t count = chance_of(c, size);

	s->true_count += 1;
	s->true_bytes += (double)size;
	s->probability += p;
	s->sample_variance += p * (1 - p);
	s->count_variance += variance;
	s->bytes_variance += variance * (double)size * (double)size;
	if (!count)
		return;
	s->samples += 1;
	s->count += count;
	s->bytes += count * (double)size;
	/* The next whole number below or above. */
	CHECK(fabs(count - 1 / p) < 1 + 1e-9 / p);
}

static void check(uint64_t interval, const size_t *sizes, size_t size_count, uint64_t seed)
{
	struct sums s = {0};

	chance_start(interval, seed);
	for (int t = 0; t < THREADS; t++) {
		struct chance c = {0};

		for (size_t i = 0; i < ALLOCATIONS; i++)
			allocate(&c, sizes[i % size_count], interval, &s);
	}
	if (s.probability < (double)SAMPLES_MIN)
		return;
	checked++;
	if (is_near(s.samples, s.probability, s.sample_variance) && is_near(s.count, s.true_count, s.count_variance) &&
	    is_near(s.bytes, s.true_bytes, s.bytes_variance))
		return;
	printf("interval %" PRIu64
	       ", %zu sizes from %zu: %.0f samples for %.0f, count %.0f for %.0f, bytes %.0f for %.0f\n",
	       interval, size_count, sizes[0], s.samples, s.probability, s.count, s.true_count, s.bytes, s.true_bytes);
	CHECK(false);
}

/* Threads draw different numbers. */
static void check_threads(uint64_t seed)
{
	struct chance a = {0}, b = {0};
	int same = 0;

	chance_start(1 << 20, seed);
	chance_of(&a, 1);
	chance_of(&b, 1);
	for (int i = 0; i < 100; i++) {
		same += a.left == b.left;
		chance_draw(&a, SIZE_MAX);
		chance_draw(&b, SIZE_MAX);
	}
	CHECK(same < 3);
}

int main(int argc, char **argv)
{
	static const size_t mix[] = {0, 16, 24, 100, 32, 4096, 48, 1, 70000, 16, 64, 1 << 20, 8};
	static const uint64_t intervals[] = {1, 100, 4096, 512 << 10, CHANCE_INTERVAL_MAX};
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 20261128;
	struct chance c = {0};

	printf("seed %" PRIu64 "\n", seed);
	for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
		for (size_t k = 0; k < sizeof mix / sizeof *mix; k++)
			check(intervals[i], &mix[k], 1, seed + i * 100 + k);
		check(intervals[i], mix, sizeof mix / sizeof *mix, seed + i * 100 + 99);
	}
	CHECK(checked > 40);
	CHECK(checked > 40);
	check_threads(seed);
	/* What is larger than any distance is always sampled, for itself. */
	chance_start(4096, seed);
	for (int i = 0; i < 1000; i++)
		CHECK(chance_of(&c, SIZE_MAX) == 1);
	return check_status();
}
