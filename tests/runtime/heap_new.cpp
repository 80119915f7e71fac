/* heap_new.cpp - a C++ program under the heap client: every form of new and delete, and a class with operators of its own. */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace
{

struct alignas(128) wide {
	char bytes[256];
};

struct own {
	int value[10];
	static void *operator new(std::size_t n)
	{
		return std::malloc(n + 100);
	}
	static void operator delete(void *p)
	{
		std::free(p);
	}
};

} // namespace

int main()
{
	std::vector<std::unique_ptr<std::string>> strings;
	for (int i = 0; i < 1000; i++)
		strings.push_back(std::make_unique<std::string>(static_cast<std::size_t>(i), 'x'));
	delete new wide;
	delete[] new wide[3];
	delete new (std::nothrow) int[7];
	delete new own;
	auto *leaked = new own[2];
	try {
		volatile std::size_t huge = static_cast<std::size_t>(-1) / 2;
		delete[] new char[huge];
	} catch (const std::bad_alloc &) {
		std::puts("bad_alloc");
	}
	try {
		throw std::string("an exception is a block too");
	} catch (const std::string &s) {
		std::puts(s.c_str());
	}
	std::printf("%d\n", leaked->value[0] & 0);
	return 0;
}
