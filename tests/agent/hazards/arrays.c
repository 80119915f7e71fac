/* arrays.c - arrays of variable length and alloca: in loops, in recursion, and around calls through pointers. */
#include <alloca.h>
#include <string.h>

#include "probe.h"

#define FUNCTION __attribute__((noinline)) static

FUNCTION int leaf(const char *bytes, int n)
{
	PROBE();
	return bytes[n - 1];
}

FUNCTION int array(int n)
{
	char bytes[n];

	memset(bytes, n, (size_t)n);
	return leaf(bytes, n) + leaf(bytes, 1);
}

FUNCTION int scoped(int n)
{
	int sum = 0;

	for (int i = 1; i <= n; i++) {
		char bytes[i * 3];

		memset(bytes, i, sizeof bytes);
		sum += leaf(bytes, i);
		{
			int words[i];

			memset(words, 1, sizeof words);
			sum += leaf((char *)words, 1);
		}
	}
	return sum + leaf("abc", 2);
}

FUNCTION int recursive(int n)
{
	char bytes[n + 8];
	int sum;

	memset(bytes, 1, sizeof bytes);
	sum = leaf(bytes, 3);
	if (n > 0)
		sum += recursive(n - 1) + array(n);
	return sum;
}

FUNCTION int with_alloca(int n)
{
	char *bytes = NULL;
	int sum = 0;

	for (int i = 1; i < n; i++) {
		bytes = alloca((size_t)i * 16);
		memset(bytes, i, 16);
		sum += leaf(bytes, 2);
	}
	return sum + leaf(bytes, 1);
}

typedef int function(int);
static function *const functions[] = {array, scoped, recursive, with_alloca};

FUNCTION int pointers(int n)
{
	char bytes[n * 2];
	int sum = 0;

	memset(bytes, 2, sizeof bytes);
	for (int i = 0; i < 8; i++)
		sum += functions[i % 4](3 + i % 3) + leaf(bytes, n);
	return sum;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 20; i++) {
		sum += array(7) + scoped(5) + recursive(6) + with_alloca(5) + pointers(4);
		PROBE();
	}
	printf("%d\n", sum);
	return 0;
}
