/*
 * Signals: handlers set by sigaction (both forms), signal, bsd_signal's flags; raise, kill, nested and on another stack,
 * from a timer in the middle of calls that push and add; a handler is a root of its own.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "shadow.h"

static volatile sig_atomic_t handled, ticks;

NOINLINE static int work(int n)
{
	ENTER();
	CHECK();
	int value = n ? work(n - 1) + 1 : 0;
	LEAVE();
	return value;
}

NOINLINE static int compare(const void *a, const void *b)
{
	ENTER();
	CHECK();
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

static void on_usr1(int signo)
{
	SIGNAL_ENTER();
	(void)signo;
	handled++;
	CHECK();
	work(2);
	LEAVE();
}

static void on_usr2(int signo, siginfo_t *info, void *context)
{
	SIGNAL_ENTER();
	EXPECT(info->si_signo == signo && context);
	handled++;
	CHECK();
	/* A nested delivery, and a callback from the library inside a handler. */
	raise(SIGUSR1);
	int values[] = {2, 1, 3};
	FOREIGN_VOID("qsort", qsort(values, 3, sizeof *values, compare));
	work(1);
	LEAVE();
}

static void on_alarm(int signo)
{
	SIGNAL_ENTER();
	(void)signo;
	ticks++;
	CHECK();
	work(1);
	LEAVE();
}

NOINLINE static unsigned spin_b(unsigned n, unsigned (*f)(unsigned));

NOINLINE static unsigned spin_a(unsigned n, unsigned (*f)(unsigned))
{
	ENTER();
	unsigned value = n ? f(n) + spin_b(n - 1, f) + spin_b(n / 2, f) : 1;
	LEAVE();
	return value;
}

NOINLINE static unsigned spin_leaf(unsigned n)
{
	ENTER();
	if (n == 1000)
		CHECK();
	LEAVE();
	return n;
}

NOINLINE static unsigned spin_b(unsigned n, unsigned (*f)(unsigned))
{
	ENTER();
	unsigned value = n > 1 ? spin_a(n - 2, f) + f(n) : f(n);
	LEAVE();
	return value;
}

/* The timer interrupts calls at arbitrary instructions; afterwards the interrupted contexts must be what they were. */
NOINLINE static void timer(void)
{
	ENTER();
	struct sigaction action;
	memset(&action, 0, sizeof action);
	action.sa_handler = on_alarm;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	struct itimerval every = {{0, 200}, {0, 200}}, off = {{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &every, NULL);
	for (int round = 0; ticks < 50 && round < 1000000; round++) {
		spin_a(9, spin_leaf);
		if (round < 200)
			work(1);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	work(2);
	LEAVE();
}

NOINLINE static void *alternate(void *arg)
{
	THREAD_ROOT();
	ENTER();
	static char stack[65536];
	stack_t alt = {.ss_sp = stack, .ss_size = sizeof stack, .ss_flags = 0};
	struct sigaction action;
	EXPECT(sigaltstack(&alt, NULL) == 0);
	memset(&action, 0, sizeof action);
	action.sa_sigaction = on_usr2;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	work(1);
	alt.ss_flags = SS_DISABLE;
	sigaltstack(&alt, NULL);
	LEAVE();
	return arg;
}

int main(void)
{
	ENTER();
	struct sigaction action, old;
	pthread_t thread;

	EXPECT(signal(SIGUSR1, on_usr1) == SIG_DFL);
	raise(SIGUSR1);
	EXPECT(handled == 1);
	EXPECT(signal(SIGUSR1, on_usr1) == on_usr1);
	memset(&action, 0, sizeof action);
	action.sa_sigaction = on_usr2;
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	EXPECT(sigaction(SIGUSR2, &action, &old) == 0 && old.sa_handler == SIG_DFL);
	EXPECT(sigaction(SIGUSR2, NULL, &old) == 0 && old.sa_sigaction == on_usr2);
	kill(getpid(), SIGUSR2);
	EXPECT(handled == 3);
	work(2);
	timer();
	EXPECT(CREATE(pthread_create(&thread, NULL, alternate, NULL)) == 0);
	EXPECT(pthread_join(thread, NULL) == 0);
	EXPECT(signal(SIGUSR1, SIG_IGN) == on_usr1);
	raise(SIGUSR1);
	EXPECT(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
	CHECK();
	LEAVE();
	return 0;
}
