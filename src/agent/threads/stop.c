/* stop.c - asks threads to stop by a signal, and waits until each has. */
#include "agent/threads/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "native/libc_signals.h"
#include "native/tasks.h"
#include "agent/threads/segments.h"
#include "agent/os/held_file.h"
#include "native/restart.h"
#include "agent/threads/threads.h"
#include "recorder/clock.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "recorder/text.h"

enum {
	TRIES = 12,
	SLICE_NS = 2000000, /* after which a thread that has not stopped is looked at */
	SLICES_MAX = 1000,  /* a thread that runs but does not get to it */
	STRIKES = 3,        /* looks at which it slept: it does not hear */
	NAP_NS = 500000,
};

struct stop_stats stop_stats;

/* Number of the stop in progress, 0: none. Writer: who holds the lock. Threads that obey wait for it to change. */
static _Atomic uint32_t stopping;
/* Counted on by each thread that obeys. */
static _Atomic uint32_t events;
/* Signals to threads that had no record: sent, under the lock, and come. */
static uint32_t asked_unlisted;
static _Atomic uint32_t heard_unlisted;
/* Under the lock. */
static uint32_t last_number;
static bool is_stopped;                     /* or there is no other thread */
static bool has_stopped;                    /* others wait */
static bool is_assumed;                     /* not here but in ptrace */
static bool is_for_child;                   /* stop_is_for_child */
static struct held_file tasks = {.fd = -1}; /* /proc/PID/task */
/* Their addresses are in the signals' data: of those that a record counts, and of those to threads that have none. */
static const char mark, mark_unlisted;

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return wmrt_sys6(SYS_futex, (long)word, op | FUTEX_PRIVATE_FLAG, value, (long)timeout, 0, 0);
}

/* ---- in the threads that stop ---- */

void stop_notice(void)
{
	if (!atomic_load(&stopping))
		return;
	atomic_fetch_add(&events, 1);
	futex(&events, FUTEX_WAKE, 1, NULL);
}

bool stop_on_signal(const siginfo_t *info, void *context)
{
	struct thread_record *r;
	struct unwind_regs regs;
	uint32_t number;

	if (info->si_code != SI_QUEUE ||
	    (info->si_value.sival_ptr != &mark && info->si_value.sival_ptr != &mark_unlisted))
		return false;
	if (info->si_value.sival_ptr == &mark && agent_thread.record)
		atomic_fetch_add(&agent_thread.record->heard, 1);
	if (info->si_value.sival_ptr == &mark_unlisted)
		atomic_fetch_add(&heard_unlisted, 1);
	restart_call(context);
	/* A thread that shares its state with another one cannot say where it is. */
	if (!threads_join() || atomic_load(&agent_thread.record->tid) != wmrt_gettid())
		return true;
	r = agent_thread.record;
	unwind_regs_of_signal(context, &regs);
	r->is_interrupted = true;
	r->pc_kind = THREAD_PC;
	atomic_store(&r->regs, &regs);
	while ((number = atomic_load(&stopping)) != 0) {
		atomic_store(&r->is_unresponsive, false);
		atomic_store(&r->stopped_in, number);
		stop_notice();
		futex(&stopping, FUTEX_WAIT, number, NULL);
	}
	atomic_store(&r->is_unresponsive, false);
	atomic_store(&r->regs, NULL);
	return true;
}

/* ---- in the one that stops them ---- */

static void path_of(char *path, size_t len, uint32_t tid, const char *file)
{
	struct wmrt_text text = {path, len - 1, 0};

	wmrt_text_add(&text, "/proc/");
	wmrt_text_number(&text, threads_pid(), 10, 1);
	wmrt_text_add(&text, "/task");
	if (tid) {
		wmrt_text_char(&text, '/');
		wmrt_text_number(&text, tid, 10, 1);
	}
	wmrt_text_add(&text, file);
	path[text.len] = 0;
}

/* How many threads the kernel has. Asked whenever code changes: of a directory that is open it is a fifth of the time. */
static uint32_t count_tasks(void)
{
	struct stat st = {0};
	char path[64];

	if (!held_file_stat(&tasks, &st)) {
		path_of(path, sizeof path, 0, "");
		held_file_open(&tasks, path, O_RDONLY | O_DIRECTORY);
		wmrt_sys3(SYS_stat, (long)path, (long)&st, 0);
	}
	return st.st_nlink > 2 ? (uint32_t)st.st_nlink - 2 : 1;
}

/* The state as /proc says: R, S, D, T, t, Z, X. */
static char letter_of(uint32_t tid)
{
	char path[64], line[256] = {0};
	const char *end = NULL;
	long fd, n;

	path_of(path, sizeof path, tid, "/stat");
	fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return 'X';
	n = wmrt_sys3(SYS_read, fd, (long)line, sizeof line);
	wmrt_sys3(SYS_close, fd, 0, 0);
	for (long i = 0; i < n; i++)
		if (line[i] == ')')
			end = &line[i];
	return end && end + 2 < line + n ? end[2] : 'X';
}

