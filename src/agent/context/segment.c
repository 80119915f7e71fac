/* segment.c - segments of native stacks: what is kept of those that do not run, and which one a frame is in. */
#include "agent/context/segment.h"

#include "agent/context/coroutine_stacks.h"
#include "agent/threads/segments.h"
#include "agent/os/state.h"
#include "agent/context/capture.h"
#include "agent/context/discover.h"
#include "agent/threads/lock.h"
#include "agent/threads/own_stack.h"
#include "agent/program/program.h"
#include "agent/program/record.h"
#include "agent/context/walk.h"
#include "recorder/prefix_table.h"
#include "waymark/abi.h"

/* Under the agent's lock. */
static struct walk walk;

/* data: the registers of where it goes on. */
static void repair(void *data)
{
	struct agent_guard guard;

	agent_lock(&guard);
	if (!discover_repair(data))
		agent_thread.id = AGENT_LOST_ID;
	agent_unlock(&guard);
}

void segment_return(const struct agent_segment *left, struct unwind_regs *regs)
{
	bool was_on_alternate = agent_thread.is_on_alternate;

	segments_put_back(&agent_thread, left);
	if (left->epoch != agent_epoch() && left->top && agent_is_on)
		own_stack_call_from(was_on_alternate, repair, regs);
}

/* The context at what a handler interrupted, as a prefix. WM_PREFIX_LOST: it is not known. */
static uint32_t prefix_of_interrupted(const struct agent_segment *s)
{
	const ucontext_t *interrupted = s->interrupted;
	struct unwind_regs regs;
	wm_context context;

	if (!interrupted || s->epoch != agent_epoch())
		return WM_PREFIX_LOST;
	unwind_regs_of_signal(interrupted, &regs);
	/* The handler has sent it elsewhere. */
	if (!s->is_in_stub && (regs.pc != s->pc || regs.r[CFI_RSP] != s->sp))
		return WM_PREFIX_LOST;
	regs.pc = s->pc;
	regs.r[CFI_RSP] = s->sp;
	segment_leave_gone(&regs);
	if (!capture_interrupted(&regs, &context))
		return WM_PREFIX_LOST;
	return wmrt_intern(context.prefix, context.epoch, context.id, context.site, 1);
}

void segment_find_interrupted(void)
{
	const struct agent_segment *outer = agent_thread.outer;
	struct agent_segment here;
	uint32_t prefix;

	if (!agent_thread.base || agent_thread.base->prefix)
		return;
	agent_thread.base->prefix = WM_PREFIX_SIGNAL;
	if (!outer)
		return;
	segments_leave(NULL, agent_epoch(), &here);
	segments_put_back(&agent_thread, outer);
	prefix = prefix_of_interrupted(outer);
	segments_put_back(&agent_thread, &here);
	if (prefix != WM_PREFIX_LOST)
		prefix = wmrt_intern(prefix, WM_EPOCH_COMPILED, 0, WM_SITE_SIGNAL, 1);
	if (prefix != WM_PREFIX_LOST)
		agent_thread.base->prefix = prefix;
	prefix = record_root(agent_thread.base->prefix, outer->handler);
	if (prefix != agent_thread.base->prefix) {
		agent_thread.base->below = agent_thread.base->prefix;
		agent_thread.base->prefix = prefix;
	}
}

bool segment_is_between(const struct agent_thread *thread)
{
	for (const struct agent_segment *s = thread->outer; s; s = s->outer) {
		const struct unwind_regs regs = {.pc = segments_interrupted_at(s)};

		if (s->is_in_stub)
			return false;
		if (regs.pc && (!capture_is_between(&regs) || agent_image_is_own(agent_image_at(regs.pc), regs.pc)))
			return false;
	}
	return true;
}

static bool is_in(uintptr_t root)
{
	for (size_t i = 0; i < walk.count; i++)
		if (walk.frames[i].slot == root)
			return true;
	return false;
}

void segment_leave_gone(const struct unwind_regs *regs)
{
	const struct agent_segment *outer = agent_thread.outer;

	if (!(outer && outer->predates_attach) && !coroutine_is_adopted(agent_thread.base))
		return;
	/* In a stub the stack cannot be walked, and the stub may be about to write what this would change. */
	if (capture_is_between(regs) && walk_stack(&walk, regs, &agent_thread) && walk.is_whole)
		segment_enter_frame(&agent_thread, regs);
}

void segment_enter_frame(struct agent_thread *thread, const struct unwind_regs *regs)
{
	struct agent_entry *base;
	uintptr_t root;

	if (!walk_stack(&walk, regs, thread) || (thread->root && is_in(thread->root)))
		return;
	for (const struct agent_segment *s = thread->outer; s; s = s->outer) {
		if (s->root && !is_in(s->root) && s->outer)
			continue;
		if (s->root && !is_in(s->root))
			break;
		segments_put_back(thread, s);
		return;
	}
	/* Not of this handler or coroutine: another coroutine's, or the thread's first. */
	if (walk.count > 1 && coroutine_is_end(walk.frames[walk.count - 1].pc)) {
		root = walk.frames[walk.count - 2].slot;
		base = coroutine_adopt(root);
		if (base)
			segments_begin(thread, base, root, NULL);
	} else if (coroutine_find(regs->r[CFI_RSP], &base, &root)) {
		segments_begin(thread, base, root, NULL);
	} else if (thread->root && thread->first) {
		segments_begin(thread, thread->first, 0, NULL);
	}
}
