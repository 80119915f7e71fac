/* lines_b.c - the other half of lines_a.c: calls across files, which LTO inlines. */
#include <stdio.h>
#include "lines.h"
volatile long salt;
static inline long rot(long v, int n)
{
	return (long)((unsigned long)v << n | (unsigned long)v >> (64 - n));
}
long hash(long key)
{
	long h = key + salt;
	for (int i = 0; i < 3; i++)
		h = mix(rot(h, 5 + i), key);
	return h;
}
static inline long inner(struct table *t, long n)
{
	if (n > 5)
		fprintf(stderr, "%ld\n", n);
	return sum(t, n, n + 2);
}
static inline long middle(struct table *t, long n)
{
	long r = inner(t, n);
	if (r == 77) {
		r += inner(t, r);
		salt++;
	}
	return r;
}
long other(struct table *t, long n)
{
	return n <= 0 ? middle(t, 1) : middle(t, n) + other(t, n - 1);
}
