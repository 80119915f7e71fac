/* tails.c - tail calls, forced (musttail) and ordinary ones, in cycles longer than any stack. */
#include <stdio.h>

/* A stepped program is looked at in front of each instruction: its cycles are short, and it comes to its end. */
#ifdef STEPPED
enum {
	ROUNDS = 20,
	LENGTH = 10,
	LONGEST = 1001
};
#else
enum {
	ROUNDS = 50,
	LENGTH = 100,
	LONGEST = 1000001
};
#endif

#define TAIL __attribute__((musttail))

static int a(int n, int s);
static int b(int n, int s);

__attribute__((noinline)) static int c(int n, int s)
{
	if (n <= 0)
		return s;
	for (int i = 0; i < n % 3; i++)
		s++;
	TAIL return a(n - 1, s);
}

__attribute__((noinline)) static int a(int n, int s)
{
	if (n % 5 == 0)
		TAIL return b(n - 1, s + 1);
	TAIL return c(n - 1, s);
}

__attribute__((noinline)) static int b(int n, int s)
{
	if (s & 1)
		TAIL return c(n, s);
	switch (n & 3) {
	case 0:
		TAIL return a(n - 1, s);
	case 1:
		TAIL return c(n - 1, s ^ 2);
	}
	if (n < 4)
		return s;
	TAIL return a(n - 2, s + 3);
}

__attribute__((noinline)) static int plain_leaf(int n)
{
	return n & 1 ? n * 3 : n / 2;
}

__attribute__((noinline)) static int plain(int n)
{
	if (n > 100)
		return plain_leaf(n);
	return n < 5 ? plain_leaf(n + 1) : plain(n - 3);
}

__attribute__((noinline)) static void nothing(int n)
{
	if (n)
		plain_leaf(n);
}

int main(void)
{
	int sum = 0;
	for (int i = 0; i < ROUNDS; i++) {
		sum += a(i * LENGTH, i) + plain(i * 3);
		nothing(i & 1);
	}
	sum += a(LONGEST, 1);
	printf("%d\n", sum);
	return 0;
}
