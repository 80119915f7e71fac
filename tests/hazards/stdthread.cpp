/* std::thread, thread_local destructors, std::call_once, exceptions in threads, std::async's future. */
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "shadow.h"

#define FN extern "C" NOINLINE

FN int leaf(int n)
{
	SCOPE();
	CHECK();
	return n;
}

FN int work(int n)
{
	SCOPE();
	CHECK();
	int value = n ? work(n - 1) : leaf(n);
	return value + 1;
}

struct on_thread_exit {
	int n = 1;
	NOINLINE ~on_thread_exit()
	{
		SCOPE_AS("on_thread_exit::~on_thread_exit()");
		leaf(n);
		CHECK();
	}
};

static thread_local on_thread_exit at_exit;

FN void worker(int n)
{
	/* libstdc++'s frames are between the thread's start and here. */
	if (!shadow.depth) {
		THREAD_ROOT();
		shadow_push("...");
	}
	{
		SCOPE();
		at_exit.n = n;
		work(n);
		try {
			if (n & 1)
				throw n;
			CHECK();
		} catch (int) {
			CHECK();
			leaf(n);
		}
	}
	/* Thread-local destructors run from the C library. */
	shadow.depth = shadow.thread;
}

FN int asynchronous(int n)
{
	if (!shadow.depth) {
		THREAD_ROOT();
		shadow_push("...");
	}
	SCOPE();
	return work(n);
}

/* libstdc++'s frames are between here and the new thread. */
template <typename Create> static inline __attribute__((always_inline)) void creating(Create create)
{
	shadow_push("...");
	shadow_offer();
	create();
	shadow_offered(1);
	shadow.depth--;
}

static std::vector<std::thread> threads;

FN void start(int n)
{
	SCOPE();
	creating([n] { threads.emplace_back(worker, n); });
}

FN void nested(int n)
{
	if (!shadow.depth) {
		THREAD_ROOT();
		shadow_push("...");
	}
	SCOPE();
	std::thread inner;
	creating([&inner, n] { inner = std::thread(worker, n); });
	inner.join();
	work(1);
}

int main()
{
	SCOPE();
	for (int n = 0; n < 4; n++)
		start(n);
	creating([] { threads.emplace_back(worker, 4); });
	creating([] { threads.emplace_back(nested, 2); });
	work(2);
	for (auto &t : threads)
		t.join();
	std::future<int> result;
	creating([&result] { result = std::async(std::launch::async, asynchronous, 3); });
	EXPECT(result.get() == 4);
	work(1);
	return 0;
}
