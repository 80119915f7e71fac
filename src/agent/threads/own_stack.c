/* own_stack.c - leaves an alternate signal stack for a call. What switches the stack is in entry.S. */
#include "agent/threads/own_stack.h"

#include "recorder/process.h"

void own_stack_call_from(bool is_on_alternate, void (*fn)(void *data), void *data)
{
	uint64_t mask;

	if (!is_on_alternate) {
		fn(data);
		return;
	}
	mask = wmrt_block_signals();
	own_stack_call(fn, data);
	wmrt_unblock_signals(mask);
}
