/* signals.c - threads that signal each other while they call: handlers that call, nest, run on alternate stacks and leave by siglongjmp. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "../hazards/probe.h"

enum {
	THREADS = 4,
	ROUNDS = 250,
};

static pthread_t threads[THREADS];
static volatile int is_over;
static volatile long handled, left;
static __thread sigjmp_buf out;
static __thread volatile int may_leave;

__attribute__((noinline)) static long leaf(long x)
{
	if (x % 13 == 0)
		PROBE();
	return x * 5 + 1;
}

__attribute__((noinline)) static long middle(long x, int depth)
{
	long got = leaf(x);

	return depth > 0 ? got + middle(got, depth - 1) : got;
}

static long (*volatile const calls[])(long, int) = {middle, middle};

__attribute__((noinline)) static void on_usr1(int sig)
{
	int was = errno;

	middle(sig, 3);
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	PROBE();
	errno = was;
}

__attribute__((noinline)) static void on_usr2(int sig)
{
	calls[sig % 2](sig, 2);
	PROBE();
	if (may_leave) {
		may_leave = 0;
		__atomic_fetch_add(&left, 1, __ATOMIC_RELAXED);
		siglongjmp(out, 1);
	}
}

__attribute__((noinline)) static long work(long number)
{
	long got = 0;

	for (long i = 0; i < ROUNDS; i++) {
		if (sigsetjmp(out, 1) == 0) {
			may_leave = i % 3 == 0;
			got += calls[i % 2](i, (int)(i % 7)) != 0;
			pthread_kill(threads[(number + 1 + i) % THREADS], i % 2 ? SIGUSR1 : SIGUSR2);
			got += middle(i, 4) != 0;
		}
		may_leave = 0;
		PROBE();
	}
	return got != 0;
}

static void *run(void *argument)
{
	static pthread_barrier_t *const none = NULL;
	char alternate[524288]; /* handlers interrupt each other on it: 4 KB each, most of it the kernel's */
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
	sigset_t set;
	long got;

	(void)none;
	sigaltstack(&stack, NULL);
	pthread_barrier_wait(argument);
	for (int i = 0; i < THREADS; i++)
		if (pthread_equal(threads[i], pthread_self()))
			got = work(i);
	/* Signals that come from now on are not handled here: the buffer's frame is left. */
	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_barrier_wait(argument);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return (void *)got;
}

int main(void)
{
	pthread_barrier_t barrier;
	struct sigaction act;
	long got = 0;

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	memset(&act, 0, sizeof act);
	act.sa_handler = on_usr1;
	act.sa_flags = SA_RESTART | SA_NODEFER;
	sigaction(SIGUSR1, &act, NULL);
	act.sa_handler = on_usr2;
	act.sa_flags = SA_RESTART | SA_ONSTACK;
	sigaction(SIGUSR2, &act, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, &barrier);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++) {
		void *one;

		pthread_join(threads[i], &one);
		got += (long)one;
	}
	PROBE();
	printf("%ld %d\n", got, handled > 0);
	return 6;
}
