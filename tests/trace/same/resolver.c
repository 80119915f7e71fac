/* A function that is chosen when the program is loaded: what chooses it, and what that calls, run before the program is relocated. */
#include <stdarg.h>
#include <stdio.h>

__attribute__((noinline)) static int loop(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		if (i % 3)
			sum += i;
		else
			sum ^= 7;
	return sum;
}

__attribute__((noinline)) static int add(int n, ...)
{
	va_list rest;
	int sum = 0;
	va_start(rest, n);
	while (n--)
		sum += va_arg(rest, int);
	va_end(rest);
	return sum;
}

static int by_one(int n)
{
	return n + 1;
}

static int by_two(int n)
{
	return n + 2;
}

static int (*resolve(void))(int)
{
	int n = loop(10) + add(3, 1, 2, 3);
	switch (n % 5) {
	case 0:
		n++;
		break;
	case 1:
	case 3:
		n--;
		break;
	}
	return n % 2 ? by_one : by_two;
}

int chosen(int n) __attribute__((ifunc("resolve")));

int main(void)
{
	printf("%d\n", chosen(1));
	return 0;
}
