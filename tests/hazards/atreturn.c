/* Handlers that run after main has returned are called from the C library alone: no frame of main is left. */
#include <stdlib.h>

#include "shadow.h"

NOINLINE static void helper(void)
{
	ENTER();
	CHECK();
	LEAVE();
}

NOINLINE static void registered(void)
{
	ENTER();
	CHECK();
	helper();
	LEAVE();
}

__attribute__((destructor)) static void last_destructor(void)
{
	ENTER();
	CHECK();
	helper();
	LEAVE();
}

int main(void)
{
	ENTER();
	CHECK();
	EXPECT(atexit(registered) == 0);
	EXPECT(atexit(helper) == 0);
	LEAVE();
	return 0;
}
