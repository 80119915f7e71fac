/* frames.c - arrays of a size known at run time, alloca in loops, large frames, variadic functions, contexts of their own. */
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static volatile unsigned sum;

__attribute__((noinline)) static void sized(int n)
{
	for (int i = 1; i < n; i++) {
		int a[i];
		memset(a, i, sizeof a);
		if (a[i / 2] & 1)
			sum += (unsigned)a[0];
		char *p = alloca((size_t)i);
		p[i - 1] = (char)i;
		if (i % 4 == 3)
			continue;
		sum += (unsigned char)p[i - 1];
	}
}

__attribute__((noinline)) static unsigned large(int n)
{
	volatile char big[100000];
	for (int i = 0; i < n; i++)
		big[i * 100] = (char)i;
	return n > 3 ? (unsigned)big[200] : 0;
}

__attribute__((noinline)) static int variadic(int n, ...)
{
	va_list ap;
	int s = 0;
	va_start(ap, n);
	for (int i = 0; i < n; i++)
		s += i & 1 ? (int)va_arg(ap, double) : va_arg(ap, int);
	va_end(ap);
	return s;
}

static ucontext_t here, there;
static void on_other_stack(void)
{
	for (int i = 0; i < 6; i++) {
		if (i & 1)
			sum += 3;
		swapcontext(&there, &here);
	}
}

int main(void)
{
	static char stack[1 << 16];
	sized(30);
	for (int i = 0; i < 8; i++)
		sum += large(i);
	sum += (unsigned)variadic(4, 1, 2.0, 3, 4.0) + (unsigned)variadic(0);
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof stack;
	there.uc_link = NULL;
	makecontext(&there, on_other_stack, 0);
	for (int i = 0; i < 4; i++)
		swapcontext(&here, &there);
	printf("%u\n", sum);
	return 0;
}
