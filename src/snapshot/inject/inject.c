/*
 * inject.c - ptrace: stopping and going on.
 *
 * All threads are asked to stop together and then waited for together, in whatever order they stop or end: the kernel reports the end of
 * the main thread only when every other thread has been waited for. A thread in vfork, or in state D, does not stop for anybody: where
 * not all have stopped after STOP_NS all go on, and none is stopped again while the one that has not is still in that state.
 */
#include "snapshot/inject/inject.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "snapshot/inject/inject_private.h"

enum {
	USER_CODE_64 = 0x33,
	POLL_NS = 100000,
	STEP_NS = 200000,
	TURN_NS = 8000000, /* for the turn of a thread that is to go on a little */
	STOP_NS = 30000000,
};
_Static_assert(sizeof(struct user_regs_struct) == INJECT_REGISTERS * sizeof(uint64_t), "27 registers");

static const char waits[] = "a thread waits in the kernel (vfork, or state D), where it cannot be stopped",
		  is_slow[] = "its threads do not all come to a stop within 30 ms";

static void nap(uint64_t ns)
{
	const struct timespec ts = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	nanosleep(&ts, NULL);
}

static struct error *cannot_stop(pid_t pid, int errnum)
{
	long tracer = inject_tracer_of(pid);

	if (errnum == ESRCH)
		return error_create(ERROR_NOT_FOUND, "process %d: there is no such process", (int)pid);
	/* One that has been killed cannot be traced, and is there for a moment longer. */
	if (inject_is_ending(pid))
		return error_create(ERROR_NOT_FOUND, "process %d: has ended, or its first thread has", (int)pid);
	if (tracer)
		return error_create(ERROR_ARGUMENT, "process %d: process %ld traces it already (a debugger?)", (int)pid,
				    tracer);
	return error_os(errnum,
			"process %d: cannot be stopped by ptrace (its owner or root may; see ptrace_scope in proc(5))",
			(int)pid);
}

/* ---- stopping ---- */

static struct inject_thread *find_thread(const struct inject *in, pid_t tid)
{
	for (size_t i = 0; i < in->thread_count; i++)
		if (in->threads[i].tid == tid)
			return &in->threads[i];
	return NULL;
}

static void forget_thread(struct inject *in, struct inject_thread *thread)
{
	size_t i = (size_t)(thread - in->threads);

	memmove(thread, thread + 1, (in->thread_count - i - 1) * sizeof *thread);
	in->thread_count--;
}

static struct error *read_registers(struct inject *in, struct inject_thread *thread)
{
	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, thread->registers) != 0)
		return errno == ESRCH ? NULL : inject_failed(in, "its registers cannot be read");
	if (inject_restart(thread) && ptrace(PTRACE_SETREGS, thread->tid, NULL, thread->registers) != 0)
		return errno == ESRCH ? NULL : inject_failed(in, "its registers cannot be written");
	return thread->registers[INJECT_CS] == USER_CODE_64
		       ? NULL
		       : error_create(ERROR_FORMAT, "process %d: is a 32-bit program: attach works on x86-64 only",
				      (int)in->pid);
}

/*
 * A signal that a thread has stopped for is the thread's until it goes on: had the tracer taken the stop, and died before it let the thread go
 * on, the signal would be lost.
 */
pid_t inject_next_event(int *ret)
{
	enum {
		STOPPED = 0x7f, /* in a status */
		LAST_SIGNAL = 64,
	};
	siginfo_t info = {0};

	if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0)
		return -1;
	if (info.si_pid == 0)
		return 0;
	if (info.si_code != CLD_TRAPPED || info.si_status > LAST_SIGNAL)
		return waitpid(info.si_pid, ret, __WALL | WNOHANG);
	*ret = info.si_status << 8 | STOPPED;
	return info.si_pid;
}

struct error *inject_take_event(struct inject *in, pid_t tid, int status)
{
	struct inject_thread *thread = find_thread(in, tid);

	if (!WIFSTOPPED(status)) {
		if (thread && tid != in->pid)
			forget_thread(in, thread);
		return tid == in->pid ? inject_ended(in) : NULL;
	}
	if (!thread) {
		waitpid(tid, &status, __WALL | WNOHANG);
		return NULL;
	}
	if (status >> 16 == PTRACE_EVENT_STOP) {
		thread->is_running = thread->is_asked = false;
		thread->is_in_the_way = thread->is_looked_at = false;
		return read_registers(in, thread);
	}
	/* It was on its way to the signal when it was interrupted: that is over with this stop. */
	if (thread->is_asked)
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	if (ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)WSTOPSIG(status)) != 0 && errno != ESRCH)
		return inject_failed(in, "does not go on");
	return NULL;
}

