/*
 * test_inject.c TARGET coroutine|handler [FIRST] - the process that calls functions in another one is killed before each of its steps in turn, and at that instant
 * a signal is sent to every thread of the other: all of them get it, go on, and find everything as it was (inject_target.c). Another signal,
 * which is counted, is sent to threads when they are to stop: none is lost.
 *
 * A step is a call of ptrace, a write into the process's memory, or a look whether it has stopped; of looks in a row each that comes after
 * twice as many as the one before.
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "inject_target.h"
#include "snapshot/inject/inject.h"

enum {
	MOST_STEPS = 2000,
	MOST_TRIES = 2000,
	MOST_WAITS = 10000, /* of a millisecond */
	LIVES = 2,          /* how often it is not killed, at the end */
	MOST_COUNTED = 12,  /* signals that a process which is killed sends before */
};

static struct target_shared *shared;
static pid_t target;

/* Signals that are counted, to each thread; shared with the process that is killed. */
static atomic_ulong *sent;

/* ---- steps ---- */

static long steps, dies_before = -1; /* that step; less than 0: it does not */
static unsigned long looks;          /* in a row */

static void signal_all(void)
{
	char path[64];
	struct dirent *entry;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/task", (int)target);
	d = opendir(path);
	while (d && (entry = readdir(d)) != NULL)
		if (entry->d_name[0] != '.')
			syscall(SYS_tgkill, target, strtol(entry->d_name, NULL, 10), TARGET_SIGNAL);
	if (d)
		closedir(d);
}

static void step(void)
{
	if (steps++ != dies_before)
		return;
	signal_all();
	raise(SIGKILL);
}

/* The thread is to stop: it stops for the signal before that, and then in its handler. */
static void send_counted(pid_t tid)
{
	static int count;

	for (unsigned int i = 0; i < TARGET_THREADS && count < MOST_COUNTED; i++)
		if (shared->threads[i].tid == tid) {
			count++;
			sent[i]++;
			syscall(SYS_tgkill, target, tid, SIGRTMIN);
		}
}

/* In place of the C library's. NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
long ptrace(enum __ptrace_request request, ...)
{
	va_list all;
	pid_t pid;
	void *address, *data;

	va_start(all, request);
	pid = va_arg(all, pid_t);
	address = va_arg(all, void *);
	data = va_arg(all, void *);
	va_end(all);
	looks = 0;
	step();
	if (request == PTRACE_INTERRUPT)
		send_counted(pid);
	return syscall(SYS_ptrace, request, pid, address, data);
}

static void look(void)
{
	if ((looks & (looks - 1)) == 0)
		step();
	looks++;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	look();
	return (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	look();
	return (int)syscall(SYS_waitid, type, id, info, options, NULL);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	looks = 0;
	step();
	return syscall(SYS_pwrite64, fd, bytes, len, at);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* ---- the process that calls ---- */

static struct error *stop_safely(struct inject *in)
{
	const char *why = NULL;
	struct error *err = inject_stop(in, &why);

	for (int i = 0; !err && i < MOST_TRIES; i++) {
		if (in->is_stopped)
			err = inject_is_safe(in, true, &why);
		if (err || (in->is_stopped && !why))
			return err;
		err = inject_go(in, 100000) ?: inject_stop(in, &why);
	}
	return err ? err : error_create(ERROR_FORMAT, "found no moment for it: %s", why);
}

static struct error *call(struct inject *in, const char *name, bool is_alone)
{
	static const uint64_t arguments[INJECT_ARGUMENTS] = {1, 2, 3, 4, 5, 6};
	uint64_t at = inject_find(in, "inject_target", name), got = 0;
	struct error *err;

	if (!at)
		return error_create(ERROR_NOT_FOUND, "%s: is not in the target", name);
	err = inject_call(in, at, arguments, is_alone, &got);
	if (!err && got != TARGET_SUM)
		err = error_create(ERROR_FORMAT, "%s: has returned %llu", name, (unsigned long long)got);
	return err;
}

/* In a call that takes long the others go on: then there is none that is alone. *ret: there was. */
static struct error *make_calls(struct inject *in, bool *ret)
{
	struct error *err = inject_begin(in), *end;

	*ret = false;
	if (!err && in->is_stopped) {
		err = call(in, "called_alone", true);
		*ret = true;
	}
	if (!err)
		err = call(in, "called", false);
	end = inject_end(in);
	if (!err)
		return end;
	error_destroy(end);
	return err;
}

