/*
 * capture.c - what one captured context costs, beside glibc's backtrace() and libunwind's unw_backtrace(), on the same stacks.
 *
 *	capture [DEPTH...]     prints a table of ns per capture
 *	capture only WHAT N    does N times nothing, capture, push, task or task-capture, for what counts instructions (run.sh)
 *
 * Columns: wm_capture again in the same context; in a context that differs by an encoded edge; in a context with a new push
 * on top (an indirect call between two captures); the beginning and the end of a task, enqueued in turn by two others, and what a capture
 * in it costs more; then the two unwinders, which copy up to 1024 addresses.
 * The frames are those of three mutually recursive functions, so about a third of the calls push.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <waymark.h>

#define NOINLINE __attribute__((noinline))
enum {
	REPEAT = 9,
	ADDRESSES = 1024
};

static int (*unw_backtrace)(void **, int);
static volatile uint64_t sink;
static double result[8];

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Median over REPEAT of the time of `count` times the statement, in ns each. */
#define MEASURE(out, count, statement)                                      \
	do {                                                                \
		double times_[REPEAT];                                      \
		for (int r_ = 0; r_ < REPEAT; r_++) {                       \
			double start_ = now_ns();                           \
			for (long i_ = 0; i_ < (count); i_++) {             \
				statement;                                  \
			}                                                   \
			times_[r_] = (now_ns() - start_) / (double)(count); \
		}                                                           \
		qsort(times_, REPEAT, sizeof *times_, by_value);            \
		(out) = times_[REPEAT / 2];                                 \
	} while (0)

NOINLINE static void leaf(void)
{
	wm_context c = wm_capture();
	sink += c.id + c.prefix;
}

NOINLINE static void empty(void)
{
	sink += 2;
}

static wm_context enqueued[2];

NOINLINE static void enqueue(int i)
{
	enqueued[i] = wm_capture();
}

static void (*volatile pointer)(void) = leaf;
static void (*volatile empty_pointer)(void) = empty;

NOINLINE static void measure(void)
{
	void *addresses[ADDRESSES];
	double base, call;

	MEASURE(base, 2000000, sink += 2);
	MEASURE(result[0], 2000000, {
		wm_context c = wm_capture();
		sink += c.id + c.prefix;
	});
	result[0] -= base;
	MEASURE(call, 2000000, empty(); empty());
	MEASURE(result[1], 2000000, leaf(); leaf());
	result[1] = (result[1] - call) / 2;
	MEASURE(call, 2000000, empty_pointer());
	MEASURE(result[2], 2000000, pointer());
	result[2] -= call;
	enqueue(0);
	enqueue(1);
	MEASURE(result[5], 2000000, {
		wm_task_begin(enqueued[i_ & 1]);
		wm_task_end();
	});
	MEASURE(result[6], 2000000, {
		wm_task_begin(enqueued[i_ & 1]);
		wm_context c = wm_capture();
		sink += c.id + c.prefix;
		wm_task_end();
	});
	result[6] -= result[5] + base;
	MEASURE(result[3], 300, sink += (uint64_t)backtrace(addresses, ADDRESSES));
	if (unw_backtrace)
		MEASURE(result[4], 3000, sink += (uint64_t)unw_backtrace(addresses, ADDRESSES));
}

/* ret: an exit status */
static int do_only(const char *what, long count)
{
	bool is_capture = strcmp(what, "capture") == 0, is_push = strcmp(what, "push") == 0;
	bool is_task_capture = strcmp(what, "task-capture") == 0,
	     is_task = is_task_capture || strcmp(what, "task") == 0;

	if (!is_capture && !is_push && !is_task && strcmp(what, "nothing") != 0)
		return 2;
	enqueue(0);
	enqueue(1);
	for (long i = 0; i < count; i++) {
		if (is_task)
			wm_task_begin(enqueued[i & 1]);
		if (is_capture || is_task_capture) {
			wm_context c = wm_capture();
			sink += c.id + c.prefix;
		}
		if (is_push)
			pointer();
		if (is_task)
			wm_task_end();
	}
	return 0;
}

static void down_b(int n);
static void down_c(int n);

NOINLINE static void down_a(int n)
{
	if (n > 0)
		down_b(n - 1);
	else
		measure();
	sink++;
}

NOINLINE static void down_b(int n)
{
	if (n > 0)
		down_c(n - 1);
	else
		measure();
	sink++;
}

NOINLINE static void down_c(int n)
{
	if (n > 0)
		down_a(n - 1);
	else
		measure();
	sink++;
}

int main(int argc, char **argv)
{
	static char *standard[] = {"", "5", "10", "25", "50", "100", "250", "500", "1000"};
	void *unwind = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	if (unwind)
		*(void **)&unw_backtrace = dlsym(unwind, "unw_backtrace");
	if (argc == 4 && strcmp(argv[1], "only") == 0)
		return do_only(argv[2], atol(argv[3]));
	if (argc < 2) {
		argc = (int)(sizeof standard / sizeof *standard);
		argv = standard;
	}
	printf("%6s  %16s  %16s  %16s  %12s  %12s  %12s  %14s\n", "", "wm_capture: same", "an encoded edge",
	       "a new push", "a task", "capture in it", "backtrace()", "unw_backtrace()");
	for (int i = 1; i < argc; i++) {
		int depth = atoi(argv[i]);
		down_a(depth > 3 ? depth - 3 : 0);
		printf("%6d  %13.2f ns  %13.2f ns  %13.2f ns  %9.2f ns  %9.2f ns  %9.0f ns  ", depth, result[0],
		       result[1], result[2], result[5], result[6], result[3]);
		if (unwind)
			printf("%11.0f ns\n", result[4]);
		else
			printf("%14s\n", "not installed");
	}
	return 0;
}
