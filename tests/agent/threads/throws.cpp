/*
 * throws.cpp - exceptions in threads, caught over frames of virtual calls, with destructors that call; and a cancellation's unwinding.
 * hazards.sh: again epochs,wall
 */
#include <pthread.h>
#include <thread>
#include <vector>

#include "../hazards/probe.h"

namespace
{

struct guard {
	int &count;
	explicit guard(int &c) : count(c)
	{
	}
	~guard();
};

__attribute__((noinline)) void note(int &count)
{
	PROBE();
	count++;
}

guard::~guard()
{
	note(count);
}

struct base {
	virtual int run(int depth, int &count) = 0;
	virtual ~base() = default;
};

struct thrower : base {
	int run(int depth, int &count) override
	{
		guard g(count);
		if (depth % 3 == 0)
			throw depth;
		return depth;
	}
};

struct caller : base {
	base *next;
	explicit caller(base *n) : next(n)
	{
	}
	__attribute__((noinline)) int run(int depth, int &count) override
	{
		guard g(count);
		int got = next->run(depth, count);
		PROBE();
		return got + 1;
	}
};

struct catcher : base {
	base *next;
	explicit catcher(base *n) : next(n)
	{
	}
	__attribute__((noinline)) int run(int depth, int &count) override
	{
		try {
			return next->run(depth, count);
		} catch (int value) {
			note(count);
			if (value % 2)
				throw;
			return value;
		}
	}
};

__attribute__((noinline)) int work(int number)
{
	thrower last;
	caller a(&last);
	catcher b(&a);
	caller c(&b);
	int count = 0, got = 0;

	for (int i = 0; i < 150; i++) {
		try {
			got += c.run(i + number, count);
		} catch (int value) {
			PROBE();
			got += value;
		}
	}
	return got + count;
}

} // namespace

int main()
{
	int total = 0;

	for (int round = 0; round < 6; round++) {
		std::vector<std::thread> threads;
		int got[4] = {0, 0, 0, 0};

		for (int i = 0; i < 4; i++)
			threads.emplace_back([i, &got] { got[i] = work(i); });
		for (auto &t : threads)
			t.join();
		for (int one : got)
			total += one;
		PROBE();
	}
	printf("%d\n", total);
	return 5;
}
