/* setjmp.c - setjmp and its like: returning often, in loops and conditions, longjmp out of nested and looping frames. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static jmp_buf env, inner;
static sigjmp_buf signal_env;
static volatile int sum;

__attribute__((noinline)) static void deep(int n)
{
	for (int i = 0; i < 3; i++)
		if (n > 0)
			deep(n - 1);
		else if (i == 1)
			longjmp(env, 7);
	sum++;
}

__attribute__((noinline)) static void maybe(int n)
{
	if (n & 1)
		longjmp(inner, n);
	if (n == 4)
		longjmp(env, 3);
	sum += n;
}

static int counts(void)
{
	volatile int n = 0;
	int r = setjmp(env);
	n++;
	if (n < 5)
		longjmp(env, n);
	return r;
}

static void in_loop(int n)
{
	volatile int i;
	for (i = 0; i < n; i++) {
		if (setjmp(inner) != 0) {
			sum += 100;
			continue;
		}
		maybe(i);
		sum++;
	}
}

static int two(void)
{
	volatile int first = setjmp(env);
	volatile int second = first > 2 ? 9 : setjmp(inner);
	if (second < 2)
		longjmp(inner, second + 1);
	if (first < 2)
		longjmp(env, first + 1);
	return first + second;
}

static void handler(int n)
{
	siglongjmp(signal_env, n);
}

static void out_of_handler(void)
{
	volatile int tries = 0;
	if (sigsetjmp(signal_env, 1))
		sum++;
	if (tries++ < 4) {
		raise(SIGUSR1);
		sum += 1000;
	}
}

/* setjmp as the first thing, as the last, and in a condition. */
static int tight(void)
{
	return _setjmp(inner);
}

static void in_condition(void)
{
	volatile int again = 0;
	while (setjmp(env) < 3 && again < 6) {
		again++;
		if (again & 1)
			longjmp(env, again);
	}
}

int main(void)
{
	volatile int round;
	signal(SIGUSR1, handler);
	for (round = 0; round < 3; round++) {
		if (!setjmp(env))
			deep(round);
		else
			sum += 3;
		sum += counts();
		if (!setjmp(env))
			in_loop(8);
		sum += two();
		out_of_handler();
		sum += tight();
		in_condition();
	}
	printf("%d\n", sum);
	return 0;
}
