/* chance.c - random numbers, and the two functions of them that libm would give: it is not in every process. */
#include "runtime/heap/chance.h"

#include <stdatomic.h>
#include <unistd.h>

/* Written once, before the first draw. */
static uint64_t interval, seed;
static _Atomic uint64_t thread_count;

void chance_start(uint64_t interval_bytes, uint64_t from)
{
	interval = interval_bytes;
	seed = from;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* In [0, 1). */
static double draw(struct chance *c)
{
	c->state += UINT64_C(0x9e3779b97f4a7c15);
	return (double)(mix(c->state) >> 11) * 0x1p-53;
}

/* Of x in (0, 1]: the exponent's, and 2 atanh((m - 1) / (m + 1)) of what is left, in [1, 2). */
static double logarithm(double x)
{
	union {
		double number;
		uint64_t bits;
	} m = {x};
	int exponent = (int)(m.bits >> 52) - 1023;
	double z, square, sum = 0;

	m.bits = (m.bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
	z = (m.number - 1) / (m.number + 1);
	square = z * z;
	for (int i = 33; i >= 1; i -= 2)
		sum = sum * square + 1.0 / i;
	return exponent * 0.69314718055994530942 + 2 * z * sum;
}

/* 1 - exp(-x) of x >= 0: the series of x / 2^k, doubled k times. */
static double probability(double x)
{
	double sum = 1;
	int doublings = 0;

	if (x > 64)
		return 1;
	for (; x > 0.125; doublings++)
		x /= 2;
	for (int i = 12; i >= 2; i--)
		sum = 1 - x / i * sum;
	for (x *= sum; doublings; doublings--)
		x *= 2 - x;
	return x;
}

/* Whole bytes before a point at an exponential distance. */
static uint64_t draw_distance(struct chance *c)
{
	return (uint64_t)(-logarithm(1 - draw(c)) * (double)interval);
}

/* In a forked child, too, which would draw its parent's numbers otherwise. */
static void begin(struct chance *c)
{
	uint32_t pid = (uint32_t)getpid();

	if (c->state && c->pid == pid)
		return;
	if (!c->state) {
		c->state = mix(seed + atomic_fetch_add(&thread_count, 1) * UINT64_C(0xd1342543de82ef95)) | 1;
		c->left = draw_distance(c);
	} else {
		c->state = mix(c->state + pid) | 1;
	}
	c->pid = pid;
}

uint32_t chance_draw(struct chance *c, size_t size_bytes)
{
	size_t bytes = size_bytes + !size_bytes;
	double count;

	begin(c);
	if (c->left >= bytes) {
		c->left -= bytes;
		return 0;
	}
	c->left = draw_distance(c);
	count = 1 / probability((double)bytes / (double)interval);
	return (uint32_t)(count + draw(c));
}
