/*
 * own_stack.h - the work of a signal handler on a stack that is not the interrupted thread's, which may be short of it.
 */
#ifndef WM_NATIVE_OWN_STACK_H
#define WM_NATIVE_OWN_STACK_H

#include <signal.h>
#include <ucontext.h>

#include "recorder/sys.h"

/* Calls fn(data) with the stack pointer at `top`. */
static inline void own_stack_call(void *top, void (*fn)(void *), void *data)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %0, %%rsp\n\t"
			 "callq *%1\n\t"
			 "movq %%rbx, %%rsp"
			 : "+a"(top), "+d"(fn), "+D"(data)
			 :
			 : "rbx", "rcx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2",
			   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
			   "xmm14", "xmm15");
}

/*
 * In a handler, before it takes that stack: else the kernel would take a handler of SIGBUS to the alternate stack, and begin at the top, where this
 * handler's own frame is. It puts the alternate stack back when the handler returns.
 */
static inline void own_stack_no_alternate(const ucontext_t *context)
{
	if (!(context->uc_stack.ss_flags & SS_DISABLE))
		wmrt_sys3(SYS_sigaltstack, (long)&(stack_t){.ss_flags = SS_DISABLE}, 0, 0);
}

#endif