/* All that has happened by now. */
static struct error *take_events(struct inject *in)
{
	struct error *err = NULL;
	int status;
	pid_t tid;

	while (!err) {
		tid = inject_next_event(&status);
		if (tid == 0 || (tid < 0 && errno != EINTR))
			return tid == 0 ? NULL : inject_ended(in);
		if (tid > 0)
			err = inject_take_event(in, tid, status);
	}
	return err;
}

static struct error *add_thread(struct inject *in, pid_t tid, bool *ret)
{
	struct inject_thread *grown;

	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0)
		/* One that ends may be there yet. */
		return tid != in->pid && (errno == ESRCH || inject_state_of(in->pid, tid) == 'Z' ||
					  inject_state_of(in->pid, tid) == 'X')
			       ? NULL
			       : cannot_stop(in->pid, errno);
	if (in->thread_count == in->thread_capacity) {
		size_t capacity = in->thread_capacity ? 2 * in->thread_capacity : 8;

		grown = realloc(in->threads, capacity * sizeof *grown);
		if (!grown)
			return &error_no_memory;
		in->threads = grown;
		in->thread_capacity = capacity;
	}
	in->threads[in->thread_count++] = (struct inject_thread){.tid = tid, .is_running = true};
	*ret = true;
	return NULL;
}

/* Those that are not seized yet. */
static struct error *add_threads(struct inject *in, bool *ret)
{
	char path[INJECT_PROC_PATH_MAX];
	struct dirent *entry;
	struct error *err = NULL;
	DIR *d;

	*ret = false;
	snprintf(path, sizeof path, "/proc/%d/task", (int)in->pid);
	d = opendir(path);
	if (!d)
		return inject_ended(in);
	while (!err && (entry = readdir(d)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !find_thread(in, tid))
			err = add_thread(in, tid, ret);
	}
	closedir(d);
	return err;
}

static bool is_any_running(const struct inject *in)
{
	for (size_t i = 0; i < in->thread_count; i++)
		if (in->threads[i].is_running)
			return true;
	return false;
}

static struct error *ask_all(struct inject *in)
{
	for (size_t i = 0; i < in->thread_count; i++) {
		struct inject_thread *thread = &in->threads[i];

		if (!thread->is_running || thread->is_asked)
			continue;
		if (!in->own->since_ns)
			in->own->since_ns = inject_now_ns();
		if (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) != 0 && errno != ESRCH)
			return inject_failed(in, "cannot be stopped");
		thread->is_asked = true;
	}
	return NULL;
}

static void find_stuck(struct inject *in)
{
	for (size_t i = 0; i < in->thread_count; i++)
		in->threads[i].is_stuck =
			in->threads[i].is_running && inject_state_of(in->pid, in->threads[i].tid) == 'D';
}

/* Is one of those still there? */
static bool is_any_stuck(struct inject *in)
{
	bool ret = false;

	for (size_t i = 0; i < in->thread_count; i++) {
		struct inject_thread *thread = &in->threads[i];

		thread->is_stuck = thread->is_stuck && inject_state_of(in->pid, thread->tid) == 'D';
		ret |= thread->is_stuck;
	}
	return ret;
}

/* *ret_left: some still run at that time. */
static struct error *wait_for_all(struct inject *in, uint64_t until_ns, bool *ret_left)
{
	struct error *err = ask_all(in);

	while (!err) {
		err = take_events(in);
		*ret_left = !err && is_any_running(in);
		if (err || !*ret_left || inject_now_ns() >= until_ns)
			return err;
		nap(POLL_NS);
	}
	return err;
}

/* Stops the threads that run. */
static struct error *stop(struct inject *in, const char **ret)
{
	bool is_new = true, is_left = false;
	struct error *err = NULL;

	while (!err && is_new && !is_left) { /* until all stand still: none can make another one */
		err = wait_for_all(in, in->own->since_ns ? in->own->since_ns + STOP_NS : inject_now_ns() + STOP_NS,
				   &is_left);
		if (!err && !is_left)
			err = add_threads(in, &is_new);
	}
	if (err)
		return err;
	in->is_stopped = !is_left;
	if (!is_left)
		return NULL;
	find_stuck(in);
	*ret = is_any_stuck(in) ? waits : is_slow;
	if (inject_is_gone(in))
		return inject_ended(in);
	return inject_go(in, 0);
}

