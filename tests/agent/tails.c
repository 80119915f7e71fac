/*
 * tails.c - loops of tail calls, as plain compilers make them, with the stack that the program keeps itself (shadow.h).
 *
 *	tails           walks between functions that call each other last, and an interpreter whose handlers do, with captures
 *	tails deep      recursion 60,000 frames deep that works at every depth, for samples
 *
 * Of the tail calls of a frame the first are kept, and the newest with its caller: the expected stack has `...` in between.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>

#include "shadow.h"

enum {
	KEPT = 4,
	STEPS = 2000000,
	EVERY = 40009, /* steps from one capture to the next */
	DEEP = 60000,
};

static volatile unsigned work_done;
static unsigned long seed = 1;
static unsigned start_depth; /* of the loop's frame */

static unsigned choose(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33);
}

NOINLINE static void look(void)
{
	ENTER();
	CHECK();
	LEAVE();
}

/* A frame of the loop gives way to the next. */
static inline __attribute__((always_inline)) void loop_enter(const char *name)
{
	if (shadow.depth - start_depth == KEPT + 3) {
		shadow.name[start_depth + KEPT] = "...";
		shadow.name[start_depth + KEPT + 1] = shadow.name[start_depth + KEPT + 2];
		shadow.depth--;
	}
	shadow_push(name);
}

NOINLINE static unsigned work(unsigned n)
{
	work_done += n & 3;
	return work_done;
}

typedef unsigned step(unsigned left, unsigned sum);
static step first, second, third;
static step *const handlers[] = {first, second, third};

#define BEGIN()                \
	loop_enter(__func__);  \
	if (left % EVERY == 0) \
		look();        \
	if (left == 0)         \
		return sum;    \
	if (choose() % 5 == 0) \
	sum += work(left)

NOINLINE static unsigned first(unsigned left, unsigned sum)
{
	BEGIN();
	if (choose() % 2)
		return second(left - 1, sum + 1);
	if (choose() % 3)
		return third(left - 1, sum * 3);
	return handlers[choose() % 3](left - 1, sum ^ 5);
}

NOINLINE static unsigned second(unsigned left, unsigned sum)
{
	BEGIN();
	if (choose() % 7)
		return first(left - 1, sum + 9);
	return third(left - 1, sum * 5);
}

NOINLINE static unsigned third(unsigned left, unsigned sum)
{
	BEGIN();
	/* Without PIE its table has addresses of labels, which are no targets of the jump at the end. */
	switch (left % 9) {
	case 0:
		sum += work(3);
		break;
	case 1:
		sum ^= 77;
		break;
	case 2:
		sum *= 5;
		break;
	case 3:
		sum -= work(sum);
		break;
	case 4:
		sum = sum << 3 | left;
		break;
	case 5:
		sum = ~sum;
		break;
	case 6:
		sum += left << 4;
		break;
	default:
		sum++;
	}
	return handlers[choose() % 2](left - 1, sum + 3);
}

NOINLINE static unsigned loops(unsigned n)
{
	unsigned sum;

	ENTER();
	start_depth = shadow.depth;
	sum = first(n, 1);
	RESTORE();
	look();
	sum += second(n / 2, 2);
	RESTORE();
	look();
	sum += handlers[n % 3](n / 3, 3);
	RESTORE();
	LEAVE();
	return sum;
}

/* A call that only a branch leads to, of 2 bytes, with 2 of a jump and padding behind it. */
void call_aside(void (*callee)(void), int is_wanted);
__asm__(".text\n"
	".p2align 4\n"
	".type call_aside, @function\n"
	"call_aside:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbx, -16\n"
	"	mov %rdi, %rax\n"
	"	test %esi, %esi\n"
	"	jne 2f\n"
	"1:	pop %rbx\n"
	"	.cfi_remember_state\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_restore_state\n"
	"2:	call *%rax\n"
	"	jmp 1b\n"
	"	nop\n"
	"	.cfi_endproc\n"
	".size call_aside, . - call_aside\n");

NOINLINE static void aside(void)
{
	ENTER();
	for (int i = 0; i < 3; i++) {
		shadow_push("call_aside");
		call_aside(look, i != 1);
		RESTORE();
		look();
	}
	LEAVE();
}

/* ---- deep ---- */

typedef unsigned deep_step(unsigned n);
static deep_step down, over;
static deep_step *volatile next_down = down;

NOINLINE static unsigned down(unsigned n)
{
	unsigned sum = n;

	for (volatile unsigned i = 0; i < 200; i++)
		sum += work(i);
	if (n)
		sum += n % 3 ? over(n - 1) : next_down(n - 1);
	return sum + work(n);
}

NOINLINE static unsigned over(unsigned n)
{
	return n % 5 ? down(n) + 1 : next_down(n);
}

int main(int argc, char **argv)
{
	unsigned sum = 0;

	ENTER();
	if (argc > 1 && strcmp(argv[1], "deep") == 0) {
		for (int i = 0; i < 4; i++)
			sum += down(DEEP);
		printf("%u\n", sum);
		return 0;
	}
#ifdef __OPTIMIZE__
	for (int i = 0; i < 3; i++)
		sum += loops(STEPS);
#endif
	sum += loops(10);
	aside();
	look();
	fprintf(stderr, "%u\n", sum);
	LEAVE();
	return 0;
}
