/*
 * scan_live.c - what may be read behind a call before it is written.
 *
 * A walk over the instructions behind the call, which takes both ways at conditional jumps and stops when all is known or its steps
 * are used up: what is not known to be dead then is live.
 */
#include "agent/scan/scan_work.h"

enum {
	WALK_STEPS = 96,
	WALK_DEPTH = 6,
	CALLEE_SAVED = 0xf038, /* rbx rsp rbp r12 .. r15 */
	ARGUMENTS = 0x07c7,    /* those but r11: rax counts vector registers, r10 is the static chain */
	RETURNED = 0x0005,     /* rax rdx */
	ALL = 0xffff,
};

/* What one path has settled. */
struct settled {
	uint16_t regs, flags;
};

struct walk {
	struct scan_work *w;
	uint16_t clobbered; /* of the whole function */
	unsigned int steps;
	uint16_t regs_live, flags_live;
};

static void live(struct walk *walk, const struct settled *s, uint16_t regs, uint16_t flags)
{
	walk->regs_live |= (uint16_t)(regs & ~s->regs);
	walk->flags_live |= (uint16_t)(flags & ~s->flags);
}

/* What a caller that gets control again may read: it may know that this function leaves registers alone. */
static void live_at_return(struct walk *walk, const struct settled *s)
{
	live(walk, s, (uint16_t)(CALLEE_SAVED | RETURNED | (SCAN_CALLER_SAVED & ~walk->clobbered)), 0);
}

/* Another function is called, and the walk goes on behind it. */
static void over_call(struct walk *walk, const struct insn *insn, struct settled *s)
{
	uint64_t slot;

	live(walk, s, ARGUMENTS, 0);
	s->regs |= ARGUMENTS;
	s->flags = INSN_FLAGS_STATUS;
	if (insn->kind == INSN_CALL_INDIRECT || scan_is_plt(walk->w->image, insn->target, &slot))
		s->regs |= SCAN_CALLER_SAVED;
}

static void walk_from(struct walk *walk, size_t n, struct settled s, unsigned int depth);

/* True when the walk goes on with instruction *n. */
static bool step(struct walk *walk, size_t *n, struct settled *s, unsigned int depth)
{
	const struct insn *insn = &walk->w->insns[*n];
	size_t to;

	live(walk, s, insn->regs_read, insn->flags_read & INSN_FLAGS_STATUS);
	s->regs |= insn->regs_killed;
	s->flags |= insn->flags_written;
	switch (insn->kind) {
	case INSN_STOP:
		return false;
	case INSN_RETURN:
		live_at_return(walk, s);
		return false;
	case INSN_CALL_DIRECT:
	case INSN_CALL_INDIRECT:
		over_call(walk, insn, s);
		++*n;
		return true;
	case INSN_JUMP_DIRECT:
	case INSN_JUMP_CONDITIONAL:
		to = scan_find(walk->w, insn->target);
		if (to == SIZE_MAX) {
			struct settled there = *s;

			live(walk, &there, ARGUMENTS, 0);
			there.regs |= ARGUMENTS;
			live_at_return(walk, &there);
		}
		if (insn->kind == INSN_JUMP_CONDITIONAL) {
			if (to != SIZE_MAX)
				walk_from(walk, to, *s, depth + 1);
			++*n;
			return true;
		}
		*n = to;
		return to != SIZE_MAX;
	case INSN_JUMP_INDIRECT:
	case INSN_REFUSED:
		live(walk, s, ALL, INSN_FLAGS_STATUS);
		return false;
	default:
		++*n;
		return true;
	}
}

static void walk_from(struct walk *walk, size_t n, struct settled s, unsigned int depth)
{
	uint64_t behind = n < walk->w->insn_count ? walk->w->insns[n].address : 0;

	for (;;) {
		size_t at = n;

		if ((s.regs | walk->regs_live) == ALL &&
		    ((s.flags | walk->flags_live) & INSN_FLAGS_STATUS) == INSN_FLAGS_STATUS)
			return;
		/* The next part is no way to go on when this one ends. */
		if (walk->steps == 0 || depth > WALK_DEPTH || n >= walk->w->insn_count ||
		    walk->w->insns[n].address != behind) {
			live(walk, &s, ALL, INSN_FLAGS_STATUS);
			return;
		}
		walk->steps--;
		if (!step(walk, &n, &s, depth))
			return;
		behind = n == at + 1               ? walk->w->insns[at].address + walk->w->insns[at].len_bytes
			 : n < walk->w->insn_count ? walk->w->insns[n].address
						   : 0;
	}
}

void scan_add_liveness(struct scan_work *w, struct scan_function *f)
{
	for (size_t i = 0; i < f->site_count; i++) {
		struct scan_site *site = &f->sites[i];
		struct walk walk = {.w = w, .clobbered = f->regs_clobbered, .steps = WALK_STEPS};
		uint64_t slot;

		if (site->kind != SCAN_CALL && site->kind != SCAN_CALL_INDIRECT)
			continue;
		if (w->image->is_without_registers)
			walk.regs_live = ALL;
		walk_from(&walk, scan_find(w, site->address) + 1, (struct settled){0, 0}, 0);
		site->regs_live = walk.regs_live;
		site->flags_live = walk.flags_live;
		if (w->image->is_without_registers)
			continue;
		/* What another image's function, or any function, may have changed. */
		if (site->kind == SCAN_CALL_INDIRECT || scan_is_plt(w->image, site->target, &slot))
			site->regs_live &= (uint16_t)(CALLEE_SAVED | RETURNED);
	}
}
