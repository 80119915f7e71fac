/* Static initialisers and destructors in two files, constructors with priorities, function-local statics. */
#include "shadow.h"

#define FN extern "C" NOINLINE

extern "C" int other_value();

FN int leaf(int n)
{
	SCOPE();
	CHECK();
	return n;
}

struct object {
	int n;
	NOINLINE explicit object(int value) : n(value)
	{
		SCOPE_AS("object::object(int)");
		leaf(n);
		CHECK();
	}
	NOINLINE ~object()
	{
		SCOPE_AS("object::~object()");
		leaf(n);
		CHECK();
	}
};

/* The frames between the C library and these constructors are the compiler's initialisation functions. */
struct root_mark {
	root_mark()
	{
		shadow_push("...");
	}
};
__attribute__((init_priority(102))) static root_mark mark;
__attribute__((init_priority(103))) static object early(1);
static object late(2);
static int computed = leaf(3) + other_value();

FN int with_static(int n)
{
	SCOPE();
	static object once(n);
	CHECK();
	return once.n;
}

__attribute__((constructor(101))) static void first_constructor()
{
	SCOPE_AS("first_constructor()");
	CHECK();
}

int main()
{
	shadow.depth = 0;
	{
		SCOPE();
		EXPECT(computed > 0);
		with_static(4);
		with_static(5);
		other_value();
		CHECK();
	}
	return 0;
}
