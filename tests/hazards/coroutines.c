/*
 * Coroutines by makecontext and swapcontext: each has its own chain of calls, which starts where it was made; switches in the
 * middle of recursion and callbacks must not mix them up. The shadow stack is switched by hand with them.
 */
#include <stdlib.h>
#include <ucontext.h>

#include "shadow.h"

enum {
	COROUTINES = 3,
	STACK = 65536,
	FRAMES = 64
};

struct coroutine {
	ucontext_t context;
	unsigned depth;
	const char *names[FRAMES];
	char stack[STACK];
};

static struct coroutine coroutines[COROUTINES];
static ucontext_t scheduler;
static unsigned scheduler_depth;
static const char *scheduler_names[FRAMES];
static int current;

static void save(unsigned *depth, const char **names)
{
	*depth = shadow.depth;
	memcpy(names, shadow.name, shadow.depth * sizeof *names);
}

static void load(unsigned depth, const char *const *names)
{
	shadow.depth = depth;
	memcpy(shadow.name, names, depth * sizeof *names);
}

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

NOINLINE static void yield(void)
{
	ENTER();
	CHECK();
	struct coroutine *c = &coroutines[current];
	save(&c->depth, c->names);
	load(scheduler_depth, scheduler_names);
	swapcontext(&c->context, &scheduler);
	leaf(1);
	LEAVE();
}

NOINLINE static void recurse(int n)
{
	ENTER();
	leaf(n);
	yield();
	if (n)
		recurse(n - 1);
	CHECK();
	yield();
	LEAVE();
}

NOINLINE static int compare(const void *a, const void *b)
{
	ENTER();
	CHECK();
	yield();
	leaf(2);
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void body(int number)
{
	ENTER();
	int values[] = {2, 3, 1};
	CHECK();
	recurse(number);
	FOREIGN_VOID("qsort", qsort(values, 3, sizeof *values, compare));
	recurse(1);
	/* The end of the function goes to uc_link. */
	load(scheduler_depth, scheduler_names);
}

NOINLINE static void make(int number)
{
	ENTER();
	struct coroutine *c = &coroutines[number];
	getcontext(&c->context);
	c->context.uc_stack.ss_sp = c->stack;
	c->context.uc_stack.ss_size = sizeof c->stack;
	c->context.uc_link = &scheduler;
	shadow_push("[makecontext]");
	save(&c->depth, c->names);
	RESTORE();
	makecontext(&c->context, (void (*)(void))body, 1, number);
	leaf(3);
	LEAVE();
}

NOINLINE static int resume(int number)
{
	ENTER();
	struct coroutine *c = &coroutines[number];
	static int resumed[COROUTINES];
	leaf(4);
	current = number;
	save(&scheduler_depth, scheduler_names);
	load(c->depth, c->names);
	swapcontext(&scheduler, &c->context);
	leaf(5);
	CHECK();
	LEAVE();
	return ++resumed[number];
}

int main(void)
{
	ENTER();
	for (int i = 0; i < COROUTINES; i++)
		make(i);
	/* Each runs for as many turns as it has yields, then once to its end; at least these. */
	for (int turn = 0; turn < 9; turn++)
		for (int i = 0; i < COROUTINES; i++)
			resume((i * 2 + turn) % COROUTINES);
	leaf(6);
	LEAVE();
	return 0;
}
