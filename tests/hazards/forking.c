/* fork (captures in both, nested), vfork and exec, a child that dies by a signal, threads beside fork. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "shadow.h"

NOINLINE static int work(int n)
{
	ENTER();
	CHECK();
	int value = n ? work(n - 1) + 1 : 0;
	LEAVE();
	return value;
}

NOINLINE static int compare(const void *a, const void *b)
{
	ENTER();
	work(1);
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void wait_for(pid_t child, int expected)
{
	ENTER();
	int status;
	EXPECT(child > 0 && waitpid(child, &status, 0) == child);
	EXPECT(status == expected);
	LEAVE();
}

NOINLINE static void fork_at(int n)
{
	ENTER();
	work(2);
	if (n)
		fork_at(n - 1);
	pid_t child = fork();
	if (!child) {
		/* New contexts in the child only: their numbers are the child's own. */
		int values[] = {2, 1, 3};
		work(n + 3);
		FOREIGN_VOID("qsort", qsort(values, 3, sizeof *values, compare));
		CHECK();
		_exit(n);
	}
	int values[] = {1, 2};
	FOREIGN_VOID("qsort", qsort(values, 2, sizeof *values, compare));
	wait_for(child, n << 8);
	CHECK();
	LEAVE();
}

NOINLINE static void *forking_thread(void *arg)
{
	THREAD_ROOT();
	ENTER();
	work(1);
	pid_t child = fork();
	if (!child) {
		work(3);
		_exit(0);
	}
	wait_for(child, 0);
	work(2);
	LEAVE();
	return arg;
}

NOINLINE static void killed_child(void)
{
	ENTER();
	pid_t child = fork();
	if (!child) {
		work(4);
		kill(getpid(), SIGKILL);
	}
	wait_for(child, SIGKILL);
	LEAVE();
}

NOINLINE static void vforked(char **argv)
{
	ENTER();
	pid_t child = vfork();
	if (!child) {
		execl(argv[0], argv[0], "again", (char *)NULL);
		_exit(77);
	}
	wait_for(child, 3 << 8);
	work(2);
	child = vfork();
	if (!child)
		_exit(4);
	wait_for(child, 4 << 8);
	CHECK();
	LEAVE();
}

int main(int argc, char **argv)
{
	ENTER();
	pthread_t thread;
	if (argc > 1) {
		work(5);
		return 3;
	}
	fork_at(2);
	work(1);
	EXPECT(CREATE(pthread_create(&thread, NULL, forking_thread, NULL)) == 0);
	EXPECT(pthread_join(thread, NULL) == 0);
	killed_child();
	vforked(argv);
	work(3);
	LEAVE();
	return 0;
}
