/*
 * alternate.c - handlers on an alternate stack with room for one frame of the kernel's, what the handler needs itself, and 2 KB: first calls,
 * indirect calls, callbacks, allocations, jumps out of them, while timers of the agent's come due.
 * hazards.sh: agent epochs,wall,sample=1997
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum {
	AGENT_BYTES = 2048,
	HANDLER_BYTES = 1024, /* as qsort and malloc need it, without optimization */
	PAGE_BYTES = 4096,
	ROUNDS = 150,
};

typedef int (*step_fn)(int);

static __thread sigjmp_buf with_mask;
static __thread jmp_buf without_mask;
static __thread volatile int round_number, sum;

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

#define STEP(n)                                                 \
	__attribute__((noinline)) static int step_##n(int x)    \
	{                                                       \
		return leaf(x) + (n) + (x > (n) ? leaf(x) : 0); \
	}
STEP(0)
STEP(1)
STEP(2)
STEP(3)
STEP(4)
STEP(5)
STEP(6)

static const step_fn steps[] = {step_0, step_1, step_2, step_3, step_4, step_5, step_6};

static int compare(const void *a, const void *b)
{
	PROBE();
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int burn(int n)
{
	volatile int left = n;
	int got = 0;

	while (left-- > 0)
		got += steps[0](left) & 1;
	return got;
}

static void handler(int number)
{
	int items[] = {3, 1, 2};
	void *volatile block;

	(void)number;
	/* A few more functions each time. */
	sum += steps[(unsigned int)round_number / 8 % 7](round_number);
	qsort(items, 3, sizeof *items, compare);
	block = malloc(24);
	free(block);
	sum += burn(50);
	PROBE();
	if (round_number % 3 == 1)
		siglongjmp(with_mask, 1);
	if (round_number % 3 == 2)
		longjmp(without_mask, 1);
}

/* The agent's signal, which programs cannot see otherwise: blocked here it would be blocked for ever. */
static int is_blocked(void)
{
	unsigned long mask = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
	return (int)(mask >> 32 & 1);
}

__attribute__((noinline)) static void visit(int n)
{
	round_number = n;
	if (sigsetjmp(with_mask, 1) == 0 && _setjmp(without_mask) == 0)
		raise(SIGUSR1);
	PROBE();
	sum += is_blocked();
	sum += burn(20);
}

static void set_stack(void)
{
	size_t least = getauxval(AT_MINSIGSTKSZ) ? getauxval(AT_MINSIGSTKSZ) : MINSIGSTKSZ;
	size_t size = least + AGENT_BYTES + HANDLER_BYTES, pages = (size + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
	char *low = mmap(NULL, pages + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack;

	memset(&stack, 0, sizeof stack);
	mprotect(low, PAGE_BYTES, PROT_NONE);
	/* What runs over its end meets a page that is not there at once. */
	stack.ss_sp = low + PAGE_BYTES;
	stack.ss_size = size;
	sigaltstack(&stack, NULL);
}

static void *run(void *data)
{
	set_stack();
	for (int i = 0; i < ROUNDS; i++)
		visit(i);
	return (char *)data + sum;
}

int main(void)
{
	struct sigaction action;
	pthread_t thread;
	void *result;

	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	action.sa_flags = SA_ONSTACK | SA_NODEFER;
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, run, NULL);
	printf("%p\n", run(NULL));
	pthread_join(thread, &result);
	printf("%p\n", result);
	memset(&action, 0, sizeof action);
	sigaction(SIGUSR1, NULL, &action);
	printf("mask %d\n", (int)action.sa_mask.__val[0]);
	return 0;
}
