/*
 * crash_cause_stack.c - stack overflow: the fault is near the stack pointer and below the memory that the outer frames lie in, and
 * nothing that can be written is between. A recursion is named by its cycle, the function first that it was entered by.
 */
#include <inttypes.h>
#include <string.h>

#include "base/number_text.h"
#include "base/text.h"
#include "model/crash/crash_cause_build.h"

enum {
	BELOW_MAX = 1 << 16, /* bytes below the stack pointer: a call, the red zone, probes */
	OUTER_FRAMES = 3,    /* that are looked at for the stack's memory */
	PERIOD_MAX = 8,      /* functions of a cycle */
	CYCLE_MIN = 16,      /* frames of one */
	RSP = 7,
};

/* The memory of the stack that the outer frames lie in. */
static bool find_stack(const struct cause *q, struct snapshot_region *ret)
{
	const struct snapshot_thread *m = q->t->machine;

	for (uint32_t i = 0; i < m->frame_count && i < OUTER_FRAMES; i++)
		if (m->frames[i].has_cfa && snapshot_region_at(q->s, m->frames[i].cfa, ret) && ret->is_told &&
		    ret->is_writable)
			return true;
	return false;
}

static bool can_be_written(const struct cause *q, uint64_t address)
{
	struct snapshot_region region;

	return snapshot_region_at(q->s, address, &region) && (!region.is_told || region.is_writable);
}

static bool is_same(const struct crash_frame *a, const struct crash_frame *b)
{
	return a->function && text_equal(a->function, b->function);
}

/* The longest run of frames that says the same again after a period; *ret_end: behind its outermost frame. Returns its frames. */
static uint32_t find_cycle(const struct crash_thread *t, uint32_t *ret_period, uint32_t *ret_end)
{
	uint32_t most = 0;

	for (uint32_t period = 1; period <= PERIOD_MAX; period++) {
		for (uint32_t i = period, run = 0; i < t->frame_count; i++) {
			run = is_same(&t->frames[i], &t->frames[i - period]) ? run + 1 : 0;
			if (run > most) {
				most = run;
				*ret_period = period;
				*ret_end = i + 1;
			}
		}
	}
	return most;
}

static void say_cycle(struct cause *q, uint32_t period, uint32_t end)
{
	char digits[DIGITS_MAX];
	const char *names = NULL;

	for (uint32_t i = 0; i < period; i++) {
		const char *name = cause_name(q, &q->t->frames[end - 1 - i]);

		names = names ? arena_printf(q->arena, "%s > %s", names, name) : name;
		if (!names)
			break;
	}
	cause_say(q, "stack overflow in the %s %s (%s frames)", period > 1 ? "cycle" : "recursion of",
		  names ? names : "?", digits_grouped(q->t->frame_count, digits));
}

/* The frame that needs most of the stack. */
static void say_largest(struct cause *q)
{
	const struct snapshot_thread *m = q->t->machine;
	char count[DIGITS_MAX], bytes[DIGITS_MAX];
	uint64_t most = 0;
	uint32_t largest = 0;

	for (uint32_t i = 0; i < m->frame_count; i++) {
		const struct snapshot_frame *f = &m->frames[i];

		if (!f->has_cfa || !(f->known & 1u << RSP) || f->cfa - f->registers[RSP] <= most)
			continue;
		most = f->cfa - f->registers[RSP];
		largest = i;
	}
	cause_say(q, "stack overflow at %s frames; that of %s has %s bytes", digits_grouped(q->t->frame_count, count),
		  cause_name(q, cause_frame(q, largest)), digits_grouped(most, bytes));
}

bool cause_is_overflow(struct cause *q)
{
	const struct snapshot_frame *frame = &q->t->machine->frames[0];
	uint64_t address = q->s->fault_address, sp = frame->registers[RSP];
	uint32_t period = 0, end = 0;
	struct snapshot_region stack;

	if (!q->s->has_fault_address || !(frame->known & 1u << RSP) || !find_stack(q, &stack))
		return false;
	if (address >= stack.start || address < sp - BELOW_MAX || can_be_written(q, address) ||
	    can_be_written(q, stack.start - 1) || sp >= stack.end)
		return false;
	if (find_cycle(q->t, &period, &end) >= CYCLE_MIN)
		say_cycle(q, period, end);
	else
		say_largest(q);
	return true;
}
