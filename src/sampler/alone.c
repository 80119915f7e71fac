/*
 * alone.c - ends the helper (helper.h) before the call, and starts it again after it. In a new namespace of users, or of processes, the kernel may give no
 * thread any more: the process is then not looked at from there on.
 */
#include "sampler/alone.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "recorder/interpose.h"
#include "recorder/process.h"
#include "sampler/helper.h"
#include "sampler/waits.h"

static _Atomic(void *) next_unshare, next_setns;

static bool begin(void)
{
	bool is_there = !wmrt_is_vfork_child() && helper_tid();

	if (is_there)
		waits_end();
	return is_there;
}

static int end(bool was_there, int rc)
{
	if (was_there)
		waits_start();
	return rc;
}

static int own_unshare(int flags)
{
	int (*next)(int) = wmrt_next(&next_unshare, "unshare", (void *)own_unshare);
	bool was_there = begin();

	return end(was_there, next(flags));
}

static int own_setns(int fd, int kind)
{
	int (*next)(int, int) = wmrt_next(&next_setns, "setns", (void *)own_setns);
	bool was_there = begin();

	return end(was_there, next(fd, kind));
}

WMRT_INTERPOSE(unshare, own_unshare);
WMRT_INTERPOSE(setns, own_setns);

void alone_start(void)
{
	wmrt_next(&next_unshare, "unshare", (void *)own_unshare);
	wmrt_next(&next_setns, "setns", (void *)own_setns);
}
