/*
 * inject_stub.c - the code that makes calls in the process, and waits there.
 */
#include <string.h>
#include <unistd.h>

#include "snapshot/inject/inject_private.h"

/* Both begin with rbx at the gate; a call with rax at the function, the stack's pointer aligned; parked with the frame at rsp - 8. */
__asm__(".pushsection .rodata\n"
	".hidden inject_stub, inject_stub_told, inject_stub_park, inject_stub_end\n"
	".globl inject_stub, inject_stub_told, inject_stub_park, inject_stub_end\n"
	"inject_stub:\n"
	"	cmpl $1, (%rbx)\n"
	"	jne 2f\n"
	"	call *%rax\n"
	"	movq %rax, 8(%rbx)\n"
	"	movq 16(%rbx), %rdx\n"
	"	testq %rdx, %rdx\n"
	"	jz 1f\n"
	"	movl 24(%rbx), %ecx\n"
	"	movl %ecx, (%rdx)\n"
	"1:	movl $2, (%rbx)\n"
	"	movq %rbx, %rdi\n"
	"	movl $129, %esi\n" /* FUTEX_WAKE | FUTEX_PRIVATE_FLAG */
	"	movl $0x7fffffff, %edx\n"
	"	movl $202, %eax\n" /* futex */
	"	syscall\n"
	"2:	movl $186, %eax\n" /* gettid */
	"	syscall\n"
	"	movl %eax, %edi\n"
	"	movl 4(%rbx), %esi\n"
	"	movl $200, %eax\n" /* tkill */
	"	syscall\n"
	"inject_stub_told:\n"
	"	movq 32(%rbx), %rsp\n"
	"	movl $15, %eax\n" /* rt_sigreturn */
	"	syscall\n"
	"inject_stub_park:\n"
	"	cmpl $1, (%rbx)\n"
	"	jne 3f\n"
	"	movq %rbx, %rdi\n"
	"	movl $128, %esi\n" /* FUTEX_WAIT | FUTEX_PRIVATE_FLAG */
	"	movl $1, %edx\n"
	"	xorl %r10d, %r10d\n"
	"	movl $202, %eax\n"
	"	syscall\n"
	"	jmp inject_stub_park\n"
	"3:	movl $15, %eax\n"
	"	syscall\n"
	"inject_stub_end:\n"
	".popsection\n");

bool inject_is_stub(struct inject *in, uint64_t pc)
{
	char bytes[INJECT_PAGE_BYTES];
	size_t len = (size_t)(inject_stub_end - inject_stub);

	return pread(in->own->memory_fd, bytes, len, (off_t)(pc & ~(uint64_t)(INJECT_PAGE_BYTES - 1))) ==
		       (ssize_t)len &&
	       memcmp(bytes, inject_stub, len) == 0;
}
