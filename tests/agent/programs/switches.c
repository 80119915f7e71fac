/*
 * switches.c - functions whose control flow is hard to follow: switch tables, computed gotos through tables of addresses and of
 * distances, labels that are passed on, tail calls that are indirect, cold parts, loops back to the start, setjmp.
 *
 * Ends with 0 when each does what it should; test_step looks at how.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))

static volatile unsigned int total;

KEEP static unsigned int add(unsigned int n)
{
	total += n;
	return total;
}

/* A table that is relative in position-independent code, absolute elsewhere. */
KEEP static unsigned int dense(unsigned int n)
{
	switch (n) {
	case 0:
		return add(3) * 2;
	case 1:
		add(5);
		return add(1);
	case 2:
		return n * add(7);
	case 3:
		add(2);
		break;
	case 4:
		return add(9) + 1;
	case 5:
		return add(11) ^ 5;
	case 7:
		add(13);
		return 4;
	case 8:
		return add(1) - 4;
	}
	return add(0);
}

/* The same without a frame, calls or a stack: the jump looks like a tail call's. */
KEEP static unsigned int leaf(unsigned int n, unsigned int a, unsigned int b)
{
	switch (n) {
	case 10:
		return a * b;
	case 11:
		return a + b * 3;
	case 12:
		return a ^ (b >> 3);
	case 13:
		return a % (b | 1);
	case 14:
		return a / (b | 1);
	case 15:
		return a << (b & 7);
	case 16:
		return b - a;
	}
	return 0;
}

/* Cases that are also come to from the one before, a few bytes behind its call. */
KEEP static unsigned int falls(unsigned int n)
{
	unsigned int value = n;

	switch (n) {
	case 0:
		value = add(1);
		__attribute__((fallthrough));
	case 1:
		value = add(value) ^ 2;
		__attribute__((fallthrough));
	case 2:
		value += add(3);
		__attribute__((fallthrough));
	case 3:
		value = add(value & 4);
		__attribute__((fallthrough));
	case 4:
		value -= add(5);
		__attribute__((fallthrough));
	case 5:
		value = add(value & 7);
		__attribute__((fallthrough));
	case 6:
		value *= add(1);
		__attribute__((fallthrough));
	case 7:
		value = add(value & 3);
	}
	return value;
}

KEEP static unsigned int interpret(const unsigned char *code)
{
	static const void *const ops[] = {&&op_add, &&op_double, &&op_call, &&op_skip, &&op_end};
	unsigned int value = 1;

	goto *ops[*code++];
op_add:
	value += *code++;
	goto *ops[*code++];
op_double:
	value = add(value) & 0xffff;
	goto *ops[*code++];
op_call:
	value ^= dense(value & 7);
	goto *ops[*code++];
op_skip:
	code++;
	goto *ops[*code++];
op_end:
	return value;
}

KEEP static unsigned int interpret_distances(const unsigned char *code)
{
	static const int ops[] = {&&op_add - &&op_add, &&op_call - &&op_add, &&op_sub - &&op_add, &&op_end - &&op_add};
	unsigned int value = 7;

next:
	goto *(&&op_add + ops[*code++]);
op_add:
	value += add(2);
	goto next;
op_call:
	value ^= leaf(10 + (value & 3), value, 9);
	goto next;
op_sub:
	value -= 3;
	goto next;
op_end:
	return value;
}

/* Threaded code: the program is made of addresses of labels. */
KEEP static unsigned int threaded(unsigned int n)
{
	const void *code[8];
	const void *const *at = code;
	unsigned int value = n;

	code[0] = &&twice;
	code[1] = n & 1 ? &&more : &&less;
	code[2] = &&twice;
	code[3] = &&done;
	goto **at++;
twice:
	value *= 2;
	add(value & 3);
	goto **at++;
more:
	value += 5;
	goto **at++;
less:
	value -= 1;
	goto **at++;
done:
	return value;
}

typedef unsigned int (*function)(unsigned int n);

/* Tail calls: through a table of functions, and to one of two. */
static function volatile functions[] = {add, dense, threaded};

KEEP static unsigned int tail_indirect(unsigned int n)
{
	return functions[n % 3](n & 7);
}

KEEP static unsigned int tail_direct(unsigned int n)
{
	if (n & 1)
		return dense(n & 15);
	return tail_indirect(n + 1);
}

KEEP static unsigned int loop_to_start(unsigned int n, unsigned int sum)
{
	if (n == 0)
		return sum;
	return loop_to_start(n - 1, sum + n);
}

__attribute__((cold, noreturn, noinline)) static void give_up(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

KEEP static unsigned int with_cold_part(unsigned int n)
{
	unsigned int value = add(n);

	if (__builtin_expect(n > 1000, 0)) {
		value += add(n % 10);
		fprintf(stderr, "%s", value & 1 ? "" : "");
		value ^= leaf(12, value, n);
	}
	if (__builtin_expect(n > 100000, 0))
		give_up("never");
	return value + 1;
}

static jmp_buf buffer;

KEEP static void jump(unsigned int n)
{
	if (n > 2)
		longjmp(buffer, (int)n);
}

KEEP static unsigned int jumps(void)
{
	volatile unsigned int n = 0;

	if (setjmp(buffer) < 3)
		jump(++n + 2);
	return n;
}

KEEP static unsigned int condition(unsigned int a, unsigned int b)
{
	unsigned int sum = 0;

	while (a--) {
		if (b & 1)
			sum += add(1);
		else if (b & 2)
			sum ^= tail_direct(a);
		b = b >> 1 | b << 31;
	}
	return sum;
}

int main(void)
{
	static const unsigned char code[] = {0, 9, 1, 2, 3, 0, 1, 0, 200, 2, 1, 4};
	static const unsigned char distances[] = {0, 1, 2, 2, 1, 0, 1, 3};
	unsigned int sum = 0;

	for (unsigned int i = 0; i < 10; i++) {
		sum = sum * 31 + dense(i);
		sum = sum * 31 + leaf(i + 8, sum, i);
		sum = sum * 31 + falls(i);
		sum = sum * 31 + threaded(i);
		sum = sum * 31 + tail_direct(i);
		sum = sum * 31 + with_cold_part(i * 150);
		sum = sum * 31 + loop_to_start(i, sum);
		sum = sum * 31 + interpret(code);
		sum = sum * 31 + interpret_distances(distances);
		sum = sum * 31 + condition(i, sum);
	}
	sum += jumps();
	printf("%u %u\n", sum, total);
	return 0;
}
