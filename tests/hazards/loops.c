/*
 * Loops around one call that pushes: the push is made in front of the loop. Left by their condition, break, return, goto, exit, longjmp; no round at
 * all; loops in loops and one after the other; callees that leave pushes of tail calls behind, recurse, or are interrupted.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define SHADOW_MAX 4096
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "shadow.h"

typedef int op(int);

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n + 1;
}

NOINLINE static int through(int n)
{
	ENTER();
	int value = leaf(n) + leaf(n + 1);
	CHECK();
	LEAVE();
	return value;
}

/* At -O2 a jump: its entry stays until its caller takes it off. */
NOINLINE static int ends_in_jump(int n)
{
	shadow_push(__func__);
	return n & 1 ? leaf(n) : through(n);
}

static op *volatile ops[] = {leaf, through, ends_in_jump};

/* The frame that ends takes off what a tail call has left; the loops below have nothing else to do so. */
NOINLINE static int calls(int n)
{
	ENTER();
	int value = ops[n % 3](n);
	LEAVE();
	return value;
}

static op *volatile calling = calls;

NOINLINE static int each(int count)
{
	ENTER();
	int sum = 0;
	for (int i = 0; i < count; i++)
		sum += calling(i);
	CHECK();
	LEAVE();
	return sum;
}

/* As interpreters run: what is called says what comes next. */
struct step {
	struct step *(*run)(struct step *);
	struct step *next;
};

NOINLINE static struct step *run_step(struct step *s)
{
	ENTER();
	CHECK();
	LEAVE();
	return s->next;
}

NOINLINE static struct step *run_last(struct step *s)
{
	ENTER();
	leaf(s->next != NULL);
	LEAVE();
	return NULL;
}

NOINLINE static void interpret(struct step *s)
{
	ENTER();
	while ((s = s->run(s)))
		;
	CHECK();
	LEAVE();
}

/* Several ways out; each goes on to a call of its own. */
NOINLINE static int search(int what, int count)
{
	ENTER();
	int i, value = 0;
	for (i = 0; i < count; i++) {
		value = calling(i);
		if (value == what)
			break;
		if (value > 60)
			goto large;
		if (i > what) {
			LEAVE();
			return -1;
		}
	}
	leaf(i);
	CHECK();
	LEAVE();
	return i;
large:
	through(i);
	LEAVE();
	return -2;
}

NOINLINE static int table(int rows, int columns)
{
	ENTER();
	int sum = 0;
	for (int row = 0; row < rows; row++)
		for (int column = 0; column < columns; column++)
			sum += calling(row + column);
	leaf(sum & 1);
	for (int row = 0; row < rows; row++) {
		for (int column = 0; column < columns; column++)
			sum += calling(row - column + 9);
		CHECK();
	}
	LEAVE();
	return sum;
}

/* A cycle of two functions; each round of the loop goes into it. */
struct node {
	struct node *first, *next;
};
static int visit(const struct node *n);

NOINLINE static int visit_each(const struct node *first)
{
	ENTER();
	int count = 0;
	for (const struct node *n = first; n; n = n->next)
		count += visit(n);
	LEAVE();
	return count;
}

NOINLINE static int visit(const struct node *n)
{
	ENTER();
	int count = 1 + visit_each(n->first);
	CHECK();
	LEAVE();
	return count;
}

/* A push each, over the end of a segment of the context stack. */
static int deep(int n);
static op *volatile deeper = deep;

NOINLINE static int deep(int n)
{
	ENTER();
	int sum = 0;
	for (int i = 0; i < (n > 2080 ? 0 : 1 + n % 2 * (n > 2070)); i++)
		sum += deeper(n + 1);
	if (n == 2050 || n > 2080)
		CHECK();
	LEAVE();
	return sum + 1;
}

static jmp_buf env;

NOINLINE static int leave(int n)
{
	ENTER();
	CHECK();
	if (n == 2)
		longjmp(env, 1);
	LEAVE();
	return n;
}

NOINLINE static int leaving(op *volatile *f)
{
	ENTER();
	int sum = 0;
	for (int i = 0; i < 5; i++)
		sum += (*f)(i);
	LEAVE();
	return sum;
}

NOINLINE static void jumps(void)
{
	ENTER();
	op *volatile f = leave;
	if (!setjmp(env))
		leaving(&f);
	RESTORE();
	CHECK();
	each(2);
	LEAVE();
}

static volatile sig_atomic_t ticks;

static void on_tick(int signal)
{
	SIGNAL_ENTER();
	(void)signal;
	ticks++;
	CHECK();
	LEAVE();
}

NOINLINE static int spin(int n)
{
	for (volatile int i = 0; i < 3000; i++)
		;
	return n;
}
/* So that calls of spin push. */
NOINLINE static int spin_or_check(int n)
{
	if (n < 0)
		CHECK();
	return spin(n);
}
static op *volatile spinning = spin_or_check;

NOINLINE static int spin_each(void)
{
	ENTER();
	int sum = 0;
	while (ticks < 40)
		sum += spinning(1);
	CHECK();
	LEAVE();
	return sum;
}

NOINLINE static void interrupted(void)
{
	ENTER();
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 300}, {0, 300}}, off = {{0, 0}, {0, 0}};
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	spin_each();
	setitimer(ITIMER_REAL, &off, NULL);
	CHECK();
	LEAVE();
}

NOINLINE static int ends(int n)
{
	ENTER();
	CHECK();
	if (n == 3)
		exit(0);
	LEAVE();
	return n;
}
static op *volatile ending = ends;

NOINLINE static void forever(void)
{
	ENTER();
	for (int i = 0;; i++)
		ending(i);
}

int main(void)
{
	ENTER();
	struct step last = {run_last, NULL}, second = {run_step, &last}, first = {run_step, &second};
	struct node leaves[3] = {{NULL, &leaves[1]}, {NULL, &leaves[2]}, {NULL, NULL}};
	struct node inner[2] = {{&leaves[1], &inner[1]}, {NULL, NULL}}, top[2] = {{leaves, &top[1]}, {inner, NULL}};
	each(0);
	each(1);
	each(5);
	interpret(&last);
	interpret(&first);
	for (int what = 0; what < 9; what++)
		search(what, 7);
	search(100, 40);
	search(0, 0);
	table(0, 3);
	table(3, 0);
	table(2, 3);
	EXPECT(visit_each(top) == 9);
	EXPECT(deep(0) > 2000);
	jumps();
	interrupted();
	each(3);
	CHECK();
	forever();
}
