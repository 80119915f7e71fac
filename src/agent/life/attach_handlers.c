/*
 * attach_handlers.c - finds the kernel's signal frames on a stack: a handler returns to code that is followed by no call, and its frame
 * of the kernel begins at that return address.
 */
#include "agent/life/attach_handlers.h"

#include <stdint.h>
#include <ucontext.h>

#include "agent/threads/segments.h"
#include "agent/threads/thread.h"
#include "waymark/abi.h"

void attach_handlers(const struct walk *w, struct agent_thread *thread)
{
	/* frames[i] is interrupted, frames[i - 1] is where the handler returns to, frames[i - 2] the handler's first. */
	for (size_t i = w->count; i-- > 2;) {
		struct agent_segment *left;
		uintptr_t root = w->frames[i - 2].slot;
		const ucontext_t *interrupted;

		if (!w->frames[i].is_interrupted || !root)
			continue;
		/* struct rt_sigframe: the return address, then the context. */
		interrupted = (const ucontext_t *)(root + sizeof root); /* NOLINT(performance-no-int-to-ptr) */
		left = segments_begin_handler(thread, interrupted, agent_epoch(), WM_PREFIX_SIGNAL, root);
		thread->is_on_alternate = root - (uintptr_t)interrupted->uc_stack.ss_sp < interrupted->uc_stack.ss_size;
		left->pc = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
		left->id = AGENT_LOST_ID;
		left->epoch = 0;
		left->predates_attach = true;
	}
}
