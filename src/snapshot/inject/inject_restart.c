/*
 * inject_restart.c - system calls that the kernel gives up for a stop, and does not make again as it does others (signal(7)).
 *
 * They have returned -EINTR; with -ERESTARTNOHAND instead the kernel makes them again, unless a handler runs first. A limit of time that
 * is a number of milliseconds becomes what is left of it. How long the call had waited before the first stop is not known: the limit is
 * counted from there, and what then stands in the register says that it is the same call when the thread is stopped again. A limit that is
 * in memory, or in a socket, begins anew.
 */
#include <errno.h>
#include <sys/syscall.h>

#include "snapshot/inject/inject_private.h"
#include "waymark/untimed_calls.h"

enum {
	RESTART_NO_HANDLER = 514, /* ERESTARTNOHAND of the kernel */
};

#define NS_PER_MS UINT64_C(1000000)

enum limit_kind {
	LIMIT_NOT_HERE, /* the call is not one of these */
	LIMIT_NONE,     /* or it begins anew */
	LIMIT_MS,
};

static enum limit_kind limit_of(const uint64_t *registers)
{
	switch (registers[INJECT_ORIG_RAX]) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return (int)registers[INJECT_R10] < 0 ? LIMIT_NONE : LIMIT_MS;
	case SYS_epoll_pwait2:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
		WM1_UNTIMED_CALLS(WM1_CASE_OF_CALL)
		return LIMIT_NONE;
	default:
		return LIMIT_NOT_HERE;
	}
}

static bool is_same(const struct inject_thread *thread, uint64_t value)
{
	const uint64_t *registers = thread->registers;
	const struct inject_wait *w = &thread->wait;

	return w->call == registers[INJECT_ORIG_RAX] && w->sp == registers[INJECT_RSP] && w->value == value;
}

/* At least a millisecond more than at first: so it differs from the limit of another call that the thread makes there. */
static void set_ms(struct inject_thread *thread, uint64_t *limit)
{
	uint64_t now_ns = inject_now_ns(), value = (uint64_t)(int)*limit;

	if (!is_same(thread, value))
		thread->wait = (struct inject_wait){thread->registers[INJECT_ORIG_RAX], thread->registers[INJECT_RSP],
						    0, now_ns + (value + 1) * NS_PER_MS};
	*limit = thread->wait.end_ns > now_ns ? (thread->wait.end_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS : 0;
	thread->wait.value = *limit;
}

bool inject_restart(struct inject_thread *thread)
{
	uint64_t *registers = thread->registers;
	enum limit_kind kind = limit_of(registers);

	if (registers[INJECT_RAX] != (uint64_t)-EINTR || (int64_t)registers[INJECT_ORIG_RAX] < 0 ||
	    kind == LIMIT_NOT_HERE)
		return false;
	if (kind == LIMIT_MS)
		set_ms(thread, &registers[INJECT_R10]);
	registers[INJECT_RAX] = (uint64_t)-RESTART_NO_HANDLER;
	return true;
}
