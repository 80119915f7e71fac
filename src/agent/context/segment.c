/* segment.c - segments of native stacks: what is kept of those that do not run, and which one a frame is in. */
#include "agent/context/segment.h"

#include "agent/os/state.h"
#include "agent/context/capture.h"
#include "agent/code/cells.h"
#include "agent/follow/coroutine.h"
#include "agent/context/discover.h"
#include "agent/threads/lock.h"
#include "agent/threads/own_stack.h"
#include "agent/program/program.h"
#include "agent/program/record.h"
#include "agent/context/walk.h"
#include "recorder/prefix_table.h"
#include "waymark/abi.h"

enum {
	KEPT_ENTRIES = (sizeof(struct agent_segment) + sizeof(struct agent_entry) - 1) / sizeof(struct agent_entry),
};

/* Under the agent's lock. */
static struct walk walk;

static void leave(const volatile struct agent_thread *thread, const void *interrupted, struct agent_segment *ret)
{
	*ret = (struct agent_segment){.id = thread->id,
				      .top = thread->top,
				      .base = thread->base,
				      .root = thread->root,
				      .landing = thread->landing,
				      .outer = thread->outer,
				      .is_on_alternate = thread->is_on_alternate,
				      .interrupted = interrupted,
				      .epoch = agent_epoch()};
}

void segment_leave(const void *interrupted, struct agent_segment *ret)
{
	leave(&agent_thread, interrupted, ret);
}

/* In this order a handler that interrupts it finds a state of the old segment or of the new one, with room above it. */
static void begin(volatile struct agent_thread *thread, struct agent_entry *base, uintptr_t root,
		  const struct agent_segment *outer)
{
	thread->top = base + 1;
	thread->base = base;
	thread->root = root;
	thread->outer = outer;
	thread->id = AGENT_FOREIGN_ID;
}

struct agent_segment *segment_begin_handler(struct agent_thread *thread, const void *interrupted, uint32_t prefix,
					    uintptr_t root)
{
	struct agent_segment left, *kept;
	struct agent_entry *base;

	leave(thread, interrupted, &left);
	/* A push that was interrupted may be writing the free entry. */
	kept = (struct agent_segment *)((left.top ? left.top : left.base + 1) + 1);
	base = (struct agent_entry *)kept + KEPT_ENTRIES;
	/* First of all, so that a handler that comes now takes room above. */
	((volatile struct agent_thread *)thread)->top = base + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*kept = left;
	*base = (struct agent_entry){.key = UINT64_MAX, .prefix = prefix};
	begin(thread, base, root, kept);
	return kept;
}

void segment_begin_stack(struct agent_entry *base, uintptr_t root)
{
	begin(&agent_thread, base, root, NULL);
}

static void put_back(volatile struct agent_thread *thread, const struct agent_segment *left)
{
	thread->root = left->root;
	thread->outer = left->outer;
	thread->landing = left->landing;
	thread->is_on_alternate = left->is_on_alternate;
	thread->base = left->base;
	thread->id = left->id;
	thread->top = left->top;
}

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

	put_back(&agent_thread, left);
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
	segment_leave(NULL, &here);
	put_back(&agent_thread, outer);
	prefix = prefix_of_interrupted(outer);
	put_back(&agent_thread, &here);
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
		const struct agent_image *image;
		struct unwind_regs regs;
		uint32_t site;

		if (s->is_in_stub)
			return false;
		if (!s->interrupted)
			continue;
		unwind_regs_of_signal(s->interrupted, &regs);
		image = agent_image_at(regs.pc);
		if (!capture_is_between(&regs) ||
		    (image && image->kind == AGENT_IMAGE_OWN && !cells_find(regs.pc, &site)))
			return false;
	}
	return true;
}

bool segment_is_held(const struct agent_thread *thread, uintptr_t at, size_t len)
{
	for (const struct agent_segment *s = thread->outer; s; s = s->outer) {
		const ucontext_t *interrupted = s->interrupted;
		uintptr_t pc = interrupted ? (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP] : 0;

		if (pc > at && pc < at + len && !s->is_in_stub)
			return true;
	}
	return false;
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

	if (!(outer && outer->is_left_alone) && !coroutine_is_adopted(agent_thread.base))
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
		put_back(thread, s);
		return;
	}
	/* Not of this handler or coroutine: another coroutine's, or the thread's first. */
	if (walk.count > 1 && coroutine_is_end(walk.frames[walk.count - 1].pc)) {
		root = walk.frames[walk.count - 2].slot;
		base = coroutine_adopt(root);
		if (base)
			begin(thread, base, root, NULL);
	} else if (coroutine_find(regs->r[CFI_RSP], &base, &root)) {
		begin(thread, base, root, NULL);
	} else if (thread->root && thread->first) {
		begin(thread, thread->first, 0, NULL);
	}
}
