/* resume.c - where jumps over frames come down. */
#include "agent/follow/resume.h"

#include "native/libc_signals.h"
#include "agent/os/state.h"
#include "agent/context/discover.h"
#include "agent/threads/entry.h"
#include "agent/threads/lock.h"
#include "agent/program/program.h"
#include "agent/context/segment.h"
#include "agent/threads/thread.h"
#include "agent/threads/threads.h"

/* Bit 63 of agent_thread.landing: it follows a call. No address of the program has it. */
#define IS_RETURN ((uintptr_t)1 << 63)

enum {
	NOTE_BUFFER_BYTES = 64,
};

/* Called by resume_entries.S. */
void agent_landed(struct agent_saved *saved);

static struct thread_note *note_of(struct thread_record *record, const void *buffer)
{
	return &record->notes[(uintptr_t)buffer / NOTE_BUFFER_BYTES % THREAD_NOTES];
}

/*
 * A handler may run in the midst of this: one that notes, too, is not noted, and an epoch that begins in it makes this note one of the
 * epoch before.
 */
void resume_note(const void *buffer, uintptr_t pc, uintptr_t sp)
{
	volatile const struct agent_thread *thread = &agent_thread;
	struct thread_record *record = thread->record;
	struct thread_note *note;

	if (!record)
		return;
	note = note_of(record, buffer);
	note->buffer = NULL;
	if (record->is_noting || !agent_is_on || !thread->base || agent_id_is_foreign(thread->id))
		return;
	record->is_noting = true;
	atomic_signal_fence(memory_order_seq_cst);
	note->epoch = agent_epoch();
	atomic_signal_fence(memory_order_seq_cst);
	note->pc = pc;
	note->sp = sp;
	note->id = thread->id;
	note->top = thread->top;
	note->base = thread->base;
	atomic_signal_fence(memory_order_seq_cst);
	note->buffer = buffer;
	record->is_noting = false;
}

uintptr_t resume_at_buffer(uintptr_t pc, const void *buffer)
{
	uintptr_t ret = resume_at(pc, 1);

	if (agent_thread.record)
		agent_thread.record->landing_by = buffer;
	return ret;
}

/* Comes back to what was noted. An epoch may begin in a handler in the midst of this. */
static bool recall(const void *buffer, uintptr_t pc, uintptr_t sp)
{
	struct agent_thread *thread = &agent_thread;
	const struct thread_note *note = note_of(thread->record, buffer);

	if (!agent_is_on || note->buffer != buffer || note->pc != pc || note->sp != sp || note->base != thread->base ||
	    note->epoch != agent_epoch())
		return false;
	thread->top = note->top;
	thread->id = note->id;
	atomic_signal_fence(memory_order_seq_cst);
	return note->epoch == agent_epoch();
}

uintptr_t resume_at(uintptr_t pc, int is_return)
{
	if (agent_thread.record)
		agent_thread.record->landing_by = NULL;
	agent_thread.landing = pc | (is_return ? IS_RETURN : 0);
	return (uintptr_t)agent_land;
}

void resume(struct agent_saved *saved, uintptr_t pc, int is_return)
{
	struct agent_guard guard;
	struct unwind_regs regs;

	agent_thread.is_unwinding = false;
	saved->number = pc;
	agent_saved_regs(saved, pc, (uintptr_t)saved->stack, &regs);
	regs.is_return_address = is_return != 0;
	agent_lock(&guard);
	if (agent_is_on) {
		segment_enter_frame(&agent_thread, &regs);
		if (!discover_repair(&regs))
			agent_thread.id = AGENT_LOST_ID;
	}
	agent_unlock_at_entry(&guard);
}

/* A jump from an alternate stack has come down: entry_point.inc puts the mask of signals in force, with that of the agent's as it is there. */
static void resume_mask(void)
{
	struct agent_thread *thread = &agent_thread;

	if (!thread->has_late_mask)
		return;
	if (thread->has_landing_mask)
		thread->late_mask = thread->landing_mask | (thread->late_mask & TICK_MASK);
	thread->has_landing_mask = false;
	if (!agent_is_on || !thread->is_on_alternate)
		thread->late_mask &= ~TICK_MASK;
}

static void come_down(struct agent_saved *saved)
{
	uintptr_t landing = agent_thread.landing, pc = landing & ~IS_RETURN;
	const void *buffer = agent_thread.record ? agent_thread.record->landing_by : NULL;

	saved->number = pc;
	if (buffer && recall(buffer, pc, (uintptr_t)saved->stack))
		return;
	resume(saved, pc, (landing & IS_RETURN) != 0);
	/* The program may jump there again without another setjmp; where none was seen there may be others that are not seen. */
	if (buffer && note_of(agent_thread.record, buffer)->buffer == buffer)
		resume_note(buffer, pc, (uintptr_t)saved->stack);
}

__attribute__((used)) void agent_landed(struct agent_saved *saved)
{
	come_down(saved);
	resume_mask();
}
