/*
 * trampolines.c - a call without room, of a no-callback function, again and again: most of the time is spent in the stub in front of its trampoline, and in that.
 *
 * hazards.sh: agent check,wall,sample=4999
 */
#include <pthread.h>

#include "probe.h"

/* Time for samples. */
__attribute__((visibility("hidden"))) unsigned rounds = 5000000;

/* A thread begins there: nothing is below it. */
void *calls(void *function);
__asm__(".text\n"
	".globl calls\n"
	".type calls, @function\n"
	"calls:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	push %r12\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %r12, 0\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov %rdi, %r12\n"
	"	mov rounds(%rip), %ebx\n"
	"1:	mov %ebx, %edi\n"
	"	mov %r12, %rax\n"
	"	call *%rax\n"
	"	jmp 3f\n"
	"2:	nop\n"
	"3:	dec %ebx\n"
	"	jz 4f\n"
	"	test $7, %ebx\n"
	"	jz 2b\n"
	"	jmp 1b\n"
	"4:	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %r12\n"
	"	.cfi_restore %r12\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rbx\n"
	"	.cfi_restore %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size calls, . - calls\n");

__attribute__((noinline)) static int quiet(int n)
{
	return n;
}

int main(void)
{
	pthread_t thread;
	void *result;

	if (!probe_is_on())
		rounds = 64;
	PROBE();
	for (int i = 0; i < 2; i++) {
		if (pthread_create(&thread, NULL, calls, (void *)quiet) != 0)
			return 1;
		pthread_join(thread, &result);
		printf("%d\n", (int)(long)result);
	}
	PROBE();
	return 0;
}
