/*
 * scan_jumps.c - whether an indirect jump stays in its function.
 *
 * A target that was added up (the distance in a table and its base), or loaded from a table whose entries lead into the function,
 * stays. Any other jump leaves when the stack pointer is where it was at the entry (the CFA is rsp + 8): a tail call. If the
 * function has labels whose address is taken it may also be a computed goto: with a frame it is one, without one it may be either if some
 * label, too, is without one: a jump does not change the frame.
 * A jump with a frame in a function without labels is not understood.
 */
#include "agent/scan_work.h"

enum {
	/* Instructions that are looked at before a jump. */
	DEFINITION_MAX = 48,
};

enum jump {
	JUMP_STAYS,
	JUMP_LEAVES,
	JUMP_EITHER, /* nothing is known of the target */
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

uint64_t scan_known_address(const struct scan_work *w, const struct scan_part *part, size_t n, uint8_t reg)
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
static enum jump from_memory(struct scan_work *w, const struct scan_part *part, size_t n)
{
	const struct insn *insn = &w->insns[n];
	uint64_t table, target;

	/* The word of one function. */
	if (insn->is_rip_relative)
		return JUMP_LEAVES;
	if (insn->index == INSN_NO_REG)
		return JUMP_EITHER;
	table = insn->base == INSN_NO_REG ? (uint64_t)insn->disp
					  : scan_known_address(w, part, n, insn->base) + (uint64_t)insn->disp;
	if (!scan_read_data(w->image, table, &target, sizeof(target)))
		return JUMP_EITHER;
	/* The function's start may also be the first word of a table of functions. */
	return target != w->start && scan_part_of(w, target) ? JUMP_STAYS : JUMP_EITHER;
}

static enum jump from_register(struct scan_work *w, const struct scan_part *part, size_t n, uint8_t reg)
{
	for (size_t copies = 0; copies < 4; copies++) {
		const struct insn *insn;

		n = definition(w, part, n, reg);
		if (n == SIZE_MAX)
			return JUMP_EITHER;
		insn = &w->insns[n];
		if (insn->op == INSN_OP_ADD || insn->op == INSN_OP_SUB ||
		    (insn->op == INSN_OP_LEA && insn->base != INSN_NO_REG && insn->index != INSN_NO_REG))
			return JUMP_STAYS;
		if (insn->op != INSN_OP_MOV)
			return JUMP_EITHER;
		if (insn->has_memory)
			return from_memory(w, part, n);
		if (insn->reg_source == INSN_NO_REG)
			return JUMP_EITHER;
		reg = insn->reg_source;
	}
	return JUMP_EITHER;
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
	enum jump jump = insn->has_memory ? from_memory(w, part, n) : from_register(w, part, n, insn->reg);

	if (jump == JUMP_STAYS) {
		if (!has_targets(w))
			scan_refuse(w, insn->address, "a jump through a table that is not found");
		return;
	}
	if (!has_frame) {
		*m |= SCAN_MARK_LEAVE;
		if (jump == JUMP_EITHER && w->has_labels && has_label_without_frame(w))
			*m |= SCAN_MARK_STAY;
		return;
	}
	if (jump == JUMP_LEAVES)
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
