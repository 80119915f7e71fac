/*
 * inject_process.c - what can be asked of a process without stopping it: /proc, its memory; the clock, and the messages of errors.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "snapshot/inject/inject_private.h"

struct error *inject_ended(const struct inject *in)
{
	return error_create(ERROR_NOT_FOUND, "process %d: has ended, or its first thread has", (int)in->pid);
}

struct error *inject_failed(const struct inject *in, const char *what)
{
	return errno == ESRCH ? inject_ended(in) : error_os(errno, "process %d: %s", (int)in->pid, what);
}

uint64_t inject_now_ns(void)
{
	struct timespec ts = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t inject_left_ns(const struct inject *in)
{
	uint64_t stood_ns = in->own->since_ns ? inject_now_ns() - in->own->since_ns : 0;

	return stood_ns < INJECT_LIMIT_NS ? INJECT_LIMIT_NS - stood_ns : 0;
}

/* ---- what /proc says ---- */

/* Its first thread is on its way out. */
static bool has_exited(pid_t pid)
{
	enum {
		EXITING = 4, /* PF_EXITING of the kernel */
	};
	char path[INJECT_PROC_PATH_MAX], line[512] = "";
	unsigned int flags = 0;
	const char *end;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return true;
	end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return end && sscanf(end, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && flags & EXITING;
}

/* A number of /proc/PID/status; 0: it is not there. */
static uint64_t status_number(pid_t pid, const char *name, int base)
{
	char path[INJECT_PROC_PATH_MAX], *line = NULL;
	size_t capacity = 0, len = strlen(name);
	uint64_t number = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && getline(&line, &capacity, f) > 0)
		if (strncmp(line, name, len) == 0)
			number = strtoull(line + len, NULL, base);
	free(line);
	if (f)
		fclose(f);
	return number;
}

long inject_tracer_of(pid_t pid)
{
	return (long)status_number(pid, "TracerPid:", 10);
}

bool inject_is_ending(pid_t pid)
{
	const uint64_t killed = UINT64_C(1) << (SIGKILL - 1);
	char state = inject_state_of(pid, pid);

	return state == 'Z' || state == 'X' ||
	       (status_number(pid, "SigPnd:", 16) | status_number(pid, "ShdPnd:", 16)) & killed || has_exited(pid);
}

char inject_state_of(pid_t pid, pid_t tid)
{
	char path[INJECT_PROC_PATH_MAX], line[512];
	const char *end;
	ssize_t len;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 'X';
	len = read(fd, line, sizeof line - 1);
	close(fd);
	line[len < 0 ? 0 : len] = '\0';
	end = strrchr(line, ')');
	return end && end[1] == ' ' ? end[2] : 'X';
}

uint64_t inject_turns_of(pid_t pid, pid_t tid)
{
	char path[INJECT_PROC_PATH_MAX];
	uint64_t run_ns, waited_ns, turns = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%" SCNu64 " %" SCNu64 " %" SCNu64, &run_ns, &waited_ns, &turns) != 3)
		turns = 0;
	if (f)
		fclose(f);
	return turns;
}

bool inject_is_gone(const struct inject *in)
{
	char state = inject_state_of(in->pid, in->pid);

	return state == 'Z' || state == 'X';
}

/* ---- memory ---- */

/* Of a process that ends the memory is gone before it is. */
static struct error *copied(const struct inject *in, ssize_t got, size_t len_bytes, const char *what)
{
	if (got == (ssize_t)len_bytes)
		return NULL;
	if (got >= 0)
		errno = got == 0 ? ESRCH : EFAULT;
	return inject_failed(in, what);
}

struct error *inject_write(struct inject *in, uint64_t address, const void *bytes, size_t len_bytes)
{
	return copied(in, pwrite(in->own->memory_fd, bytes, len_bytes, (off_t)address), len_bytes,
		      "its memory cannot be written");
}

struct error *inject_read(struct inject *in, uint64_t address, void *bytes, size_t len_bytes)
{
	return copied(in, pread(in->own->memory_fd, bytes, len_bytes, (off_t)address), len_bytes,
		      "its memory cannot be read");
}

/* ---- room on the stack ---- */

void inject_find_stack(struct inject *in)
{
	char path[INJECT_PROC_PATH_MAX], *line = NULL;
	size_t capacity = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)in->pid);
	f = fopen(path, "re");
	while (f && getline(&line, &capacity, f) > 0)
		if (strstr(line, " [stack]") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &in->own->stack_low, &in->own->stack_high) == 2)
			break;
	free(line);
	if (f)
		fclose(f);
}

static bool is_on_stack(const struct inject *in, uint64_t sp)
{
	return sp >= in->own->stack_low && sp < in->own->stack_high;
}

/* No frame that is in use ends there: at the lowest one there is a return address. */
static bool is_unused(const struct inject *in, uint64_t address)
{
	static const char zeros[INJECT_LENT_BYTES];
	char bytes[INJECT_LENT_BYTES];

	return pread(in->own->memory_fd, bytes, sizeof bytes, (off_t)address) == (ssize_t)sizeof bytes &&
	       memcmp(bytes, zeros, sizeof bytes) == 0;
}

/*
 * Below the stack pointer there is room on the stack that the kernel has given the process, and lets grow. A coroutine's stack, or an alternate
 * one for signals, may end there, with something else below it. Then the room is at the low end of the process's stack where nothing was
 * written yet, or beyond that end.
 */
uint64_t inject_find_room(struct inject *in, bool *ret_is_lent)
{
	uint64_t sp = in->threads[0].registers[INJECT_RSP];

	if (!is_on_stack(in, sp))
		inject_find_stack(in);
	*ret_is_lent = in->own->stack_high && !is_on_stack(in, sp);
	if (!*ret_is_lent)
		return sp - INJECT_RED_ZONE_BYTES;
	return is_unused(in, in->own->stack_low) ? in->own->stack_low + INJECT_LENT_BYTES
						 : in->own->stack_low - INJECT_LENT_BYTES;
}

bool inject_has_c_threads(struct inject *in)
{
	enum {
		SELF = 16, /* in tcbhead_t of glibc: the address of the record itself */
	};

	for (size_t i = 0; i < in->thread_count; i++) {
		uint64_t fs = in->threads[i].registers[INJECT_FS_BASE], self = 0;
		ssize_t got = pread(in->own->memory_fd, &self, sizeof self, (off_t)(fs + SELF));

		if (!fs || got != sizeof self || self != fs)
			return false;
		for (size_t k = 0; k < i; k++)
			if (in->threads[k].registers[INJECT_FS_BASE] == fs)
				return false;
	}
	return true;
}
