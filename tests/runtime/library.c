/* library.c - an instrumented shared library: its calls of sigaction and longjmp must reach the runtime, whoever
 * loads it. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <waymark.h>

void library_run(void);

static void show(const char *what)
{
	char token[WM_TOKEN_MAX];

	wm_token(wm_capture(), token, sizeof token);
	printf("%s %s\n", what, token);
}

__attribute__((noinline)) static void handler(int sig)
{
	(void)sig;
	show("handler");
}

__attribute__((noinline)) static void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		raise(SIGUSR1);
	__asm__ volatile("");
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	show("compare");
	return *(const int *)a - *(const int *)b;
}

static ucontext_t back, coroutine;
static char stack[65536];

__attribute__((noinline)) static void body(void)
{
	show("coroutine");
	swapcontext(&coroutine, &back);
	show("coroutine again");
}

__attribute__((noinline)) static void switch_to_it(void)
{
	swapcontext(&back, &coroutine);
}

void library_run(void)
{
	struct sigaction act = {.sa_handler = handler};
	int values[2] = {2, 1};

	sigaction(SIGUSR1, &act, NULL);
	deep(3);
	signal(SIGUSR1, handler);
	deep(0);
	qsort(values, 2, sizeof values[0], compare);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof stack;
	coroutine.uc_link = &back;
	makecontext(&coroutine, body, 0);
	switch_to_it();
	switch_to_it();
	show("end");
}
