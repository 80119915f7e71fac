/*
 * vforks.c - children that run in their parent's memory until they end or exec: from deep frames, from handlers, in functions that are
 * called for the first time; children of theirs; and what the C library does with such children.
 * hazards.sh: again epochs,wall
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

extern char **environ;

static volatile int total, mode;
static char stack[1 << 16] __attribute__((aligned(16)));

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

__attribute__((noinline)) static void execs(void)
{
	char *arguments[] = {(char *)"true", NULL};

	PROBE();
	execve("/bin/true", arguments, environ);
	abort();
}

static void on_signal(int sig)
{
	PROBE();
	total += sig;
	if (mode == 3)
		execs();
	if (mode == 4)
		_exit(leaf(8));
}

/* First called in a child. */
__attribute__((noinline)) static int only_children(int n)
{
	int got = leaf(n);

	PROBE();
	return n ? got + only_children(n - 1) : got;
}

__attribute__((noinline)) static void ends(int n)
{
	PROBE();
	if (n)
		ends(n - 1);
	if (mode == 0)
		_exit(only_children(2));
	if (mode == 1)
		execs();
	if (mode == 2)
		kill(getpid(), SIGKILL);
	raise(SIGUSR1);
	_exit(leaf(6));
}

__attribute__((noinline)) static int status_of(pid_t pid)
{
	int status = 0;

	PROBE();
	if (waitpid(pid, &status, 0) != pid)
		abort();
	PROBE();
	return status;
}

__attribute__((noinline)) static int child_of_child(int n)
{
	pid_t pid = vfork();

	if (pid == 0) {
		total += leaf(n);
		ends(n);
	}
	PROBE();
	return status_of(pid);
}

__attribute__((noinline)) static int vforks(int n)
{
	pid_t pid;
	int status;

	leaf(n);
	pid = vfork();
	if (pid == 0) {
		PROBE();
		total += leaf(n);
		if (n % 3 == 2)
			_exit(child_of_child(1) >> 8);
		ends(n);
	}
	PROBE();
	status = status_of(pid);
	leaf(status);
	PROBE();
	return status;
}

__attribute__((noinline)) static int deeper(int n, int depth)
{
	int got = depth ? deeper(n, depth - 1) : vforks(n);

	PROBE();
	return got + leaf(depth);
}

__attribute__((noinline)) static pid_t no_child(void)
{
	PROBE();
	return (pid_t)-leaf(1);
}

/* The call of vfork is through a pointer, like others. */
__attribute__((noinline)) static int by_pointer(pid_t (*f)(void))
{
	volatile pid_t pid = f();

	if (pid == 0)
		ends(2);
	PROBE();
	return pid > 0 ? status_of(pid) : 0;
}

__attribute__((noinline)) static int spawns(void)
{
	char *arguments[] = {(char *)"sh", (char *)"-c", (char *)"exit 3", NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	if (posix_spawn(&pid, "/bin/sh", &actions, NULL, arguments, environ) != 0)
		abort();
	posix_spawn_file_actions_destroy(&actions);
	PROBE();
	return status_of(pid);
}

__attribute__((noinline)) static int shells(int n)
{
	char line[64] = "", command[64];
	FILE *f;
	int got;

	snprintf(command, sizeof command, "exit %d", n & 7);
	got = system(command);
	PROBE();
	f = popen("echo 5", "r");
	PROBE();
	if (!f || !fgets(line, sizeof line, f))
		abort();
	got += pclose(f) + atoi(line);
	PROBE();
	return got;
}

static int cloned(void *data)
{
	PROBE();
	total += leaf(3);
	if (data)
		ends(1);
	return leaf(1);
}

__attribute__((noinline)) static int clones(int n)
{
	pid_t pid = clone(cloned, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, n & 1 ? stack : NULL);

	PROBE();
	return status_of(pid) + leaf(2);
}

int main(void)
{
	struct sigaction action;
	pid_t (*volatile pointers[])(void) = {no_child, vfork, no_child};
	long sum = 0;

	memset(&action, 0, sizeof action);
	action.sa_handler = on_signal;
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 40; i++) {
		mode = i % 5;
		sum += deeper(i % 4, i % 3);
		sum += clones(i);
		if (i % 8 == 0) {
			sum += spawns() + shells(i);
			sum += by_pointer(pointers[1]);
		}
		if (i % 3 == 0)
			by_pointer(pointers[i % 2 * 2]);
		PROBE();
		leaf(i);
	}
	printf("%ld %d\n", sum, total);
	return 0;
}
