/*
 * Calling conventions that promise more or other registers, functions without a prologue, and attributes that forbid what the
 * instrumentation would like to do. Values that live in registers across such calls must survive.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "shadow.h"

NOINLINE static long leaf(long n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

__attribute__((preserve_most)) NOINLINE static long keeps_most(long n)
{
	ENTER();
	CHECK();
	long value = leaf(n) + leaf(n + 1);
	LEAVE();
	return value;
}

__attribute__((preserve_all)) NOINLINE static void keeps_all(long *n)
{
	ENTER();
	*n += leaf(*n);
	CHECK();
	LEAVE();
}

__attribute__((ms_abi)) NOINLINE static long windows(long a, long b, long c, long d, long e, double f)
{
	ENTER();
	CHECK();
	long value = a + 2 * b + 3 * c + 4 * d + 5 * e + (long)f + leaf(a);
	LEAVE();
	return value;
}

__attribute__((ms_abi)) NOINLINE static long windows_variadic(int count, ...)
{
	ENTER();
	__builtin_ms_va_list args;
	long sum = 0;
	__builtin_ms_va_start(args, count);
	while (count--)
		sum += __builtin_va_arg(args, long);
	__builtin_ms_va_end(args);
	leaf(sum);
	LEAVE();
	return sum;
}

__attribute__((regcall)) NOINLINE static double many_registers(double a, double b, long c, long d, long e, long f,
							       long g, long h)
{
	ENTER_AS("__regcall3__many_registers"); /* the name of the symbol */
	CHECK();
	double value = a + b + (double)(c + d + e + f + g + h + leaf(c));
	LEAVE();
	return value;
}

/* Nothing but its assembly may be in it. */
__attribute__((naked, used)) NOINLINE static long bare(long n __attribute__((unused)))
{
	__asm__("leaq 5(%rdi), %rax\n\t"
		"ret");
}

__attribute__((naked, used)) NOINLINE static long bare_calls(long n __attribute__((unused)),
							     long (*f)(long) __attribute__((unused)))
{
	__asm__("subq $8, %rsp\n\t"
		"call *%rsi\n\t"
		"addq $8, %rsp\n\t"
		"ret");
}

__attribute__((noreturn)) NOINLINE static void leave(void)
{
	ENTER();
	CHECK();
	exit(0);
}

__attribute__((const)) NOINLINE static long constant(long n)
{
	return n * 3;
}

__attribute__((pure)) NOINLINE static long pure_reader(const long *n)
{
	return *n + 1;
}

__attribute__((nothrow, cold)) NOINLINE static long cold(long n)
{
	ENTER();
	long value = leaf(n);
	LEAVE();
	return value;
}

__attribute__((no_stack_protector, hot, flatten)) NOINLINE static long flat(long n)
{
	ENTER();
	long value = cold(n) + keeps_most(n);
	LEAVE();
	return value;
}

__attribute__((target("avx2"))) NOINLINE static long with_avx(long n)
{
	ENTER();
	CHECK();
	long value = leaf(n);
	LEAVE();
	return value;
}

__attribute__((optnone)) NOINLINE static long unoptimised(long n)
{
	ENTER();
	long value = leaf(n) + keeps_most(n);
	CHECK();
	LEAVE();
	return value;
}

__attribute__((minsize)) NOINLINE static long small(long n)
{
	ENTER();
	long value = n ? small(n - 1) : leaf(n);
	CHECK();
	LEAVE();
	return value;
}

/* Many values alive across calls whose convention saves nearly every register. */
NOINLINE static long pressure(long seed)
{
	ENTER();
	long a = seed * 3, b = seed * 5, c = seed * 7, d = seed * 11, e = seed * 13, f = seed * 17, g = seed * 19;
	double x = (double)seed / 3, y = (double)seed / 7, z = (double)seed * 9;
	long kept = seed;
	long value = keeps_most(a);
	keeps_all(&kept);
	value += keeps_most(b) + windows(c, d, e, f, g, x);
	double w = many_registers(x, y, a, b, c, d, e, f);
	keeps_all(&kept);
	EXPECT(a == seed * 3 && b == seed * 5 && c == seed * 7 && d == seed * 11 && e == seed * 13 && f == seed * 17);
	EXPECT(x == (double)seed / 3 && y == (double)seed / 7 && z == (double)seed * 9 && kept == 4 * seed &&
	       g == seed * 19);
	CHECK();
	LEAVE();
	return value + (long)w;
}

int main(int argc, char **argv)
{
	ENTER();
	(void)argv;
	for (long n = argc; n < argc + 4; n++) {
		pressure(n);
		EXPECT(windows(1, 2, 3, 4, 5, 6.5) == 62);
		EXPECT(windows_variadic(3, n, 2L, 3L) == n + 5);
		EXPECT(bare(n) == n + 5);
		EXPECT(bare_calls(n, bare) == n + 5);
		shadow_push("...");
		EXPECT(bare_calls(n, leaf) == n);
		RESTORE();
		EXPECT(constant(n) + pure_reader(&n) == 4 * n + 1);
		flat(n);
		if (__builtin_cpu_supports("avx2"))
			with_avx(n);
		unoptimised(n);
		small(n);
	}
	leave();
}
