/*
 * Foreign objects and archives in one program: foreign_part.c is compiled by gcc, foreign_archive.c comes through an
 * archive. Calls go out, come back and recurse through both.
 */
#include "shadow.h"

int gcc_apply(int (*f)(int), int n); /* gcc: calls f(n) and f(n + 1) */
int gcc_calls_by_name(int n);        /* gcc: calls program_function(n) */
int gcc_leaf(int n);
int archive_apply(int (*f)(int), int n); /* instrumented, in an archive */
int archive_recursive(int n);
int program_function(int n);

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
	int value = n > 0 ? FOREIGN("gcc_calls_by_name", gcc_calls_by_name(n - 1)) : leaf(n);
	LEAVE();
	return value + 1;
}

NOINLINE static int up_and_down(int n)
{
	ENTER();
	CHECK();
	int value = n > 0 ? FOREIGN("gcc_apply", gcc_apply(up_and_down, n - 2)) : leaf(n);
	LEAVE();
	return value + 1;
}

int main(void)
{
	ENTER();
	FOREIGN("gcc_apply", gcc_apply(leaf, 3));
	EXPECT(FOREIGN("gcc_calls_by_name", gcc_calls_by_name(3)) == 4);
	up_and_down(5);
	EXPECT(gcc_leaf(4) == 5);
	int (*volatile through)(int (*)(int), int) = gcc_apply;
	through(leaf, 8); /* a pointer: which foreign function it was is not known, so there is no bracket */
	archive_apply(leaf, 2);
	archive_apply(up_and_down, 2);
	archive_recursive(4);
	program_function(2);
	LEAVE();
	return 0;
}
