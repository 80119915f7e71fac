/*
 * interrupts.c - a handler at every instruction of the program, and of what stands in for it, and at a timer's: backtrace() there finds
 * the functions that the program itself says it is in.
 *
 * Each function notes itself behind its entry and takes itself off before its end. So the frames from the interrupted one on are those that
 * are noted, or one more: of a function that has just begun or is about to return.
 */
#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#include "probe.h"

enum {
	DEPTH_MAX = 256,
	ROUNDS = 3,
	TICKS = 1500,
	PROBED = 16,
};

enum who {
	MAIN,
	ROUNDS_OF,
	ROUND,
	LEAF,
	DOWN,
	OTHER,
	CHOOSER,
	COMPARE,
	SORTER,
	VARIABLE,
	SET_TRAP, /* notes nothing */
	WHO_COUNT,
	NOBODY
};

static volatile unsigned char noted[DEPTH_MAX];
static volatile unsigned depth;
static volatile unsigned seen, wrong, work_done, is_asked;

#define BEGIN(who)                                   \
	do {                                         \
		noted[depth] = (unsigned char)(who); \
		depth++;                             \
	} while (0)
#define END() depth--
#define FUNCTION __attribute__((noinline)) static

typedef unsigned function(unsigned);
FUNCTION unsigned leaf(unsigned n);
FUNCTION unsigned down(unsigned n);
FUNCTION unsigned other(unsigned n);
FUNCTION unsigned chooser(unsigned n);
FUNCTION int compare(const void *a, const void *b);
FUNCTION unsigned sorter(unsigned n);
FUNCTION unsigned variable(unsigned n);
FUNCTION unsigned round_of_calls(unsigned n);
FUNCTION unsigned rounds(int is_stepped);
void set_trap(uint64_t flag);
int main(void);

static const uintptr_t starts[WHO_COUNT] = {
	[MAIN] = (uintptr_t)main,         [ROUNDS_OF] = (uintptr_t)rounds,  [ROUND] = (uintptr_t)round_of_calls,
	[LEAF] = (uintptr_t)leaf,         [DOWN] = (uintptr_t)down,         [OTHER] = (uintptr_t)other,
	[CHOOSER] = (uintptr_t)chooser,   [COMPARE] = (uintptr_t)compare,   [SORTER] = (uintptr_t)sorter,
	[VARIABLE] = (uintptr_t)variable, [SET_TRAP] = (uintptr_t)set_trap,
};
/* Of these functions, of which gcc may have put some parts elsewhere, any address. */
extern char __executable_start, etext;

static enum who at_address(uintptr_t pc)
{
	enum who best = NOBODY;

	if (pc - (uintptr_t)&__executable_start >= (uintptr_t)(&etext - &__executable_start))
		return NOBODY;
	for (int i = 0; i < WHO_COUNT; i++)
		if (starts[i] <= pc && (best == NOBODY || starts[i] > starts[best]))
			best = (enum who)i;
	return best;
}

__attribute__((noinline)) static void failed(uintptr_t pc, const enum who *got, unsigned count)
{
	if (wrong++ > 3)
		return;
	fprintf(stderr, "at %lx: the stack is", (unsigned long)(pc - (uintptr_t)&__executable_start));
	for (unsigned i = 0; i < count; i++)
		fprintf(stderr, " %d", got[i]);
	fprintf(stderr, ", noted");
	for (unsigned i = depth; i-- > 0;)
		fprintf(stderr, " %d", noted[i]);
	fprintf(stderr, "\n");
}

/* Functions of the program from the interrupted one out to main. */
static unsigned frames_of(uintptr_t pc, enum who got[DEPTH_MAX])
{
	void *at[DEPTH_MAX];
	int n = backtrace(at, DEPTH_MAX), i = 0;
	unsigned count = 0;

	while (i < n && (uintptr_t)at[i] != pc)
		i++;
	for (int first = i; i < n; i++) {
		enum who who = at_address((uintptr_t)at[i] - (i > first));

		if (who == NOBODY)
			continue;
		got[count++] = who;
		if (who == MAIN)
			break;
	}
	return count;
}

static int agrees(const enum who *got, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (got[i] != noted[depth - 1 - i])
			return 0;
	return count == depth;
}

