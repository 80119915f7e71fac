/*
 * strange.c MODE FLAG - processes that `waymark attach` cannot come into, or not easily, or that end meanwhile. Each says "ready".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	WORKERS = 12,
	CALLERS = 8,
	ALTERNATE_BYTES = 1 << 16,
	MANY = 160, /* their stacks, and those that the agent gives them, take more than 2 GB of addresses */
};

static const char *flag;

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void *works(void *unused)
{
	for (;;) {
		for (volatile int i = 0; i < 20000; i++)
			;
		usleep(100);
	}
	return unused;
}

static void begin(int count, void *(*run)(void *))
{
	pthread_t thread;

	for (int i = 0; i < count; i++)
		pthread_create(&thread, NULL, run, NULL);
}

/* After some time all threads end at once: FLAG is a number of microseconds. */
static void exits(void)
{
	begin(WORKERS, works);
	ready();
	usleep((useconds_t)atoi(flag));
	_exit(3);
}

/* The first thread ends, the others go on. */
static void leaderless(void)
{
	begin(1, works);
	ready();
	pthread_exit(NULL);
}

/* A thread waits in vfork until FLAG is there. */
static void *waits_in_vfork(void *unused)
{
	pid_t child = vfork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* the test kills its parent */
		while (access(flag, F_OK) != 0)
			usleep(1000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return unused;
}

static void vforks(void)
{
	begin(1, waits_in_vfork);
	ready();
	works(NULL);
}

static void *waits(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void many(void)
{
	begin(MANY, waits);
	ready();
	works(NULL);
}

/*
 * It blocks all signals, those of the C library too, until FLAG is there. Signals that the agent has sent it meanwhile are gone with the
 * agent: then nothing ends its wait.
 */
static void *hears_nothing(void *unused)
{
	const struct timespec limit = {0, 100000000};
	const unsigned long all = ~0UL, none = 0;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
	while (access(flag, F_OK) != 0)
		usleep(5000);
	if (syscall(SYS_ppoll, NULL, 0, &limit, &none, sizeof none) != 0)
		puts("a signal was left");
	return unused;
}

static int fib(int n);

static void deaf(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, hears_nothing, NULL);
	ready();
	while (access(flag, F_OK) != 0)
		fib(15);
	pthread_join(thread, NULL);
	puts("end");
}

/* The first thread is in a coroutine for good. */
static void in_coroutine(void)
{
	works(NULL);
}

static void inside(void)
{
	static char stack[1 << 16];
	ucontext_t outer, inner;

	getcontext(&inner);
	inner.uc_stack.ss_sp = stack;
	inner.uc_stack.ss_size = sizeof stack;
	inner.uc_link = &outer;
	makecontext(&inner, in_coroutine, 0);
	ready();
	swapcontext(&outer, &inner);
}

/* jmp . */
static void jumps(void)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(code, "\xeb\xfe", 2);
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	ready();
	((void (*)(void))code)();
}

/* Threads that do nothing but call. */
static int (*volatile indirect)(int) = fib;
static atomic_bool is_over;

__attribute__((noinline, noclone, optimize("no-optimize-sibling-calls"))) static int fib(int n)
{
	return n < 2 ? n : indirect(n - 1) + fib(n - 2);
}

static void *calls(void *unused)
{
	long wrong = 0;

	while (!is_over)
		wrong += fib(15) != 610;
	if (wrong)
		printf("fib: wrong %ld times\n", wrong);
	return unused;
}

static void busy(void)
{
	pthread_t threads[CALLERS];

	for (int i = 0; i < CALLERS; i++)
		pthread_create(&threads[i], NULL, calls, NULL);
	ready();
	while (access(flag, F_OK) != 0)
		usleep(5000);
	is_over = true;
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	puts("end");
}

/*
 * A thread is in a handler on an alternate stack until FLAG is there; then that stack is gone. Functions that have not run before are called
 * by another thread.
 */
static atomic_bool has_departed;

static void waits_for_flag(int sig)
{
	(void)sig;
	ready();
	while (access(flag, F_OK) != 0)
		usleep(1000);
}

static void *leaves_its_stack(void *unused)
{
	void *room = mmap(NULL, ALTERNATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const stack_t alternate = {.ss_sp = room, .ss_size = ALTERNATE_BYTES}, none = {.ss_flags = SS_DISABLE};
	struct sigaction action = {.sa_handler = waits_for_flag, .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigaltstack(&none, NULL);
	munmap(room, ALTERNATE_BYTES);
	has_departed = true;
	while (!is_over)
		usleep(1000);
	return unused;
}

#define FUNCTION(n)                                                      \
	__attribute__((noinline, noclone)) static int function##n(int i) \
	{                                                                \
		return fib(i % 3) + (n);                                 \
	}
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)

static void departs(void)
{
	int (*const functions[])(int) = {function1, function2, function3, function4};
	pthread_t thread;
	int sum = 0;

	pthread_create(&thread, NULL, leaves_its_stack, NULL);
	while (!has_departed)
		usleep(1000);
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		for (int n = 0; n < 100; n++)
			sum += functions[i](n);
	is_over = true;
	pthread_join(thread, NULL);
	puts(sum ? "end" : "nothing was called");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {{"exits", exits},    {"leaderless", leaderless}, {"vforks", vforks}, {"many", many},
		     {"deaf", deaf},      {"inside", inside},         {"jumps", jumps},   {"busy", busy},
		     {"departs", departs}};

	flag = argc == 3 ? argv[2] : "";
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (argc == 3 && strcmp(modes[i].name, argv[1]) == 0) {
			modes[i].run();
			return 0;
		}
	return 1;
}
