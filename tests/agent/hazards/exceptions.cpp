/* exceptions.cpp - exceptions over frames with and without cleanups, rethrown, and in callbacks of qsort. */
#include <stdexcept>
#include <string>

#include "probe.h"

static volatile int total;

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

struct cleanup {
	int n;
	explicit cleanup(int value) : n(value)
	{
	}
	~cleanup()
	{
		PROBE();
		total = total + leaf(n);
	}
};

__attribute__((noinline)) static int down(int n)
{
	PROBE();
	if (n == 0)
		throw std::runtime_error("end");
	if (n % 3 == 0) {
		cleanup c(n);

		total = total + down(n - 1);
	} else {
		total = total + down(n - 1) + leaf(n);
	}
	PROBE();
	return total;
}

__attribute__((noinline)) static int rethrows(int n)
{
	try {
		return down(n);
	} catch (const std::exception &e) {
		PROBE();
		leaf(3);
		throw;
	}
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	int x = *static_cast<const int *>(a), y = *static_cast<const int *>(b);

	PROBE();
	try {
		down(2);
	} catch (const std::runtime_error &) {
		PROBE();
	}
	if (x == 7 && total % 2)
		throw x;
	return (x > y) - (x < y);
}

__attribute__((noinline)) static int sorts(void)
{
	int values[] = {5, 3, 7, 1, 2};

	try {
		qsort(values, 5, sizeof *values, compare);
	} catch (int n) {
		PROBE();
		return leaf(n);
	}
	PROBE();
	return values[0];
}

__attribute__((noinline)) static int catches(int n)
{
	int (*volatile f)(int) = n & 1 ? rethrows : down;
	int got = 0;

	try {
		got = f(n);
	} catch (const std::logic_error &) {
		got = 1000;
	} catch (const std::runtime_error &e) {
		PROBE();
		got = leaf(n) + static_cast<int>(std::string(e.what()).size());
	}
	PROBE();
	return got + leaf(got);
}

int main()
{
	int sum = 0;

	for (int i = 0; i < 40; i++) {
		sum += catches(i % 7);
		PROBE();
		sum += sorts();
		PROBE();
	}
	printf("%d %d\n", sum, total);
	return 0;
}
