/*
 * cfi.c - the interpreter of call frame instructions (DW_CFA_*): from the start of a function to an address.
 *
 * States that are remembered are kept in a small stack; an instruction that is unknown, a number that does not fit or a deeper
 * stack than any compiler writes (gcc and clang: 1) end it with "unknown".
 */
#include "native/unwind/cfi.h"

#include "native/unwind/eh_read.h"

enum {
	DW_CFA_advance_loc = 0x40, /* 0x40, 0x80 and 0xc0 have an operand in their low six bits */
	DW_CFA_offset = 0x80,
	DW_CFA_restore = 0xc0,
	DW_CFA_nop = 0x00,
	DW_CFA_set_loc = 0x01,
	DW_CFA_advance_loc1 = 0x02,
	DW_CFA_advance_loc2 = 0x03,
	DW_CFA_advance_loc4 = 0x04,
	DW_CFA_offset_extended = 0x05,
	DW_CFA_restore_extended = 0x06,
	DW_CFA_undefined = 0x07,
	DW_CFA_same_value = 0x08,
	DW_CFA_register = 0x09,
	DW_CFA_remember_state = 0x0a,
	DW_CFA_restore_state = 0x0b,
	DW_CFA_def_cfa = 0x0c,
	DW_CFA_def_cfa_register = 0x0d,
	DW_CFA_def_cfa_offset = 0x0e,
	DW_CFA_def_cfa_expression = 0x0f,
	DW_CFA_expression = 0x10,
	DW_CFA_offset_extended_sf = 0x11,
	DW_CFA_def_cfa_sf = 0x12,
	DW_CFA_def_cfa_offset_sf = 0x13,
	DW_CFA_val_offset = 0x14,
	DW_CFA_val_offset_sf = 0x15,
	DW_CFA_val_expression = 0x16,
	DW_CFA_GNU_args_size = 0x2e,
	DW_CFA_GNU_negative_offset_extended = 0x2f,

	REMEMBERED_MAX = 8,
};

struct machine {
	const struct eh_table *t;
	const struct eh_function *f;
	struct eh_reader r;
	uintptr_t location;
	uintptr_t wanted;
	bool is_past; /* the next row begins after the wanted address */
	unsigned int remembered_count;
	struct cfi_row row;
	struct cfi_row initial; /* after the CIE: what DW_CFA_restore gives back */
	struct cfi_row remembered[REMEMBERED_MAX];
};

static void move_to(struct machine *m, uint64_t location)
{
	if (location < m->location)
		eh_fail(&m->r);
	else if (location > m->wanted)
		m->is_past = true;
	else
		m->location = location;
}

static void advance(struct machine *m, uint64_t delta)
{
	uint64_t bytes, location;

	if (__builtin_mul_overflow(delta, m->f->code_align, &bytes) ||
	    __builtin_add_overflow(m->location, bytes, &location))
		eh_fail(&m->r);
	else
		move_to(m, location);
}

static int32_t narrow(struct machine *m, int64_t v)
{
	if (v != (int32_t)v)
		eh_fail(&m->r);
	return (int32_t)v;
}

static int32_t factored(struct machine *m, int64_t v)
{
	int64_t bytes;

	if (__builtin_mul_overflow(v, m->f->data_align, &bytes))
		eh_fail(&m->r);
	return narrow(m, m->r.has_failed ? 0 : bytes);
}

static int64_t unsigned_operand(struct machine *m)
{
	uint64_t v = eh_uleb(&m->r);

	if (v > INT64_MAX)
		eh_fail(&m->r);
	return m->r.has_failed ? 0 : (int64_t)v;
}

/* Where the expression is that comes next, which is skipped. */
static int32_t expression(struct machine *m)
{
	int64_t at = m->r.at - m->t->image.low;

	eh_take(&m->r, eh_uleb(&m->r));
	return narrow(m, at);
}

static void set_rule(struct machine *m, uint64_t reg, enum cfi_rule rule, int32_t value)
{
	if (reg >= CFI_REGISTER_COUNT || m->r.has_failed)
		return;
	m->row.rule[reg] = (uint8_t)rule;
	m->row.value[reg] = value;
}

static void restore_rule(struct machine *m, uint64_t reg)
{
	if (reg >= CFI_REGISTER_COUNT)
		return;
	m->row.rule[reg] = m->initial.rule[reg];
	m->row.value[reg] = m->initial.value[reg];
}

static void set_cfa(struct machine *m, enum cfi_cfa kind, uint64_t reg, int32_t value)
{
	if (kind == CFI_CFA_REGISTER && reg >= CFI_RETURN_ADDRESS)
		eh_fail(&m->r);
	if (m->r.has_failed)
		return;
	m->row.cfa_kind = (uint8_t)kind;
	m->row.cfa_register = (uint8_t)reg;
	m->row.cfa_value = value;
}

/* The CFA must be a register and an offset before one of them changes. */
static void change_cfa(struct machine *m, uint64_t reg, int32_t value)
{
	if (m->row.cfa_kind != CFI_CFA_REGISTER)
		eh_fail(&m->r);
	set_cfa(m, CFI_CFA_REGISTER, reg, value);
}

