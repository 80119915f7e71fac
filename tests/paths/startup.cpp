/* startup.cpp - code before and after main: constructors with priorities, static objects, atexit, destructors, at_quick_exit. */
#include <cstdio>
#include <cstdlib>

static int order[32], count;

static void note(int n)
{
	for (int i = 0; i < n % 4; i++)
		order[count % 32] += i & 1 ? 2 : 1;
	count++;
}

__attribute__((constructor(101))) static void first()
{
	note(1);
}
__attribute__((constructor(65535))) static void last()
{
	note(2);
}
__attribute__((destructor(101))) static void very_last()
{
	note(count > 5 ? 3 : 2);
}

struct object {
	int n;
	explicit object(int n) : n(n)
	{
		note(n);
	}
	~object()
	{
		if (n & 1)
			note(n);
	}
};
static object global(3), other(4);

static object &lazy(int n)
{
	static object made(n);
	return made;
}

static void at_exit_()
{
	note(7);
	std::atexit([] { note(5); });
}

int main()
{
	std::atexit(at_exit_);
	for (int i = 0; i < 3; i++)
		lazy(i + 5);
	printf("%d\n", count);
	return 0;
}
