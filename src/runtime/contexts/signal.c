/*
 * signal.c - the program's signal handlers run inside of this one, so that what they do has a context of its own that stands on
 * [signal] and on what was pushed before (wmrt_signal_prefix).
 *
 *      interrupted:   | ... | top-1 | (top) |           a push may be half-way through writing the free entry:
 *      handler runs:  | ... | top-1 | (top) | [signal] | its pushes ...
 *                                      ^ left alone, unless a call of foreign code has put its push off: then it is there for the handler
 */
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/clients.h"
#include "recorder/handlers.h"
#include "runtime/contexts/stack.h"
#include "waymark/runtime.h"

static void note_alt_stack(const ucontext_t *context, uintptr_t frame)
{
	uintptr_t low = (uintptr_t)context->uc_stack.ss_sp;

	if (frame - low < context->uc_stack.ss_size) {
		wmrt_local.alt_low = low;
		wmrt_local.alt_high = low + context->uc_stack.ss_size;
	}
}

/* The top of what is interrupted, with the push that has been put off. Whoever is just pushing it writes the same. */
static struct wm1_entry *interrupted_top(const volatile struct wm1_thread *thread, struct wm1_entry *entry)
{
	struct wm1_entry *top = thread->top;
	struct wm1_entry *deferred;

	if (!thread->deferred_sp || wmrt_deferred_is_pushed(top, thread))
		return top;
	deferred = wmrt_entry_below(entry);
	if (wmrt_entry_is_slot(deferred)) /* there is no memory */
		return top;
	wmrt_write_deferred(deferred, thread);
	return deferred + 1;
}

/* id of its entry: top of what it interrupted. sp: stack pointer of that. Both are for jumps out of the handler
 * (jump.c). */
void wmrt_handle(int sig, siginfo_t *info, void *context)
{
	wmrt_handler_fn handler = wmrt_handler_of(sig, info, context);
	volatile struct wm1_thread *thread = &wm1_thread_state;
	struct wm1_entry *top = thread->top;
	uint64_t id = thread->id;
	uint64_t deferred_sp = thread->deferred_sp;
	uint32_t deferred_site = thread->deferred_site;
	uint32_t history = thread->history;
	volatile struct wm1_entry *entry;
	const ucontext_t *interrupted = context;
	uintptr_t outer;

	if (!handler)
		return;
	outer = wmrt_bus_open(__builtin_frame_address(0));
	entry = wmrt_entry_for_signal();
	note_alt_stack(interrupted, (uintptr_t)__builtin_frame_address(0));
	entry->id = (uintptr_t)interrupted_top(thread, (struct wm1_entry *)entry);
	entry->sp = (uint64_t)interrupted->uc_mcontext.gregs[REG_RSP];
	entry->site = 0;
	entry->run = 0;
	entry->below = 0;
	entry->prefix = WM_PREFIX_SIGNAL;
	thread->deferred_sp = 0;
	thread->top = (struct wm1_entry *)entry + 1;
	thread->id = 0;
	thread->history = WM1_HISTORY_NONE;
	handler(sig, info, context);
	wmrt_bus_close(outer);
	thread->top = top;
	thread->id = id;
	thread->history = history;
	thread->deferred_site = deferred_site;
	thread->deferred_sp = deferred_sp;
}

const struct wmrt_client wmrt_signals = {.start = wmrt_handlers_start};
const struct wmrt_client wmrt_faults = {.start = wmrt_bus_start};