static void look(const ucontext_t *context)
{
	uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	enum who got[DEPTH_MAX];
	unsigned count = frames_of(pc, got);

	seen++;
	if (!agrees(got, count) && !(count && agrees(got + 1, count - 1)))
		failed(pc, got, count);
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	look(context);
}

static void on_tick(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	look(context);
	if (seen % PROBED == 0)
		PROBE();
}

FUNCTION unsigned leaf(unsigned n)
{
	BEGIN(LEAF);
	if (is_asked) /* so calls of it, and of all that call it, need code */
		PROBE();
	work_done += n;
	END();
	return n + 1;
}

FUNCTION unsigned other(unsigned n)
{
	unsigned sum;

	BEGIN(OTHER);
	sum = leaf(n) + (n > 1 ? down(n - 2) : 0);
	sum += leaf(sum);
	END();
	return sum;
}

FUNCTION unsigned down(unsigned n)
{
	unsigned sum;

	BEGIN(DOWN);
	sum = leaf(n);
	if (n > 0)
		sum += down(n - 1) + other(n - 1);
	END();
	return sum;
}

static function *const functions[] = {leaf, down, other, leaf, variable};

FUNCTION unsigned chooser(unsigned n)
{
	unsigned sum = 0;

	BEGIN(CHOOSER);
	for (unsigned i = 0; i < n; i++)
		sum += functions[(n + i) % 5](i % 3) + leaf(i);
	END();
	return sum;
}

FUNCTION int compare(const void *a, const void *b)
{
	int got;

	BEGIN(COMPARE);
	leaf(1);
	got = *(const int *)a - *(const int *)b;
	END();
	return got;
}

FUNCTION unsigned sorter(unsigned n)
{
	int values[8] = {5, 3, 8, 1, 9, 2, 7, (int)n};
	unsigned sum;

	BEGIN(SORTER);
	qsort(values, 8, sizeof *values, compare);
	sum = (unsigned)values[3];
	END();
	return sum;
}

FUNCTION unsigned variable(unsigned n)
{
	unsigned sum;

	BEGIN(VARIABLE);
	{
		volatile unsigned char bytes[n + 1];

		memset((void *)bytes, 3, n + 1);
		sum = leaf(bytes[n]);
	}
	END();
	return sum;
}

FUNCTION unsigned round_of_calls(unsigned n)
{
	unsigned sum;

	BEGIN(ROUND);
	sum = down(n % 4) + chooser(6) + sorter(n) + variable(n);
	sum += other(3);
	END();
	return sum;
}

/* The trap flag becomes bit 8 of the argument. */
__asm__(".text\n"
	".type set_trap, @function\n"
	"set_trap:\n"
	"	.cfi_startproc\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	andq $~0x100, (%rsp)\n"
	"	orq %rdi, (%rsp)\n"
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n");

FUNCTION unsigned rounds(int is_stepped)
{
	unsigned sum = 0;

	BEGIN(ROUNDS_OF);
	is_asked = !is_stepped;
	for (unsigned i = 0; i < ROUNDS; i++) {
		set_trap(is_stepped ? 0x100 : 0);
		sum += round_of_calls(i);
		set_trap(0);
	}
	END();
	return sum;
}

int main(void)
{
	struct sigaction act;
	struct itimerval every = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	unsigned sum = 0, stepped, n = 0;
	void *warm[4];

	BEGIN(MAIN);
	backtrace(warm, 4);
	memset(&act, 0, sizeof act);
	act.sa_flags = SA_SIGINFO | SA_RESTART;
	act.sa_sigaction = on_step;
	sigaction(SIGTRAP, &act, NULL);
	act.sa_sigaction = on_tick;
	sigaction(SIGALRM, &act, NULL);
	/* Stepped when its calls are not known yet, and when all of them are, and need code. */
	raise(SIGTRAP);
	sum += rounds(1);
	sum += rounds(0);
	sum += rounds(1);
	stepped = seen;
	PROBE();
	setitimer(ITIMER_REAL, &every, NULL);
	while (probe_is_on() && seen < stepped + TICKS)
		work_done += round_of_calls(n++);
	setitimer(ITIMER_REAL, &never, NULL);
	PROBE();
	END();
	printf("%u %s, %u wrong\n", sum, stepped > 1000 ? "steps" : "no steps", wrong);
	return 0;
}
