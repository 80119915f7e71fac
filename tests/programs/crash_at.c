/*
 * crash_at.c - a library for LD_PRELOAD: the program gets a SIGSEGV once it has used CRASH_AT microseconds of CPU time, wherever it
 * is then.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void)
{
	const char *at = getenv("CRASH_AT");
	long microseconds = at ? atol(at) : 0;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGSEGV};
	struct itimerspec when = {.it_value = {microseconds / 1000000, microseconds % 1000000 * 1000}};
	timer_t timer;
	if (microseconds &&
	    (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) || timer_settime(timer, 0, &when, NULL))) {
		perror("CRASH_AT");
		_exit(2);
	}
}
