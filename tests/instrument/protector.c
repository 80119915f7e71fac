/* Functions that -fstack-protector, or -fstack-protector-strong, protects, and others; all with frames that are traced. */
#include <string.h>

#define NOINLINE __attribute__((noinline))

static int mixed(int n, const char *p)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		if (i % 5)
			sum += i;
		else
			sum ^= p[i % 2];
	return sum;
}

NOINLINE int neither(int n, const char *p)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		if (i % 3)
			sum += i;
		else
			sum ^= p[i % 2];
	return sum;
}

NOINLINE int inlines(int n, const char *p)
{
	return mixed(n, p) + neither(n - 1, p);
}

NOINLINE int buffer(int n, const char *p)
{
	char copy[64] = "";
	strncat(copy, p, 8);
	return mixed(n, copy) + copy[n % 64];
}

static void store(int *at, int value)
{
	__asm__ volatile("" : : "r"(at) : "memory");
	*at = value;
}

NOINLINE int address(int n, const char *p)
{
	int value = n;
	store(&value, mixed(n, p));
	return value;
}

NOINLINE int inlines_buffer(int n, const char *p)
{
	return n > 100 ? buffer(n, p) : n + address(n, p);
}

int main(int argc, char **argv)
{
	return (neither(argc * 9, argv[0]) + inlines(argc * 8, argv[0]) + inlines_buffer(argc * 7, argv[0]) +
		buffer(argc, argv[0])) &
	       1;
}
