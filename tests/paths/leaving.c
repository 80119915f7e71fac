/* leaving.c - every way for a process to end in the middle of paths, each in a child: exit from depth, _exit, abort, a trap,
 * a killing signal, exec, the end of main in another frame's place. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *program;
static volatile int sum;

__attribute__((noreturn, noinline)) static void leave(int how)
{
	switch (how) {
	case 0:
		exit(3);
	case 1:
		_exit(4);
	case 2:
		abort();
	case 3:
		__builtin_trap();
	case 4:
		raise(SIGKILL);
		break;
	case 5:
		execl(program, program, "child", (char *)NULL);
		break;
	case 6:
		quick_exit(5);
	case 7:
		kill(getpid(), SIGTERM);
		break;
	default:
		*(volatile int *)NULL = 1;
	}
	__builtin_unreachable();
}

__attribute__((noinline)) static void deep(int n, int how)
{
	for (int i = 0; i < 3; i++) {
		if (n > 0)
			deep(n - 1, how);
		else if (i == 2)
			leave(how);
		sum += i;
	}
}

static void at_end(void)
{
	for (int i = 0; i < 3; i++)
		sum += i;
}

/* pthread_exit unwinds: by force. */
static void *thread(void *argument)
{
	if (argument)
		for (int i = 0;; i++)
			if (i == 5)
				pthread_exit(NULL);
	return argument;
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 1) {
		sum++;
		return strcmp(argv[1], "child") != 0;
	}
	atexit(at_end);
	for (int how = 0; how < 9; how++) {
		int status;
		pid_t pid = fork();
		if (pid == 0)
			deep(how, how);
		waitpid(pid, &status, 0);
		if (!status && how != 5)
			printf("way %d did not leave\n", how);
	}
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, thread, i ? &t : NULL);
		pthread_join(t, NULL);
	}
	return 0;
}
