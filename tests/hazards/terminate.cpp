/* std::terminate: its handler runs on top of the throw that nobody catches. */
#include <cstdlib>
#include <exception>

#include "shadow.h"

#define FN extern "C" NOINLINE

FN int leaf(int n)
{
	SCOPE();
	CHECK();
	return n;
}

FN void thrower(int n)
{
	SCOPE();
	leaf(n);
	FOREIGN_VOID("__cxa_throw", throw n);
}

FN void passing(int n)
{
	SCOPE();
	thrower(n);
	leaf(n);
}

extern "C" [[noreturn]] NOINLINE void on_terminate()
{
	SCOPE();
	leaf(1);
	EXPECT(std::current_exception());
	CHECK();
	_exit(3);
}

int main()
{
	SCOPE();
	std::set_terminate(on_terminate);
	try {
		passing(1);
	} catch (int) {
		CATCH_RESTORE();
		leaf(2);
	}
	/* Nobody catches this one: nothing is unwound, the handler runs on top of the throw. */
	passing(2);
	return 1;
}
