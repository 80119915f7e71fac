/* exceptions.cpp - exceptions: caught near and far, thrown again, out of destructors' scopes, loops and foreign C frames. */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

static int sum;

struct unknown {
	int n;
};

struct guard {
	int n;
	explicit guard(int n) : n(n)
	{
		sum++;
	}
	~guard()
	{
		sum += n > 2 ? 3 : 1;
	}
};

static void thrower(int n)
{
	guard a(n);
	if (n == 0)
		throw std::runtime_error("zero");
	if (n == 1)
		throw 1;
	if (n == 2)
		throw unknown{n};
	guard b(n + 1);
	if (n % 5 == 0)
		throw n;
}

static int catcher(int n)
{
	try {
		guard g(n);
		thrower(n);
		return 0;
	} catch (const std::exception &e) {
		return 1;
	} catch (int i) {
		if (i > 10)
			throw;
		return i;
	} catch (...) {
		sum++;
	}
	return 9;
}

/* The landing pads lead back to the loop's head. */
static int looping(int n)
{
	int caught = 0;
	for (int i = 0; i < n; i++) {
		try {
			if (i % 3 == 0)
				continue;
			catcher(i * 5);
			if (i % 4 == 3)
				break;
		} catch (int) {
			caught++;
		}
	}
	return caught;
}

static void retry(int n)
{
again:
	try {
		if (n > 0)
			throw n;
	} catch (int) {
		n--;
		goto again;
	}
}

static void endless(int n)
{
	for (;;)
		try {
			for (;;)
				thrower(n++);
		} catch (int i) {
			if (i > 20)
				return;
		} catch (...) {
		}
}

static int compare(const void *a, const void *b)
{
	int x = *static_cast<const int *>(a), y = *static_cast<const int *>(b);
	if (x == 3 || y == 3)
		throw 33;
	return (x > y) - (x < y);
}

static void through_c(bool bad)
{
	int values[] = {5, 4, bad ? 3 : 2, 1};
	try {
		qsort(values, 4, sizeof *values, compare);
		sum += values[0];
	} catch (int i) {
		sum += i;
	}
}

static void nested()
{
	try {
		try {
			throw 1;
		} catch (int) {
			guard g(5);
			try {
				throw 2.0;
			} catch (double) {
				sum++;
			}
			throw;
		}
	} catch (int) {
		sum++;
	}
}

static void quiet(int n) noexcept
{
	try {
		thrower(n);
	} catch (...) {
	}
}

int main()
{
	for (int i = 0; i < 12; i++) {
		try {
			sum += catcher(i);
		} catch (int i) {
			sum += i;
		}
		sum += looping(i);
		retry(i % 3);
		quiet(i);
		std::vector<int> v;
		try {
			sum += v.at(size_t(i));
		} catch (const std::out_of_range &) {
			sum++;
		}
	}
	endless(0);
	try {
		catcher(15);
	} catch (int) {
		nested();
	}
	through_c(false);
	through_c(true);
	printf("%d\n", sum);
}
