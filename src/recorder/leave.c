/*
 * leave.c - how a process ends without exit(): _exit, _Exit, quick_exit and syscall(SYS_exit_group).
 *
 * The recording says so, since nothing else tells such a process from one that was killed. A system call in assembly is not
 * seen here.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "recorder/file.h"
#include "recorder/image.h"
#include "recorder/interpose.h"
#include "recorder/leave.h"
#include "recorder/process.h"
#include "recorder/sys.h"

static _Atomic(void *) next_exit;
static _Atomic(void *) next_syscall;

static __attribute__((noreturn)) void own_exit(int status)
{
	void (*next)(int) = (void (*)(int))wmrt_next(&next_exit, "_exit", (void *)own_exit);

	if (wmrt_is_active())
		wmrt_file_close(WMK_FLAG_LEFT);
	if (next)
		next(status);
	for (;;)
		wmrt_sys3(SYS_exit_group, status, 0, 0);
}

WMRT_INTERPOSE(_exit, own_exit);
WMRT_INTERPOSE(_Exit, own_exit);

/* For the assembly below: the definition behind ours, NULL in a static program and before the constructor. */
__attribute__((visibility("hidden"))) void *wmrt_syscall_next;
__attribute__((visibility("hidden"))) void wmrt_syscall_exits(void);
__attribute__((visibility("hidden"))) long wmrt_syscall_failed(long error);

void wmrt_syscall_exits(void)
{
	if (wmrt_is_active())
		wmrt_file_close(WMK_FLAG_LEFT);
}

long wmrt_syscall_failed(long error)
{
	errno = (int)-error;
	return -1;
}

__attribute__((weak)) void wmrt_before_syscall(long number, long first, long second, long third)
{
	(void)number, (void)first, (void)second, (void)third;
}

/* Leaves the stack as it was: what a call may do to it (clone) is between the caller and the kernel. */
static __attribute__((naked)) long own_syscall(long number, ...)
{
	__asm__("cmpq $157, %rdi\n\t" /* prctl */
		"je 4f\n\t"
		"cmpq $317, %rdi\n\t" /* seccomp */
		"je 4f\n\t"
		"cmpq $231, %rdi\n\t" /* exit_group */
		"jne 1f\n\t"
		"pushq %rdi\n\t"
		"pushq %rsi\n\t"
		"subq $8, %rsp\n\t"
		"callq wmrt_syscall_exits\n\t"
		"addq $8, %rsp\n\t"
		"popq %rsi\n\t"
		"popq %rdi\n"
		"1:\tmovq wmrt_syscall_next(%rip), %rax\n\t"
		"testq %rax, %rax\n\t"
		"je 2f\n\t"
		"jmpq *%rax\n"
		"2:\tmovq %rdi, %rax\n\t"
		"movq %rsi, %rdi\n\t"
		"movq %rdx, %rsi\n\t"
		"movq %rcx, %rdx\n\t"
		"movq %r8, %r10\n\t"
		"movq %r9, %r8\n\t"
		"movq 8(%rsp), %r9\n\t"
		"syscall\n\t"
		"cmpq $-4095, %rax\n\t"
		"jae 3f\n\t"
		"retq\n"
		"3:\tmovq %rax, %rdi\n\t"
		"jmp wmrt_syscall_failed\n"
		"4:\tpushq %rdi\n\t"
		"pushq %rsi\n\t"
		"pushq %rdx\n\t"
		"pushq %rcx\n\t"
		"pushq %r8\n\t"
		"pushq %r9\n\t"
		"subq $8, %rsp\n\t"
		"callq wmrt_before_syscall\n\t"
		"addq $8, %rsp\n\t"
		"popq %r9\n\t"
		"popq %r8\n\t"
		"popq %rcx\n\t"
		"popq %rdx\n\t"
		"popq %rsi\n\t"
		"popq %rdi\n\t"
		"jmp 1b");
}

WMRT_INTERPOSE(syscall, own_syscall);

static void leave_quickly(void)
{
	wmrt_file_close(WMK_FLAG_LEFT);
}

/* Handlers of quick_exit run in reverse order: ours, of the first constructor, comes last. */
void wmrt_leave_start(void)
{
	wmrt_next(&next_exit, "_exit", (void *)own_exit);
	wmrt_syscall_next = wmrt_next(&next_syscall, "syscall", (void *)own_syscall);
	at_quick_exit(leave_quickly);
}
