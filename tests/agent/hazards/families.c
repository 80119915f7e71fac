/*
 * families.c - children of fork that call what their parent has not: it, and the children after them, know it by then. Not so what a child
 * has called in a library that is another one in the parent, or none.
 * hazards.sh: libraries 3 4
 *
 * 3 and 4 ask for the same address.
 * hazards.sh: again epochs,wall
 */
#ifdef LIBRARY
#define PROBE_IN_LIBRARY
#endif
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

typedef int (*number_fn)(int);

#ifdef LIBRARY
/* ---- a library: the same names in each, other code at the same places ---- */

#if LIBRARY % 2
__attribute__((noinline)) static int inner(int n)
{
	PROBE();
	return n * 3;
}

int run(int n, number_fn back)
{
	int got = inner(n) + back(n);

	PROBE();
	return got;
}
#else
__attribute__((noinline)) static int deeper(int n)
{
	PROBE();
	return n ? deeper(n - 1) + 1 : 2;
}

int run(int n, number_fn back)
{
	int got = back(n) * 2 + deeper(n & 3);

	PROBE();
	return got + deeper(1) + back(deeper(2));
}
#endif

#else
/* ---- the program ---- */

typedef int (*run_fn)(int, number_fn);

static const char *program;
static volatile int turn;

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

__attribute__((noinline)) static int other(int n)
{
	int got = leaf(n) + leaf(n + turn);

	PROBE();
	return got;
}

/* A tail call where it is optimized. */
__attribute__((noinline)) static int tail(int n)
{
	turn = n & 7;
	PROBE();
	return other(n + 1);
}

__attribute__((noinline)) static int again(int n)
{
	PROBE();
	return n > 0 ? again(n - 1) + leaf(n) : tail(n);
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	PROBE();
	return leaf(*(const int *)a) - leaf(*(const int *)b);
}

__attribute__((noinline)) static int sorted(int n)
{
	int values[] = {5, n, 3, 9};

	qsort(values, 4, sizeof *values, compare);
	PROBE();
	return values[0] + values[3];
}

static number_fn volatile choices[] = {leaf, other, tail, again, sorted};

__attribute__((noinline)) static int choose(int first, int count)
{
	int sum = 0;

	for (int i = first; i < first + count; i++)
		sum += choices[i](i + 2);
	PROBE();
	return sum;
}

static void handle(int sig)
{
	turn = other(sig) & 1;
	PROBE();
}

static void *open_library(int number, run_fn *ret)
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof path, "%s.%d.so", program, number);
	handle = dlopen(path, RTLD_NOW);
	*ret = handle ? (run_fn)dlsym(handle, "run") : NULL;
	if (!*ret) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return handle;
}

__attribute__((noinline)) static int use_library(int number)
{
	run_fn run;
	void *handle = open_library(number, &run);
	int got = run(number, other) + run(number + 1, leaf);

	dlclose(handle);
	PROBE();
	return got;
}

static int is_wrong(void)
{
	return probe_counts[PROBE_UNKNOWN] + probe_counts[PROBE_DIFFERS] > 0;
}

/* In a child: what it printed is its parent's concern. */
__attribute__((noinline)) static int in_child(int (*work)(int), int n)
{
	int pipes[2], got = 0, status;

	if (pipe(pipes) != 0)
		exit(1);
	if (fork() == 0) {
		got = work(n);
		PROBE();
		if (write(pipes[1], &got, sizeof got) != sizeof got)
			_exit(2);
		_exit(is_wrong());
	}
	wait(&status);
	if (status != 0 || read(pipes[0], &got, sizeof got) != sizeof got)
		exit(3);
	close(pipes[0]);
	close(pipes[1]);
	PROBE();
	return got;
}

static int work_choose(int n)
{
	return choose(0, n);
}

static int work_signal(int n)
{
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	return again(n);
}

static int work_grandchild(int n)
{
	return in_child(work_choose, n) + choose(1, 2);
}

static int work_library(int n)
{
	return use_library(n);
}

/* The parent has another library there, or the same opened again. */
static int work_exchanged(int n)
{
	run_fn run;
	int got = in_child(work_library, n);
	void *handle = open_library(3, &run);

	got += run(1, leaf);
	got += in_child(work_library, 4);
	got += run(2, other);
	dlclose(handle);
	got += in_child(work_library, 3);
	handle = open_library(4, &run);
	got += in_child(work_choose, 2);
	got += run(3, tail) + run(1, sorted);
	dlclose(handle);
	return got;
}

int main(int argc, char **argv)
{
	(void)argc;
	program = argv[0];
	for (int i = 0; i < 3; i++) {
		printf("%d\n", in_child(work_choose, 3 + i));
		printf("%d\n", in_child(work_signal, i));
		printf("%d\n", in_child(work_grandchild, 5));
		printf("%d\n", in_child(work_exchanged, 3 + i % 2));
	}
	printf("%d %d\n", choose(0, 5), work_exchanged(4));
	printf("%d\n", in_child(work_exchanged, 3));
	return is_wrong();
}
#endif
