/* __builtin_setjmp and __builtin_longjmp: no call of the C library is there to be seen. */
#include "shadow.h"

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

static void *builtin_env[5];

NOINLINE static void builtin_throw(int n)
{
	ENTER();
	CHECK();
	if (n)
		builtin_throw(n - 1);
	__builtin_longjmp(builtin_env, 1);
}

NOINLINE static void builtin_catch(void)
{
	ENTER();
	if (!__builtin_setjmp(builtin_env))
		builtin_throw(2);
	RESTORE();
	CHECK();
	leaf(1);
	LEAVE();
}

NOINLINE static void twice(void)
{
	ENTER();
	builtin_catch();
	leaf(2);
	builtin_catch();
	CHECK();
	LEAVE();
}

int main(void)
{
	ENTER();
	builtin_catch();
	twice();
	leaf(3);
	LEAVE();
	return 0;
}
