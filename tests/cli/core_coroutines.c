/*
 * core_coroutines.c - stops by a fault in a coroutine, in one that a coroutine has made, in a thread that a coroutine has made, in a
 * coroutine that another thread runs, or in a signal's handler on a coroutine: `core_coroutines WAY`. Records the context just
 * before.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <waymark.h>

#define NEVER_INLINED __attribute__((noinline))
#define STACK_BYTES (1 << 18)

static volatile int sink;
static const int *volatile fault = (const int *)16;
static ucontext_t back, coroutine, outer;
static char stacks[2][STACK_BYTES];

NEVER_INLINED static int inner(int n)
{
	wm_event("stop", n);
	return *fault + n;
}

NEVER_INLINED static int recurse(int n)
{
	int result = n ? recurse(n - 1) : inner(3);

	sink += result;
	return result;
}

static void body(void)
{
	sink += recurse(2);
}

static void *work(void *argument)
{
	sink += recurse(1);
	return argument;
}

static void run_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	sink++;
}

static void handle(int number)
{
	sink += recurse(number ? 1 : 0);
}

static void interrupted(void)
{
	raise(SIGUSR1);
	sink++;
}

NEVER_INLINED static void prepare(ucontext_t *context, int i, void (*entry)(void))
{
	getcontext(context);
	context->uc_stack.ss_sp = stacks[i];
	context->uc_stack.ss_size = STACK_BYTES;
	context->uc_link = &back;
	makecontext(context, entry, 0);
}

NEVER_INLINED static void make(int n, void (*entry)(void))
{
	if (n)
		make(n - 1, entry);
	else
		prepare(&coroutine, 0, entry);
	sink++;
}

static void nested(void)
{
	make(2, body);
	swapcontext(&outer, &coroutine);
	sink++;
}

NEVER_INLINED static void start(ucontext_t *context)
{
	swapcontext(&back, context);
	sink++;
}

static void *start_elsewhere(void *context)
{
	start(context);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	pthread_t thread;

	signal(SIGUSR1, handle);
	if (strcmp(way, "plain") == 0) {
		make(3, body);
		start(&coroutine);
	} else if (strcmp(way, "nested") == 0) {
		prepare(&outer, 1, nested);
		start(&outer);
	} else if (strcmp(way, "thread") == 0) {
		make(1, run_thread);
		start(&coroutine);
	} else if (strcmp(way, "elsewhere") == 0) {
		make(1, body);
		pthread_create(&thread, NULL, start_elsewhere, &coroutine);
		pthread_join(thread, NULL);
	} else if (strcmp(way, "signal") == 0) {
		make(1, interrupted);
		start(&coroutine);
	}
	return 0;
}
