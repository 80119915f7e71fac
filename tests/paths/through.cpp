/* through.cpp - exceptions through C code with (through_c.c) and without frames that clean up; and out of constructors. */
#include <cstdio>

extern "C" int c_calls(int (*f)(int), int n);
extern "C" int c_cleans(int (*f)(int), int n);
static int sum;

extern "C" int may_throw(int n)
{
	if (n % 3 == 1)
		throw n;
	return n;
}

struct part {
	int n;
	explicit part(int n) : n(n)
	{
		if (n == 4)
			throw n;
	}
	~part()
	{
		sum += n;
	}
};

struct whole {
	part a, b, c;
	explicit whole(int n) : a(n), b(n + 1), c(n + 2)
	{
		sum++;
	}
};

int main()
{
	for (int i = 0; i < 10; i++) {
		try {
			sum += c_calls(may_throw, i);
			sum += c_cleans(may_throw, i + 1);
		} catch (int n) {
			sum += 100 + n;
		}
		try {
			whole w(i);
			whole *p = new whole(i - 1);
			delete p;
		} catch (int) {
			sum++;
		}
	}
	printf("%d\n", sum);
}
