/*
 * scan_jumps.c - whether an indirect jump stays in its function.
 *
 * A target that was added up (the distance in a table and its base), or loaded from a table whose entries lead into the function,
 * stays: on each way that leads to the jump the last definition of its register is looked at. Any other jump leaves when the stack
 * pointer is where it was at the entry (the CFA is rsp + 8): a tail call. If the function has labels whose address is taken it may
 * also be a computed goto: with a frame it is one, without one it may be either if some label, too, is without one: a jump does not
 * change the frame.
 * A jump with a frame in a function without labels is not understood.
 */
#include "agent/scan/scan_work.h"

enum {
	/* Instructions that are looked at before a jump for the address of a table. */
	DEFINITION_MAX = 48,
	COPIES_MAX = 4,
	JOINS_MAX = 64,
};

/* What the target may be: bits, for each way that leads to the jump. */
enum target {
	TARGET_INSIDE = 1,
	TARGET_FUNCTION = 2,
	TARGET_UNKNOWN = 4,
};

/* The instruction before n that writes reg last in the order of addresses; SIZE_MAX when it is not seen. */
static size_t definition(const struct scan_work *w, const struct scan_part *part, size_t n, uint8_t reg)
{
	size_t lowest = n > part->first + DEFINITION_MAX ? n - DEFINITION_MAX : part->first;

	if (reg == INSN_NO_REG)
		return SIZE_MAX;
	while (n-- > lowest)
		if (w->insns[n].regs_written & (1U << reg))
			return n;
	return SIZE_MAX;
}

/* The address that the register is given before instruction n by a lea or an immediate; 0: not seen. */
static uint64_t scan_known_address(const struct scan_work *w, const struct scan_part *part, size_t n, uint8_t reg)
{
	size_t d = definition(w, part, n, reg);
	const struct insn *insn = d == SIZE_MAX ? NULL : &w->insns[d];

	if (!insn)
		return 0;
	if (insn->op == INSN_OP_LEA && insn->is_rip_relative)
		return insn->rip_target;
	if (insn->op == INSN_OP_MOV && insn->has_imm)
		return (uint64_t)insn->imm;
	return 0;
}

/* The target is loaded by instruction n: from a table that is known, or wherever. */
static enum target from_memory(struct scan_work *w, const struct scan_part *part, size_t n)
{
	const struct insn *insn = &w->insns[n];
	uint64_t table, target;

	/* The word of one function. */
	if (insn->is_rip_relative)
		return TARGET_FUNCTION;
	if (insn->index == INSN_NO_REG)
		return TARGET_UNKNOWN;
	table = insn->base == INSN_NO_REG ? (uint64_t)insn->disp
					  : scan_known_address(w, part, n, insn->base) + (uint64_t)insn->disp;
	if (!scan_read_data(w->image, table, &target, sizeof(target)))
		return TARGET_UNKNOWN;
	/* The function's start may also be the first word of a table of functions. */
	return target != w->start && scan_part_of(w, target) ? TARGET_INSIDE : TARGET_UNKNOWN;
}

/* ---- the definitions of a register that reach an instruction, on every way there ---- */

/* A place that several ways lead to, and the register that is looked for before it. */
struct join {
	uint64_t address;
	uint8_t reg;
};

struct search {
	struct scan_work *w;
	struct join seen[JOINS_MAX];
	size_t seen_count;
	unsigned int targets;
};

static void search_before(struct search *s, size_t n, uint8_t reg, unsigned int copies);

/* Instruction n writes the register. */
static void at_definition(struct search *s, size_t n, unsigned int copies)
{
	const struct insn *insn = &s->w->insns[n];

	if (insn->op == INSN_OP_ADD || insn->op == INSN_OP_SUB ||
	    (insn->op == INSN_OP_LEA && insn->base != INSN_NO_REG && insn->index != INSN_NO_REG))
		s->targets |= TARGET_INSIDE;
	else if (insn->op != INSN_OP_MOV || (!insn->has_memory && insn->reg_source == INSN_NO_REG))
		s->targets |= TARGET_UNKNOWN;
	else if (insn->has_memory)
		s->targets |= from_memory(s->w, scan_part_of(s->w, insn->address), n);
	else if (copies < COPIES_MAX)
		search_before(s, n, insn->reg_source, copies + 1);
	else
		s->targets |= TARGET_UNKNOWN;
}

/* Behind instruction n. False: the search goes on before it. */
static bool search_at(struct search *s, size_t n, uint8_t reg, unsigned int copies)
{
	const struct insn *insn = &s->w->insns[n];

	if (insn->regs_written & (1U << reg)) {
		at_definition(s, n, copies);
		return true;
	}
	if ((insn->kind == INSN_CALL_DIRECT || insn->kind == INSN_CALL_INDIRECT) && (SCAN_CALLER_SAVED & (1U << reg))) {
		s->targets |= TARGET_UNKNOWN;
		return true;
	}
	return false;
}

