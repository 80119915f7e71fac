/* inlines.h - inline functions of inlines.c. */
#ifndef INLINES_H
#define INLINES_H

inline int clamp(int n)
{
	return n > 7 ? 7 : n;
}

inline int count_bits(unsigned n)
{
	int bits = 0;
	for (; n; n &= n - 1)
		bits++;
	return bits;
}

static inline int pick(int n)
{
	return n & 1 ? clamp(n) : n;
}

int other(int n);
#endif
