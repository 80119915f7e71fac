/*
 * unloads.c - threads that open and close libraries at the same addresses while others run, and one that never returns to its own.
 * hazards.sh: libraries 1 2 3 4
 * hazards.sh: again epochs,wall check,wall,sample=1997
 */
#ifdef LIBRARY
#define PROBE_IN_LIBRARY
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "../hazards/probe.h"

typedef int (*back_fn)(int);
typedef void (*rest_fn)(void);

#ifdef LIBRARY

__attribute__((noinline)) static int down(int n, back_fn back)
{
	PROBE();
	return n ? down(n - 1, back) + LIBRARY : back(n);
}

#if LIBRARY % 2
__attribute__((noinline)) static int only_odd(int n, back_fn back)
{
	int got = back(n) + down(3, back);

	PROBE();
	return got;
}
#else
#define only_odd down
#endif

int run(int n, back_fn back)
{
	int got = only_odd(n & 3, back);

	PROBE();
	return got + back(LIBRARY);
}

void stay(rest_fn rest)
{
	PROBE();
	rest();
	PROBE();
}

#else

enum {
	ROUNDS = 60,
};

typedef int (*run_fn)(int, back_fn);
typedef void (*stay_fn)(rest_fn);

static const char *program;
static atomic_int is_over, is_resting;

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

__attribute__((noinline)) static int back(int n)
{
	int got = leaf(n);

	PROBE();
	return got * 2;
}

static void *open_library(int number)
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof path, "%s.%d.so", program, number);
	handle = dlopen(path, RTLD_NOW);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return handle;
}

__attribute__((noinline)) static int call(run_fn f, int n)
{
	int got = f(n, back);

	PROBE();
	return got;
}

__attribute__((noinline)) static int use(int number, int n)
{
	void *handle = open_library(number);
	run_fn f = (run_fn)dlsym(handle, "run");
	int sum = call(f, n);

	PROBE();
	sum += call(f, n + 1);
	dlclose(handle);
	PROBE();
	return sum;
}

static void *reload(void *first)
{
	long sum = 0;

	for (int i = 0; i < ROUNDS; i++)
		sum += use((int)(long)first + i % 2, i);
	PROBE();
	return (void *)sum;
}

static void *work(void *data)
{
	while (!is_over)
		back(1);
	PROBE();
	return data;
}

static void rest(void)
{
	PROBE();
	is_resting = 1;
	for (;;)
		pause();
}

/* Its library is gone from below its feet. */
static void *never_returns(void *handle)
{
	((stay_fn)dlsym(handle, "stay"))(rest);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3], resting;
	void *handle, *sums[2];

	program = argv[argc - 1];
	handle = open_library(1);
	pthread_create(&resting, NULL, never_returns, handle);
	while (!is_resting)
		leaf(1);
	dlclose(handle);
	pthread_create(&threads[0], NULL, reload, (void *)1L);
	pthread_create(&threads[1], NULL, reload, (void *)3L);
	pthread_create(&threads[2], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], &sums[i]);
	is_over = 1;
	pthread_join(threads[2], NULL);
	printf("%ld %ld\n", (long)sums[0], (long)sums[1]);
	return 0;
}
#endif
