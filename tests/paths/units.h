/* units.h - inline code of two units. */
#ifndef UNITS_H
#define UNITS_H

inline int shared_inline(int n)
{
	return n % 3 ? n : 5;
}

__attribute__((noinline)) inline int never_inlined(int n)
{
	static int calls;
	calls++;
	for (int i = 0; i < n; i++)
		if (i == 3)
			return calls;
	return n;
}

template <typename T> __attribute__((noinline)) T twice(T n)
{
	return n > 4 ? T(n * 2) : T(n + n + 1);
}

struct square {
	int side;
	explicit square(int side) : side(side > 5 ? 5 : side)
	{
	}
	int area() const
	{
		return side < 0 ? 0 : side * side;
	}
};

int other(int n);
int weak_function(int n);
int unused_here(int n);
int unused_there(int n);
#endif
