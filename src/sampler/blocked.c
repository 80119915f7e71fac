/*
 * blocked.c - reads /proc/self/task/TID/syscall, where the kernel lets a process see its own threads: "running"; or the number of the system call in which the thread is blocked (-1: none), its
 * arguments, the stack pointer and the program counter.
 */
#include "sampler/blocked.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>

#include "native/restart.h"
#include "recorder/sys.h"
#include "recorder/text.h"

static bool read_file(uint32_t tid, const char *name, char *ret, size_t size)
{
	char path[64];
	struct wmrt_text text = {path, sizeof path, 0};
	long fd, len;

	wmrt_text_add(&text, "/proc/self/task/");
	wmrt_text_number(&text, tid, 10, 1);
	wmrt_text_char(&text, '/');
	wmrt_text_add(&text, name);
	fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return false;
	len = wmrt_sys3(SYS_read, fd, (long)ret, (long)size - 1);
	wmrt_sys3(SYS_close, fd, 0, 0);
	ret[len > 0 ? len : 0] = '\0';
	return len > 0;
}

static bool begins_with(const char *text, const char *name)
{
	while (*name && *text == *name) {
		text++;
		name++;
	}
	return !*name;
}

/* The number at *at, decimal or with 0x; moves *at behind it. */
static uint64_t take_number(const char **at)
{
	const char *c = *at;
	uint64_t ret = 0, base = 10;

	while (*c == ' ')
		c++;
	if (c[0] == '0' && c[1] == 'x') {
		base = 16;
		c += 2;
	}
	for (;; c++) {
		uint64_t digit = *c >= '0' && *c <= '9'   ? (uint64_t)(*c - '0')
				 : *c >= 'a' && *c <= 'f' ? (uint64_t)(*c - 'a' + 10)
							  : base;

		if (digit >= base)
			break;
		ret = ret * base + digit;
	}
	*at = c;
	return ret;
}

void blocked_look(uint32_t tid, struct blocked *ret)
{
	char line[256];
	const char *at = line;

	*ret = (struct blocked){.is_known = read_file(tid, "syscall", line, sizeof line)};
	ret->is_blocked = ret->is_known && line[0] != 'r';
	ret->is_in_call = ret->is_blocked && line[0] != '-';
	if (!ret->is_blocked)
		return;
	if (!ret->is_in_call)
		at += 2; /* -1 */
	else
		ret->number = take_number(&at);
	for (int i = 0; ret->is_in_call && i < 6; i++)
		ret->arguments[i] = take_number(&at);
	ret->sp = take_number(&at);
	ret->pc = take_number(&at);
}

uint64_t blocked_run_delay_ns(uint32_t tid)
{
	char line[128];
	const char *at = line;

	if (!read_file(tid, "schedstat", line, sizeof line))
		return 0;
	take_number(&at);
	return take_number(&at);
}

/* The state follows the name, which is in parentheses and may have some in it. */
bool blocked_is_uninterruptible(uint32_t tid)
{
	char line[128];
	const char *end = NULL;

	if (!read_file(tid, "stat", line, sizeof line))
		return false;
	for (const char *at = line; *at; at++)
		if (*at == ')')
			end = at;
	return end && end[1] == ' ' && end[2] == 'D';
}

/* Of the lines of status that say what a thread may. 0: it cannot be read. */
static uint64_t hash_rights(uint32_t tid)
{
	static const char *const names[] = {
		"Uid:", "Gid:", "Groups:", "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"};
	char text[4096];
	uint64_t ret = 1;
	bool is_taken;

	if (!read_file(tid, "status", text, sizeof text))
		return 0;
	for (const char *line = text; *line;) {
		is_taken = false;
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			is_taken |= begins_with(line, names[i]);
		for (; *line && *line != '\n'; line++)
			if (is_taken)
				ret = (ret ^ (uint8_t)*line) * UINT64_C(0x100000001b3);
		line += *line == '\n';
	}
	return ret;
}

bool blocked_has_same_rights(uint32_t tid, uint32_t other)
{
	uint64_t one = hash_rights(tid), two = hash_rights(other);

	return !one || !two || one == two;
}

static uint64_t option(uint64_t fd, int name, size_t size)
{
	struct timeval value = {0, 0};
	uint32_t len_bytes = (uint32_t)size;

	int own = wmrt_borrow_fd((int)fd);

	if (own < 0)
		return 0;
	if (wmrt_sys6(SYS_getsockopt, own, SOL_SOCKET, name, (long)&value, (long)&len_bytes, 0) != 0)
		value = (struct timeval){0, 0};
	wmrt_sys3(SYS_close, own, 0, 0);
	return (uint64_t)value.tv_sec | (uint64_t)value.tv_usec;
}

/* A limit of time would begin anew, and what has come of a larger piece be returned. */
static bool is_plain_receive(uint64_t fd, uint64_t flags)
{
	return !(flags & MSG_WAITALL) && !option(fd, SO_RCVTIMEO, sizeof(struct timeval)) &&
	       option(fd, SO_RCVLOWAT, sizeof(int)) <= 1;
}

static bool may_interrupt_futex(const struct blocked *b)
{
	switch ((int)b->arguments[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		return !b->arguments[3];
	case FUTEX_WAIT_BITSET:
		return !b->arguments[3] || restart_knows(b->pc, (uint32_t)b->number);
	case FUTEX_LOCK_PI:
		return true;
	default:
		return false;
	}
}

bool blocked_may_interrupt(const struct blocked *b)
{
	const uint64_t *a = b->arguments;

	if (!b->is_in_call)
		return true;
	switch (b->number) {
	case SYS_read:
	case SYS_readv:
		return is_plain_receive(a[0], 0);
	case SYS_recvfrom:
		return is_plain_receive(a[0], a[3]);
	case SYS_recvmsg:
		return is_plain_receive(a[0], a[2]);
	case SYS_accept:
	case SYS_accept4:
		return is_plain_receive(a[0], 0);
	case SYS_connect:
		return !option(a[0], SO_SNDTIMEO, sizeof(struct timeval));
	case SYS_futex:
		return may_interrupt_futex(b);
	case SYS_wait4:
	case SYS_waitid:
	case SYS_flock:
	case SYS_fcntl:
	case SYS_open:
	case SYS_openat:
		return true;
	/* restart.c makes these again, for the rest of their time. */
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_pause:
	case SYS_rt_sigsuspend:
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_semop:
		return restart_knows(b->pc, (uint32_t)b->number);
	/* These would have more time. */
	case SYS_rt_sigtimedwait:
		return !a[2] && restart_knows(b->pc, (uint32_t)b->number);
	case SYS_semtimedop:
	case SYS_epoll_pwait2:
		return !a[3] && restart_knows(b->pc, (uint32_t)b->number);
	case SYS_io_getevents:
		return !a[4] && restart_knows(b->pc, (uint32_t)b->number);
	default:
		return false;
	}
}
