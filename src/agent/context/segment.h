/*
 * segment.h - leaves a stretch of native stack with its context, and comes back to it (segments.h has the picture).
 *
 * The context of what runs in a segment stands on its base alone. What is left stays as it is, and is put back exactly; when the
 * encoding has changed meanwhile it is computed again from its frames.
 */
#ifndef WM_AGENT_SEGMENT_H
#define WM_AGENT_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/threads/thread.h"
#include "native/unwind/unwind.h"

/* Back in what was left. regs: where it goes on; of calls of the agent's, the caller. Not under the agent's lock. */
void segment_return(const struct agent_segment *left, struct unwind_regs *regs);
/*
 * The prefix of the handler that this thread runs, where it was not needed yet: [signal] on the context that the handler interrupted, or
 * [signal] alone where that is not known. Under the agent's lock.
 */
void segment_find_interrupted(void);
/* Of what handlers of the thread have interrupted everything is in program code: no stub is half-way done. Under the agent's lock. */
bool segment_is_between(const struct agent_thread *thread);
/* A handler or coroutine from before the agent was attached goes away without the agent: it has done so, if the frame with these
 * registers is not inside of it. Then the segment outside is the running one, with a context that is not known. Under the agent's
 * lock. */
void segment_leave_gone(const struct unwind_regs *regs);
/* The segment that the thread's frame with these registers is in becomes its running one: jumps leave others. The thread is this one, or
 * is stopped. Under the agent's lock. */
void segment_enter_frame(struct agent_thread *thread, const struct unwind_regs *regs);

/* The registers of the function that this is inlined in. */
static inline __attribute__((always_inline)) void segment_regs_here(struct unwind_regs *ret)
{
	uint64_t *r = ret->r;

	__builtin_memset(ret, 0, sizeof *ret);
	__asm__ volatile("leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, %0\n\t"
			 "movq %%rbx, %1\n\t"
			 "movq %%rbp, %2\n\t"
			 "movq %%rsp, %3\n\t"
			 "movq %%r12, %4\n\t"
			 "movq %%r13, %5\n\t"
			 "movq %%r14, %6\n\t"
			 "movq %%r15, %7"
			 : "=m"(ret->pc), "=m"(r[CFI_RBX]), "=m"(r[CFI_RBP]), "=m"(r[CFI_RSP]), "=m"(r[CFI_R12]),
			   "=m"(r[CFI_R13]), "=m"(r[CFI_R14]), "=m"(r[CFI_R15])
			 :
			 : "rax");
	ret->known = 1u << CFI_RBX | 1u << CFI_RBP | 1u << CFI_RSP | 1u << CFI_R12 | 1u << CFI_R13 | 1u << CFI_R14 |
		     1u << CFI_R15;
}

#endif
