/* Put before the library by LD_PRELOAD: other functions of the same names, with the same frames. */
#include "shadow.h"

int step(int n);
long spread(long a, long b, long c, long d, long e, long f, long g, double x);

static NOINLINE void detail(void)
{
	ENTER();
	CHECK();
	LEAVE();
}

NOINLINE int step(int n)
{
	ENTER();
	CHECK();
	detail();
	LEAVE();
	return n + 1001;
}

NOINLINE long spread(long a, long b, long c, long d, long e, long f, long g, double x)
{
	ENTER();
	detail();
	LEAVE();
	return a + b + c + d + e + f + g + (long)x + 1000000;
}
