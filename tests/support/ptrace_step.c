/* ptrace_step.c - the breakpoint is written through /proc/PID/mem, which asks for no rights of the page, and is gone at every stop. */
#include "support/ptrace_step.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/instruction.h"
#include "support/next_instruction.h"

static pid_t pid;
static int memory = -1;

void ptrace_step_begin(pid_t process)
{
	char path[64];

	if (memory >= 0)
		close(memory);
	pid = process;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	memory = open(path, O_RDWR | O_CLOEXEC);
}

static bool read_memory(uint64_t address, void *to, size_t len_bytes)
{
	return pread(memory, to, len_bytes, (off_t)address) == (ssize_t)len_bytes;
}

static bool find_next(const struct user_regs_struct *regs, uint64_t *ret)
{
	const struct next_state state = {regs->rip,
					 regs->eflags,
					 {regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi, regs->rbp,
					  regs->rsp, regs->r8, regs->r9, regs->r10, regs->r11, regs->r12, regs->r13,
					  regs->r14, regs->r15}};
	uint8_t code[INSTRUCTION_BYTES_MAX];
	ssize_t got = pread(memory, code, sizeof code, (off_t)regs->rip);

	return got > 0 && next_instruction(&state, code, (size_t)got, read_memory, ret);
}

/* Lets it go on, and waits until it stops. */
static bool resume(enum __ptrace_request request, int sig, struct user_regs_struct *regs, int *ret_status)
{
	if (ptrace(request, pid, NULL, (void *)(intptr_t)sig)) /* NOLINT(performance-no-int-to-ptr) */
		return false;
	while (waitpid(pid, ret_status, __WALL) != pid)
		if (errno != EINTR)
			return false;
	return !WIFSTOPPED(*ret_status) || !ptrace(PTRACE_GETREGS, pid, NULL, regs);
}

bool ptrace_step(int sig, struct user_regs_struct *regs, int *ret_status)
{
	const uint8_t breakpoint = NEXT_BREAKPOINT;
	uint8_t kept;
	uint64_t next;

	/* An instruction that leads to itself would not come out of its breakpoint. */
	if (sig || !find_next(regs, &next) || next == regs->rip || !read_memory(next, &kept, 1) ||
	    pwrite(memory, &breakpoint, 1, (off_t)next) != 1)
		return resume(PTRACE_SINGLESTEP, sig, regs, ret_status);
	if (!resume(PTRACE_CONT, 0, regs, ret_status))
		return false;
	if (!WIFSTOPPED(*ret_status))
		return true;
	if (pwrite(memory, &kept, 1, (off_t)next) != 1)
		return false;
	if (*ret_status >> 8 != SIGTRAP || regs->rip != next + 1)
		return true;
	regs->rip = next;
	return !ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.rip), next);
}
