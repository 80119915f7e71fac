/*
 * Shared libraries: the program, an instrumented and a plain library call each other by name and by pointer, recurse
 * through each other, and the program interposes a function that the library defines and calls too.
 *
 *	libraries.c        instrumented program, -rdynamic
 *	libraries_one.c    instrumented library
 *	libraries_two.c    a second instrumented library, which the first one calls
 *	libraries_plain.c  a library that plain clang compiles
 */
#include "shadow.h"

typedef int function(int);
int one_leaf(int n);
int one_apply(function *f, int n);
int one_calls_program(int n);
int one_ping(int n);
int one_uses_interposed(int n);
int one_uses_two(int n);
int one_alias(int n);
int two_leaf(int n);
int plain_apply(function *f, int n);
int plain_calls_program(int n);
int plain_calls_one(int n);
int program_function(int n);
int program_pong(int n);
int interposed(int n);

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

NOINLINE int program_function(int n)
{
	ENTER();
	CHECK();
	leaf(n);
	LEAVE();
	return n;
}

NOINLINE int program_pong(int n)
{
	ENTER();
	CHECK();
	int value = n ? one_ping(n - 1) : leaf(n);
	LEAVE();
	return value;
}

/* The one in the library must not be called, nor be taken for this one. */
NOINLINE int interposed(int n)
{
	ENTER();
	int value = leaf(n) + 1;
	CHECK();
	LEAVE();
	return value;
}

NOINLINE static int everywhere(int n)
{
	ENTER();
	CHECK();
	if (n > 0) {
		one_apply(everywhere, n - 1);
		FOREIGN("plain_apply", plain_apply(everywhere, n - 2));
	}
	LEAVE();
	return n;
}

NOINLINE static int direct(int n)
{
	ENTER();
	int sum = one_leaf(n) + one_calls_program(n) + two_leaf(n);
	sum += interposed(n);
	sum += one_uses_interposed(n);
	CHECK();
	LEAVE();
	return sum;
}

int main(void)
{
	ENTER();
	for (int n = 0; n < 3; n++) {
		one_leaf(n);
		one_apply(leaf, n);
		one_calls_program(n);
		one_ping(5);
		program_pong(5);
		EXPECT(one_uses_interposed(n) == n + 1);
		one_uses_two(n);
		one_alias(n); /* the function is one_real */
		EXPECT(direct(n) == 5 * n + 2);
		FOREIGN("plain_apply", plain_apply(leaf, n));
		FOREIGN("plain_apply", plain_apply(one_leaf, n));
		FOREIGN("plain_calls_program", plain_calls_program(n));
		FOREIGN("plain_calls_one", plain_calls_one(n));
		function *volatile pointer = one_leaf;
		pointer(n);
	}
	everywhere(4);
	leaf(9);
	LEAVE();
	return 0;
}
