/*
 * restart.c - glibc's wrappers load the number of a call shortly before they make it:
 *
 *      mov  $nr, %eax      b8 nr nr nr nr     or xor %eax, %eax
 *      ...                                    arguments that are loaded in between, by some instructions
 *      syscall             0f 05              <- goes on here, with nr in %rax
 *      ...                                    <- was interrupted here, %rax is -EINTR
 *
 * Arguments are still in their registers, and %rcx has the address behind the call, as after every system call: nobody relies on it. So
 * it says what has happened since: 0, a handler of the program has run, for which the call is to return EINTR; the address's complement,
 * the thread goes on at the syscall. When such a handler comes there, before the call is made again, the call is over.
 *
 * A limit of time is made again for what is left of it. When it ends, the functions of poll's and epoll_wait's name here have noted; the
 * kernel writes back what is left of a sleep, for which the functions here always give it room. Of all others, and of calls from before the
 * agent came, the time up to the first stop is not known: the limit is counted from there. What then stands in the argument, a number or
 * the address of struct restart, says that it is the same call when it is stopped again.
 */
#include "native/restart.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/instruction.h"
#include "recorder/clock.h"
#include "recorder/interpose.h"
#include "waymark/untimed_calls.h"

enum {
	SYSCALL_BYTES = 2,
	LOOK_BYTES = 40, /* in front of a system call, for its number */
	MOV_BYTES = 5,
	XOR_BYTES = 2,
	NUMBERS = 1024,
	FRAME_MAX = 1024, /* bytes of stack of the C library's function */
};

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

#define IN_WAITS __attribute__((section("restart_waits"), noinline))
extern const char __start_restart_waits[] __attribute__((visibility("hidden")));
extern const char __stop_restart_waits[] __attribute__((visibility("hidden")));

/* A call that waits for a given time, in progress. */
struct wait {
	uintptr_t frame;  /* of the function here that makes it; 0: none */
	uintptr_t object; /* its first or second argument, a pointer */
	uint64_t end_ns;  /* on CLOCK_MONOTONIC */
};

/* A call with a limit of time that a stop has interrupted, and that was made again. */
struct restart {
	uintptr_t sp;
	uint64_t ms; /* the limit that it has now, if that is a number */
	uint64_t end_ns;
	struct timespec limit; /* if that is an address: this one's */
};

/* Writer: its own thread, and handlers on it. */
static _Thread_local struct {
	struct wait wait;
	struct restart restart;
} own __attribute__((tls_model("initial-exec")));

/* ---- after a stop ---- */

static uint64_t left_of(uint64_t end_ns)
{
	uint64_t now = wmrt_now_ns();

	return end_ns > now ? end_ns - now : 0;
}

/* A limit in ms. One that is begun anew is longer than it was, so it differs from that of another call that is made there. */
static bool set_rest(greg_t *argument, greg_t object, greg_t sp)
{
	const struct wait *wait = &own.wait;
	struct restart *restart = &own.restart;
	uint64_t end_ns = wait->end_ns;

	if ((int)*argument <= 0)
		return true;
	if (wait->object != (uintptr_t)object || wait->frame - (uintptr_t)sp > FRAME_MAX) {
		if (restart->sp != (uintptr_t)sp || restart->ms != (uint64_t)*argument)
			restart->end_ns = wmrt_now_ns() + ((uint64_t)*argument + 1) * NS_PER_MS;
		end_ns = restart->end_ns;
	}
	*argument = (greg_t)((left_of(end_ns) + NS_PER_MS - 1) / NS_PER_MS);
	restart->sp = (uintptr_t)sp;
	restart->ms = (uint64_t)*argument;
	return true;
}

/* A limit in a timespec; NULL: none. */
static bool set_limit(greg_t *argument)
{
	struct restart *restart = &own.restart;
	const struct timespec *limit = (const struct timespec *)*argument; /* NOLINT(performance-no-int-to-ptr) */
	uint64_t left_ns;

	if (!limit)
		return true;
	if (limit != &restart->limit) {
		if (limit->tv_sec > INT32_MAX)
			return true;
		restart->end_ns = wmrt_now_ns() + (uint64_t)limit->tv_sec * NS_PER_S + (uint64_t)limit->tv_nsec;
	}
	left_ns = left_of(restart->end_ns);
	restart->limit = (struct timespec){(time_t)(left_ns / NS_PER_S), (long)(left_ns % NS_PER_S)};
	*argument = (greg_t)(uintptr_t)&restart->limit;
	return true;
}

