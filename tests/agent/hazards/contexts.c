/* contexts.c - coroutines of makecontext: generators, uc_link, getcontext with setcontext, and a switch out of a handler. */
#include <signal.h>
#include <ucontext.h>

#include "probe.h"

enum {
	COROUTINES = 4,
	STACK_BYTES = 1 << 17
};

static ucontext_t home, contexts[COROUTINES], point;
static char stacks[COROUTINES][STACK_BYTES];
static volatile int total, is_in_handler;

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

__attribute__((noinline)) static int yields(int self, int depth)
{
	PROBE();
	if (depth > 0) {
		total += yields(self, depth - 1);
		PROBE();
	} else {
		swapcontext(&contexts[self], &home);
	}
	PROBE();
	return leaf(self);
}

__attribute__((noinline)) static void run(int self, int rounds)
{
	PROBE();
	for (int i = 0; i < rounds; i++) {
		total += yields(self, i % 3);
		PROBE();
	}
}

__attribute__((noinline)) static void resume(int n)
{
	PROBE();
	swapcontext(&home, &contexts[n]);
	PROBE();
	total += leaf(n);
}

__attribute__((noinline)) static void all(int rounds)
{
	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		contexts[i].uc_link = &home;
		makecontext(&contexts[i], (void (*)(void))run, 2, i, rounds);
	}
	for (int round = 0; round <= rounds; round++)
		for (int i = 0; i < COROUTINES; i++)
			resume(i);
	PROBE();
}

__attribute__((noinline)) static void back(int n)
{
	PROBE();
	if (n > 0)
		back(n - 1);
	else
		setcontext(&point);
	PROBE();
}

__attribute__((noinline)) static int again(void)
{
	volatile int times = 0;

	getcontext(&point);
	PROBE();
	if (times++ < 5)
		back(times);
	leaf(1);
	PROBE();
	return times;
}

__attribute__((noinline)) static void on_signal(int sig)
{
	(void)sig;
	PROBE();
	resume(0);
	PROBE();
}

int main(void)
{
	all(4);
	total += again();
	PROBE();
	all(6);
	signal(SIGUSR1, on_signal);
	getcontext(&contexts[0]);
	contexts[0].uc_stack.ss_sp = stacks[0];
	contexts[0].uc_stack.ss_size = STACK_BYTES;
	contexts[0].uc_link = &home;
	makecontext(&contexts[0], (void (*)(void))run, 2, 0, 5);
	for (int i = 0; i < 5; i++) {
		raise(SIGUSR1);
		PROBE();
		leaf(2);
	}
	printf("%d\n", total);
	return 0;
}
