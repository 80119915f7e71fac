/* The foreign library of the random programs: plain clang compiles it, so nothing in it is instrumented. */
int foreign_apply(int (*f)(int), int n);
int foreign_twice(int (*f)(int), int n);
int foreign_tail(int (*f)(int), int n);
int foreign_nested(int (*f)(int), int n);

int foreign_apply(int (*f)(int), int n)
{
	volatile int sum = f(n);
	return sum;
}

int foreign_twice(int (*f)(int), int n)
{
	int sum = f(n);
	return sum + f(n + 1);
}

int foreign_tail(int (*f)(int), int n)
{
	return f(n - 1);
}

__attribute__((noinline)) static int inside(int (*f)(int), int n)
{
	volatile int sum = f(n) + n;
	return sum;
}

int foreign_nested(int (*f)(int), int n)
{
	volatile int sum = inside(f, n) - n;
	return sum;
}
