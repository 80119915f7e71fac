/* A library of deepbind.c, with callbacks, a jump and a handler of its own. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <signal.h>

#include "shadow.h"

static jmp_buf env;

NOINLINE static void plugin_leaf(void)
{
	ENTER();
	CHECK();
	LEAVE();
}

NOINLINE static void on_signal(int number)
{
	SIGNAL_ENTER();
	(void)number;
	plugin_leaf();
	CHECK();
	LEAVE();
}

NOINLINE static void jump(int n)
{
	ENTER();
	if (n)
		jump(n - 1);
	plugin_leaf();
	longjmp(env, 1);
}

NOINLINE static int inner(int (*called)(int), int n)
{
	ENTER();
	int result = called(n);
	if (!setjmp(env))
		jump(n);
	RESTORE();
	FOREIGN_VOID("raise", raise(SIGUSR1));
	plugin_leaf();
	CHECK();
	LEAVE();
	return result;
}

__attribute__((visibility("default"))) int plugin_apply(int (*called)(int), int n);
int plugin_apply(int (*called)(int), int n)
{
	ENTER();
	EXPECT(signal(SIGUSR1, on_signal) != SIG_ERR);
	int result = called(n) + inner(called, n) + called(n);
	plugin_leaf();
	CHECK();
	LEAVE();
	return result;
}
