/* coroutines.cpp - C++20 coroutines: generators, resumed from elsewhere, destroyed before their end, that throw. */
#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>

static int sum;

struct generator {
	struct promise_type {
		int value = 0;
		std::exception_ptr thrown;
		generator get_return_object()
		{
			return generator(std::coroutine_handle<promise_type>::from_promise(*this));
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			thrown = std::current_exception();
		}
	};
	std::coroutine_handle<promise_type> handle;
	explicit generator(std::coroutine_handle<promise_type> handle) : handle(handle)
	{
	}
	generator(generator &&other) : handle(std::exchange(other.handle, nullptr))
	{
	}
	~generator()
	{
		if (handle)
			handle.destroy();
	}
	bool next()
	{
		handle.resume();
		if (handle.promise().thrown)
			std::rethrow_exception(handle.promise().thrown);
		return !handle.done();
	}
};

static generator count(int n)
{
	for (int i = 0; i < n; i++) {
		if (i % 3 == 2)
			continue;
		co_yield i;
		if (i == 7)
			co_return;
	}
}

static generator nested(int n)
{
	for (int i = 0; i < n; i++) {
		generator g = count(i);
		while (g.next())
			co_yield g.handle.promise().value * 2;
		if (i == 6)
			throw i;
	}
}

int main()
{
	for (int n = 0; n < 12; n++) {
		generator g = count(n);
		while (g.next())
			sum += g.handle.promise().value;
		generator h = nested(n);
		try {
			for (int steps = 0; steps < 15 && h.next(); steps++)
				sum++;
		} catch (int) {
			sum += 100;
		}
	}
	printf("%d\n", sum);
}
