/* Odd frames: alloca, VLAs, varargs, structs by value in and out, arguments on the stack, aligned locals. */
#include <alloca.h>
#include <stdarg.h>
#include <stdlib.h>

#include "shadow.h"

struct small {
	int a, b;
};
struct big {
	long words[12];
};
struct mixed {
	double d;
	float f;
	long l;
};

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

NOINLINE static int with_alloca(int n)
{
	ENTER();
	volatile char *bytes = alloca((size_t)n * 16 + 1);
	bytes[n] = (char)n;
	leaf(n);
	int value = n ? with_alloca(n - 1) : 0;
	bytes = alloca((size_t)n + 1);
	bytes[n] = 1;
	CHECK();
	LEAVE();
	return value + bytes[n];
}

NOINLINE static int with_vla(int n)
{
	ENTER();
	int sum = 0;
	for (int i = 1; i < n; i++) {
		volatile int numbers[i];
		numbers[i - 1] = i;
		sum += leaf(numbers[i - 1]);
		if (i == 3)
			sum += with_vla(n - 2);
	}
	CHECK();
	LEAVE();
	return sum;
}

NOINLINE static long sum_va(int count, va_list args)
{
	ENTER();
	long sum = 0;
	while (count--)
		sum += va_arg(args, long);
	CHECK();
	LEAVE();
	return sum;
}

NOINLINE static long variadic(int count, ...)
{
	ENTER();
	va_list args, copy;
	va_start(args, count);
	va_copy(copy, args);
	long sum = sum_va(count, args) + sum_va(count, copy);
	va_end(copy);
	va_end(args);
	leaf(count);
	LEAVE();
	return sum;
}

NOINLINE static double variadic_double(const char *kinds, ...)
{
	ENTER();
	va_list args;
	double sum = 0;
	va_start(args, kinds);
	for (; *kinds; kinds++) {
		if (*kinds == 'd')
			sum += va_arg(args, double);
		else if (*kinds == 'i')
			sum += va_arg(args, int);
		else
			sum += (double)va_arg(args, struct big).words[11];
		CHECK();
	}
	va_end(args);
	LEAVE();
	return sum;
}

NOINLINE static struct big make_big(struct big in, long add)
{
	ENTER();
	CHECK();
	in.words[0] += add;
	in.words[11] -= add;
	LEAVE();
	return in;
}

NOINLINE static struct small make_small(struct small in)
{
	ENTER();
	leaf(in.a);
	LEAVE();
	return (struct small){in.b, in.a};
}

NOINLINE static struct mixed make_mixed(struct mixed in, struct small s, struct mixed in2)
{
	ENTER();
	leaf(s.a);
	in.d += in2.d;
	in.l -= in2.l;
	LEAVE();
	return in;
}

NOINLINE static long many(long a, long b, long c, long d, long e, long f, long g, long h, struct big i, double j,
			  long k)
{
	ENTER();
	CHECK();
	long sum = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + i.words[3] + (long)j + k;
	if (a)
		sum += many(a - 1, b, c, d, e, f, g, h, i, j, k);
	LEAVE();
	return sum;
}

NOINLINE static int aligned(int n)
{
	ENTER();
	_Alignas(64) volatile char block[64];
	block[n] = (char)n;
	EXPECT(((uintptr_t)block & 63) == 0);
	int value = leaf(n) + (n ? aligned(n - 1) : 0);
	CHECK();
	LEAVE();
	return value + block[n];
}

NOINLINE static long double wide(long double x, __int128 y)
{
	ENTER();
	CHECK();
	LEAVE();
	return x + (long double)y;
}

int main(void)
{
	ENTER();
	struct big big;
	for (int i = 0; i < 12; i++)
		big.words[i] = i;
	with_alloca(4);
	with_vla(6);
	EXPECT(variadic(3, 1L, 2L, 3L) == 12);
	EXPECT(variadic(9, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L) == 90);
	EXPECT(variadic_double("didBd", 1.5, 2, 3.5, big, 4.0) == 22.0);
	for (int i = 0; i < 3; i++)
		big = make_big(big, i);
	EXPECT(big.words[0] == 3 && big.words[11] == 8 && big.words[5] == 5);
	struct small s = make_small(make_small((struct small){1, 2}));
	EXPECT(s.a == 1 && s.b == 2);
	struct mixed m = make_mixed((struct mixed){1, 2, 3}, s, (struct mixed){4, 5, 6});
	EXPECT(m.d == 5 && m.f == 2 && m.l == -3);
	EXPECT(many(1, 2, 3, 4, 5, 6, 7, 8, big, 9.5, 10) == 2 * (204 + 3 + 9 + 10) - 1);
	EXPECT(aligned(3) == 12);
	EXPECT(wide(0.5L, (__int128)7) == 7.5L);
	long (*volatile pointer)(long, long, long, long, long, long, long, long, struct big, double, long) = many;
	EXPECT(pointer(0, 2, 3, 4, 5, 6, 7, 8, big, 9.5, 10) == 203 + 3 + 9 + 10);
	struct big (*volatile maker)(struct big, long) = make_big;
	EXPECT(maker(big, 4).words[0] == 7);
	LEAVE();
	return 0;
}
