/*
 * stub_calls.c - what stubs call: a call that was not seen yet, a hooked function that was entered from an unknown place, the end of a call
 * that leaves entries, a thread without a context stack.
 *
 * The thread comes here from a site's thunk with everything saved, adds the call (context/discover.c), and goes on in the code that now
 * belongs to the call: so the very first call is counted, pushed and undone like any other.
 */
#include "agent/follow/stub_calls.h"

#include "agent/threads/lock.h"
#include "agent/threads/thread.h"
#include "agent/program/program.h"
#include "agent/threads/threads.h"
#include "agent/follow/seccomp.h"
#include "agent/patch/patch.h"
#include "agent/epoch/epoch.h"
#include "agent/context/discover.h"
#include "agent/os/state.h"
#include "agent/threads/entry.h"
#include "recorder/process.h"

enum {
	PLACE_TRIES = 10,
};

/* stub_entries.S */
extern const char agent_grow[], agent_discover_entry[], agent_returned_entry[], agent_entered_entry[];

const struct code_entries stub_calls_entries = {
	.grow = agent_grow,
	.discover = agent_discover_entry,
	.returned = agent_returned_entry,
	.entered = agent_entered_entry,
};

/* Called by stub_entries.S. */
bool agent_discover(struct agent_saved *saved);
void agent_entered(struct agent_saved *saved);
void agent_returned(struct agent_saved *saved);
void agent_begin_thread(void);

/* The thread's id says that it is not known how it came here: finds out. */
static void resolve_context(const struct unwind_regs *regs)
{
	if (!agent_thread.top || agent_id_is_foreign(agent_thread.id))
		discover_repair(regs);
}

static uintptr_t target_of(const struct agent_site *site, const struct agent_saved *saved)
{
	return agent_site_is_direct(site) ? agent_resolve(site->target) : saved->r11;
}

/* True: at a trampoline, which makes the call: without the return address. */
static bool go_on_at(const struct agent_site *site, uintptr_t pc, struct agent_saved *saved)
{
	saved->number = pc;
	return site->is_at_trampoline;
}

/* The call at the site, and code for it. NULL: that could not be written now. */
static struct agent_call *place(uint32_t number, const struct agent_saved *saved, struct unwind_regs *regs)
{
	const struct agent_site *site = agent_site(number);
	uintptr_t target = target_of(site, saved);
	struct agent_call *call;

	regs->pc = site->address;
	if (!agent_site_is_tail(site))
		resolve_context(regs);
	call = discover_call(number, target);
	epoch_retarget_returns(regs);
	if (!call)
		return NULL;
	/* The site's code is that of this call, too. */
	if (agent_site(number)->is_written && call->before)
		return call;
	return patch_site(number) ? call : NULL;
}

static bool go_on_as_program(const struct agent_site *site, struct agent_saved *saved)
{
	return go_on_at(site, site->is_at_trampoline ? site->trampoline : target_of(site, saved), saved);
}

/*
 * This thread holds the lock: libgcc's unwinder, or the loader, has called a function that the program has in place of the C library's. What
 * that calls is not looked at, and its own calls leave the thread's state as it was.
 */
static bool is_called_by_agent(void)
{
	return agent_thread.in_agent;
}

