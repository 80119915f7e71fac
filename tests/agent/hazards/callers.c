/*
 * callers.c - functions that code without instrumentation calls again and again, from where nothing can be done behind the call, and what
 * these call; and one that it leads to by a tail call. Each PROBE enters the agent, but the calls are not to.
 * hazards.sh: agent verbose
 * hazards.sh: entered 30000
 */
#include "probe.h"

enum {
	ROUNDS = 300,
	CALLS = 200, /* of a round */
};

typedef int (*step_fn)(int);

static volatile int total;

__attribute__((noinline)) static int leaf(int n)
{
	if (n % 64 == 0)
		PROBE();
	return n + 1;
}

/* Its address is taken: it is hooked, and called by instrumented code too. */
__attribute__((noinline)) static int both(int n)
{
	total += leaf(n);
	return n & 3;
}
static volatile step_fn by_variable = both;

__attribute__((noinline)) static int outer(int n)
{
	int sum = both(n) + by_variable(n + 1);

	if (n % 64 == 1)
		PROBE();
	return sum + leaf(n);
}

/*
 * void calls(step_fn step, int n): step(n) ... step(1). The agent does not instrument it, as it writes the stack pointer from a register,
 * and has no room behind the call: control comes there from elsewhere.
 */
void calls(step_fn step, int n);
__asm__(".pushsection .text\n"
	".type calls, @function\n"
	"calls:\n"
	"	.cfi_startproc\n"
	"	pushq %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rbx, -16\n"
	"	pushq %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rbp, -24\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movq %rsp, %rax\n"
	"	xchgq %rax, %rsp\n"
	"	movq %rdi, %rbp\n"
	"	movl %esi, %ebx\n"
	"	jmp 2f\n"
	"1:	movl %ebx, %edi\n"
	"	call *%rbp\n"
	"2:	subl $1, %ebx\n"
	"	jns 1b\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size calls, .-calls\n"
	".popsection");

/* int leads(step_fn step, int n): the same, but goes on to step by a tail call. */
int leads(step_fn step, int n);
__asm__(".pushsection .text\n"
	".type leads, @function\n"
	"leads:\n"
	"	.cfi_startproc\n"
	"	movq %rsp, %rax\n"
	"	xchgq %rax, %rsp\n"
	"	movq %rdi, %rax\n"
	"	movl %esi, %edi\n"
	"	jmp *%rax\n"
	"	.cfi_endproc\n"
	".size leads, .-leads\n"
	".popsection");

__attribute__((noinline)) static int is_led(int n)
{
	int sum = leads(outer, n);

	if (n % 64 == 2)
		PROBE();
	return sum + leads(both, n);
}

int main(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		calls(outer, CALLS);
		for (int n = 0; n < CALLS; n++)
			total += is_led(n);
		calls(is_led, CALLS);
		PROBE();
	}
	printf("%d\n", total & 0xffff);
	return 0;
}
