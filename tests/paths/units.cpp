/* units.cpp - with units_other.cpp and units.h: inline functions and templates of both units count once, static ones of one
 * name separately; some functions are never used and go with --gc-sections. */
#include "units.h"

#include <cstdio>

static int helper(int n)
{
	return n & 1 ? 1 : 2;
}

int unused_here(int n)
{
	return n > 0 ? shared_inline(n) : never_inlined(n);
}

int main()
{
	int sum = 0;
	for (int i = 0; i < 10; i++) {
		sum += helper(i) + shared_inline(i) + never_inlined(i) + other(i) + twice<int>(i) + int(twice<long>(i));
		sum += weak_function(i);
		square s(i);
		sum += s.area();
	}
	printf("%d\n", sum);
}
