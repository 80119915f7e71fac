/*
 * inject.c - ptrace: stopping, calls, and putting back.
 *
 * A call returns to address 0, where it stops with SIGSEGV, which is never delivered. All other signals are blocked during calls.
 * Nothing is written into code, and only calls of mmap and munmap use the thread's own stack, below the red zone.
 *
 * A thread that was in a system call has left it with -ERESTART... in rax and the call's number in orig_rax. Calls are made with
 * orig_rax = -1; when registers are put back and the thread goes on, the kernel makes the system call again, and where it has a
 * timeout goes on with what is left of it (restart_syscall).
 */
#include "snapshot/inject.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "snapshot/inject_private.h"

enum {
	PROC_PATH_MAX = 64,
	USER_CODE_64 = 0x33,
	RUN_NS = 1000000,
	WAIT_NS = 200000,
	CALL_WAITS = 150000, /* 30 s */
	STACK_BYTES = 4 << 20,
	ROOM_BYTES = 64 << 10,
	RED_ZONE_BYTES = 128,
	VECTORS_BYTES = 16 << 10,
	FLAGS_CLEARED = 0x40500, /* alignment checks, direction, trap */
	SIGNAL_SET_BYTES = 8,
	RESTART_NO_HANDLER =
		514, /* ERESTARTNOHAND of the kernel: the call is made again, or returns EINTR to a handler */
};
_Static_assert(sizeof(struct user_regs_struct) == INJECT_REGISTERS * sizeof(uint64_t), "27 registers");

static struct error *has_ended(const struct inject *in)
{
	return error_create(ERROR_NOT_FOUND, "process %d: has ended", (int)in->pid);
}

static struct error *failed(const struct inject *in, const char *what)
{
	return errno == ESRCH ? has_ended(in) : error_os(errno, "process %d: %s", (int)in->pid, what);
}

/* ---- stopping ---- */

static long tracer_of(pid_t pid)
{
	char path[PROC_PATH_MAX], *line = NULL;
	size_t capacity = 0;
	long tracer = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && getline(&line, &capacity, f) > 0)
		if (strncmp(line, "TracerPid:", 10) == 0)
			tracer = strtol(line + 10, NULL, 10);
	free(line);
	if (f)
		fclose(f);
	return tracer;
}

static struct error *cannot_stop(pid_t pid, int errnum)
{
	long tracer = tracer_of(pid);

	if (errnum == ESRCH)
		return error_create(ERROR_NOT_FOUND, "process %d: there is no such process", (int)pid);
	if (tracer)
		return error_create(ERROR_ARGUMENT, "process %d: process %ld traces it already (a debugger?)", (int)pid,
				    tracer);
	return error_os(errnum,
			"process %d: cannot be stopped by ptrace (its owner or root may; see ptrace_scope in proc(5))",
			(int)pid);
}

/* Waits until it stands still by itself, not for a signal, which it gets. *ret_ended: it is no more. */
static struct error *wait_for_stop(struct inject *in, pid_t tid, bool *ret_ended)
{
	int status;

	*ret_ended = false;
	for (;;) {
		if (waitpid(tid, &status, __WALL) != tid) {
			if (errno == EINTR)
				continue;
			return failed(in, "cannot be waited for");
		}
		if (!WIFSTOPPED(status)) {
			*ret_ended = true;
			return tid == in->pid ? has_ended(in) : NULL;
		}
		if (status >> 16 == PTRACE_EVENT_STOP)
			return NULL;
		/* It was on its way to the signal when it was interrupted: that is over with this stop. */
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		if (ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)WSTOPSIG(status)) != 0 && errno != ESRCH)
			return failed(in, "does not go on");
	}
}

static struct inject_thread *find_thread(const struct inject *in, pid_t tid)
{
	for (size_t i = 0; i < in->thread_count; i++)
		if (in->threads[i].tid == tid)
			return &in->threads[i];
	return NULL;
}

/*
 * System calls without a limit of time that the kernel gives up for a stop, and does not make again as it does others (signal(7)). With a
 * limit they return EINTR, as when a debugger stops the thread: how long they had waited is not known.
 */
static bool is_given_up(const uint64_t *registers)
{
	if (registers[INJECT_RAX] != (uint64_t)-EINTR)
		return false;
	switch (registers[INJECT_ORIG_RAX]) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return (int)registers[INJECT_R10] < 0;
	case SYS_epoll_pwait2:
	case SYS_semtimedop:
		return !registers[INJECT_R10];
	case SYS_rt_sigtimedwait:
		return !registers[INJECT_RDX];
	case SYS_io_getevents:
		return !registers[INJECT_R8];
	case SYS_semop:
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_read:
		return true;
	default:
		return false;
	}
}

