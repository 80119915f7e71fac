/*
 * Functions that call themselves from several places, deeper than a history has room for, in any order of the places: one inside of another;
 * across callbacks, signals, threads, coroutines; left by longjmp to a level of their own, of other functions, of foreign code.
 */
#define SHADOW_MAX 262144
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "shadow.h"

enum {
	ALTERNATING = 100000,
	COROUTINE_BYTES = 1 << 18,
};

int foreign_attempt(int (*step)(int), int n);
void foreign_fail(void);

static unsigned dice = 1;
static volatile int sink;

static unsigned roll(unsigned sides)
{
	dice = dice * 1664525 + 1013904223;
	return (dice >> 16) % sides;
}

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

/* Two places in turns. */
NOINLINE static int alternate(int n)
{
	ENTER();
	int sum = 1;
	if (n == ALTERNATING || n == ALTERNATING / 2 || n < 2)
		CHECK();
	if (n && n & 1)
		sum += alternate(n - 1);
	else if (n)
		sum -= alternate(n - 1);
	if (n == ALTERNATING / 3)
		CHECK();
	LEAVE();
	return sum;
}

NOINLINE static int inner(int n)
{
	ENTER();
	int sum = n;
	if (n > 0)
		sum += roll(2) ? inner(n - 1) : -inner(n - 2);
	else
		CHECK();
	LEAVE();
	return sum;
}

/* Five places, and others in between. */
NOINLINE static int many(int n)
{
	ENTER();
	int sum = n;
	if (!roll(8))
		CHECK();
	if (n > 0) {
		switch (roll(7)) {
		case 0:
			sum += many(n - 1);
			break;
		case 1:
			sum -= many(n - 1);
			break;
		case 2:
			sum ^= many(n - 1);
			break;
		case 3:
			sum += 2 * many(n - 1);
			break;
		case 4:
			sum += 3 * many(n - 1);
			break;
		case 5:
			sum += leaf(n) + many(n - 1);
			break;
		default:
			sum += inner((int)roll(50)) - many(n - 1);
		}
	} else {
		CHECK();
	}
	if (!roll(8))
		sum += leaf(n);
	LEAVE();
	return sum;
}

/* Through a callback to itself: the same function, with a history below. */
NOINLINE static int through(int n);

static int compare(const void *a, const void *b)
{
	ENTER();
	int n = *(const int *)a;
	CHECK();
	sink += through(n);
	CHECK();
	LEAVE();
	return n - *(const int *)b;
}

NOINLINE static int through(int n)
{
	ENTER();
	int sum = n, values[] = {n - 7, n - 8};
	if (n > 0 && n % 7 == 0)
		FOREIGN_VOID("qsort", qsort(values, 2, sizeof *values, compare));
	else if (n > 0)
		sum += n & 1 ? through(n - 1) : 1 - through(n - 1);
	else
		CHECK();
	LEAVE();
	return sum;
}

/* longjmp to a level of the recursion, and on from there. */
static jmp_buf level;

NOINLINE static int jumping(int n, int at)
{
	ENTER();
	int sum = n;
	if (n == at) {
		if (setjmp(level)) {
			RESTORE();
			CHECK();
			sum += leaf(n) + inner(40);
			CHECK();
			LEAVE();
			return sum;
		}
	}
	if (n == 0)
		longjmp(level, 1);
	sum += n % 3 ? jumping(n - 1, at) : 2 - jumping(n - 1, at);
	CHECK();
	LEAVE();
	return sum;
}

/* Out of foreign code's callback, back into foreign code. */
NOINLINE static int falling(int n)
{
	ENTER();
	if (n == 0)
		FOREIGN_VOID("foreign_fail", foreign_fail());
	int sum = n & 1 ? falling(n - 1) : 1 + falling(n - 1);
	LEAVE();
	return sum;
}

static unsigned fails;
static unsigned kept_depth;

static int step(int n)
{
	shadow.depth = kept_depth;
	ENTER();
	CHECK();
	if (n & 1)
		sink += inner(30) + many(20);
	else if (fails++ < 3)
		sink += falling(50);
	CHECK();
	LEAVE();
	return 1;
}

NOINLINE static int attempts(int n)
{
	ENTER();
	int sum = 0;
	if (n > 0) {
		sum += n & 1 ? attempts(n - 1) : 1 - attempts(n - 1);
	} else {
		for (int i = 0; i < 3; i++) {
			kept_depth = shadow.depth + 1;
			sum += FOREIGN("foreign_attempt", foreign_attempt(step, i * 2));
			RESTORE();
			CHECK();
		}
	}
	CHECK();
	LEAVE();
	return sum;
}

static void handler(int signo)
{
	SIGNAL_ENTER();
	CHECK();
	sink += inner(35 + signo);
	CHECK();
	LEAVE();
}

NOINLINE static int interrupted(int n)
{
	ENTER();
	int sum = n;
	if (n % 10 == 0)
		raise(SIGUSR1);
	CHECK();
	if (n)
		sum += n & 4 ? interrupted(n - 1) : 1 - interrupted(n - 1);
	LEAVE();
	return sum;
}

static void *work(void *argument)
{
	THREAD_ROOT();
	ENTER();
	CHECK();
	sink += inner(70);
	CHECK();
	LEAVE();
	return argument;
}

NOINLINE static int creating(int n)
{
	ENTER();
	int sum = n;
	if (n % 25 == 0) {
		pthread_t thread;
		EXPECT(CREATE(pthread_create(&thread, NULL, work, NULL)) == 0);
		EXPECT(pthread_join(thread, NULL) == 0);
	}
	if (n)
		sum += n & 2 ? creating(n - 1) : 1 - creating(n - 1);
	CHECK();
	LEAVE();
	return sum;
}

static ucontext_t maker, made;
static char coroutine_stack[COROUTINE_BYTES];
static unsigned maker_depth;

static void coroutine(void)
{
	ENTER();
	CHECK();
	sink += many(40);
	CHECK();
	shadow.depth = maker_depth;
	swapcontext(&made, &maker);
}

NOINLINE static int making(int n)
{
	ENTER();
	int sum = n;
	if (n) {
		sum += n & 1 ? making(n - 1) : 1 - making(n - 1);
	} else {
		getcontext(&made);
		made.uc_stack.ss_sp = coroutine_stack;
		made.uc_stack.ss_size = sizeof coroutine_stack;
		made.uc_link = &maker;
		maker_depth = shadow.depth;
		shadow_push("[makecontext]");
		makecontext(&made, coroutine, 0);
		swapcontext(&maker, &made);
		CHECK();
	}
	CHECK();
	LEAVE();
	return sum;
}

int main(void)
{
	ENTER();
	struct rlimit stack;
	getrlimit(RLIMIT_STACK, &stack);
	stack.rlim_cur = 64 << 20;
	setrlimit(RLIMIT_STACK, &stack);
	alternate(ALTERNATING);
	for (int i = 0; i < 20; i++)
		sink += many(10 * i);
	sink += through(60);
	for (int at = 1; at < 90; at += 11)
		sink += jumping(100, at);
	sink += attempts(37);
	signal(SIGUSR1, handler);
	sink += interrupted(80);
	sink += creating(80);
	sink += making(33);
	CHECK();
	LEAVE();
	return 0;
}