__attribute__((used)) bool agent_discover(struct agent_saved *saved)
{
	bool is_said = (uint32_t)saved->number != CODE_NO_NUMBER;
	bool has_return = !is_said || ((uint32_t)saved->number & PATCH_TAIL) == 0;
	uint32_t number = is_said ? (uint32_t)saved->number & ~PATCH_TAIL : agent_site_in_front_of(saved->stack[0]);
	struct agent_guard guard;
	struct agent_call *call;
	const struct agent_site *site;
	struct unwind_regs regs;
	struct lock_place where = {.regs = &regs, .pc_kind = THREAD_PC_SITE, .pc_number = number};
	bool ret;

	if (is_called_by_agent())
		return go_on_as_program(agent_site(number), saved);
	wmrt_check_fork();
	agent_saved_regs(saved, 0, (uintptr_t)&saved->stack[has_return], &regs);
	agent_lock_at(&guard, &where);
	if (!agent_is_on) {
		ret = go_on_as_program(agent_site(number), saved);
		agent_unlock_at_entry(&guard);
		return ret;
	}
	/* What is found while the agent is to leave would keep it from that, and be of no use. */
	call = agent_leaves() ? NULL : place(number, saved, &regs);
	/* A thread that waits for the lock may be where the code changes. */
	for (int i = 0; !call && !agent_leaves() && i < PLACE_TRIES; i++) {
		agent_lock_yield(&guard, &where);
		call = place(number, saved, &regs);
	}
	site = agent_site(number);
	if (call) {
		ret = go_on_at(site, call->before, saved);
	} else {
		/* Nothing can be written here now, or is to be. */
		ret = go_on_as_program(site, saved);
		agent_thread.id = AGENT_LOST_ID;
	}
	agent_unlock_at_entry(&guard);
	return ret;
}

/* A hooked function was entered with the id of foreign code, from a place that its hook does not know. */
__attribute__((used)) void agent_entered(struct agent_saved *saved)
{
	uint32_t function = (uint32_t)saved->number;
	struct agent_guard guard;
	struct unwind_regs regs;

	if (is_called_by_agent()) {
		saved->number = agent_function(function)->behind_hook;
		return;
	}
	wmrt_check_fork();
	agent_saved_regs(saved, 0, (uintptr_t)saved->stack, &regs);
	agent_lock_at(&guard,
		      &(struct lock_place){.regs = &regs, .pc_kind = THREAD_PC_FUNCTION, .pc_number = function});
	regs.pc = agent_function(function)->start;
	if (agent_is_on && !agent_leaves()) {
		resolve_context(&regs);
		discover_leave_caller(function, saved->stack[0]);
	}
	saved->number = agent_function(function)->behind_hook;
	agent_unlock_at_entry(&guard);
}

/* The entries that calls inside the site's left behind, and, where the site pushes, its own. */
static bool take_off(uint64_t frame_slot, uint64_t *ret_id)
{
	struct agent_thread *thread = &agent_thread;
	struct agent_entry *top = thread->top;
	bool is_found = false;

	while (top > thread->base + 1 && top[-1].frame_slot <= frame_slot) {
		top--;
		if (top->frame_slot == frame_slot) {
			*ret_id = top->id;
			is_found = true;
		}
	}
	if (is_found)
		thread->top = top;
	return is_found;
}

__attribute__((used)) void agent_returned(struct agent_saved *saved)
{
	/* The stub has pushed two registers, and the address behind the site. */
	uint64_t frame_slot = (uintptr_t)&saved->stack[1], id = 0;
	struct agent_guard guard;

	if (is_called_by_agent()) {
		if (take_off(frame_slot, &id))
			agent_thread.id = id;
		return;
	}
	wmrt_check_fork();
	agent_lock(&guard);
	if (take_off(frame_slot, &id)) {
		agent_thread.id = id;
	} else if (agent_leaves()) {
		agent_thread.id = AGENT_LOST_ID;
	} else if (agent_is_on) {
		struct unwind_regs regs;

		agent_saved_regs(saved, saved->stack[0], (uintptr_t)&saved->stack[3], &regs);
		discover_repair(&regs);
	}
	agent_unlock_at_entry(&guard);
}

__attribute__((used)) void agent_begin_thread(void)
{
	struct agent_guard guard;

	if (agent_is_seccomp_frozen) {
		seccomp_lend_stack();
		return;
	}
	if (is_called_by_agent()) {
		agent_thread_begin();
		return;
	}
	agent_lock_at(&guard, &(struct lock_place){.pc_kind = THREAD_PC_STUB});
	agent_thread_begin();
	agent_unlock_at_entry(&guard);
}
