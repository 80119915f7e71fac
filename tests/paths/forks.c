/* forks.c - a tree of processes: activations that were begun before a fork end in parent and child. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sum;

__attribute__((noinline)) static void work(int n)
{
	for (int i = 0; i < n; i++)
		if (i % 3)
			sum++;
		else
			sum += 2;
}

__attribute__((noinline)) static void grow(int depth)
{
	for (int i = 0; i < 2; i++) {
		work(depth * 10 + i);
		if (depth == 0)
			continue;
		pid_t pid = fork();
		if (pid == 0) {
			grow(depth - 1);
			if (i)
				exit(0);
			else
				_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	sum++;
}

/* The child goes on where the parent's activations are, and ends them as well. */
__attribute__((noinline)) static int both(int n)
{
	if (n > 0)
		return both(n - 1) + 1;
	return fork() == 0;
}

static void *in_thread(void *argument)
{
	work(7);
	pid_t pid = fork();
	if (pid == 0) {
		work(5);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	work(3);
	return argument;
}

int main(void)
{
	grow(3);
	int child = both(4);
	if (child >= 5) {
		work(2);
		return 0;
	}
	wait(NULL);
	pthread_t t;
	pthread_create(&t, NULL, in_thread, NULL);
	pthread_join(t, NULL);
	return 0;
}