struct error *inject_stop(struct inject *in, const char **ret)
{
	bool is_new;
	struct error *err = in->own->since_ns ? NULL : add_threads(in, &is_new) ?: take_events(in);

	*ret = NULL;
	if (err)
		return err;
	if (!in->own->since_ns && is_any_stuck(in)) {
		*ret = waits;
		return inject_go(in, 0);
	}
	return stop(in, ret);
}

struct error *inject_continue(struct inject *in, struct inject_thread *thread)
{
	intptr_t signal = thread == in->threads ? in->own->held_signal : 0;

	if (thread == in->threads)
		in->own->held_signal = 0;
	thread->is_running = true;
	if (ptrace(PTRACE_CONT, thread->tid, NULL, (void *)signal) != 0 && errno != ESRCH)
		return inject_failed(in, "does not go on");
	return NULL;
}

/* A thread that waits for a processor while it is asked to stop has done nothing when it stops. */
static bool had_all_turns(const struct inject *in)
{
	for (size_t i = 0; i < in->thread_count; i++) {
		const struct inject_thread *thread = &in->threads[i];

		if (thread->is_in_the_way && thread->turns && inject_turns_of(in->pid, thread->tid) == thread->turns)
			return false;
	}
	return true;
}

struct error *inject_step(struct inject *in, const char **ret)
{
	uint64_t until_ns = inject_now_ns() + TURN_NS;
	struct error *err = NULL;

	*ret = NULL;
	in->is_stopped = false;
	for (size_t i = 0; !err && i < in->thread_count; i++) {
		if (!in->threads[i].is_in_the_way)
			continue;
		in->threads[i].turns = inject_turns_of(in->pid, in->threads[i].tid);
		err = inject_continue(in, &in->threads[i]);
	}
	while (!err && !had_all_turns(in) && inject_now_ns() < until_ns)
		nap(POLL_NS);
	nap(STEP_NS);
	return err ? err : stop(in, ret);
}

/* A thread that was asked before stops only now. */
static struct error *continue_all(struct inject *in)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < in->thread_count; i++)
		if (!in->threads[i].is_running)
			err = inject_continue(in, &in->threads[i]);
	return err;
}

struct error *inject_go(struct inject *in, uint64_t ns)
{
	uint64_t until_ns = inject_now_ns() + ns;
	struct error *err;

	in->is_stopped = false;
	in->own->since_ns = 0;
	do {
		err = continue_all(in);
		if (!err && ns)
			nap(ns < STEP_NS ? ns : STEP_NS);
		if (!err)
			err = take_events(in);
	} while (!err && inject_now_ns() < until_ns);
	if (!err)
		err = continue_all(in);
	/* While it runs. */
	if (!err && in->own->are_images_old)
		err = inject_read_images(in);
	return err;
}

struct error *inject_open(pid_t pid, struct inject *ret)
{
	char path[INJECT_PROC_PATH_MAX];
	struct error *err;
	bool is_new;

	*ret = (struct inject){.pid = pid, .own = calloc(1, sizeof *ret->own)};
	if (!ret->own)
		return &error_no_memory;
	ret->own->memory_fd = -1;
	err = add_thread(ret, pid, &is_new);
	if (!err)
		err = inject_images_open(ret);
	if (err)
		return err;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	ret->own->memory_fd = open(path, O_RDWR | O_CLOEXEC);
	if (ret->own->memory_fd < 0)
		return inject_failed(ret, "its memory cannot be opened");
	inject_images_find_return(ret);
	inject_find_stack(ret);
	return NULL;
}

void inject_close(struct inject *in)
{
	struct error *err = in->own ? inject_calls_close(in) : NULL;

	if (err)
		error_destroy(err);
	/* One that runs, as in vfork, is let go of by the end of this process. */
	for (size_t i = 0; i < in->thread_count; i++)
		ptrace(PTRACE_DETACH, in->threads[i].tid, NULL,
		       (void *)(intptr_t)(i == 0 && in->own ? in->own->held_signal : 0));
	free(in->threads);
	if (in->own) {
		inject_images_close(in);
		if (in->own->memory_fd >= 0)
			close(in->own->memory_fd);
		free(in->own->codes);
		free(in->own->frame);
		free(in->own);
	}
	*in = (struct inject){0};
}
