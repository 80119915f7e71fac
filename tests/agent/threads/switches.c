/* switches.c - coroutines in each of several threads. */
#include <pthread.h>
#include <ucontext.h>

#include "../hazards/probe.h"

enum {
	THREADS = 4,
	ROUNDS = 60,
	STACK_BYTES = 65536,
};

struct run {
	ucontext_t self, routine;
	char *stack;
	long number, got;
};

__attribute__((noinline)) static long leaf(long x)
{
	PROBE();
	return x * 3 + 1;
}

__attribute__((noinline)) static void yields(struct run *run, int depth)
{
	run->got += leaf(depth);
	if (depth > 0)
		yields(run, depth - 1);
	else
		swapcontext(&run->routine, &run->self);
	PROBE();
}

static void routine(unsigned int high, unsigned int low)
{
	struct run *run = (struct run *)((unsigned long)high << 32 | low);

	for (int i = 0; i < 4; i++)
		yields(run, i);
	run->got += leaf(7);
}

__attribute__((noinline)) static long once(struct run *run)
{
	long turns = 0;

	getcontext(&run->routine);
	run->routine.uc_stack.ss_sp = run->stack;
	run->routine.uc_stack.ss_size = STACK_BYTES;
	run->routine.uc_link = &run->self;
	run->got = 0;
	makecontext(&run->routine, (void (*)(void))routine, 2, (unsigned int)((unsigned long)run >> 32),
		    (unsigned int)(unsigned long)run);
	for (int i = 0; i < 5; i++) {
		turns += leaf(run->number);
		swapcontext(&run->self, &run->routine);
		PROBE();
	}
	return turns + run->got;
}

static void *work(void *argument)
{
	struct run run = {.number = (long)argument};
	long got = 0;

	run.stack = malloc(STACK_BYTES);
	for (int i = 0; i < ROUNDS; i++)
		got += once(&run);
	free(run.stack);
	PROBE();
	return (void *)got;
}

int main(void)
{
	pthread_t threads[THREADS];
	long got = 0;

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *one;

		pthread_join(threads[i], &one);
		got += (long)one;
	}
	PROBE();
	printf("%ld\n", got);
	return 0;
}
