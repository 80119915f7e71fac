/*
 * held.c - holds a thread of another process until standard input ends: held TID. Prints "held" when the thread stands.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t thread = argc == 2 ? atoi(argv[1]) : 0;
	int status;
	char c;

	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0 || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0 ||
	    waitpid(thread, &status, __WALL) != thread) {
		perror("held");
		return 1;
	}
	puts("held");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return ptrace(PTRACE_DETACH, thread, NULL, NULL) != 0;
}
