/*
 * entered.c - for entered.sh: functions, and who calls each: of each kind one that runs and one that does not. Each notes by itself
 * that it ran; main tells and faults. All but `direct` are entered otherwise than by a direct call of covered code. With OUTSIDE
 * the caller that is not traced.
 */
#ifdef OUTSIDE
int ran_object(int), idle_object(int);

int outside(int x)
{
	return x < 0 ? idle_object(x) : ran_object(x);
}
#else
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KINDS(KIND)    \
	KIND(direct)   \
	KIND(table)    \
	KIND(branch)   \
	KIND(through)  \
	KIND(compare)  \
	KIND(handler)  \
	KIND(thread)   \
	KIND(exported) \
	KIND(object)   \
	KIND(skipped)  \
	KIND(untraced) \
	KIND(begin)
#define NUMBERS(kind) RAN_##kind, IDLE_##kind,
enum {
	KINDS(NUMBERS) FUNCTIONS
};
#define NAMES(kind) "ran_" #kind, "idle_" #kind,
static const char *const names[] = {KINDS(NAMES)};
static volatile char ran[FUNCTIONS];
static volatile int zero, sink;

#define APART __attribute__((noinline))
#define BOTH(linkage, kind)                  \
	linkage APART int ran_##kind(int x)  \
	{                                    \
		ran[RAN_##kind] = 1;         \
		return x * 3 + 1;            \
	}                                    \
	linkage APART int idle_##kind(int x) \
	{                                    \
		ran[IDLE_##kind] = 1;        \
		return x * 5 + 2;            \
	}
BOTH(static, direct)
BOTH(static, table)
BOTH(__attribute__((visibility("default"))), exported)
BOTH(, object)
BOTH(static, skipped)
BOTH(static, untraced)

/* A call on one of two ways, and on each. */
static APART int ran_branch(int x)
{
	ran[RAN_branch] = 1;
	return x > 1000 ? getpid() : x;
}
static APART int idle_branch(int x)
{
	ran[IDLE_branch] = 1;
	return x > 1000 ? getpid() : x;
}
static APART int ran_through(int x)
{
	ran[RAN_through] = 1;
	return x > 1000 ? getpid() : getppid();
}
static APART int idle_through(int x)
{
	ran[IDLE_through] = 1;
	return x > 1000 ? getpid() : getppid();
}

static int ran_compare(const void *a, const void *b)
{
	ran[RAN_compare] = 1;
	return *(const int *)a - *(const int *)b;
}
static int idle_compare(const void *a, const void *b)
{
	ran[IDLE_compare] = 1;
	return *(const int *)b - *(const int *)a;
}

static void ran_handler(int signal)
{
	ran[RAN_handler] = (char)(signal > 0);
}
static void idle_handler(int signal)
{
	ran[IDLE_handler] = (char)(signal > 0);
}

static void *ran_thread(void *data)
{
	ran[RAN_thread] = 1;
	return data;
}
static void *idle_thread(void *data)
{
	ran[IDLE_thread] = 1;
	return data;
}

__attribute__((constructor)) static void ran_begin(void)
{
	ran[RAN_begin] = 1;
}
__attribute__((destructor)) static void idle_begin(void)
{
	ran[IDLE_begin] = 1;
}

int outside(int x);

__attribute__((no_profile_instrument_function)) static APART int skipped(int x)
{
	return zero ? idle_skipped(x) : ran_skipped(x);
}

static APART int plain_caller(int x)
{
	return zero ? idle_untraced(x) : ran_untraced(x);
}

static int (*const volatile table[])(int) = {ran_table, ran_branch, ran_through, idle_table, idle_branch, idle_through};

static void start(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL) || pthread_join(thread, NULL))
		abort();
}

int main(void)
{
	int numbers[] = {3, 1, 2};
	int (*exported)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, zero ? "idle_exported" : "ran_exported");

	sink = zero ? idle_direct(1) : ran_direct(1);
	for (int i = 0; i < 3; i++)
		sink += table[i + 3 * zero](i);
	qsort(numbers, 3, sizeof *numbers, ran_compare);
	qsort(numbers, (size_t)zero, sizeof *numbers, idle_compare);
	signal(SIGUSR1, ran_handler);
	signal(SIGUSR2, idle_handler);
	raise(SIGUSR1);
	start(zero ? idle_thread : ran_thread);
	sink += exported(1) + outside(1) + skipped(1) + plain_caller(1);
	for (int i = 0; i < FUNCTIONS; i++)
		printf("%s %s\n", ran[i] ? "yes" : "no", names[i]);
	fflush(stdout);
	*(volatile int *)8 = sink;
	return 0;
}
#endif
