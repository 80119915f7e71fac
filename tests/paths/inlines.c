/* inlines.c - C99 inline functions: their one definition is in inlines_other.c, and may be inlined here all the same. */
#include "inlines.h"

#include <stdio.h>

int main(void)
{
	int sum = 0;
	for (int i = 0; i < 20; i++)
		sum += clamp(i) + other(i) + count_bits((unsigned)i) + pick(i);
	printf("%d\n", sum);
	return 0;
}
