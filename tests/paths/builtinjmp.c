/* builtinjmp.c - __builtin_setjmp, which is an intrinsic, and getcontext, which returns as often as setcontext likes. */
#include <stdio.h>
#include <ucontext.h>

static void *env[5];
static volatile int sum;
static ucontext_t context;

__attribute__((noinline)) static void leave(int n)
{
	if (n & 1)
		__builtin_longjmp(env, 1);
	sum++;
}

__attribute__((noinline)) static void attempt(int n)
{
	if (__builtin_setjmp(env) == 0)
		leave(n);
	else
		sum += 10;
}

__attribute__((noinline)) static void again(void)
{
	volatile int n = 0;
	getcontext(&context);
	if (n++ < 4)
		setcontext(&context);
}

int main(void)
{
	for (int i = 0; i < 10; i++)
		attempt(i);
	again();
	printf("%d\n", sum);
	return 0;
}
