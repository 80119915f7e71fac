/*
 * scan_stack.c - whether what an instruction moves to the stack pointer is a stack pointer that this activation has had: arrays of
 * variable length, alloca.
 *
 * A value is the activation's own when it is the stack pointer, or one moved from, or computed by add, sub and lea from, such a value in a
 * register or in a word of the frame. Where the CFA is counted from rbp, that is the frame's, too. Where it is counted from the stack pointer,
 * the unwind table has the distance on both sides (gcc takes arguments off so: lea 32(%rsp),%rbx, the call, mov %rbx,%rsp); rbp
 * is a register as any other there, and words of the frame are not looked at.
 * What was written last counts, if control comes from there only; else each place in the function that writes the register, but for pops,
 * which put the caller's back, or the word.
 */
#include "agent/scan/scan_work.h"

enum {
	DEPTH_MAX = 6,
	CALLEE_SAVED = 0xf028, /* rbx rbp r12 .. r15 */
};

static bool is_own_value(struct scan_work *w, size_t n, uint8_t reg, int depth);

static bool is_slot(const struct scan_work *w, const struct insn *insn)
{
	return w->has_frame_pointer && insn->has_memory && !insn->has_segment && insn->base == INSN_REG_BP &&
	       insn->index == INSN_NO_REG;
}

/* Control comes from it to the next instruction, with what was in reg if it does not write that itself. */
static bool is_passed(const struct insn *insn, uint8_t reg)
{
	if (insn->kind == INSN_CALL_DIRECT || insn->kind == INSN_CALL_INDIRECT)
		return CALLEE_SAVED & 1U << reg;
	return insn->kind == INSN_OTHER || insn->kind == INSN_JUMP_CONDITIONAL;
}

static bool is_target(struct scan_work *w, size_t n)
{
	return *scan_mark_of(w, w->insns[n].address) & SCAN_MARK_TARGET;
}

/* The instruction may write the word of the frame at disp. */
static bool stores(const struct scan_work *w, const struct insn *insn, int64_t disp)
{
	return is_slot(w, insn) && insn->disp == disp && insn->reg == INSN_NO_REG && insn->op != INSN_OP_CMP;
}

static bool is_own_store(struct scan_work *w, size_t n, int depth)
{
	const struct insn *insn = &w->insns[n];

	return insn->op == INSN_OP_MOV && insn->reg_source != INSN_NO_REG &&
	       is_own_value(w, n, insn->reg_source, depth);
}

/* Of the word of the frame that instruction n loads. Calls do not know it. */
static bool is_own_slot(struct scan_work *w, size_t n, int depth)
{
	const struct scan_part *part = scan_part_of(w, w->insns[n].address);
	int64_t disp = w->insns[n].disp;
	bool is_stored = false;

	for (size_t i = n; i > part->first && !is_target(w, i) && is_passed(&w->insns[i - 1], INSN_REG_BP); i--)
		if (stores(w, &w->insns[i - 1], disp))
			return is_own_store(w, i - 1, depth);
	for (size_t i = 0; i < w->insn_count; i++) {
		if (!stores(w, &w->insns[i], disp))
			continue;
		if (!is_own_store(w, i, depth))
			return false;
		is_stored = true;
	}
	return is_stored;
}

/* What instruction n writes to reg is the activation's own. */
static bool is_own_result(struct scan_work *w, size_t n, uint8_t reg, int depth)
{
	const struct insn *insn = &w->insns[n];

	if (insn->reg != reg)
		return false;
	switch (insn->op) {
	case INSN_OP_MOV:
		if (insn->has_memory)
			return is_slot(w, insn) && is_own_slot(w, n, depth);
		return insn->reg_source != INSN_NO_REG && is_own_value(w, n, insn->reg_source, depth);
	case INSN_OP_LEA:
		return !insn->is_rip_relative && insn->base != INSN_NO_REG && is_own_value(w, n, insn->base, depth);
	case INSN_OP_ADD:
		return insn->reg_source == INSN_REG_SP || is_own_value(w, n, reg, depth);
	case INSN_OP_SUB:
		return is_own_value(w, n, reg, depth);
	default:
		return false;
	}
}

/* pop of the register */
static bool is_pop(const struct scan_work *w, const struct insn *insn, uint8_t reg)
{
	const uint8_t *bytes = scan_text_at(w->image, insn->address);

	return reg < 8 ? insn->len_bytes == 1 && bytes[0] == (0x58 | reg)
		       : insn->len_bytes == 2 && bytes[0] == 0x41 && bytes[1] == (0x58 | (reg & 7));
}

/* Wherever it is written. What calls may change is not known behind them. */
static bool is_written_own(struct scan_work *w, uint8_t reg, int depth)
{
	bool is_written = false;

	if (!(CALLEE_SAVED & 1U << reg))
		return false;
	for (size_t i = 0; i < w->insn_count; i++) {
		if (!(w->insns[i].regs_written & 1U << reg) || is_pop(w, &w->insns[i], reg))
			continue;
		if (!is_own_result(w, i, reg, depth))
			return false;
		is_written = true;
	}
	return is_written;
}

/* reg before instruction n. */
static bool is_own_value(struct scan_work *w, size_t n, uint8_t reg, int depth)
{
	const struct scan_part *part = scan_part_of(w, w->insns[n].address);

	if (reg == INSN_REG_SP || (reg == INSN_REG_BP && w->has_frame_pointer))
		return true;
	if (depth == 0)
		return false;
	while (n > part->first && !is_target(w, n)) {
		const struct insn *insn = &w->insns[--n];

		if (!is_passed(insn, reg))
			break;
		if (insn->regs_written & 1U << reg)
			return is_own_result(w, n, reg, depth - 1);
	}
	return is_written_own(w, reg, depth - 1);
}

static bool counts_from_stack_pointer(const struct scan_work *w, uint64_t address)
{
	return w->image->cfa_offset_at(w->image->state, address) != SCAN_CFA_UNKNOWN;
}

bool scan_switches_stack(struct scan_work *w)
{
	for (size_t n = 0; n < w->insn_count; n++) {
		const struct insn *insn = &w->insns[n];
		bool counts_behind;

		if (!insn->switches_stack)
			continue;
		counts_behind = counts_from_stack_pointer(w, insn->address + insn->len_bytes);
		w->has_frame_pointer = !counts_from_stack_pointer(w, insn->address);
		/* The unwind table says where in the frame it is from then on. */
		if (w->has_frame_pointer && counts_behind)
			continue;
		if ((!w->has_frame_pointer && !counts_behind) || !is_own_result(w, n, INSN_REG_SP, DEPTH_MAX))
			return true;
	}
	return false;
}
