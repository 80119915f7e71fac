/* inlines_other.c - see inlines.c. */
#include "inlines.h"

extern inline int clamp(int n);
extern inline int count_bits(unsigned n);

int other(int n)
{
	return clamp(n * 2) + pick(n + 1);
}