/* Sleeps on for what the kernel has written there. */
static bool set_remaining(greg_t *request, greg_t remaining)
{
	if (!remaining)
		return set_limit(request);
	*request = remaining;
	return true;
}

static bool may_restart(uint32_t number, greg_t *r)
{
	switch (number) {
	case SYS_poll:
		return set_rest(&r[REG_RDX], r[REG_RDI], r[REG_RSP]);
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return set_rest(&r[REG_R10], r[REG_RSI], r[REG_RSP]);
	case SYS_nanosleep:
		return set_remaining(&r[REG_RDI], r[REG_RSI]);
	case SYS_clock_nanosleep:
		return (r[REG_RSI] & TIMER_ABSTIME) || set_remaining(&r[REG_RDX], r[REG_R10]);
	case SYS_futex:
		return (r[REG_RSI] & FUTEX_CMD_MASK) != FUTEX_WAIT || set_limit(&r[REG_R10]);
	case SYS_rt_sigtimedwait:
		return set_limit(&r[REG_RDX]);
	case SYS_semtimedop:
	case SYS_epoll_pwait2:
		return set_limit(&r[REG_R10]);
	case SYS_io_getevents:
	case SYS_io_pgetevents:
		return set_limit(&r[REG_R8]);
	case SYS_select:
	case SYS_pselect6:
	case SYS_ppoll:
	case SYS_pause:
	case SYS_rt_sigsuspend:
		WM1_UNTIMED_CALLS(WM1_CASE_OF_CALL)
		return true;
	default:
		return false;
	}
}

/* Instructions begin at `from` one behind the other, and at the end. */
static bool leads_to(const uint8_t *code, uint32_t from, uint32_t end)
{
	struct instruction instruction;

	while (from < end && instruction_decode(code + from, end - from, from, &instruction) &&
	       instruction.kind == INSTRUCTION_OTHER)
		from += instruction.len_bytes;
	return from == end;
}

/* The number of the call that is made in front of that address. False: there is none, or its number is not there. */
static bool call_before(greg_t address, uint32_t *ret)
{
	const uint8_t *code = (const uint8_t *)(address - LOOK_BYTES); /* NOLINT(performance-no-int-to-ptr) */
	enum {
		AT = LOOK_BYTES - SYSCALL_BYTES,
	};

	if (!restart_is_code((uintptr_t)code, (uintptr_t)address) || code[AT] != 0x0f || code[AT + 1] != 0x05)
		return false;
	for (int at = AT - XOR_BYTES; at >= 0; at--) {
		uint32_t number = 0;

		if (code[at] == 0x31 && code[at + 1] == 0xc0 && leads_to(code, (uint32_t)at + XOR_BYTES, AT)) {
			*ret = 0;
			return true;
		}
		if (at > AT - MOV_BYTES || code[at] != 0xb8)
			continue;
		memcpy(&number, code + at + 1, sizeof number);
		if (number < NUMBERS && leads_to(code, (uint32_t)at + MOV_BYTES, AT)) {
			*ret = number;
			return true;
		}
	}
	return false;
}

/*
 * The address behind the call that a handler has ended, or ends: one that returns EINTR, or one that the kernel was about to go on with by another call
 * at the same place, which it does not after a handler. False: there is none.
 */
static bool is_ended(const greg_t *r, greg_t *ret_behind)
{
	*ret_behind = r[REG_RAX] == SYS_restart_syscall ? r[REG_RIP] + SYSCALL_BYTES : r[REG_RIP];
	return (r[REG_RAX] == -EINTR || r[REG_RAX] == SYS_restart_syscall) && r[REG_RCX] == *ret_behind;
}

void restart_call(void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs, behind;
	uint32_t number;

	if (!is_ended(r, &behind) || !call_before(behind, &number) || !may_restart(number, r))
		return;
	r[REG_RCX] = ~behind;
	r[REG_RIP] = behind - SYSCALL_BYTES;
	r[REG_RAX] = (greg_t)number;
}

void restart_not(void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs, behind = r[REG_RIP] + SYSCALL_BYTES;
	bool is_made_again = r[REG_RCX] == ~behind;
	uint32_t number;

	if (!is_made_again && !is_ended(r, &behind))
		return;
	if (behind != r[REG_RIP]) {
		if (!call_before(behind, &number))
			return;
		r[REG_RIP] = behind;
		r[REG_RAX] = -EINTR;
	}
	r[REG_RCX] = 0;
}

