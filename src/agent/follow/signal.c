/*
 * signal.c - the program's signal handlers run inside of this one: what they do has a context of its own that stands on [signal] and, once
 * something is captured there, on what they interrupted (segment_find_interrupted); and what they interrupted goes on with the context it had,
 * also in the midst of a stub.
 *
 * A handler finds in its ucontext where the program is, never a stub: backtrace(), unwinders and profilers see all frames then. When it
 * returns and has not sent the program elsewhere, the stub goes on.
 *
 * An alternate stack may have room for one frame of the kernel's and little more. What the agent does there needs less than 2 KB: the rest
 * is done on its own stack, and its own signal waits until the handler has returned.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <ucontext.h>

#include "agent/threads/segments.h"
#include "agent/os/state.h"
#include "agent/context/discover.h"
#include "agent/threads/lock.h"
#include "agent/threads/own_stack.h"
#include "agent/patch/place.h"
#include "agent/program/program.h"
#include "native/restart.h"
#include "agent/context/segment.h"
#include "agent/follow/signal.h"
#include "recorder/handlers.h"
#include "recorder/sys.h"
#include "waymark/abi.h"

enum {
	MAX_WAITING = 8,
	ROOMY_BYTES = 64 << 10, /* an alternate stack that the agent's signal may come on */
};

/* Handlers whose entry knows where it is called from. */
static _Atomic(uintptr_t) hooked[NSIG];

/* Registers of a ucontext that stand for others meanwhile. */
struct shown {
	ucontext_t *context;
	struct place is, was;
	bool is_changed, is_stub;
};

static struct place place_in(const ucontext_t *c)
{
	return (struct place){(uintptr_t)c->uc_mcontext.gregs[REG_RIP], (uintptr_t)c->uc_mcontext.gregs[REG_RSP]};
}

static void set_place(ucontext_t *c, struct place place)
{
	c->uc_mcontext.gregs[REG_RIP] = (greg_t)place.pc;
	c->uc_mcontext.gregs[REG_RSP] = (greg_t)place.sp;
}

static bool is_shown(const struct shown *s)
{
	struct place now = place_in(s->context);

	return now.pc == s->is.pc && now.sp == s->is.sp;
}

static void find_place(void *data)
{
	struct shown *s = data;
	struct agent_guard guard;

	agent_lock(&guard);
	s->is_changed = place_find(s->was.pc, s->was.sp, &s->is);
	agent_unlock(&guard);
}

static void show(struct shown *s, ucontext_t *context)
{
	s->context = context;
	s->is = s->was = place_in(context);
	s->is_changed = s->is_stub = false;
	if (!place_is_stub(s->was.pc))
		return;
	s->is_stub = true;
	atomic_fetch_add(&agent_stubs_held, 1);
	own_stack_call_from(agent_thread.is_on_alternate, find_place, s);
	if (s->is_changed)
		set_place(context, s->is);
}

/* This signal's, and those of signals that came with it and wait for this handler to end: their handlers have not begun. */
static uint32_t show_all(struct shown shown[MAX_WAITING], ucontext_t *context)
{
	uint32_t count = 0;

	do {
		show(&shown[count++], context);
		if (place_in(context).pc != (uintptr_t)wmrt_handle)
			break;
		context = (ucontext_t *)context->uc_mcontext.gregs[REG_RDX]; /* NOLINT(performance-no-int-to-ptr) */
	} while (count < MAX_WAITING);
	return count;
}

static void put_back(const struct shown *shown, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (shown[i].is_changed && is_shown(&shown[i]))
			set_place(shown[i].context, shown[i].was);
}

/* What comes now is the agent's own code, and the stub. */
static void let_go(const struct shown *shown, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (shown[i].is_stub)
			atomic_fetch_sub(&agent_stubs_held, 1);
}

struct hooking {
	int sig;
	uintptr_t handler, interrupted;
};

/* A handler that was interrupted itself may be where its hook would be written. */
static void hook(void *data)
{
	const struct hooking *h = data;
	struct agent_guard guard;
	uint32_t function;

	agent_lock(&guard);
	function = agent_function_at(h->handler);
	if (function != AGENT_NONE && agent_function_at(h->interrupted) != function) {
		discover_entry(h->handler);
		atomic_store_explicit(&hooked[h->sig], h->handler, memory_order_relaxed);
	}
	agent_unlock(&guard);
}

static void hook_once(int sig, uintptr_t handler, uintptr_t interrupted)
{
	struct hooking h = {sig, handler, interrupted};

	if (atomic_load_explicit(&hooked[sig], memory_order_relaxed) != handler)
		own_stack_call_from(agent_thread.is_on_alternate, hook, &h);
}

/* Where there is room the handler is sampled, too. */
static void unblock(int sig, const ucontext_t *interrupted)
{
	uint64_t blocked = wmrt_handler_blocks(sig) & ~interrupted->uc_sigmask.__val[0];

	if (blocked && !(agent_thread.is_on_alternate && interrupted->uc_stack.ss_size < ROOMY_BYTES))
		wmrt_sys6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&blocked, 0, sizeof blocked, 0, 0);
}

void signal_forget(uintptr_t low, uintptr_t high)
{
	for (int sig = 0; sig < NSIG; sig++)
		if (hooked[sig] >= low && hooked[sig] < high)
			atomic_store_explicit(&hooked[sig], 0, memory_order_relaxed);
}

void wmrt_handle(int sig, siginfo_t *info, void *context)
{
	wmrt_handler_fn handler = wmrt_handler_of(sig, info, context);
	ucontext_t *interrupted = context;
	struct shown shown[MAX_WAITING];
	struct agent_segment *left;
	uintptr_t outer;
	struct unwind_regs regs;
	uint32_t count;

	if (!handler)
		return;
	if (!agent_is_on || agent_thread.in_agent || (!agent_thread.base && !agent_thread_begin())) {
		handler(sig, info, context);
		return;
	}
	outer = wmrt_bus_open(__builtin_frame_address(0));
	left = segments_begin_handler(&agent_thread, context, agent_epoch(), WM_PREFIX_NONE,
				      (uintptr_t)__builtin_frame_address(0) + sizeof(uintptr_t));
	agent_thread.is_on_alternate = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)interrupted->uc_stack.ss_sp <
				       interrupted->uc_stack.ss_size;
	/* Before the registers say otherwise. */
	left->is_in_stub = place_is_stub(place_in(interrupted).pc);
	left->handler = (uintptr_t)handler;
	left->pc = place_in(interrupted).pc;
	left->sp = place_in(interrupted).sp;
	count = show_all(shown, interrupted);
	hook_once(sig, (uintptr_t)handler, shown[0].is.pc);
	unblock(sig, interrupted);
	handler(sig, info, context);
	wmrt_bus_close(outer);
	/* A handler may send what it interrupted elsewhere. */
	if (!is_shown(&shown[0]))
		left->epoch = 0;
	put_back(shown, count);
	restart_not(context);
	unwind_regs_of_signal(context, &regs);
	segment_return(left, &regs);
	let_go(shown, count);
}
