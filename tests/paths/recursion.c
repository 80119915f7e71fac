/* recursion.c - deep, mutual and multiple recursion, each activation in the middle of its own path. */
#include <stdio.h>

/* A stepped program is looked at in front of each instruction: it recurses less deeply, and comes to its end. */
#ifdef STEPPED
enum {
	EVEN = 301,
	DEEP = 150,
	QUEENS = 5,
	ACKERMANN = 3
};
#else
enum {
	EVEN = 20001,
	DEEP = 50000,
	QUEENS = 7,
	ACKERMANN = 6
};
#endif

static unsigned ackermann(unsigned m, unsigned n)
{
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

static int odd(int n);
__attribute__((noinline)) static int even(int n)
{
	return n == 0 ? 1 : odd(n - 1);
}
__attribute__((noinline)) static int odd(int n)
{
	if (n == 0)
		return 0;
	int r = even(n - 1);
	return n & 4 ? r : !!r;
}

__attribute__((noinline)) static int deep(int n)
{
	volatile int kept = n;
	int sum = 0;
	for (int i = 0; i < 2; i++) {
		if (kept > 0 && i == kept % 2)
			sum += deep(kept - 1);
		sum += kept & 1;
	}
	return sum;
}

static int queens(int n, int row, unsigned columns, unsigned left, unsigned right)
{
	if (row == n)
		return 1;
	int count = 0;
	for (int c = 0; c < n; c++) {
		unsigned bit = 1u << c;
		if (columns & bit || left & bit || right & bit)
			continue;
		count += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
	}
	return count;
}

int main(void)
{
	printf("%u %d %d %d\n", ackermann(2, ACKERMANN), even(EVEN), deep(DEEP), queens(QUEENS, 0, 0, 0, 0));
	return 0;
}
