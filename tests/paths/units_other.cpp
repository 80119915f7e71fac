/* units_other.cpp - see units.cpp. */
#include "units.h"

static int helper(int n)
{
	for (int i = 0; i < 2; i++)
		if (n > i)
			n--;
	return n;
}

int unused_there(int n)
{
	while (n > 3)
		n = twice<short>(short(n));
	return n;
}

int other(int n)
{
	square s(n + 1);
	return helper(n) + shared_inline(n + 1) + never_inlined(n) + twice<int>(n) + s.area();
}

int weak_function(int n)
{
	return n > 4 ? 1 : 0;
}
