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
	static const struct {
		const char *name, *want;
	} briefs[] = {
		{"main", "main"},
		{"f(int)", "f"},
		{"pair_of::sum(int) const", "pair_of::sum"},
		{"max<int>(int, int)", "max<...>"},
		{"operator new(unsigned long)", "operator new"},
		{"operator delete[](void*)", "operator delete[]"},
		{"(anonymous namespace)::f()", "(anonymous namespace)::f"},
		{"a::(anonymous namespace)::f<(anonymous namespace)::t>(int)", "a::(anonymous namespace)::f<...>"},
		{"main::{lambda()#1}::operator()() const", "main::{lambda#1}::operator()"},
		{"shop::total(std::vector<int> const&) const::{lambda(int)#1}::operator()(int) const",
		 "shop::total::{lambda#1}::operator()"},
		{"std::map<int, std::pair<int, void (*)(int)> >::find(int const&) const", "std::map<...>::find"},
		{"std::operator<< <char>(std::ostream&, char)", "std::operator<<<...>"},
		{"std::operator== <char>(char, char)", "std::operator==<...>"},
		{"std::operator==<char>(char, char)", "std::operator==<...>"},
		{"std::__cxx11::basic_string<char>::find(char) const", "std::basic_string<...>::find"},
		{"bool_of<(unsigned char)62>()", "bool_of<...>"},
		{"v::operator<(v const&) const &", "v::operator<"},
		{"v::operator->() const", "v::operator->"},
		{"v::operator bool() const", "v::operator bool"},
		{"f(int) [clone .cold]", "f [clone .cold]"},
		{"<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
		{"a<><><><><><>", "a<...><...><...><...><...><...>"},
		{"f<broken", "f<broken"},
		{"f(broken", "f(broken"},
		{"a<b::operator>(int)>::c()", "a<...>::c"},
		{"coperator<int>()", "coperator<...>"},
		{"", ""},
		{"<", "<"},
		{"(", "("},
	};
	struct arena arena;

	arena_init(&arena);
	for (size_t i = 0; i < sizeof briefs / sizeof briefs[0]; i++) {
		const char *got = demangle_brief(&arena, briefs[i].name);

		if (CHECK(got != NULL))
			CHECK_TEXT(got, briefs[i].want);
	}
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *got = demangle(&arena, cases[i].name);

		if (CHECK(got != NULL))
			CHECK_TEXT(got, cases[i].want);
	}
	arena_deinit(&arena);
	return check_status();
}
