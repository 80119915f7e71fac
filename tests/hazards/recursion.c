/* Recursion: on itself through one and through several call sites, repeated, deep (100,000 frames), Ackermann's. */
#define SHADOW_MAX 131072
#include <sys/resource.h>

#include "shadow.h"

enum {
	DEEP = 100000
};

NOINLINE static int self(int n)
{
	ENTER();
	int sum = n;
	if (n < 12)
		CHECK();
	if (n)
		sum += self(n - 1);
	if (n == 3)
		CHECK();
	LEAVE();
	return sum;
}

NOINLINE static int two_sites(int n, unsigned pattern)
{
	ENTER();
	int sum = 1;
	if (!n)
		CHECK();
	else if (pattern & 1)
		sum += two_sites(n - 1, pattern >> 1);
	else
		sum -= two_sites(n - 1, pattern >> 1);
	LEAVE();
	return sum;
}

NOINLINE static int fib(int n)
{
	ENTER();
	CHECK();
	int value = n < 2 ? n : fib(n - 1) + fib(n - 2);
	CHECK();
	LEAVE();
	return value;
}

NOINLINE static unsigned ackermann(unsigned m, unsigned n)
{
	ENTER();
	unsigned value;
	CHECK();
	if (!m)
		value = n + 1;
	else if (!n)
		value = ackermann(m - 1, 1);
	else
		value = ackermann(m - 1, ackermann(m, n - 1));
	LEAVE();
	return value;
}

NOINLINE static int deep(int n)
{
	ENTER();
	int sum = 1;
	if (n)
		sum += deep(n - 1);
	if (n == 0 || n == 7 || n == DEEP / 2)
		CHECK();
	LEAVE();
	return sum;
}

/* Leaves the recursion and enters it again from within: the same cycle several times on one stack. */
NOINLINE static void outer(int n);

NOINLINE static void cycle(int turns, int n)
{
	ENTER();
	if (turns)
		cycle(turns - 1, n);
	else {
		CHECK();
		if (n)
			outer(n - 1);
	}
	LEAVE();
}

NOINLINE static void outer(int n)
{
	ENTER();
	cycle(n % 4, n);
	CHECK();
	LEAVE();
}

int main(void)
{
	ENTER();
	/* At -O0 the deep recursion needs more than 8 MB; the main stack's limit may be raised while it runs. */
	struct rlimit stack;
	getrlimit(RLIMIT_STACK, &stack);
	stack.rlim_cur = 64 << 20;
	setrlimit(RLIMIT_STACK, &stack);
	CHECK();
	EXPECT(self(40) == 820);
	for (unsigned pattern = 0; pattern < 64; pattern++)
		two_sites(6, pattern);
	EXPECT(fib(7) == 13);
	EXPECT(ackermann(2, 3) == 9);
	EXPECT(deep(DEEP) == DEEP + 1);
	outer(9);
	CHECK();
	LEAVE();
	return 0;
}
