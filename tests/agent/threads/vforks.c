/*
 * vforks.c - children of vfork that come to the agent, by calls that nobody has made yet, while other threads keep it busy: the parent goes on with
 * the context that it had, whatever was encoded anew while its child waited.
 * hazards.sh: again epochs,wall
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../hazards/probe.h"

enum {
	FINDERS = 2,
	CALLS = 64,
};

static volatile int is_over;
static volatile long sink;

typedef void (*call_fn)(int);

__attribute__((noinline)) static void leaf(int n)
{
	sink += n;
}

/* Functions of its own for each call of a child, and of a finder. */
#define CALL(n)                                                \
	__attribute__((noinline)) static void child_##n(int x) \
	{                                                      \
		leaf(x + n);                                   \
	}                                                      \
	__attribute__((noinline)) static void found_##n(int x) \
	{                                                      \
		leaf(x - n);                                   \
		leaf(x);                                       \
	}
#define EIGHT(n) CALL(n##0) CALL(n##1) CALL(n##2) CALL(n##3) CALL(n##4) CALL(n##5) CALL(n##6) CALL(n##7)
#define ALL_CALLS EIGHT(1) EIGHT(2) EIGHT(3) EIGHT(4) EIGHT(5) EIGHT(6) EIGHT(7) EIGHT(8) typedef int all_calls
#define NAMES(k, n) k##_##n##0, k##_##n##1, k##_##n##2, k##_##n##3, k##_##n##4, k##_##n##5, k##_##n##6, k##_##n##7
#define ALL(k) NAMES(k, 1), NAMES(k, 2), NAMES(k, 3), NAMES(k, 4), NAMES(k, 5), NAMES(k, 6), NAMES(k, 7), NAMES(k, 8)
ALL_CALLS;
static const call_fn of_children[CALLS] = {ALL(child)}, of_finders[CALLS] = {ALL(found)};

__attribute__((noinline)) static int vforks(int i)
{
	int status = 0;
	pid_t pid = vfork();

	if (pid == 0) {
		of_children[i](i);
		_exit(3);
	}
	PROBE();
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

__attribute__((noinline)) static int deeper(int i, int depth)
{
	int got = depth ? deeper(i, depth - 1) : vforks(i);

	PROBE();
	return got;
}

static void *find(void *argument)
{
	for (int i = 0; !is_over || i < CALLS; i++)
		of_finders[(i + (int)(long)argument) % CALLS](i);
	PROBE();
	return NULL;
}

static void *fork_all(void *argument)
{
	long got = 0;

	(void)argument;
	for (int i = 0; i < CALLS; i++)
		got += deeper(i, i % 3);
	is_over = 1;
	return (void *)got;
}

int main(void)
{
	pthread_t finders[FINDERS], forker;
	void *got;

	for (long i = 0; i < FINDERS; i++)
		pthread_create(&finders[i], NULL, find, (void *)(i * 32));
	pthread_create(&forker, NULL, fork_all, NULL);
	pthread_join(forker, &got);
	for (int i = 0; i < FINDERS; i++)
		pthread_join(finders[i], NULL);
	printf("%ld\n", (long)got);
	return 0;
}
