/* leaves.c - small functions: of one path, counted at their entry; that call nothing, or only what surely returns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

struct pair {
	double a, b;
};

__attribute__((noinline)) static void empty(void)
{
}
__attribute__((noinline)) static int one(int n)
{
	return n + 1;
}
__attribute__((noinline)) static struct pair large(double x, double y)
{
	return (struct pair){x * y, x + y};
}
__attribute__((noinline)) static int two(int n)
{
	return n & 1 ? n * 3 : -n;
}
__attribute__((noinline)) static int calls_leaf(int n)
{
	return one(n) * 2;
}
__attribute__((noinline)) static size_t calls_libc(const char *s)
{
	return strlen(s) + (size_t)sqrt((double)s[0]);
}
__attribute__((noinline)) static int loop(int n)
{
	int s = 0;
	while (n--)
		s += n;
	return s;
}
__attribute__((noinline)) static long double wide(long double x)
{
	return x > 2 ? x / 3 : x * 3;
}
__attribute__((noinline)) static void moves(char *to, const char *from)
{
	struct {
		char c[64];
	} block;
	memcpy(&block, from, sizeof block);
	if (block.c[0])
		memcpy(to, &block, sizeof block);
}

int main(void)
{
	char from[64] = "x", to[64];
	double sum = 0;
	for (int i = 0; i < 1000; i++) {
		empty();
		struct pair p = large(i, 2);
		sum += one(i) + two(i) + calls_leaf(i) + p.a + (double)calls_libc("hello") + loop(i % 7) +
		       (double)wide(i);
		moves(to, from);
	}
	printf("%g\n", sum);
	return 0;
}