static struct error *read_registers(struct inject *in, struct inject_thread *thread)
{
	thread->is_running = false;
	thread->is_in_the_way = false;
	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, thread->registers) != 0)
		return failed(in, "its registers cannot be read");
	if (is_given_up(thread->registers)) {
		thread->registers[INJECT_RAX] = (uint64_t)-RESTART_NO_HANDLER;
		if (ptrace(PTRACE_SETREGS, thread->tid, NULL, thread->registers) != 0)
			return failed(in, "its registers cannot be written");
	}
	return thread->registers[INJECT_CS] == USER_CODE_64
		       ? NULL
		       : error_create(ERROR_FORMAT, "process %d: is a 32-bit program: attach works on x86-64 only",
				      (int)in->pid);
}

static struct error *add_thread(struct inject *in, pid_t tid, bool *ret)
{
	struct inject_thread *grown;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
		return errno == ESRCH && tid != in->pid ? NULL : cannot_stop(in->pid, errno);
	grown = realloc(in->threads, (in->thread_count + 1) * sizeof *grown);
	if (!grown) {
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return &error_no_memory;
	}
	in->threads = grown;
	in->threads[in->thread_count++] = (struct inject_thread){.tid = tid, .is_running = true};
	*ret = true;
	return NULL;
}

/* Those that are not seized yet; the main thread comes first. */
static struct error *add_threads(struct inject *in, bool *ret)
{
	char path[PROC_PATH_MAX];
	struct dirent *entry;
	struct error *err = NULL;
	DIR *d;

	*ret = false;
	if (!find_thread(in, in->pid))
		return add_thread(in, in->pid, ret);
	snprintf(path, sizeof path, "/proc/%d/task", (int)in->pid);
	d = opendir(path);
	if (!d)
		return has_ended(in);
	while (!err && (entry = readdir(d)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !find_thread(in, tid))
			err = add_thread(in, tid, ret);
	}
	closedir(d);
	return err;
}

static struct error *stop_thread(struct inject *in, size_t i, bool *ret_ended)
{
	struct error *err;

	*ret_ended = false;
	if (ptrace(PTRACE_INTERRUPT, in->threads[i].tid, NULL, NULL) != 0 && errno != ESRCH)
		return failed(in, "cannot be stopped");
	err = wait_for_stop(in, in->threads[i].tid, ret_ended);
	return err || *ret_ended ? err : read_registers(in, &in->threads[i]);
}

static struct error *stop_from(struct inject *in, size_t first)
{
	struct error *err = NULL;

	for (size_t i = first; !err && i < in->thread_count; i++) {
		bool is_ended;

		if (!in->threads[i].is_running)
			continue;
		err = stop_thread(in, i, &is_ended);
		if (!err && is_ended) {
			memmove(&in->threads[i], &in->threads[i + 1], (in->thread_count - i - 1) * sizeof *in->threads);
			in->thread_count--;
			i--;
		}
	}
	return err;
}

struct error *inject_stop(struct inject *in)
{
	bool is_new = true;
	struct error *err = stop_from(in, 0);

	while (!err && is_new) { /* until all stand still: none can make another one */
		size_t first = in->thread_count;

		err = add_threads(in, &is_new);
		if (!err)
			err = stop_from(in, first);
	}
	in->is_stopped = !err;
	return err;
}

struct error *inject_run(struct inject *in, bool is_for_all)
{
	const struct timespec while_running = {0, RUN_NS};

	in->is_stopped = false;
	for (size_t i = 0; i < in->thread_count; i++) {
		struct inject_thread *thread = &in->threads[i];

		if (!is_for_all && !thread->is_in_the_way)
			continue;
		if (ptrace(PTRACE_CONT, thread->tid, NULL, NULL) != 0 && errno != ESRCH)
			return failed(in, "does not go on");
		thread->is_running = true;
	}
	nanosleep(&while_running, NULL);
	return inject_stop(in);
}

struct error *inject_open(pid_t pid, struct inject *ret)
{
	char path[PROC_PATH_MAX];
	struct error *err;

