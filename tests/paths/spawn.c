/* spawn.c - vfork, whose child runs in the parent's memory and returns first; posix_spawn, system, popen; exec of itself. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int sum;

__attribute__((noinline)) static void work(int n)
{
	for (int i = 0; i < n; i++)
		sum += i & 2 ? 1 : 5;
}

static int start(char *program, int ok)
{
	char *arguments[] = {program, "child", NULL};
	int status;
	pid_t pid = vfork();
	if (pid == 0) {
		if (ok)
			execve(program, arguments, environ);
		_exit(9);
	}
	if (pid < 0)
		return -1;
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		work(3);
		return 4;
	}
	for (int i = 0; i < 4; i++) {
		sum += start(argv[0], i & 1);
		work(i);
	}
	char *arguments[] = {argv[0], "child", NULL};
	pid_t pid;
	if (!posix_spawn(&pid, argv[0], NULL, NULL, arguments, environ))
		waitpid(pid, NULL, 0);
	char command[300];
	snprintf(command, sizeof command, "%s child", argv[0]);
	if (WEXITSTATUS(system(command)) != 4)
		return 1;
	FILE *pipe = popen(command, "r");
	if (!pipe || WEXITSTATUS(pclose(pipe)) != 4)
		return 2;
	execve(argv[0], arguments, environ);
	return 3;
}
