/*
 * shapes_exceptions.cpp - exceptions and C++ library code, single-stepped and unwound after each instruction (step.h): the unwinder
 * of libgcc, personality routines, landing pads.
 */
#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "agent/step.h"

static volatile unsigned long sink;

namespace
{
struct guard {
	unsigned long value;
	explicit guard(unsigned long v) : value(v)
	{
	}
	~guard()
	{
		sink = sink + value;
	}
};

__attribute__((noinline)) void thrower(unsigned int depth)
{
	guard g(depth);

	if (depth == 0)
		throw std::runtime_error("bottom");
	thrower(depth - 1);
	sink = sink + 1;
}

__attribute__((noinline)) void rethrower(unsigned int depth)
{
	try {
		guard g(depth);
		thrower(depth);
	} catch (const std::logic_error &) {
		sink = sink + 2;
	} catch (const std::exception &e) {
		sink = sink + std::string(e.what()).size();
		throw;
	}
}

__attribute__((noinline)) unsigned long library(unsigned long n)
{
	std::map<std::string, unsigned long> map;
	std::vector<int> v{3, 1, 2, 5, 4};
	std::function<int(int)> f = [&](int x) { return x + int(n); };

	std::sort(v.begin(), v.end(), [&](int a, int b) { return f(a) < f(b); });
	map["one"] = n;
	map["two"] = v[0];
	std::ostringstream out;
	out << n << ' ' << 1.5 << ' ' << map["one"];
	return out.str().size();
}
} // namespace

int main(int argc, char **argv)
{
	step_prepare();
	STEP_BEGIN();
	try {
		rethrower(3);
	} catch (...) {
		sink = sink + 3;
	}
	try {
		std::vector<int>().at(3);
	} catch (const std::out_of_range &) {
		sink = sink + 4;
	}
	if (argc > 1)
		sink = sink + library(7);
	STEP_END();
	return step_finish(argv[0]);
}
