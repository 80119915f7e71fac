/*
 * tails.c - tail calls that leave entries: to a caller without room behind its call, to the C library, and to code of the program that
 * is not instrumented; and one that looks like a jump in its function.
 * hazards.sh: again epochs,wall,check,sample=1997
 */
#include "probe.h"

enum {
	ROUNDS = 400,
	SPINS = 80000, /* a round: time for epochs outside of the agent */
	NUMBERS = 40
};

typedef int (*step_fn)(int);

static volatile int total;

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n * 3 + 1;
}

__attribute__((noinline)) static int other(int n)
{
	PROBE();
	total += leaf(n);
	return n - 1;
}

/* Most of its calls come from elsewhere: over a tail call its id is not 0. */
__attribute__((noinline)) static int hot(int n)
{
	if (n < 0)
		PROBE();
	return n + 2;
}

static volatile step_fn steps[] = {leaf, other, hot};

/* Ends in a tail call with new callees as it goes on. */
__attribute__((noinline)) static int ends(int n)
{
	total += n;
	return steps[n % 7 == 0 ? 1 : n % 5 == 0 ? 2 : 0](n);
}

__attribute__((noinline)) static int both(int n)
{
	total += ends(n);
	return ends(n + 1);
}

__attribute__((noinline)) static void after(void)
{
	PROBE();
	total += leaf(4);
}

__attribute__((noinline)) static void three(void)
{
	total += leaf(2);
	total += ends(total & 3);
	after();
}

/* The call returns to 4 bytes in front of a jump: there is no room, and it turns out to leave an entry while it is under way. */
__attribute__((noinline)) static void two(void)
{
	three();
	after();
}

static int compare(const void *a, const void *b)
{
	int difference = *(const int *)a - *(const int *)b;

	return difference ? difference : ends(7);
}

static int compare_by_tail(const void *a, const void *b)
{
	return steps[*(const int *)a % 5 == 0](*(const int *)b) - 1;
}

__attribute__((noinline)) static void sort(int (*by)(const void *, const void *))
{
	int numbers[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (i * 7919) % 31;
	qsort(numbers, NUMBERS, sizeof *numbers, by);
	PROBE();
	total += numbers[3];
}

/* The agent does not instrument what writes the stack pointer from a register. */
__attribute__((noinline)) static int not_instrumented(step_fn step, int n)
{
	__asm__ volatile("movq %%rsp, %%rax\n\txchgq %%rax, %%rsp" ::: "rax", "memory");
	for (int i = 0; i < 3; i++)
		total += step(n + i);
	two();
	return leaf(n) + other(n) + both(n);
}

/*
 * int ends_or_adds(step_fn step, int n): a tail call, and in front of it in the order of addresses, but on another way, an addition to
 * the same register: as gcc lays out a traversal of Python's.
 */
int ends_or_adds(step_fn step, int n);
__asm__(".pushsection .text\n"
	".type ends_or_adds, @function\n"
	"ends_or_adds:\n"
	"	.cfi_startproc\n"
	"	movq %rdi, %rax\n"
	"	testl %esi, %esi\n"
	"	jns 2f\n"
	"1:	addq $1, %rax\n"
	"	addl $1, %esi\n"
	"	jnz 1b\n"
	"	ret\n"
	"	nopw 0(%rax,%rax)\n"
	"2:	movl %esi, %edi\n"
	"	jmp *%rax\n"
	"	nopw 0(%rax,%rax)\n"
	"	.cfi_endproc\n"
	".size ends_or_adds, .-ends_or_adds\n"
	".popsection");

__attribute__((noinline)) static int each(step_fn step, int n)
{
	int sum = step(n);

	PROBE();
	sum += ends_or_adds(step, n);
	return sum + (ends_or_adds(step, -3) != 0);
}

int main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		for (int spin = 0; probe_is_on() && spin < SPINS; spin++)
			total ^= spin;
		for (int k = 0; k < SPINS / 100; k++)
			total += hot(k);
		total += both(i);
		two();
		after();
		total += not_instrumented(ends, i);
		total += not_instrumented(both, i);
		total += each(leaf, i) + each(other, i);
		PROBE();
	}
	sort(compare);
	sort(compare_by_tail);
	total += both(1);
	PROBE();
	printf("%d\n", total & 0xffff);
	return 0;
}
