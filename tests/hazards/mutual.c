/* Mutual recursion: two and three functions, cycles entered at every member, nested cycles, and acyclic diamonds. */
#include "shadow.h"

static int odd(int n);

NOINLINE static int even(int n)
{
	ENTER();
	CHECK();
	int value = n ? !!odd(n - 1) : 1;
	LEAVE();
	return value;
}

NOINLINE static int odd(int n)
{
	ENTER();
	CHECK();
	int value = n ? !!even(n - 1) : 0;
	LEAVE();
	return value;
}

static void statement(int n, unsigned seed);

NOINLINE static void primary(int n, unsigned seed)
{
	ENTER();
	CHECK();
	if (n > 0 && seed % 3 == 0)
		statement(n - 1, seed / 3 + 7 * (unsigned)n);
	LEAVE();
}

NOINLINE static void expression(int n, unsigned seed)
{
	ENTER();
	primary(n - 1, seed);
	if (n > 0 && seed % 2)
		expression(n - 2, seed / 2 + 5);
	if (n > 0 && seed % 5 < 2)
		primary(n - 1, seed * 3);
	LEAVE();
}

NOINLINE static void statement(int n, unsigned seed)
{
	ENTER();
	expression(n, seed);
	CHECK();
	if (n > 0)
		statement(n - 3, seed * 11 + 1);
	LEAVE();
}

#define DIAMOND(name, left, right)              \
	NOINLINE static void name(unsigned way) \
	{                                       \
		ENTER();                        \
		if (way & 1)                    \
			left(way >> 1);         \
		else                            \
			right(way >> 1);        \
		LEAVE();                        \
	}

NOINLINE static void bottom(unsigned way)
{
	ENTER();
	(void)way;
	CHECK();
	LEAVE();
}
DIAMOND(l4, bottom, bottom)
DIAMOND(r4, bottom, bottom)
DIAMOND(l3, l4, r4)
DIAMOND(r3, r4, l4)
DIAMOND(l2, l3, r3)
DIAMOND(r2, l3, l3)
DIAMOND(l1, l2, r2)
DIAMOND(r1, r2, l3)

int main(void)
{
	ENTER();
	EXPECT(even(20) == 1);
	EXPECT(odd(20) == 0);
	for (unsigned seed = 1; seed < 12; seed++) {
		statement(6, seed);
		expression(5, seed * 17);
		primary(4, seed * 9);
	}
	for (unsigned way = 0; way < 16; way++) {
		l1(way);
		r1(way);
	}
	LEAVE();
	return 0;
}
