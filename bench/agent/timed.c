/*
 * timed.c - runs a command and appends a line to a file: microseconds of CPU time (user, system), kilobytes of memory at most, exit
 * status. Of the command and the children that it waited for.
 *
 *     timed FILE COMMAND...
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long microseconds(const struct timeval *t)
{
	return t->tv_sec * 1000000 + t->tv_usec;
}

int main(int argc, char **argv)
{
	struct rusage use;
	int status;
	FILE *f;
	pid_t pid;

	if (argc < 3)
		return 125;
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) < 0)
		return 125;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	f = fopen(argv[1], "a");
	if (!f)
		return 125;
	fprintf(f, "%ld %ld %ld %d\n", microseconds(&use.ru_utime), microseconds(&use.ru_stime), use.ru_maxrss, status);
	return fclose(f) ? 125 : status;
}
