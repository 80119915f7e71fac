/* An exception that meets noexcept: the frames above are unwound or not, as the library likes; the handler's own are known. */
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
	throw n;
}

FN void refuses(int n) noexcept
{
	SCOPE();
	leaf(n);
	thrower(n);
}

extern "C" [[noreturn]] NOINLINE void on_terminate()
{
	/* main;refuses, then __clang_call_terminate and the library. */
	shadow.depth = 2;
	shadow_push("...");
	SCOPE();
	leaf(1);
	CHECK();
	_exit(0);
}

int main()
{
	SCOPE();
	std::set_terminate(on_terminate);
	refuses(3);
	return 1;
}