static bool send_to(uint32_t tid, const char *which)
{
	siginfo_t info;

	memset(&info, 0, sizeof info);
	info.si_signo = TICK_SIGNAL;
	info.si_code = SI_QUEUE;
	info.si_pid = (pid_t)threads_pid();
	info.si_value.sival_ptr = (void *)(uintptr_t)which;
	return wmrt_sys6(SYS_rt_tgsigqueueinfo, threads_pid(), tid, TICK_SIGNAL, (long)&info, 0, 0) == 0;
}

static bool is_listed(uint32_t tid)
{
	threads_for_each(r)
		if (atomic_load(&r->tid) == tid)
			return true;
	return false;
}

struct unlisted {
	uint32_t count;
	bool is_asked;
};

static void take_unlisted(uint32_t tid, void *data)
{
	struct unlisted *u = data;

	if (is_listed(tid))
		return;
	u->count++;
	if (u->is_asked)
		asked_unlisted += send_to(tid, &mark_unlisted);
}

/* Threads that have no record: how many; is_asked: asks them to stop, by which they get one. */
static uint32_t find_unlisted(bool is_asked)
{
	struct unlisted u = {0, is_asked};
	struct tasks_buffer buffer;
	char path[64];

	path_of(path, sizeof path, 0, "");
	tasks_each(path, &buffer, take_unlisted, &u);
	return u.count;
}

static uint32_t count_listed(void)
{
	uint32_t count = 0;

	threads_for_each(r)
		count += atomic_load(&r->tid) != 0;
	return count;
}

static bool is_missing(struct thread_record *r, uint32_t number)
{
	return r != agent_thread.record && atomic_load(&r->tid) && !atomic_load(&r->is_gone) &&
	       atomic_load(&r->phase) == THREAD_RUNS && atomic_load(&r->stopped_in) != number;
}

/* False: one is not going to. */
static bool ask_all(uint32_t number)
{
	threads_for_each(r) {
		r->missed_stops = 0;
		if (!is_missing(r, number))
			continue;
		if (atomic_load(&r->is_unresponsive))
			return false;
		r->is_skipped = false;
		atomic_fetch_add(&r->asked, 1);
		if (!send_to(atomic_load(&r->tid), &mark)) {
			atomic_fetch_sub(&r->asked, 1);
			if (wmrt_thread_is_alive(threads_pid(), atomic_load(&r->tid)))
				return false;
			atomic_store(&r->is_gone, true);
		}
	}
	return true;
}

/* The thread has not answered for some time. False: it will not. */
static bool may_still_stop(struct thread_record *r)
{
	uint32_t tid = atomic_load(&r->tid);
	char letter = letter_of(tid);

	if (letter == 'Z' || letter == 'X') {
		atomic_store(&r->is_gone, true);
		return true;
	}
	if (letter == 'R')
		return true;
	return ++r->missed_stops < STRIKES;
}

static bool check_missing(uint32_t number, bool is_last)
{
	bool ret = true;

	threads_for_each(r) {
		if (!is_missing(r, number) || (may_still_stop(r) && !is_last))
			continue;
		atomic_store(&r->is_unresponsive, true);
		/* It may have answered meanwhile. */
		if (is_missing(r, number))
			ret = false;
		else
			atomic_store(&r->is_unresponsive, false);
	}
	return ret;
}

static bool is_any_missing(uint32_t number)
{
	threads_for_each(r)
		if (is_missing(r, number))
			return true;
	return false;
}

/* A child of vfork waits for the lock, with its parent's record and state. What is changed there for the child is not for the parent, who goes on
 * elsewhere with the context that it kept (follow/vfork.c). */
bool stop_child_waits(void)
{
	threads_for_each(r)
		if (r != agent_thread.record && atomic_load(&r->tid) && !atomic_load(&r->is_gone) &&
		    atomic_load(&r->phase) == THREAD_WAITS && atomic_load(&r->is_vfork_child))
			return true;
	return false;
}

static bool wait_for_listed(uint32_t number)
{
	const struct timespec slice = {0, SLICE_NS};

	for (unsigned int slices = 0;;) {
		uint32_t seen = atomic_load(&events);

		if (stop_child_waits())
			return false;
		if (!is_any_missing(number))
			return true;
		if (futex(&events, FUTEX_WAIT, seen, &slice) == -ETIMEDOUT &&
		    !check_missing(number, ++slices == SLICES_MAX))
			return false;
	}
}

