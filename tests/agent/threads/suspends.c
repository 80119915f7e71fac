/*
 * suspends.c - a call that waits for a handler returns when that has run, whatever other signals come as the handler returns.
 * hazards.sh: again check,wall,sample=1997
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../hazards/probe.h"

enum {
	ROUNDS = 20,
	BUSY_NS = 5000000,
};

static volatile sig_atomic_t handled;

static long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void set_alarm(void)
{
	struct itimerval soon = {.it_value = {0, 2000}};

	setitimer(ITIMER_REAL, &soon, NULL);
}

/* It has interrupted a call that waits, or one that is to be made again. */
static bool is_in_call(const ucontext_t *interrupted)
{
	static const uint8_t syscall[] = {0x0f, 0x05};
	const greg_t *r = interrupted->uc_mcontext.gregs;

	return r[REG_RAX] == -EINTR || memcmp((const void *)r[REG_RIP], syscall, sizeof syscall) == 0;
}

/* All that comes meanwhile is delivered when it returns. */
static void on_alarm(int sig, siginfo_t *info, void *data)
{
	long end = now_ns() + (probe_is_on() ? BUSY_NS : 0);

	(void)info;
	PROBE();
	if (!is_in_call(data)) { /* it has not begun, and would wait on */
		set_alarm();
		return;
	}
	handled += sig == SIGALRM;
	while (now_ns() < end)
		;
}

/* A call was not woken. */
static void on_watch(int sig)
{
	static const char line[] = "a handler ran and its call waits on\n";

	(void)sig;
	write(2, line, sizeof line - 1);
	_exit(1);
}

__attribute__((noinline)) static void waits(int round)
{
	sigset_t none;

	sigemptyset(&none);
	set_alarm();
	if (round % 2)
		sigsuspend(&none);
	else
		select(0, NULL, NULL, NULL, NULL);
	PROBE();
}

int main(void)
{
	struct sigaction action;
	sigset_t set, was;
	struct sigevent event;
	struct itimerspec spec = {.it_value = {6, 0}};
	timer_t timer;

	memset(&action, 0, sizeof action);
	memset(&action.sa_mask, 0xff, sizeof action.sa_mask); /* those of the C library too */
	action.sa_sigaction = on_alarm;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGALRM, &action, NULL);
	signal(SIGUSR2, on_watch);
	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGUSR2;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &spec, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	for (int i = 0; i < ROUNDS; i++) {
		sigprocmask(i % 2 ? SIG_BLOCK : SIG_UNBLOCK, &set, &was);
		waits(i);
		if (handled != i + 1)
			printf("round %d: %d handlers\n", i, (int)handled);
	}
	printf("%d\n", (int)handled);
	return 0;
}
