/*
 * check_caller.c - wm1_agent_check(), for tests: the program asks at a point of its own, so nothing depends on when a timer ticks.
 *
 *      int wm1_agent_check(void);      1: the caller's context agrees with its stack; 0: it differs; -1: it is not known
 *
 * A program declares it weak: without the agent it is NULL.
 */
#include <string.h>

#include "agent/program/program.h"
#include "agent/context/capture.h"
#include "agent/code/trampolines.h"
#include "agent/clients/check.h"
#include "agent/threads/lock.h"
#include "agent/threads/own_stack.h"
#include "recorder/process.h"

/* On the stack, as the code below pushes them. */
struct check_saved {
	uint64_t r15, r14, r13, r12, rbp, rbx;
	uint64_t return_address;
	uint64_t stack[]; /* of the caller, behind the call */
};

__asm__(".text\n"
	".globl wm1_agent_check\n"
	".type wm1_agent_check, @function\n"
	"wm1_agent_check:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %r12\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %r13\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %r14\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %r15\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov %rsp, %rdi\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call agent_check_here\n"
	"	add $56, %rsp\n"
	"	.cfi_adjust_cfa_offset -56\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size wm1_agent_check, . - wm1_agent_check\n");

int agent_check_here(const struct check_saved *saved) __attribute__((used, visibility("hidden")));

struct check_asked {
	const struct check_saved *saved;
	int answer;
};

static void check_locked(void *data)
{
	struct check_asked *asked = data;
	const struct check_saved *saved = asked->saved;
	struct capture_point point;
	struct agent_guard guard;
	struct unwind_regs regs;
	uint64_t checked, agreed;
	wm_context context;
	bool is_known;
	uint32_t site;

	memset(&regs, 0, sizeof regs);
	regs.pc = saved->return_address;
	regs.r[CFI_RSP] = (uintptr_t)saved->stack;
	regs.r[CFI_RBX] = saved->rbx;
	regs.r[CFI_RBP] = saved->rbp;
	regs.r[CFI_R12] = saved->r12;
	regs.r[CFI_R13] = saved->r13;
	regs.r[CFI_R14] = saved->r14;
	regs.r[CFI_R15] = saved->r15;
	regs.known = 1u << CFI_RSP | 1u << CFI_RBX | 1u << CFI_RBP | 1u << CFI_R12 | 1u << CFI_R13 | 1u << CFI_R14 |
		     1u << CFI_R15;
	agent_lock_at(&guard, &(struct lock_place){.regs = &regs});
	regs.pc = saved->return_address; /* an epoch may have moved the call to or from its trampoline meanwhile */
	checked = check_stats.checked;
	agreed = check_stats.agreed;
	is_known = capture_at(&regs, &context, &point);
	if (trampoline_find(regs.pc, &site)) /* as if the site itself had called */
		regs.pc = agent_site(site)->address + agent_site(site)->len_bytes;
	if (is_known)
		check_point(&regs, &point);
	checked = check_stats.checked - checked;
	agreed = check_stats.agreed - agreed;
	agent_unlock(&guard);
	asked->answer = checked ? (int)agreed : -1;
}

int agent_check_here(const struct check_saved *saved)
{
	struct check_asked asked = {saved, -1};

	wmrt_check_fork();
	own_stack_call_from(agent_thread.is_on_alternate, check_locked, &asked);
	return asked.answer;
}