/* Threads that are being made come to the lock by themselves. */
static bool wait_for_unlisted(uint32_t number)
{
	const struct timespec nap = {0, NAP_NS};
	bool is_asked = false;

	for (unsigned int i = 0; i < TRIES; i++) {
		if (count_tasks() <= count_listed() || find_unlisted(!is_asked) <= atomic_load(&threads_coming))
			return true;
		is_asked = true;
		wmrt_sys6(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
		if (!wait_for_listed(number))
			return false;
	}
	return false;
}

static void next_number(void)
{
	last_number += last_number == UINT32_MAX ? 2 : 1;
}

static bool try_to_stop(void)
{
	next_number();
	atomic_store(&stopping, last_number);
	has_stopped = true;
	return ask_all(last_number) && wait_for_listed(last_number) && wait_for_unlisted(last_number) &&
	       !stop_child_waits();
}

void stop_assume(void)
{
	next_number();
	is_stopped = has_stopped = is_assumed = true;
}

void stop_assume_at(struct thread_record *r, const struct unwind_regs *regs)
{
	r->is_interrupted = true;
	r->pc_kind = THREAD_PC;
	atomic_store(&r->regs, regs);
	atomic_store(&r->stopped_in, last_number);
}

bool stop_is_on(void)
{
	return has_stopped;
}

void stop_end(void)
{
	if (is_assumed) {
		/* The lock's own thread says itself where it is. */
		threads_for_each(r)
			if (r != agent_thread.record && atomic_load(&r->stopped_in) == last_number)
				atomic_store(&r->regs, NULL);
		is_assumed = false;
	} else if (has_stopped) {
		atomic_store(&stopping, 0);
		futex(&stopping, FUTEX_WAKE, INT_MAX, NULL);
	}
	has_stopped = is_stopped = false;
}

static void nap(void)
{
	const struct timespec ts = {0, NAP_NS};

	wmrt_sys6(SYS_nanosleep, (long)&ts, 0, 0, 0, 0, 0);
}

static bool is_skipped(void)
{
	threads_for_each(r)
		if (r->is_skipped && atomic_load(&r->tid) && atomic_load(&r->is_unresponsive))
			return true;
	return false;
}

bool stop_others(void)
{
	uint64_t start;

	if (is_stopped)
		return true;
	/* In a child of vfork the one thread is its parent, which waits. */
	if (count_tasks() == 1 && (wmrt_getpid() == threads_pid() || agent_thread.vforking)) {
		is_stopped = true;
		return true;
	}
	if (wmrt_getpid() != threads_pid() || !libc_signal_keep(TICK_SIGNAL) || is_skipped()) {
		stop_stats.failed++;
		return false;
	}
	start = wmrt_now_ns();
	for (unsigned int i = 0; i < TRIES && !stop_child_waits(); i++) {
		if (try_to_stop()) {
			is_stopped = true;
			stop_stats.count++;
			stop_stats.ns += wmrt_now_ns() - start;
			return true;
		}
		stop_end();
		nap();
	}
	stop_stats.failed++;
	is_for_child = stop_child_waits();
	threads_for_each(r)
		r->is_skipped = atomic_load(&r->is_unresponsive);
	return false;
}

bool stop_again(unsigned int times)
{
	bool was_stopped = has_stopped;

	if (is_assumed)
		return false;
	stop_end();
	if (!was_stopped)
		return false;
	if (times > 2)
		nap();
	else
		wmrt_sys3(SYS_sched_yield, 0, 0, 0);
	return stop_others();
}

bool stop_is_for_child(void)
{
	bool ret = is_for_child;

	is_for_child = false;
	return ret;
}

bool stop_has(const struct thread_record *r)
{
	if (r == agent_thread.record)
		return true;
	return has_stopped && atomic_load(&r->tid) && !atomic_load(&r->is_gone) &&
	       (atomic_load(&r->phase) == THREAD_WAITS || atomic_load(&r->stopped_in) == last_number);
}

bool stop_is_asked(const struct thread_record *r)
{
	return atomic_load(&r->asked) != atomic_load(&r->heard);
}

bool stop_is_any_asked(void)
{
	for (const struct thread_record *r = atomic_load(&threads_all); r; r = r->next)
		if (atomic_load(&r->tid) && stop_is_asked(r))
			return true;
	return asked_unlisted != atomic_load(&heard_unlisted);
}

enum stop_held stop_is_held(uintptr_t at, size_t len)
{
	enum stop_held ret = STOP_FREE;

	threads_for_each(r) {
		const struct unwind_regs *regs = atomic_load(&r->regs);

		if (!stop_has(r))
			continue;
		if (segments_are_held(r->state, at, len))
			return STOP_HELD_STAYS;
		if (!regs || !r->is_interrupted || regs->pc <= at || regs->pc >= at + len)
			continue;
		if (atomic_load(&r->phase) == THREAD_WAITS)
			return STOP_HELD_STAYS;
		ret = STOP_HELD;
	}
	return ret;
}

void stop_close(void)
{
	held_file_close(&tasks);
}

void stop_after_fork(void)
{
	stop_close();
	atomic_store(&stopping, 0);
	atomic_store(&heard_unlisted, asked_unlisted); /* what has not come yet is the parent's */
	has_stopped = is_stopped = is_assumed = false;
}
