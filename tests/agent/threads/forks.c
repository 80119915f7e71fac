/* forks.c - fork, vfork and posix_spawn in one thread while others find calls; children call too, and have threads of their own. */
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../hazards/probe.h"

enum {
	THREADS = 3,
	FORKS = 12,
};

static volatile int is_over;
extern char **environ;

typedef long (*step_fn)(long, int);

__attribute__((noinline)) static long leaf(long x, int depth)
{
	if (x % 17 == 0)
		PROBE();
	return x * 3 + depth;
}

__attribute__((noinline)) static long recurse(long x, int depth);

__attribute__((noinline)) static long twice(long x, int depth)
{
	long got = leaf(x, depth);

	return got + (depth > 0 ? recurse(got % 1000, depth - 1) : leaf(got, 1));
}

static const step_fn steps[] = {leaf, twice, recurse};

__attribute__((noinline)) static long recurse(long x, int depth)
{
	long got = depth > 0 ? steps[(unsigned long)x % 3](x + 1, depth - 1) : leaf(x, 0);

	return got % 1000 + leaf(got % 1000, depth);
}

static void *work(void *argument)
{
	long got = 0;

	for (long i = 0; !is_over || i < 20; i++)
		got += recurse((long)argument + i, (int)(i % 9)) != -1;
	PROBE();
	return (void *)(got > 0 ? 1L : 0L);
}

static void *in_child(void *argument)
{
	long got = 0;

	for (long i = 0; i < 30; i++)
		got += recurse((long)argument + i, (int)(i % 7)) != -1;
	return (void *)(got + (long)(probe_counts[PROBE_UNKNOWN] + probe_counts[PROBE_DIFFERS]) * 100);
}

/* 30, or more when a context was wrong. */
__attribute__((noinline)) static int child(void)
{
	pthread_t thread;
	void *one, *own;

	probe_counts[PROBE_UNKNOWN] = probe_counts[PROBE_DIFFERS] = 0;
	pthread_create(&thread, NULL, in_child, (void *)5);
	own = in_child((void *)3);
	pthread_join(thread, &one);
	return (long)one == 30 && (long)own == 30 ? 30 : 99;
}

__attribute__((noinline)) static int forks(int i)
{
	static char name[] = "true", *arguments[] = {name, NULL};
	int status = 0;
	pid_t pid;

	if (i % 4 == 2) {
		pid = vfork();
		if (pid == 0) {
			execve("/bin/true", arguments, environ);
			_exit(1);
		}
	} else if (i % 4 == 3) {
		posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ);
	} else {
		pid = fork();
		if (pid == 0)
			_exit(child());
	}
	PROBE();
	waitpid(pid, &status, 0);
	PROBE();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static void *forker(void *argument)
{
	long got = 0;

	for (int i = 0; i < FORKS; i++)
		got += forks(i) + (int)(long)argument;
	is_over = 1;
	return (void *)got;
}

int main(void)
{
	pthread_t threads[THREADS + 1];
	long got = 0;

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i * 11));
	pthread_create(&threads[THREADS], NULL, forker, NULL);
	for (int i = 0; i <= THREADS; i++) {
		void *one;

		pthread_join(threads[i], &one);
		got += (long)one;
	}
	printf("%ld\n", got);
	return 0;
}
