/* Foreign code that catches what a callback throws, and goes on calling back. */
#include <setjmp.h>

static jmp_buf env;

int foreign_attempt(int (*step)(int), int n);
void foreign_fail(void);

void foreign_fail(void)
{
	longjmp(env, 1);
}

int foreign_attempt(int (*step)(int), int n)
{
	volatile int sum = 0;

	if (!setjmp(env))
		sum += step(n);
	return sum + step(n + 1);
}
