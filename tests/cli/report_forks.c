/*
 * report_forks.c - a process that allocates, forks five children and a grandchild, each of which allocates what its number
 * says and ends in its own way. No stdio: nothing but this file allocates.
 *
 *     main                 1,000,000 bytes in `early`, kept; 300 bytes of `early` freed by it after the forks
 *     child i              (i + 1) * 10 bytes in `own`, kept; 7 bytes, freed; the odd ones free the 300 bytes
 *       of child 4         its child: 5 bytes in `own`, kept; frees what child 4 has kept
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CHILDREN = 5,
};

static void *volatile kept, *volatile freed, *volatile mine;

__attribute__((noinline)) static void *early(size_t size_bytes)
{
	void *volatile block = malloc(size_bytes);

	return block;
}

__attribute__((noinline)) static void *own(size_t size_bytes)
{
	void *volatile block = malloc(size_bytes);

	return block;
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0)
		;
}

static void grandchild(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		void *volatile more = own(5);

		(void)more;
		free(mine);
		syscall(SYS_exit_group, 0);
	}
	wait_for(pid);
}

static void child(int i)
{
	mine = own(((size_t)i + 1) * 10);
	free(own(7));
	if (i % 2)
		free(freed);
	switch (i) {
	case 0:
		exit(0);
	case 1:
		_exit(0);
	case 2:
		_Exit(0);
	case 3:
		quick_exit(0);
	default:
		grandchild();
		raise(SIGKILL);
	}
}

int main(void)
{
	kept = early(1000000);
	freed = early(300);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0)
			child(i);
		wait_for(pid);
	}
	free(freed);
	/* A child of vfork ends without ending us. */
	if (vfork() == 0)
		_exit(0);
	own(3000);
	_exit(0);
}
