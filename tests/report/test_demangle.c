/*
 * test_demangle.c - names as people know them: Itanium C++, both Rust schemes, what the linker appends, and what is no mangled
 * name at all.
 */
#include "check.h"
#include "object/demangle.h"

int main(void)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{"main", "main"},
		{"", ""},
		{"_", "_"},
		{"_start", "_start"},
		{"_Z1fi", "f(int)"},
		{"_ZN5shape5twiceEi", "shape::twice(int)"},
		{"_ZNK7pair_of3sumEi", "pair_of::sum(int) const"},
		{"_Znwm", "operator new(unsigned long)"},
		{"_Z3maxIiET_S0_S0_", "max<int>(int, int)"},
		{"_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()"},
		{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"},
		{"_RNvC6_123foo3bar", "123foo::bar"},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
		{"compare.5", "compare"},
		{"compare.llvm.1234567", "compare"},
		{"_Z1fi.llvm.99", "f(int)"},
		{"f.", "f."},
		{".5", ".5"},
		{"f.x5", "f.x5"},
		{"_Zbroken", "_Zbroken"},
		{"_ZN", "_ZN"},
	};
	struct arena arena;

	arena_init(&arena);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *got = demangle(&arena, cases[i].name);

		if (CHECK(got != NULL))
			CHECK_TEXT(got, cases[i].want);
	}
	arena_deinit(&arena);
	return check_status();
}
