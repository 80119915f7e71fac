/* ternaries.c - conditional expressions: of values that clang computes without a branch, nested, in conditions and in loops. */
#include <stdio.h>

static volatile int sum;

__attribute__((noinline)) static int constants(int x)
{
	return x > 3 ? 4 : 5;
}

__attribute__((noinline)) static int variables(int a, int b, double c, double d)
{
	int most = a > b ? a : b;
	double least = c < d ? c : d;
	const char *name = most > 9 ? "many" : "few";
	return most + (int)least + name[0] + (a ? b ? 1 : 2 : b ? 3 : 4);
}

__attribute__((noinline)) static int in_loop(int n)
{
	int odd = 0;
	for (int i = 0; i < (n > 4 ? 4 : n); i++) {
		odd += i & 1 ? 1 : -1;
		if ((odd > 0 ? n : odd) > 2)
			sum += odd ?: 7;
	}
	return odd;
}

/* Calls and assignments need a branch anyway. */
__attribute__((noinline)) static int with_calls(int x)
{
	int y = x > 2 ? constants(x) : x;
	x % 3 ? (sum += y) : (sum -= 1);
	return y > 4 || x > 5 ? 1 : 0;
}

int main(void)
{
	for (int i = 0; i < 9; i++) {
		sum += constants(i);
		sum += variables(i % 4, i % 3, i, 9 - i);
		sum += in_loop(i);
		sum += with_calls(i);
	}
	printf("%d\n", sum);
	return 0;
}