/* False: it was looked at already. */
static bool see_join(struct search *s, uint64_t address, uint8_t reg)
{
	for (size_t i = 0; i < s->seen_count; i++)
		if (s->seen[i].address == address && s->seen[i].reg == reg)
			return false;
	if (s->seen_count == JOINS_MAX) {
		s->targets |= TARGET_UNKNOWN;
		return false;
	}
	s->seen[s->seen_count++] = (struct join){address, reg};
	return true;
}

static void search_branches(struct search *s, uint64_t address, uint8_t reg, unsigned int copies)
{
	for (size_t n = 0; n < s->w->insn_count; n++) {
		const struct insn *insn = &s->w->insns[n];

		if ((insn->kind == INSN_JUMP_DIRECT || insn->kind == INSN_JUMP_CONDITIONAL) &&
		    insn->target == address && !search_at(s, n, reg, copies))
			search_before(s, n, reg, copies);
	}
}

static bool falls_through(const struct insn *insn)
{
	return insn->kind == INSN_OTHER || insn->kind == INSN_CALL_DIRECT || insn->kind == INSN_CALL_INDIRECT ||
	       insn->kind == INSN_JUMP_CONDITIONAL || insn->kind == INSN_SYSCALL;
}

static void search_before(struct search *s, size_t n, uint8_t reg, unsigned int copies)
{
	for (;;) {
		uint64_t address = s->w->insns[n].address;
		const struct scan_part *part = scan_part_of(s->w, address);
		uint8_t marks = part->marks[address - part->low];

		if (marks & SCAN_MARK_TARGET && !see_join(s, address, reg))
			return;
		/* What the caller has left there, or a jump through a table. */
		if (address == s->w->start || ((marks & SCAN_MARK_TARGET) && !(marks & SCAN_MARK_BRANCH)))
			s->targets |= TARGET_UNKNOWN;
		if (marks & SCAN_MARK_BRANCH)
			search_branches(s, address, reg, copies);
		if (n == part->first || !falls_through(&s->w->insns[n - 1]))
			return;
		n--;
		if (search_at(s, n, reg, copies))
			return;
	}
}

static unsigned int targets_of(struct scan_work *w, const struct scan_part *part, size_t n)
{
	struct search s = {.w = w};

	if (w->insns[n].has_memory)
		return from_memory(w, part, n);
	if (w->insns[n].reg == INSN_NO_REG)
		return TARGET_UNKNOWN;
	search_before(&s, n, w->insns[n].reg, 0);
	return s.targets ? s.targets : TARGET_UNKNOWN;
}

static bool has_targets(const struct scan_work *w)
{
	for (size_t i = 0; i < w->part_count; i++)
		for (uint64_t at = w->parts[i].low; at < w->parts[i].high; at++)
			if (at != w->start && (w->parts[i].marks[at - w->parts[i].low] & SCAN_MARK_TARGET))
				return true;
	return false;
}

/* Some label is where the stack is as at the entry. */
static bool has_label_without_frame(const struct scan_work *w)
{
	for (size_t i = 0; i < w->part_count; i++)
		for (uint64_t at = w->parts[i].low; at < w->parts[i].high; at++)
			if ((w->parts[i].marks[at - w->parts[i].low] & SCAN_MARK_LABEL) &&
			    w->image->cfa_offset_at(w->image->state, at) == 8)
				return true;
	return false;
}

static void classify(struct scan_work *w, const struct scan_part *part, size_t n)
{
	const struct insn *insn = &w->insns[n];
	uint8_t *m = &part->marks[insn->address - part->low];
	bool has_frame = w->image->cfa_offset_at(w->image->state, insn->address) != 8;
	unsigned int targets = targets_of(w, part, n);

	if ((targets & TARGET_INSIDE) && !has_targets(w))
		scan_refuse(w, insn->address, "a jump through a table that is not found");
	if (targets == TARGET_INSIDE || (has_frame && (targets & TARGET_INSIDE)))
		return;
	if (!has_frame) {
		*m |= SCAN_MARK_LEAVE;
		if ((targets & TARGET_INSIDE) ||
		    ((targets & TARGET_UNKNOWN) && w->has_labels && has_label_without_frame(w)))
			*m |= SCAN_MARK_STAY;
		return;
	}
	if (targets & TARGET_FUNCTION)
		scan_refuse(w, insn->address, "leaves with a frame");
	else if (!w->has_labels)
		scan_refuse(w, insn->address, "an indirect jump to what is not known");
}

void scan_mark_jumps(struct scan_work *w)
{
	for (size_t p = 0; p < w->part_count; p++)
		for (size_t n = w->parts[p].first; n < w->parts[p].first + w->parts[p].count; n++)
			if (w->insns[n].kind == INSN_JUMP_INDIRECT)
				classify(w, &w->parts[p], n);
}
