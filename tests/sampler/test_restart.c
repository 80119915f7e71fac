/*
 * test_restart.c - a handler comes where the kernel was about to go on with an interrupted call by restart_syscall, which it does not after a handler:
 * the call is made again, or, after a handler of the program, returns EINTR. Another process puts it there by ptrace.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"
#include "native/restart.h"

enum {
	LONG_MS = 3600000,
	SHORT_NS = 200000000,
	SKIPPED = 77,
	ENDED_WELL = 3,
	WAS_INTERRUPTED = 4,
};

/* Shared with the child: signals that it has handled, and how many of them in front of restart_syscall. */
static struct {
	atomic_int handled, in_front;
} *seen;
static void (*after_signal)(void *context);
static int ends[2];

bool restart_is_code(uintptr_t low, uintptr_t high)
{
	return low < high;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	seen->in_front += ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] == SYS_restart_syscall;
	seen->handled++;
	after_signal(context);
}

static int polls(void)
{
	struct pollfd fd = {.fd = ends[0], .events = POLLIN};

	return poll(&fd, 1, LONG_MS) == 1 && fd.revents == POLLIN;
}

/* It ends by itself, not before its time. */
static int sleeps(void)
{
	struct timespec request = {0, SHORT_NS}, left, began, now;
	int64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &began);
	if (nanosleep(&request, &left) != 0)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (int64_t)(now.tv_sec - began.tv_sec) * 1000000000 + now.tv_nsec - began.tv_nsec;
	return ns >= SHORT_NS;
}

static _Noreturn void child(int (*waits)(void))
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	int is_well;

	sigaction(SIGUSR1, &action, NULL);
	errno = 0;
	is_well = waits();
	_exit(is_well ? ENDED_WELL : errno == EINTR ? WAS_INTERRUPTED : 1);
}

/* It waits in that call, from which the stop takes it. Its registers then. */
static bool stop_in(pid_t pid, long number, struct user_regs_struct *ret)
{
	const struct timespec pause = {0, 1000000};
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0)
		return false;
	for (;;) {
		if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) != 0 || waitpid(pid, &status, 0) != pid ||
		    !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, pid, NULL, ret) != 0)
			return false;
		if ((long)ret->orig_rax == number)
			return true;
		ptrace(PTRACE_CONT, pid, NULL, NULL);
		nanosleep(&pause, NULL);
	}
}

/* The kernel's own step from a call that it goes on with to the instruction that it goes on by. */
static bool put_before_restart(pid_t pid, struct user_regs_struct registers)
{
	enum {
		ERESTART_RESTARTBLOCK_NUMBER = 516,
		SYSCALL_BYTES = 2,
	};

	if ((long)registers.rax != -ERESTART_RESTARTBLOCK_NUMBER)
		return false;
	registers.rax = SYS_restart_syscall;
	registers.orig_rax = UINT64_MAX;
	registers.rip -= SYSCALL_BYTES;
	return ptrace(PTRACE_SETREGS, pid, NULL, &registers) == 0;
}

static bool deliver(pid_t pid)
{
	int status;

	return kill(pid, SIGUSR1) == 0 && ptrace(PTRACE_CONT, pid, NULL, NULL) == 0 &&
	       waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1 &&
	       ptrace(PTRACE_CONT, pid, NULL, (void *)SIGUSR1) == 0;
}

/* A child that a signal has found in front of the restart of its call; 0: the call had ended before it was stopped. */
static pid_t begin(int (*waits)(void), long number)
{
	struct user_regs_struct registers;
	pid_t pid = fork();

	if (pid == 0)
		child(waits);
	if (!stop_in(pid, number, &registers))
		return 0;
	if (put_before_restart(pid, registers)) {
		CHECK(deliver(pid));
		return pid;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	return 0;
}

/* What it ends with. */
static int run(int (*waits)(void), long number, void (*after)(void *))
{
	int status;
	pid_t pid;

	after_signal = after;
	seen->handled = seen->in_front = 0;
	CHECK(pipe(ends) == 0);
	/* A sleep may be over before a busy machine stops it. */
	do
		pid = begin(waits, number);
	while (pid == 0);
	while (seen->handled == 0)
		sched_yield();
	CHECK(write(ends[1], "x", 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK(seen->handled == 1 && seen->in_front == 1);
	close(ends[0]);
	close(ends[1]);
	return WEXITSTATUS(status);
}

static bool can_trace(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : 1);
	return waitpid(pid, &status, 0) == pid && status == 0;
}

int main(void)
{
	if (!can_trace())
		return SKIPPED;
	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(seen != MAP_FAILED);
	CHECK(run(polls, SYS_poll, restart_call) == ENDED_WELL);
	CHECK(run(sleeps, SYS_clock_nanosleep, restart_call) == ENDED_WELL);
	CHECK(run(polls, SYS_poll, restart_not) == WAS_INTERRUPTED);
	CHECK(run(sleeps, SYS_clock_nanosleep, restart_not) == WAS_INTERRUPTED);
	return check_status();
}
