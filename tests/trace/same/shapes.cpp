/* Shapes of functions whose frames and ways out are not the usual ones: traced, they do what they did. */
#include <alloca.h>
#include <coroutine>
#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define NOINLINE __attribute__((noinline))

struct Counted {
	unsigned &count;
	~Counted()
	{
		count++;
	}
};

NOINLINE static unsigned throws(unsigned n)
{
	if (n % 3 == 0)
		throw n;
	if (n % 3 == 1)
		throw std::runtime_error("one");
	return n;
}

NOINLINE static unsigned rethrows(unsigned n, unsigned &count)
{
	Counted counted{count};
	try {
		return throws(n);
	} catch (unsigned value) {
		if (value % 2)
			throw;
		try {
			throw std::runtime_error("two");
		} catch (...) {
			count += 10;
			throw long(value + 1);
		}
	}
}

NOINLINE static unsigned catches(unsigned n)
{
	unsigned count = 0;
	for (unsigned i = 0; i < n; i++) {
		try {
			count += rethrows(i, count);
		} catch (unsigned value) {
			count += value;
		} catch (long value) {
			count += 2 * unsigned(value);
		} catch (std::exception &) {
			count += 5;
		}
	}
	return count;
}

struct Series {
	struct promise_type {
		unsigned value;
		Series get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(unsigned next)
		{
			value = next;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			throw;
		}
	};
	std::coroutine_handle<promise_type> handle;
};

static Series series(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned caught = 0;
		try {
			throws(i);
			co_yield i;
		} catch (std::exception &) {
			caught = 100;
		} catch (unsigned) {
			caught = 200;
		}
		if (caught)
			co_yield caught + i;
	}
}

NOINLINE static unsigned resumes(unsigned n)
{
	Series all = series(n);
	unsigned sum = 0;
	while (all.handle.resume(), !all.handle.done())
		sum = sum * 3 + all.handle.promise().value;
	all.handle.destroy();
	return sum;
}

static unsigned odd(unsigned n, unsigned sum);
NOINLINE static unsigned even(unsigned n, unsigned sum)
{
	if (!n)
		return sum;
	if (sum % 5 == 2)
		sum += 3;
	__attribute__((musttail)) return odd(n - 1, sum * 2);
}

NOINLINE static unsigned odd(unsigned n, unsigned sum)
{
	if (!n)
		return sum;
	if (sum % 7 == 3)
		sum ^= 1;
	__attribute__((musttail)) return even(n - 1, sum + n);
}

NOINLINE static unsigned add_all(int n, va_list rest)
{
	unsigned sum = 0;
	for (int i = 0; i < n; i++)
		sum += i % 2 ? unsigned(va_arg(rest, int)) : unsigned(va_arg(rest, double) * 2);
	return sum;
}

NOINLINE static unsigned forwards(int n, ...)
{
	va_list rest;
	unsigned sum = 0;
	va_start(rest, n);
	for (unsigned i = 0; i < 2; i++) {
		va_list copy;
		va_copy(copy, rest);
		sum += add_all(n, copy) * (i + 1);
		va_end(copy);
	}
	va_end(rest);
	return sum;
}

static jmp_buf place;

NOINLINE static void jumps(unsigned depth)
{
	for (int i = 0; i < 3; i++) {
		if (!depth)
			longjmp(place, 5 + i);
		jumps(depth - 1);
	}
}

NOINLINE static unsigned lands(unsigned n)
{
	volatile unsigned sum = 0;
	for (volatile unsigned i = 0; i < n; i = i + 1) {
		int how = setjmp(place);
		if (how)
			sum = sum + unsigned(how);
		else if (i % 2)
			jumps(i);
		else
			sum = sum + 100;
	}
	return sum;
}

struct alignas(64) Aligned {
	unsigned values[16];
};

NOINLINE static unsigned mixes(const unsigned *values, unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		if (values[i] % 3)
			sum += values[i];
		else
			sum ^= values[i];
	return sum;
}

/* The frame is found by a register of its own. */
NOINLINE static unsigned realigns(unsigned n)
{
	Aligned all;
	unsigned *some = static_cast<unsigned *>(alloca(n * sizeof *some));
	for (unsigned i = 0; i < 16; i++)
		all.values[i] = i * n;
	for (unsigned i = 0; i < n; i++) {
		unsigned *more = static_cast<unsigned *>(alloca(16));
		more[0] = i;
		some[i] = i % 4 == 1 ? more[0] : all.values[i * 3 % 16];
	}
	return mixes(some, n) + (reinterpret_cast<uintptr_t>(&all) % 64 != 0);
}

/* No call: its record may be in the red zone. */
NOINLINE static unsigned leaf(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		switch (i % 5) {
		case 0:
			sum += 2;
			break;
		case 1:
			sum ^= 3;
			break;
		case 2:
			sum += sum % 2;
			break;
		default:
			sum -= 1;
		}
	return sum;
}

__attribute__((optnone, noinline)) static unsigned plain(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		if (i % 2)
			sum += i;
		else
			sum ^= i;
	return sum;
}

__attribute__((naked, noinline)) static unsigned naked(unsigned)
{
	__asm__("endbr64\n\tleal 5(%rdi), %eax\n\tret");
}

NOINLINE static unsigned jumps_in_assembly(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++) {
		__asm__ goto("testl $1, %0\n\tjnz %l1" : : "r"(i) : "cc" : is_odd);
		sum += 3;
		continue;
is_odd:
		sum ^= 9;
	}
	return sum;
}

[[noreturn]] NOINLINE static void leaves(unsigned n)
{
	if (n % 2)
		std::puts("odd");
	std::printf("leaves %u\n", n);
	std::exit(int(n % 3));
}

int main(int argc, char **)
{
	static unsigned (*const all[])(unsigned) = {catches, resumes, lands, realigns,
						    leaf,    plain,   naked, jumps_in_assembly};
	for (unsigned (*one)(unsigned) : all)
		std::printf("%u\n", one(20 + unsigned(argc)));
	std::printf("%u %u %u\n", odd(50, unsigned(argc)), even(33, unsigned(argc)), forwards(4, 1.5, 2, 3.5, 4));
	leaves(unsigned(argc));
}
