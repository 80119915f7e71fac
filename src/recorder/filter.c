/*
 * filter.c - finds out that the process asks for a filter: prctl(PR_SET_SECCOMP) and seccomp(2), which libraries call by syscall().
 *
 * A question is no request: a filter that is NULL, which tells what the kernel has.
 */
#include "recorder/filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "recorder/interpose.h"
#include "recorder/leave.h"
#include "recorder/sys.h"

typedef int (*prctl_fn)(int, unsigned long, unsigned long, unsigned long, unsigned long);

static _Atomic(void *) next_prctl;

static bool is_filter(long number, long first, long second, long third)
{
	if (number == SYS_seccomp)
		return first == SECCOMP_SET_MODE_STRICT || (first == SECCOMP_SET_MODE_FILTER && third);
	return number == SYS_prctl && first == PR_SET_SECCOMP &&
	       (second == SECCOMP_MODE_STRICT || (second == SECCOMP_MODE_FILTER && third));
}

void wmrt_before_syscall(long number, long first, long second, long third)
{
	if (is_filter(number, first, second, third))
		wmrt_before_filter();
}

static int own_prctl(int option, ...)
{
	prctl_fn next = (prctl_fn)wmrt_next(&next_prctl, "prctl", (void *)own_prctl);
	unsigned long arguments[4];
	va_list rest;
	long rc;

	va_start(rest, option);
	for (int i = 0; i < 4; i++)
		arguments[i] = va_arg(rest, unsigned long);
	va_end(rest);
	wmrt_before_syscall(SYS_prctl, option, (long)arguments[0], (long)arguments[1]);
	if (next)
		return next(option, arguments[0], arguments[1], arguments[2], arguments[3]);
	rc = wmrt_sys6(SYS_prctl, option, (long)arguments[0], (long)arguments[1], (long)arguments[2],
		       (long)arguments[3], 0);
	if (rc >= 0)
		return (int)rc;
	errno = (int)-rc;
	return -1;
}

WMRT_INTERPOSE(prctl, own_prctl);

void wmrt_filter_start(void)
{
	wmrt_next(&next_prctl, "prctl", (void *)own_prctl);
}