static void remember(struct machine *m)
{
	if (m->remembered_count == REMEMBERED_MAX)
		eh_fail(&m->r);
	else
		m->remembered[m->remembered_count++] = m->row;
}

static void recall(struct machine *m)
{
	if (m->remembered_count == 0)
		eh_fail(&m->r);
	else
		m->row = m->remembered[--m->remembered_count];
}

static void step_extended(struct machine *m, uint8_t opcode)
{
	struct eh_reader *r = &m->r;
	uint64_t reg;

	switch (opcode) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		move_to(m, eh_encoded(r, m->f->pointer_encoding, (uintptr_t)m->t->image.hdr));
		break;
	case DW_CFA_advance_loc1:
		advance(m, eh_u8(r));
		break;
	case DW_CFA_advance_loc2:
		advance(m, eh_u16(r));
		break;
	case DW_CFA_advance_loc4:
		advance(m, eh_u32(r));
		break;
	case DW_CFA_offset_extended:
		reg = eh_uleb(r);
		set_rule(m, reg, CFI_OFFSET, factored(m, unsigned_operand(m)));
		break;
	case DW_CFA_offset_extended_sf:
		reg = eh_uleb(r);
		set_rule(m, reg, CFI_OFFSET, factored(m, eh_sleb(r)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		reg = eh_uleb(r);
		set_rule(m, reg, CFI_OFFSET, factored(m, -unsigned_operand(m)));
		break;
	case DW_CFA_val_offset:
		reg = eh_uleb(r);
		set_rule(m, reg, CFI_VALUE_OFFSET, factored(m, unsigned_operand(m)));
		break;
	case DW_CFA_val_offset_sf:
		reg = eh_uleb(r);
		set_rule(m, reg, CFI_VALUE_OFFSET, factored(m, eh_sleb(r)));
		break;
	case DW_CFA_restore_extended:
		restore_rule(m, eh_uleb(r));
		break;
	case DW_CFA_undefined:
		set_rule(m, eh_uleb(r), CFI_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		set_rule(m, eh_uleb(r), CFI_SAME, 0);
		break;
	case DW_CFA_register:
		reg = eh_uleb(r);
		set_rule(m, reg, CFI_REGISTER, narrow(m, unsigned_operand(m)));
		break;
	case DW_CFA_expression:
		reg = eh_uleb(r);
		set_rule(m, reg, CFI_EXPRESSION, expression(m));
		break;
	case DW_CFA_val_expression:
		reg = eh_uleb(r);
		set_rule(m, reg, CFI_VALUE_EXPRESSION, expression(m));
		break;
	case DW_CFA_remember_state:
		remember(m);
		break;
	case DW_CFA_restore_state:
		recall(m);
		break;
	case DW_CFA_def_cfa:
		reg = eh_uleb(r);
		set_cfa(m, CFI_CFA_REGISTER, reg, narrow(m, unsigned_operand(m)));
		break;
	case DW_CFA_def_cfa_sf:
		reg = eh_uleb(r);
		set_cfa(m, CFI_CFA_REGISTER, reg, factored(m, eh_sleb(r)));
		break;
	case DW_CFA_def_cfa_register:
		change_cfa(m, eh_uleb(r), m->row.cfa_value);
		break;
	case DW_CFA_def_cfa_offset:
		change_cfa(m, m->row.cfa_register, narrow(m, unsigned_operand(m)));
		break;
	case DW_CFA_def_cfa_offset_sf:
		change_cfa(m, m->row.cfa_register, factored(m, eh_sleb(r)));
		break;
	case DW_CFA_def_cfa_expression:
		set_cfa(m, CFI_CFA_EXPRESSION, 0, expression(m));
		break;
	case DW_CFA_GNU_args_size:
		eh_uleb(r); /* matters to who lands in this frame, not to who leaves it */
		break;
	default:
		eh_fail(r);
	}
}

static bool run(struct machine *m, const uint8_t *code, const uint8_t *end)
{
	m->r = (struct eh_reader){code, end, false};
	while (eh_left(&m->r) && !m->is_past) {
		uint8_t opcode = eh_u8(&m->r);
		uint8_t operand = opcode & 0x3f;

		switch (opcode & 0xc0) {
		case DW_CFA_advance_loc:
			advance(m, operand);
			break;
		case DW_CFA_offset:
			set_rule(m, operand, CFI_OFFSET, factored(m, unsigned_operand(m)));
			break;
		case DW_CFA_restore:
			restore_rule(m, operand);
			break;
		default:
			step_extended(m, opcode);
		}
	}
	return !m->r.has_failed;
}

bool cfi_row_at(const struct eh_table *t, const struct eh_function *f, uintptr_t address, struct cfi_row *ret)
{
	struct machine m;

	m.t = t;
	m.f = f;
	m.location = f->start;
	m.wanted = address;
	m.is_past = false;
	m.remembered_count = 0;
	memset(&m.row, 0, sizeof m.row);
	memset(&m.initial, 0, sizeof m.initial);
	if (f->return_column != CFI_RETURN_ADDRESS || !run(&m, f->cie_code, f->cie_code_end))
		return false;
	m.initial = m.row;
	if (!run(&m, f->fde_code, f->fde_code_end) || m.row.cfa_kind == CFI_CFA_NONE)
		return false;
	*ret = m.row;
	return true;
}
