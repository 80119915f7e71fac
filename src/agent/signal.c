/*
 * signal.c - the program's signal handlers run inside of this one: what they do has a context of its own that starts with [signal],
 * and what they interrupted goes on with the context it had, also in the midst of a stub.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <ucontext.h>

#include "agent/discover.h"
#include "agent/lock.h"
#include "agent/program.h"
#include "agent/segment.h"
#include "recorder/handlers.h"
#include "waymark/abi.h"

/* Handlers whose entry knows where it is called from. */
static _Atomic(uintptr_t) hooked[NSIG];

/* A handler that was interrupted itself may be where its hook would be written. */
static void hook(int sig, uintptr_t handler, uintptr_t interrupted)
{
	struct agent_guard guard;
	uint32_t function;

	if (atomic_load_explicit(&hooked[sig], memory_order_relaxed) == handler)
		return;
	agent_lock(&guard);
	function = agent_function_at(handler);
	if (function != AGENT_NONE && agent_function_at(interrupted) != function) {
		discover_entry(handler);
		atomic_store_explicit(&hooked[sig], handler, memory_order_relaxed);
	}
	agent_unlock(&guard);
}

void wmrt_handle(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;
	wmrt_handler_fn handler = wmrt_handler_of(sig);
	struct agent_segment *left;
	struct unwind_regs regs;
	greg_t pc, sp;

	if (!agent_is_on || agent_thread.in_agent || (!agent_thread.base && !agent_thread_begin())) {
		handler(sig, info, context);
		return;
	}
	left = segment_begin_handler(context, WM_PREFIX_SIGNAL,
				     (uintptr_t)__builtin_frame_address(0) + sizeof(uintptr_t));
	agent_thread.is_on_alternate = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)interrupted->uc_stack.ss_sp <
				       interrupted->uc_stack.ss_size;
	hook(sig, (uintptr_t)handler, (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP]);
	pc = interrupted->uc_mcontext.gregs[REG_RIP];
	sp = interrupted->uc_mcontext.gregs[REG_RSP];
	handler(sig, info, context);
	/* A handler may send what it interrupted elsewhere. */
	if (interrupted->uc_mcontext.gregs[REG_RIP] != pc || interrupted->uc_mcontext.gregs[REG_RSP] != sp)
		left->epoch = 0;
	unwind_regs_of_signal(context, &regs);
	segment_return(left, &regs);
}
