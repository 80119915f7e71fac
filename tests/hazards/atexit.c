/* Program start and end: constructors with priorities, atexit, on_exit, destructors, exit from the middle of a call. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>

#include "shadow.h"

NOINLINE static void helper(void)
{
	ENTER();
	CHECK();
	LEAVE();
}

__attribute__((constructor(101))) static void first_constructor(void)
{
	ENTER();
	CHECK();
	helper();
	LEAVE();
}

__attribute__((constructor)) static void second_constructor(int argc, char **argv)
{
	ENTER();
	EXPECT(argc > 0 && argv[0]);
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

NOINLINE static void late(void)
{
	ENTER();
	helper();
	LEAVE();
}

NOINLINE static void registered(void)
{
	ENTER();
	CHECK();
	/* A handler may register another one while handlers run. */
	EXPECT(atexit(late) == 0);
	LEAVE();
}

NOINLINE static void on_exit_handler(int status, void *arg)
{
	ENTER();
	EXPECT(status == 7 && arg == &on_exit_handler);
	helper();
	LEAVE();
}

NOINLINE static void finish(int n)
{
	ENTER();
	CHECK();
	if (n)
		finish(n - 1);
	else
		FOREIGN_VOID("exit", exit(7));
	LEAVE();
}

int main(void)
{
	ENTER();
	CHECK();
	EXPECT(atexit(registered) == 0);
	EXPECT(on_exit(on_exit_handler, (void *)&on_exit_handler) == 0);
	finish(3);
	LEAVE();
	return 1;
}
