/*
 * again.h - for tests that run themselves again, once for each case: the runtime reads its environment at start.
 */
#ifndef WM_TESTS_RUNTIME_AGAIN_H
#define WM_TESTS_RUNTIME_AGAIN_H

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char *self; /* this program; main sets it */

static void find_self(char **argv)
{
	static char path[PATH_MAX];

	self = readlink("/proc/self/exe", path, sizeof path - 1) < 0 ? argv[0] : path;
}

/* Runs `self name` with a setting of the environment; the pid when it is over. */
static pid_t run(const char *name, const char *variable, const char *value, int *status)
{
	pid_t pid = fork();

	if (pid == 0) {
		char *argv[] = {self, (char *)(uintptr_t)name, NULL};

		if (variable)
			setenv(variable, value, 1);
		execv(self, argv);
		_exit(127);
	}
	waitpid(pid, status, 0);
	return pid;
}

/* Waits for a child: its exit status, 1000 and the signal when it was killed. */
static int finished(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#endif
