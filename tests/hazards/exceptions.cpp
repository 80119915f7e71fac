/*
 * C++ exceptions: catch and rethrow at several depths, nested tries, destructors that capture during unwinding, through
 * recursion, qsort, function pointers and std::function, exception_ptr, function try blocks, throws from destructors' callees.
 */
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "shadow.h"

#define FN extern "C" NOINLINE /* plain names in the contexts */

FN int leaf(int n)
{
	SCOPE();
	CHECK();
	return n;
}

FN void in_destructor(int n)
{
	SCOPE();
	leaf(n);
	CHECK();
}

/* Captures while an exception unwinds: in the frame that the destructor runs for. */
struct guard {
	int n;
	explicit guard(int value) : n(value)
	{
	}
	NOINLINE ~guard()
	{
		SCOPE_AS("guard::~guard()");
		in_destructor(n);
		CHECK();
	}
};

struct other_error {
	int n;
};

FN void thrower(int n)
{
	SCOPE();
	leaf(n);
	if (n % 3 == 0)
		throw std::runtime_error("zero");
	if (n % 3 == 1)
		throw n;
	throw other_error{n};
}

FN void passing(int n, int depth)
{
	SCOPE();
	guard g(depth);
	if (depth)
		passing(n, depth - 1);
	else
		thrower(n);
	leaf(99);
}

FN int catching(int n, int depth)
{
	SCOPE();
	try {
		passing(n, depth);
	} catch (const std::runtime_error &e) {
		CHECK();
		leaf(1);
		return 1;
	} catch (int value) {
		CHECK();
		leaf(2);
		return 2;
	} catch (...) {
		CHECK();
		leaf(3);
	}
	leaf(4);
	return 3;
}

FN void rethrowing(int n, int depth)
{
	SCOPE();
	guard g(n);
	try {
		if (depth)
			rethrowing(n, depth - 1);
		else
			passing(n, 1);
	} catch (int) {
		CHECK();
		leaf(5);
		throw;
	} catch (const std::exception &) {
		leaf(6);
		throw other_error{n};
	}
}

FN void nested_try(int n)
{
	SCOPE();
	try {
		try {
			thrower(n);
		} catch (int) {
			CHECK();
			leaf(7);
			try {
				thrower(n + 1);
			} catch (const other_error &) {
				CHECK();
				leaf(8);
			}
			throw;
		}
	} catch (...) {
		CHECK();
		leaf(9);
		catching(n, 1);
	}
	CHECK();
}

FN int compare_throws(const void *a, const void *b)
{
	SCOPE();
	guard g(1);
	CHECK();
	if (*static_cast<const int *>(a) == 4 || *static_cast<const int *>(b) == 4)
		thrower(4);
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

FN void through_qsort(int depth)
{
	SCOPE();
	int values[] = {1, 3, 2, 5, 6, 4, 7};
	guard g(depth);
	if (depth)
		through_qsort(depth - 1);
	try {
		FOREIGN_VOID("qsort", qsort(values, 7, sizeof *values, compare_throws));
	} catch (int) {
		CATCH_RESTORE();
		CHECK();
		leaf(10);
	}
	CATCH_RESTORE();
	leaf(11);
}

FN void keep(std::exception_ptr &kept, int n)
{
	SCOPE();
	try {
		thrower(n);
	} catch (...) {
		kept = std::current_exception();
		CHECK();
	}
}

FN void again(const std::exception_ptr &kept)
{
	SCOPE();
	guard g(0);
	leaf(12);
	std::rethrow_exception(kept);
}

FN void pointers()
{
	SCOPE();
	for (int n = 0; n < 3; n++) {
		std::exception_ptr kept;
		keep(kept, n);
		for (int i = 0; i < 2; i++) {
			try {
				again(kept);
			} catch (...) {
				CHECK();
				leaf(n);
			}
		}
	}
}

FN void no_throw_outside(int n) noexcept
{
	SCOPE();
	try {
		thrower(n);
	} catch (...) {
		CHECK();
	}
	leaf(13);
}

/*
 * A first member's life spans the others': its entry is on the shadow stack while the constructor's body runs, while the
 * other members are destroyed because of a throw there, and from the destructor's body to the end of the members.
 */
struct whole_life {
	enum {
		GONE = ~0u
	};
	unsigned depth;
	explicit whole_life(const char *name) : depth(shadow.depth)
	{
		shadow_push(name);
	}
	void leave()
	{
		shadow.depth = depth;
		depth = GONE;
	}
	void enter(const char *name)
	{
		depth = shadow.depth;
		shadow_push(name);
	}
	~whole_life()
	{
		if (depth != GONE)
			shadow.depth = depth;
	}
};

struct member {
	whole_life life;
	guard g;
	explicit member(int n);
	NOINLINE ~member()
	{
		life.enter("member::~member()");
		leaf(14);
	}
};

/* A function try block: the constructed members are destroyed before its handler runs. */
NOINLINE member::member(int n)
try : life("member::member(int)"), g(n) {
	leaf(15);
	if (n > 1)
		thrower(n);
	life.leave();
} catch (...) {
	throw;
}

FN void members(int n)
{
	SCOPE();
	try {
		member m(n);
		member second(n + 1);
		CHECK();
	} catch (...) {
		CATCH_RESTORE();
		CHECK();
		leaf(16);
	}
	CHECK();
}

typedef void action(int);

FN void by_pointer(action *f, int n)
{
	SCOPE();
	guard g(n);
	f(n);
}

FN void loop(action *f)
{
	SCOPE();
	int caught = 0;
	for (int i = 0; i < 6; i++) {
		try {
			by_pointer(f, i);
		} catch (...) {
			caught++;
			if (i & 1)
				continue;
			leaf(17);
		}
	}
	EXPECT(caught == 6);
	CHECK();
}

int main()
{
	SCOPE();
	for (int n = 0; n < 3; n++)
		for (int depth = 0; depth < 4; depth += 2)
			EXPECT(catching(n, depth) == n + 1);
	for (int n = 0; n < 3; n++) {
		try {
			rethrowing(n, 3);
		} catch (...) {
			CHECK();
			leaf(18);
		}
	}
	for (int n = 0; n < 3; n++)
		nested_try(n);
	through_qsort(2);
	pointers();
	no_throw_outside(2);
	for (int n = 0; n < 3; n++)
		members(n);
	loop(thrower);
	leaf(19);
	CHECK();
	return 0;
}