	*ret = (struct inject){.pid = pid, .own = calloc(1, sizeof *ret->own)};
	if (!ret->own)
		return &error_no_memory;
	ret->own->memory_fd = -1;
	err = inject_stop(ret);
	if (!err)
		err = inject_images_open(ret);
	if (err)
		return err;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	ret->own->memory_fd = open(path, O_RDWR | O_CLOEXEC);
	return ret->own->memory_fd < 0 ? failed(ret, "its memory cannot be opened") : NULL;
}

/* ---- memory ---- */

struct error *inject_write(struct inject *in, uint64_t address, const void *bytes, size_t len_bytes)
{
	if (pwrite(in->own->memory_fd, bytes, len_bytes, (off_t)address) != (ssize_t)len_bytes)
		return failed(in, "its memory cannot be written");
	return NULL;
}

struct error *inject_read(struct inject *in, uint64_t address, void *bytes, size_t len_bytes)
{
	if (pread(in->own->memory_fd, bytes, len_bytes, (off_t)address) != (ssize_t)len_bytes)
		return failed(in, "its memory cannot be read");
	return NULL;
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

/* ---- calls ---- */

/* Until the call is over, at address 0. *ret: what it returns. */
static struct error *wait_for_return(struct inject *in, uint64_t *ret)
{
	const struct timespec while_waiting = {0, WAIT_NS};
	pid_t tid = in->threads[0].tid;
	uint64_t registers[INJECT_REGISTERS];
	int status;

	for (long waits = 0; waits < CALL_WAITS; waits++) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);
		int signal = 0;

		if (got == 0) {
			nanosleep(&while_waiting, NULL);
			continue;
		}
		if (got != tid)
			return failed(in, "cannot be waited for");
		if (!WIFSTOPPED(status))
			return has_ended(in);
		if (ptrace(PTRACE_GETREGS, tid, NULL, registers) != 0)
			return failed(in, "its registers cannot be read");
		if (WSTOPSIG(status) == SIGSEGV && registers[INJECT_RIP] == 0) {
			*ret = registers[INJECT_RAX];
			return NULL;
		}
		if (status >> 16 != PTRACE_EVENT_STOP) {
			signal = WSTOPSIG(status);
			if (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE)
				return error_create(ERROR_FORMAT,
						    "process %d: a call made in it was ended by signal %d at 0x%llx",
						    (int)in->pid, signal, (unsigned long long)registers[INJECT_RIP]);
			in->own->held_signal = signal;
		}
		if (ptrace(PTRACE_CONT, tid, NULL, NULL) != 0)
			return failed(in, "does not go on");
	}
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	waitpid(tid, &status, __WALL);
	return error_create(ERROR_FORMAT, "process %d: a call made in it does not end", (int)in->pid);
}

struct error *inject_call(struct inject *in, uint64_t function, const uint64_t arguments[INJECT_ARGUMENTS],
			  uint64_t *ret)
{
	static const uint8_t places[INJECT_ARGUMENTS] = {INJECT_RDI, INJECT_RSI, INJECT_RDX,
							 INJECT_RCX, INJECT_R8,  INJECT_R9};
	const struct inject_private *own = in->own;
	uint64_t registers[INJECT_REGISTERS], sp = own->stack ? own->room : own->saved[INJECT_RSP] - RED_ZONE_BYTES;
	const uint64_t return_address = 0;
	struct error *err;

	memcpy(registers, own->saved, sizeof registers);
	for (int i = 0; i < INJECT_ARGUMENTS; i++)
		registers[places[i]] = arguments[i];
	sp = (sp & ~(uint64_t)15) - sizeof return_address;
	registers[INJECT_RSP] = sp;
	registers[INJECT_RIP] = function;
	registers[INJECT_RAX] = 0;
	registers[INJECT_FLAGS] &= ~(uint64_t)FLAGS_CLEARED;
	registers[INJECT_ORIG_RAX] = UINT64_MAX;
	err = inject_write(in, sp, &return_address, sizeof return_address);
	if (err)
		return err;
	if (ptrace(PTRACE_SETREGS, in->threads[0].tid, NULL, registers) != 0 ||
	    ptrace(PTRACE_CONT, in->threads[0].tid, NULL, NULL) != 0)
		return failed(in, "does not go on");
	return wait_for_return(in, ret);
}

uint64_t inject_room(struct inject *in, size_t len_bytes)
{
	in->own->room = (in->own->room - len_bytes) & ~(uint64_t)63;
	return in->own->room;
}

static struct error *save(struct inject *in)
{
	struct inject_private *own = in->own;
	struct iovec vectors;
	pid_t tid = in->threads[0].tid;