bool restart_knows(uintptr_t behind, uint32_t number)
{
	uint32_t found;

	return call_before((greg_t)behind, &found) && found == number;
}

bool restart_is_wait(uintptr_t pc)
{
	return pc >= (uintptr_t)__start_restart_waits && pc <= (uintptr_t)__stop_restart_waits;
}

/* ---- in front of waits ---- */

static _Atomic(void *) next_poll, next_epoll_wait, next_epoll_pwait, next_nanosleep, next_clock_nanosleep;

typedef int (*poll_fn)(struct pollfd *, nfds_t, int);
typedef int (*epoll_wait_fn)(int, struct epoll_event *, int, int);
typedef int (*epoll_pwait_fn)(int, struct epoll_event *, int, int, const sigset_t *);
typedef int (*nanosleep_fn)(const struct timespec *, struct timespec *);
typedef int (*clock_nanosleep_fn)(clockid_t, int, const struct timespec *, struct timespec *);

/* A handler that comes meanwhile may wait too. */
static inline __attribute__((always_inline)) struct wait begin_wait(const void *object, int timeout_ms)
{
	struct wait was = own.wait;

	if (timeout_ms > 0)
		own.wait = (struct wait){(uintptr_t)__builtin_frame_address(0), (uintptr_t)object,
					 wmrt_now_ns() + (uint64_t)timeout_ms * 1000000u};
	return was;
}

static inline __attribute__((always_inline)) void end_wait(const struct wait *was)
{
	own.wait = *was;
}

static IN_WAITS int own_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	poll_fn next = (poll_fn)wmrt_next(&next_poll, "poll", (void *)own_poll);
	struct wait was = begin_wait(fds, timeout_ms);
	int rc = next(fds, count, timeout_ms);

	end_wait(&was);
	return rc;
}

static IN_WAITS int own_epoll_wait(int fd, struct epoll_event *events, int count, int timeout_ms)
{
	epoll_wait_fn next = (epoll_wait_fn)wmrt_next(&next_epoll_wait, "epoll_wait", (void *)own_epoll_wait);
	struct wait was = begin_wait(events, timeout_ms);
	int rc = next(fd, events, count, timeout_ms);

	end_wait(&was);
	return rc;
}

static IN_WAITS int own_epoll_pwait(int fd, struct epoll_event *events, int count, int timeout_ms, const sigset_t *mask)
{
	epoll_pwait_fn next = (epoll_pwait_fn)wmrt_next(&next_epoll_pwait, "epoll_pwait", (void *)own_epoll_pwait);
	struct wait was = begin_wait(events, timeout_ms);
	int rc = next(fd, events, count, timeout_ms, mask);

	end_wait(&was);
	return rc;
}

/* The kernel writes the remaining time only where it may. */
static IN_WAITS int own_nanosleep(const struct timespec *request, struct timespec *remaining)
{
	nanosleep_fn next = (nanosleep_fn)wmrt_next(&next_nanosleep, "nanosleep", (void *)own_nanosleep);
	struct timespec rest;

	return next(request, remaining ? remaining : &rest);
}

static IN_WAITS int own_clock_nanosleep(clockid_t clock, int flags, const struct timespec *request,
					struct timespec *remaining)
{
	clock_nanosleep_fn next =
		(clock_nanosleep_fn)wmrt_next(&next_clock_nanosleep, "clock_nanosleep", (void *)own_clock_nanosleep);
	struct timespec rest;

	return next(clock, flags, request, remaining ? remaining : &rest);
}

static IN_WAITS int own_usleep(useconds_t us)
{
	struct timespec request = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};

	return own_nanosleep(&request, NULL);
}

WMRT_INTERPOSE(poll, own_poll);
WMRT_INTERPOSE(epoll_wait, own_epoll_wait);
WMRT_INTERPOSE(epoll_pwait, own_epoll_pwait);
WMRT_INTERPOSE(nanosleep, own_nanosleep);
WMRT_INTERPOSE(clock_nanosleep, own_clock_nanosleep);
WMRT_INTERPOSE(usleep, own_usleep);

void restart_start(void)
{
	wmrt_next(&next_poll, "poll", (void *)own_poll);
	wmrt_next(&next_epoll_wait, "epoll_wait", (void *)own_epoll_wait);
	wmrt_next(&next_epoll_pwait, "epoll_pwait", (void *)own_epoll_pwait);
	wmrt_next(&next_nanosleep, "nanosleep", (void *)own_nanosleep);
	wmrt_next(&next_clock_nanosleep, "clock_nanosleep", (void *)own_clock_nanosleep);
}
