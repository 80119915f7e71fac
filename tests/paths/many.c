/* many.c - more paths than a table has places: 2^16 of them run in one function, few in one that has 2^70 (it is split). */
#include <stdio.h>

static unsigned long sum;

#define IF(n)                     \
	if (bits >> (n) % 64 & 1) \
		sum += (n) * 3 + 1;
#define IF10(n) IF(n) IF(n + 1) IF(n + 2) IF(n + 3) IF(n + 4) IF(n + 5) IF(n + 6) IF(n + 7) IF(n + 8) IF(n + 9)

__attribute__((noinline)) static void sixteen(unsigned long bits)
{
	IF10(0) IF(10) IF(11) IF(12) IF(13) IF(14) IF(15)
}

__attribute__((noinline)) static void seventy(unsigned long bits)
{
	IF10(0) IF10(10) IF10(20) IF10(30) IF10(40) IF10(50) IF10(60)
}

/* In a loop, with a call in the middle: long paths that go on. */
__attribute__((noinline)) static void forty(unsigned long bits)
{
	while (bits) {
		IF10(0) IF10(10) if (bits & 1) sixteen(bits >> 3);
		IF10(20) IF10(30) bits >>= 9;
	}
}

int main(void)
{
	unsigned long state = 1;
	for (unsigned i = 0; i < 30000; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		sixteen(i * 7);
		if (i % 16 == 0)
			seventy(state ^ state >> 32);
		if (i % 100 == 0)
			forty(state);
	}
	printf("%lu\n", sum);
	return 0;
}
