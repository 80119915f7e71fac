/* forkthreads.c - forks out of threads, after others left activations behind: only what the forking thread has open goes on in
 * the child. Also fork in a handler, and main ended by pthread_exit. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sum;

__attribute__((noinline)) static void work(int n)
{
	for (int i = 0; i < n; i++)
		sum += i & 1 ? 1 : 3;
}

__attribute__((noinline)) static void leave(int n)
{
	for (int i = 0;; i++) {
		work(2);
		if (i == n)
			pthread_exit(NULL);
	}
}

static void *leaving(void *argument)
{
	leave((int)(long)argument);
	return NULL;
}

__attribute__((noinline)) static void fork_here(int n)
{
	if (n > 0) {
		fork_here(n - 1);
		return;
	}
	work(3);
	pid_t pid = fork();
	if (pid == 0) {
		work(4);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void *forking(void *argument)
{
	fork_here((int)(long)argument);
	return NULL;
}

static void on_signal(int n)
{
	(void)n;
	fork_here(1);
}

int main(void)
{
	signal(SIGUSR1, on_signal);
	for (long i = 0; i < 4; i++) {
		pthread_t t;
		pthread_create(&t, NULL, leaving, (void *)i);
		pthread_join(t, NULL);
		pthread_create(&t, NULL, forking, (void *)i);
		pthread_join(t, NULL);
		raise(SIGUSR1);
	}
	pthread_exit(NULL);
}
