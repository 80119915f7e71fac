/* The other file of initorder.cpp. */
#include "shadow.h"

extern "C" int leaf(int n);

struct other {
	int n;
	NOINLINE explicit other(int value) : n(value)
	{
		SCOPE_AS("other::other(int)");
		leaf(n);
	}
};

extern "C" NOINLINE int other_value()
{
	SCOPE();
	static other local(7);
	return leaf(local.n);
}

static other global(6);