	if (!own->vectors)
		own->vectors = malloc(VECTORS_BYTES);
	if (!own->vectors)
		return &error_no_memory;
	memcpy(own->saved, in->threads[0].registers, sizeof own->saved);
	vectors = (struct iovec){own->vectors, VECTORS_BYTES};
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &vectors) != 0)
		return failed(in, "its vector registers cannot be read");
	own->vectors_bytes = vectors.iov_len;
	if (ptrace(PTRACE_GETSIGMASK, tid, (void *)SIGNAL_SET_BYTES, &own->mask) != 0)
		return failed(in, "its signal mask cannot be read");
	return NULL;
}

/* Signals that a call may end with are not blocked: the kernel would take their handlers away. */
static struct error *block_signals(struct inject *in)
{
	uint64_t mask = ~(UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1) | UINT64_C(1) << (SIGILL - 1) |
			  UINT64_C(1) << (SIGFPE - 1));
	sigset_t all;

	if (ptrace(PTRACE_SETSIGMASK, in->threads[0].tid, (void *)SIGNAL_SET_BYTES, &mask) != 0)
		return failed(in, "its signals cannot be blocked");
	/* A process that is left amidst a call dies of it. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &in->own->own_mask);
	return NULL;
}

struct error *inject_begin(struct inject *in)
{
	const uint64_t none[INJECT_ARGUMENTS] = {0};
	const uint64_t map[INJECT_ARGUMENTS] = {
		0, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, UINT64_MAX, 0};
	struct inject_private *own = in->own;
	uint64_t mmap_at = inject_find(in, "libc.so.6", "mmap"),
		 errno_at = inject_find(in, "libc.so.6", "__errno_location");
	uint64_t stack = 0;
	struct error *err;

	if (!mmap_at || !errno_at)
		return error_create(ERROR_FORMAT, "process %d: its C library is not glibc 2.35 or later", (int)in->pid);
	err = save(in);
	if (!err)
		err = block_signals(in);
	if (err)
		return err;
	own->is_begun = true;
	own->errno_at = 0;
	err = inject_call(in, errno_at, none, &own->errno_at);
	if (!err)
		err = inject_read(in, own->errno_at, &own->saved_errno, sizeof own->saved_errno);
	if (!err)
		err = inject_call(in, mmap_at, map, &stack);
	if (!err && stack > UINT64_MAX - 4096)
		err = error_create(ERROR_FORMAT, "process %d: has no memory left", (int)in->pid);
	if (err)
		return err;
	own->stack = stack;
	own->room = stack + STACK_BYTES;
	return NULL;
}

static struct error *unmap_stack(struct inject *in)
{
	uint64_t arguments[INJECT_ARGUMENTS] = {in->own->stack, STACK_BYTES}, ret;

	if (!in->own->stack)
		return NULL;
	in->own->stack = 0;
	return inject_call(in, inject_find(in, "libc.so.6", "munmap"), arguments, &ret);
}

struct error *inject_end(struct inject *in)
{
	struct inject_private *own = in->own;
	struct iovec vectors = {own->vectors, own->vectors_bytes};
	pid_t tid = in->threads[0].tid;
	struct error *err;

	if (!own->is_begun)
		return NULL;
	own->is_begun = false;
	err = unmap_stack(in);
	if (!err && own->errno_at)
		err = inject_write(in, own->errno_at, &own->saved_errno, sizeof own->saved_errno);
	if (ptrace(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE, &vectors) != 0 ||
	    ptrace(PTRACE_SETREGS, tid, NULL, own->saved) != 0 ||
	    ptrace(PTRACE_SETSIGMASK, tid, (void *)SIGNAL_SET_BYTES, &own->mask) != 0)
		err = err ? err : failed(in, "its registers cannot be put back");
	sigprocmask(SIG_SETMASK, &own->own_mask, NULL);
	return err;
}

void inject_close(struct inject *in)
{
	struct error *err = in->own ? inject_end(in) : NULL;

	if (err)
		error_destroy(err);
	for (size_t i = 0; i < in->thread_count; i++)
		ptrace(PTRACE_DETACH, in->threads[i].tid, NULL,
		       (void *)(intptr_t)(i == 0 && in->own ? in->own->held_signal : 0));
	free(in->threads);
	if (in->own) {
		inject_images_close(in);
		if (in->own->memory_fd >= 0)
			close(in->own->memory_fd);
		free(in->own->vectors);
		free(in->own);
	}
	*in = (struct inject){0};
}
