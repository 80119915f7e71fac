/* switches.c - coroutines that switch stacks in assembly of their own, called directly and through a pointer. */
#include <stdint.h>

#include "probe.h"

enum {
	COROUTINES = 3,
	STACK_BYTES = 1 << 16
};

/* Saves the callee-saved registers and the stack pointer in *from, and goes on at that of `to`. */
void switch_stack(void **from, void *to);
__asm__(".text\n"
	".globl switch_stack\n"
	".type switch_stack, @function\n"
	"switch_stack:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size switch_stack, . - switch_stack\n"
	/* The first frame of a coroutine: its function is in rbx, nothing is outside. */
	".globl first_frame\n"
	".type first_frame, @function\n"
	"first_frame:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	call *%rbx\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	"	.size first_frame, . - first_frame\n");
extern const char first_frame[];

static _Alignas(16) char stacks[COROUTINES][STACK_BYTES];
static void *home, *saved[COROUTINES];
static void (*volatile by_pointer)(void **, void *) = switch_stack;
static volatile int current, total;

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

__attribute__((noinline)) static int yields(int depth)
{
	PROBE();
	if (depth > 0) {
		total += yields(depth - 1);
		PROBE();
	} else if (total & 1) {
		by_pointer(&saved[current], home);
	} else {
		switch_stack(&saved[current], home);
	}
	PROBE();
	return leaf(depth);
}

__attribute__((noinline)) static void run(void)
{
	PROBE();
	for (int i = 0;; i++) {
		total += yields(i % 4);
		PROBE();
	}
}

__attribute__((noinline)) static void resume(int n)
{
	PROBE();
	current = n;
	if (total & 2)
		by_pointer(&home, saved[n]);
	else
		switch_stack(&home, saved[n]);
	PROBE();
	total += leaf(n);
}

int main(void)
{
	for (int i = 0; i < COROUTINES; i++) {
		uintptr_t *sp = (uintptr_t *)(stacks[i] + STACK_BYTES) - 2;

		*--sp = (uintptr_t)first_frame;
		*--sp = 0;              /* rbp */
		*--sp = (uintptr_t)run; /* rbx */
		sp -= 4;
		saved[i] = sp;
	}
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < COROUTINES; i++)
			resume(i);
		PROBE();
	}
	printf("%d\n", total);
	return 0;
}