/* The status of the process that this is. */
static int inject(void)
{
	struct inject in;
	struct error *err = inject_open(target, &in);
	bool is_done = false;

	while (!err && !is_done) {
		err = stop_safely(&in);
		if (!err)
			err = make_calls(&in, &is_done);
		if (!err)
			err = inject_go(&in, 0);
	}
	inject_close(&in);
	if (!err)
		return 0;
	fprintf(stderr, "%s\n", err->message);
	error_destroy(err);
	return 1;
}

/* ---- what it leaves ---- */

static bool is_alive(void)
{
	return waitpid(target, NULL, WNOHANG) == 0;
}

/* Every thread has handled a signal since, all that are counted, and goes round. False: the process has ended, or one does not. */
static bool goes_on(const unsigned long *handled, const unsigned long *turns)
{
	const struct timespec pause = {0, 200000};

	for (int waits = 0; waits < MOST_WAITS * 5; waits++) {
		unsigned int i = 0;

		while (i < TARGET_THREADS && shared->threads[i].handled > handled[i] &&
		       shared->threads[i].turns > turns[i] + 1 && shared->threads[i].counted == sent[i])
			i++;
		if (i == TARGET_THREADS)
			return true;
		if (!is_alive())
			return false;
		nanosleep(&pause, NULL);
	}
	for (unsigned int i = 0; i < TARGET_THREADS; i++)
		fprintf(stderr, "thread %u: %lu turns, %lu signals, %lu of %lu that are counted\n", i,
			shared->threads[i].turns - turns[i], shared->threads[i].handled - handled[i],
			(unsigned long)shared->threads[i].counted, (unsigned long)sent[i]);
	return false;
}

static void get_counts(unsigned long *handled, unsigned long *turns)
{
	for (unsigned int i = 0; i < TARGET_THREADS; i++) {
		handled[i] = shared->threads[i].handled;
		turns[i] = shared->threads[i].turns;
	}
}

/* The same, and out of the handler. */
static bool has_gone_on(const unsigned long *handled, const unsigned long *turns)
{
	unsigned long before[TARGET_THREADS], now[TARGET_THREADS];

	if (!goes_on(handled, turns))
		return false;
	get_counts(before, now);
	return goes_on(handled, now);
}

/* Killed before that step. *ret: it had fewer. */
static bool killed_at(long at, bool *ret)
{
	unsigned long handled[TARGET_THREADS], turns[TARGET_THREADS];
	int status = 0;
	pid_t pid;

	get_counts(handled, turns);
	pid = fork();
	if (pid == 0) {
		steps = 0;
		dies_before = at;
		_exit(inject());
	}
	if (!CHECK(pid > 0) || !CHECK(waitpid(pid, &status, 0) == pid))
		return false;
	*ret = WIFEXITED(status);
	if (*ret)
		signal_all();
	if (!CHECK(*ret ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL) ||
	    !CHECK(has_gone_on(handled, turns)) || !CHECK_U64(shared->faults, 0)) {
		fprintf(stderr, "at step %ld: %s\n", at, shared->fault);
		return false;
	}
	return true;
}

static pid_t begin(const char *path, const char *place)
{
	const struct timespec pause = {0, 1000000};
	int fd = memfd_create("shared", 0);
	char number[16];

	if (fd < 0 || ftruncate(fd, sizeof *shared) != 0)
		return -1;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	sent = mmap(NULL, TARGET_THREADS * sizeof *sent, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || sent == MAP_FAILED)
		return -1;
	snprintf(number, sizeof number, "%d", fd);
	target = fork();
	if (target == 0) {
		execl(path, path, number, place, (char *)NULL);
		_exit(127);
	}
	while (target > 0 && shared->ready < TARGET_THREADS && is_alive())
		nanosleep(&pause, NULL);
	return target;
}

static bool can_be_traced(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(syscall(SYS_ptrace, PTRACE_SEIZE, target, NULL, NULL) == 0 ? 0 : 77);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char **argv)
{
	long first = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	int lives = 0;

	if (argc < 3 || begin(argv[1], argv[2]) < 0)
		return 2;
	if (!can_be_traced()) {
		kill(target, SIGKILL);
		fprintf(stderr, "processes cannot be traced here\n");
		return 77;
	}
	for (long i = first; i < MOST_STEPS && lives < LIVES; i++) {
		bool is_over = false;

		if (!killed_at(i, &is_over))
			break;
		lives += is_over;
		if (lives == LIVES)
			printf("killed before each of %ld steps\n", i - LIVES);
	}
	CHECK(lives == LIVES);
	CHECK(shared->calls > 0);
	shared->is_over = true;
	kill(target, SIGKILL);
	return check_status();
}
