/*
 * shapes.c - functions of many shapes, single-stepped and unwound after each instruction (step.h): frames of fixed and variable
 * size, realigned ones, tail calls, calls that do not return, callbacks of libc, setjmp, handlers on both stacks.
 */
#include <alloca.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/step.h"

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;
/* On the stack, where an unwinder may read what __longjmp's rules refer to. */
static jmp_buf *escape;
static volatile sig_atomic_t handled;

static unsigned long go_on(unsigned int depth, unsigned int seed);

NOINLINE static unsigned long leaf(unsigned long a, unsigned long b)
{
	return a * 31 + b;
}

NOINLINE static unsigned long with_alloca(unsigned int depth, unsigned int seed)
{
	char *bytes = alloca(16 + seed % 100);

	memset(bytes, (int)seed, 16);
	return go_on(depth, seed) + (unsigned char)bytes[3];
}

NOINLINE static unsigned long with_array(unsigned int depth, unsigned int seed)
{
	unsigned int n = 1 + seed % 9;
	unsigned long numbers[n];

	for (unsigned int i = 0; i < n; i++)
		numbers[i] = leaf(i, seed);
	return go_on(depth, seed) + numbers[n - 1];
}

NOINLINE static unsigned long large(unsigned int depth, unsigned int seed)
{
	volatile char bytes[9000];

	bytes[seed % sizeof bytes] = 1;
	return go_on(depth, seed) + (unsigned long)bytes[seed % sizeof bytes];
}

NOINLINE static unsigned long realigned(unsigned int depth, unsigned int seed)
{
	volatile unsigned char bytes[64] __attribute__((aligned(64)));
	char *more = alloca(seed % 50 + 1);

	bytes[1] = (unsigned char)seed;
	more[0] = (char)seed;
	return go_on(depth, seed) + bytes[1] + (unsigned char)more[0];
}

NOINLINE static unsigned long many(unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e,
				   unsigned long f, unsigned long g, unsigned long h, unsigned int depth)
{
	unsigned long x = leaf(a, b), y = leaf(c, d), z = leaf(e, f), w = leaf(g, h), v = leaf(x, w), u = leaf(y, z);

	return go_on(depth, (unsigned int)(a + h)) + x * y + z * w + v * u + a + b + c + d;
}

NOINLINE static unsigned long pass_many(unsigned int depth, unsigned int seed)
{
	return many(seed, 2, 3, 4, 5, 6, 7, 8, depth) + 1;
}

NOINLINE static unsigned long variadic(unsigned int depth, ...)
{
	va_list args;
	double d;
	unsigned int seed;

	va_start(args, depth);
	d = va_arg(args, double);
	seed = va_arg(args, unsigned int);
	va_end(args);
	return go_on(depth, seed) + (unsigned long)d;
}

NOINLINE static unsigned long pass_variadic(unsigned int depth, unsigned int seed)
{
	return variadic(depth, 1.5, seed);
}

NOINLINE static unsigned long tail(unsigned int depth, unsigned int seed)
{
	return go_on(depth, seed * 3);
}

static unsigned int callback_depth, callback_seed;

static int compare_numbers(const void *a, const void *b)
{
	if (callback_depth) {
		unsigned int depth = callback_depth;

		callback_depth = 0;
		sink += go_on(depth, callback_seed);
	}
	return *(const int *)a - *(const int *)b;
}

NOINLINE static unsigned long through_qsort(unsigned int depth, unsigned int seed)
{
	int numbers[] = {3, 1, (int)(seed % 7), 2};

	callback_depth = depth;
	callback_seed = seed;
	qsort(numbers, 4, sizeof numbers[0], compare_numbers);
	return (unsigned long)numbers[0];
}

/* The call is the last instruction: its return address is in the next function. */
__attribute__((noreturn)) NOINLINE static void jump_out(unsigned int depth, unsigned int seed)
{
	sink += go_on(depth, seed);
	longjmp(*escape, 1);
}

__attribute__((noreturn)) NOINLINE static void ends_with_call(unsigned int depth, unsigned int seed)
{
	jump_out(depth, seed + 1);
}

NOINLINE static unsigned long not_returning(unsigned int depth, unsigned int seed)
{
	jmp_buf *volatile outer = escape;
	jmp_buf here;

	escape = &here;
	if (!setjmp(here))
		ends_with_call(depth, seed);
	escape = outer;
	return leaf(seed, 3);
}

NOINLINE static unsigned long early_out(unsigned int depth, unsigned int seed)
{
	unsigned long v, w;

	if (seed % 3 == 0)
		return 5;
	v = go_on(depth, seed / 2);
	w = leaf(v, seed);
	return go_on(depth, (unsigned int)w) + v * w;
}

static void on_signal(int number)
{
	STEP_NEST();
	sink += leaf((unsigned long)number, 1);
	handled++;
	sink += go_on(2, (unsigned int)number);
	/* The rest of the way, through the restorer into what was interrupted, is stepped too. */
}

NOINLINE static unsigned long raise_plain(unsigned int depth, unsigned int seed)
{
	raise(SIGUSR1);
	return go_on(depth, seed) + 1;
}

NOINLINE static unsigned long raise_alternate(unsigned int depth, unsigned int seed)
{
	raise(SIGUSR2);
	return go_on(depth, seed) + 2;
}

/* A fault in the middle of a function that has registers saved; the handler steps over ud2. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	STEP_NEST();
	(void)info;
	sink += leaf((unsigned long)number, 2);
	c->uc_mcontext.gregs[REG_RIP] += 2;
}

NOINLINE static unsigned long fault(unsigned int depth, unsigned int seed)
{
	unsigned long v = leaf(seed, 1), w = leaf(v, 2), x;

	__asm__ volatile("ud2" ::: "memory");
	x = leaf(w, v);
	return go_on(depth, seed) + v + w + x;
}

static unsigned long (*const shapes[])(unsigned int, unsigned int) = {
	with_alloca,   with_array,    large,     realigned, pass_many,   pass_variadic,   tail,
	through_qsort, not_returning, early_out, fault,     raise_plain, raise_alternate,
};

enum {
	SHAPES = sizeof shapes / sizeof shapes[0],
};

NOINLINE static unsigned long go_on(unsigned int depth, unsigned int seed)
{
	if (depth == 0)
		return leaf(seed, 1);
	return shapes[(seed * 2654435761u >> 8) % SHAPES](depth - 1, seed + 1) + 1;
}

/* Parts of libc: floating-point text, allocation, regular expressions, hand-written strings. */
NOINLINE static void library(void)
{
	char text[200];
	regex_t pattern;
	void *block;

	snprintf(text, sizeof text, "%.17g %s %ld %10.3f", 1.0 / 3, "abc", 12345L, 2.5);
	sink += (unsigned long)strtod(text, NULL) + strlen(text);
	block = malloc(100000);
	free(realloc(block, 300000));
	if (!regcomp(&pattern, "a(b|c)*d", REG_EXTENDED)) {
		sink += (unsigned long)regexec(&pattern, "xxabcbcd", 0, NULL, 0);
		regfree(&pattern);
	}
	sink += (unsigned long)(strstr(text, "abc") != NULL) + (unsigned long)memcmp(text, "zz", 2);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};

	step_prepare();
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	action.sa_sigaction = on_fault;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &action, NULL);
	STEP_BEGIN();
	for (unsigned int i = 0; i < SHAPES; i++)
		sink += shapes[i](1, i);
	for (unsigned int i = 0; i < 4; i++)
		sink += go_on(6, i * 1000);
	if (argc > 1)
		library();
	STEP_END();
	return step_finish(argv[0]);
}
