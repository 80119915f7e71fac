/*
 * leave.c - how a process ends without exit(): _exit, _Exit and quick_exit.
 *
 * The recording says so, since nothing else tells such a process from one that was killed. A system call that the program
 * makes itself is not seen here.
 */
#include <stdlib.h>
#include <unistd.h>

#include "runtime/file.h"
#include "runtime/next.h"
#include "runtime/process.h"
#include "runtime/sys.h"

static _Atomic(void *) next_exit;

static __attribute__((noreturn)) void own_exit(int status)
{
	void (*next)(int) = (void (*)(int))wmrt_next(&next_exit, "_exit", (void *)own_exit);

	if (wmrt_is_active())
		wmrt_file_close(WMK_FLAG_LEFT);
	if (next)
		next(status);
	for (;;)
		wmrt_sys3(SYS_exit_group, status, 0, 0);
}

WMRT_INTERPOSE(_exit, own_exit);
WMRT_INTERPOSE(_Exit, own_exit);

static void leave_quickly(void)
{
	wmrt_file_close(WMK_FLAG_LEFT);
}

/* Handlers of quick_exit run in reverse order: ours, of the first constructor, comes last. */
void wmrt_leave_start(void)
{
	wmrt_next(&next_exit, "_exit", (void *)own_exit);
	at_quick_exit(leave_quickly);
}
