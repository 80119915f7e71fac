/* segments.c - what is kept of a segment, and in which order the state of the thread changes. */
#include "agent/threads/segments.h"

#include <ucontext.h>

enum {
	KEPT_ENTRIES = (sizeof(struct agent_segment) + sizeof(struct agent_entry) - 1) / sizeof(struct agent_entry),
};

static void leave(const volatile struct agent_thread *thread, const void *interrupted, uint32_t epoch,
		  struct agent_segment *ret)
{
	*ret = (struct agent_segment){.id = thread->id,
				      .top = thread->top,
				      .base = thread->base,
				      .root = thread->root,
				      .landing = thread->landing,
				      .outer = thread->outer,
				      .is_on_alternate = thread->is_on_alternate,
				      .interrupted = interrupted,
				      .epoch = epoch};
}

void segments_leave(const void *interrupted, uint32_t epoch, struct agent_segment *ret)
{
	leave(&agent_thread, interrupted, epoch, ret);
}

/* In this order a handler that interrupts it finds a state of the old segment or of the new one, with room above it. */
void segments_begin(volatile struct agent_thread *thread, struct agent_entry *base, uintptr_t root,
		    const struct agent_segment *outer)
{
	thread->top = base + 1;
	thread->base = base;
	thread->root = root;
	thread->outer = outer;
	thread->id = AGENT_FOREIGN_ID;
}

struct agent_segment *segments_begin_handler(struct agent_thread *thread, const void *interrupted, uint32_t epoch,
					     uint32_t prefix, uintptr_t root)
{
	struct agent_segment left, *kept;
	struct agent_entry *base;

	leave(thread, interrupted, epoch, &left);
	/* A push that was interrupted may be writing the free entry. */
	kept = (struct agent_segment *)((left.top ? left.top : left.base + 1) + 1);
	base = (struct agent_entry *)kept + KEPT_ENTRIES;
	/* First of all, so that a handler that comes now takes room above. */
	((volatile struct agent_thread *)thread)->top = base + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*kept = left;
	*base = (struct agent_entry){.frame_slot = UINT64_MAX, .prefix = prefix};
	segments_begin(thread, base, root, kept);
	return kept;
}

void segments_put_back(volatile struct agent_thread *thread, const struct agent_segment *left)
{
	thread->root = left->root;
	thread->outer = left->outer;
	thread->landing = left->landing;
	thread->is_on_alternate = left->is_on_alternate;
	thread->base = left->base;
	thread->id = left->id;
	thread->top = left->top;
}

uintptr_t segments_interrupted_at(const struct agent_segment *s)
{
	const ucontext_t *interrupted = s->interrupted;

	/* It may have returned by now, and its stack be gone. */
	if (s->predates_attach)
		return s->pc;
	return interrupted ? (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP] : 0;
}

bool segments_are_held(const struct agent_thread *thread, uintptr_t at, size_t len)
{
	for (const struct agent_segment *s = thread->outer; s; s = s->outer) {
		uintptr_t pc = segments_interrupted_at(s);

		if (pc > at && pc < at + len && !s->is_in_stub)
			return true;
	}
	return false;
}
