/*
 * scan_taken.c - addresses of other code that a function takes: it may pass them to code that calls back.
 *
 * They are in instructions, or in the word that an instruction loads (of the global offset table, or a variable).
 */
#include "agent/scan/scan_work.h"

static bool is_elsewhere(struct scan_work *w, uint64_t address)
{
	return scan_text_of(w->image, address) && !scan_part_of(w, address);
}

/* 0: none. */
static uint64_t taken_by(struct scan_work *w, const struct insn *insn)
{
	uint64_t address = 0;

	if (insn->op == INSN_OP_LEA && insn->is_rip_relative)
		return is_elsewhere(w, insn->rip_target) ? insn->rip_target : 0;
	if (insn->op != INSN_OP_MOV)
		return 0;
	if (insn->has_imm)
		return is_elsewhere(w, (uint64_t)insn->imm) ? (uint64_t)insn->imm : 0;
	if (insn->is_rip_relative && insn->reg != INSN_NO_REG)
		scan_read_data(w->image, insn->rip_target, &address, sizeof address);
	return is_elsewhere(w, address) ? address : 0;
}

static size_t list(struct scan_work *w, uint64_t *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < w->insn_count; i++) {
		uint64_t address = taken_by(w, &w->insns[i]);

		if (!address)
			continue;
		if (ret)
			ret[count] = address;
		count++;
	}
	return count;
}

bool scan_add_taken(struct scan_work *w, struct scan_function *f)
{
	f->taken_count = list(w, NULL);
	if (!f->taken_count)
		return true;
	f->taken = allocator_alloc(w->allocator, f->taken_count, sizeof *f->taken);
	if (!f->taken)
		return false;
	list(w, f->taken);
	return true;
}
