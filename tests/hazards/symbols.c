/* Symbols: weak definitions, weak undefined ones, aliases, ifuncs, hidden and protected visibility. */
#include <stdlib.h>

#include "shadow.h"

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

__attribute__((weak)) int weak_here(int n);
__attribute__((weak)) int weak_here(int n)
{
	ENTER();
	CHECK();
	leaf(n);
	LEAVE();
	return n;
}

__attribute__((weak)) int weak_absent(int n);

int real_function(int n);
NOINLINE int real_function(int n)
{
	ENTER();
	CHECK();
	leaf(n);
	LEAVE();
	return n;
}

extern __typeof__(real_function) alias_function __attribute__((alias("real_function")));
extern __typeof__(real_function) weak_alias __attribute__((weak, alias("real_function")));

static int variant_one(int n)
{
	ENTER();
	CHECK();
	leaf(n);
	LEAVE();
	return n + 1;
}

static int variant_two(int n)
{
	ENTER();
	leaf(n);
	LEAVE();
	return n + 2;
}

static int (*resolve_variant(void))(int)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("sse2") ? variant_one : variant_two;
}
int dispatched(int n) __attribute__((ifunc("resolve_variant")));

__attribute__((visibility("hidden"))) int hidden_function(int n);
NOINLINE int hidden_function(int n)
{
	ENTER();
	int value = dispatched(n) + leaf(n);
	LEAVE();
	return value;
}

__attribute__((visibility("protected"))) int protected_function(int n);
NOINLINE int protected_function(int n)
{
	ENTER();
	int value = hidden_function(n);
	CHECK();
	LEAVE();
	return value;
}

__attribute__((section("waymark_extra"))) NOINLINE static int in_other_section(int n)
{
	ENTER();
	CHECK();
	int value = n ? in_other_section(n - 1) : leaf(n);
	LEAVE();
	return value;
}

__attribute__((cold)) NOINLINE static int cold_function(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

int main(void)
{
	ENTER();
	for (int n = 0; n < 3; n++) {
		weak_here(n);
		EXPECT(!weak_absent);
		real_function(n);
		alias_function(n);
		weak_alias(n);
		EXPECT(dispatched(n) == n + 1);
		int (*volatile pointer)(int) = dispatched;
		EXPECT(pointer(n) == n + 1);
		pointer = alias_function;
		pointer(n);
		hidden_function(n);
		protected_function(n);
		in_other_section(n);
		if (__builtin_expect(n == 1, 0))
			cold_function(n);
	}
	LEAVE();
	return 0;
}
