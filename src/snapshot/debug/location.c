/*
 * location.c - evaluates DWARF location expressions (DWARF 5, 2.5 and 2.6). Integers only: what computes with floating point is
 * not known.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/debug/location.h"

enum {
	CELLS = 64,
	STEPS_MAX = 4096,
};

/* An integer on the stack, as its type extends it to 64 bits. */
struct cell {
	uint64_t value;
	uint8_t bytes;
	bool is_signed;
};

/* The expression's result so far, until a piece or its end takes it. */
enum result_kind {
	PLACE_STACK = 0, /* the address on top of the stack; of an empty one nothing */
	PLACE_REGISTER,
	PLACE_VALUE,
	PLACE_BYTES,
	PLACE_NONE, /* optimized out */
};

struct machine {
	const struct location_frame *f;
	Dwarf_Attribute *attr;
	struct cell cells[CELLS];
	uint32_t count;
	bool is_broken; /* not known, or damaged */
	enum result_kind kind;
	uint64_t reg;
	Dwarf_Block block;
	bool is_nested; /* a frame base */
};

static bool evaluate(struct machine *m, const Dwarf_Op *ops, size_t count, uint64_t len_bytes, struct location *ret);

static bool read_register(struct machine *m, uint64_t reg, uint64_t *ret)
{
	const struct snapshot_frame *frame = m->f->frame;

	if (reg >= SNAPSHOT_REGISTERS || !(frame->known & 1u << reg)) {
		m->is_broken = true;
		return false;
	}
	*ret = frame->registers[reg];
	return true;
}

/* ---- the stack ---- */

static uint64_t extend(uint64_t value, uint8_t bytes, bool is_signed)
{
	unsigned int unused = 64 - 8u * bytes;

	if (!unused)
		return value;
	return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value << unused >> unused;
}

static void push_typed(struct machine *m, uint64_t value, uint8_t bytes, bool is_signed)
{
	if (m->count == CELLS)
		m->is_broken = true;
	else
		m->cells[m->count++] = (struct cell){extend(value, bytes, is_signed), bytes, is_signed};
}

static void push(struct machine *m, uint64_t value)
{
	push_typed(m, value, 8, false);
}

static struct cell pop(struct machine *m)
{
	if (m->count)
		return m->cells[--m->count];
	m->is_broken = true;
	return (struct cell){.bytes = 8};
}

static void pick(struct machine *m, uint64_t index)
{
	if (index >= m->count) {
		m->is_broken = true;
		return;
	}
	push_typed(m, m->cells[m->count - 1 - index].value, m->cells[m->count - 1 - index].bytes,
		   m->cells[m->count - 1 - index].is_signed);
}

static void swap(struct machine *m)
{
	struct cell a = pop(m), b = pop(m);

	push_typed(m, a.value, a.bytes, a.is_signed);
	push_typed(m, b.value, b.bytes, b.is_signed);
}

static void rotate(struct machine *m)
{
	struct cell top = pop(m), second = pop(m), third = pop(m);

	push_typed(m, top.value, top.bytes, top.is_signed);
	push_typed(m, third.value, third.bytes, third.is_signed);
	push_typed(m, second.value, second.bytes, second.is_signed);
}

static void push_memory(struct machine *m, uint64_t address, uint64_t len_bytes, uint8_t bytes, bool is_signed)
{
	uint64_t word = 0;

	if (len_bytes > sizeof word || !len_bytes || !snapshot_read(m->f->s, address, &word, (size_t)len_bytes))
		m->is_broken = true;
	else
		push_typed(m, word, bytes, is_signed);
}

/* The generic type is signed where that matters, and one of 64 bits without sign is not: they look alike here. */
static bool is_ambiguous(struct cell a)
{
	return a.bytes == 8 && !a.is_signed && a.value > INT64_MAX;
}

static bool divide(struct machine *m, int atom, struct cell a, struct cell b, uint64_t *ret)
{
	if (!b.value || is_ambiguous(a) || is_ambiguous(b) ||
	    (a.value == (uint64_t)INT64_MIN && b.value == UINT64_MAX)) {
		m->is_broken = true;
		return false;
	}
	*ret = (uint64_t)(atom == DW_OP_div ? (int64_t)a.value / (int64_t)b.value
					    : (int64_t)a.value % (int64_t)b.value);
	return true;
}

static void binary(struct machine *m, int atom)
{
	struct cell b = pop(m), a = pop(m);
	int64_t x = (int64_t)a.value, y = (int64_t)b.value;
	unsigned int shift = b.value < 64 ? (unsigned int)b.value : 64;
	uint64_t result = 0;

	m->is_broken |= atom >= DW_OP_eq && atom <= DW_OP_ne && (is_ambiguous(a) || is_ambiguous(b));
	switch (atom) {
	case DW_OP_and:
		result = a.value & b.value;
		break;
	case DW_OP_or:
		result = a.value | b.value;
		break;
	case DW_OP_xor:
		result = a.value ^ b.value;
		break;
	case DW_OP_plus:
		result = a.value + b.value;
		break;
	case DW_OP_minus:
		result = a.value - b.value;
		break;
	case DW_OP_mul:
		result = a.value * b.value;
		break;
	case DW_OP_div:
	case DW_OP_mod:
		if (!divide(m, atom, a, b, &result))
			return;
		break;
	case DW_OP_shl:
		result = shift < 64 ? a.value << shift : 0;
		break;
	case DW_OP_shr:
		result = shift < 64 ? extend(a.value, a.bytes, false) >> shift : 0;
		break;
	case DW_OP_shra:
		result = (uint64_t)((int64_t)extend(a.value, a.bytes, true) >> (shift < 64 ? shift : 63));
		break;
	case DW_OP_eq:
		push(m, x == y);
		return;
	case DW_OP_ne:
		push(m, x != y);
		return;
	case DW_OP_lt:
		push(m, x < y);
		return;
	case DW_OP_le:
		push(m, x <= y);
		return;
	case DW_OP_gt:
		push(m, x > y);
		return;
	default:
		push(m, x >= y);
		return;
	}
	push_typed(m, result, a.bytes, a.is_signed);
}

/* ---- operations ---- */

static bool integer_type(struct machine *m, const Dwarf_Op *op, uint8_t *ret_bytes, bool *ret_is_signed)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding, size;
	Dwarf_Die type;

	if (dwarf_getlocation_die(m->attr, op, &type) != 0 || dwarf_tag(&type) != DW_TAG_base_type ||
	    !dwarf_attr(&type, DW_AT_encoding, &attribute) || dwarf_formudata(&attribute, &encoding) != 0 ||
	    !dwarf_attr(&type, DW_AT_byte_size, &attribute) || dwarf_formudata(&attribute, &size) != 0 || !size ||
	    size > 8 || encoding == DW_ATE_float || encoding == DW_ATE_complex_float ||
	    encoding == DW_ATE_decimal_float)
		return false;
	*ret_bytes = (uint8_t)size;
	*ret_is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	return true;
}

static void convert(struct machine *m, const Dwarf_Op *op)
{
	struct cell top = pop(m);
	uint8_t bytes = 8;
	bool is_signed = false;

	if (op->number && !integer_type(m, op, &bytes, &is_signed))
		m->is_broken = true;
	else
		push_typed(m, top.value, bytes, is_signed);
}

static void typed(struct machine *m, const Dwarf_Op *op)
{
	uint8_t bytes;
	bool is_signed;
	uint64_t value;

	if (!integer_type(m, op, &bytes, &is_signed))
		m->is_broken = true;
	else if (op->atom == DW_OP_regval_type || op->atom == DW_OP_GNU_regval_type) {
		if (read_register(m, op->number, &value))
			push_typed(m, value, bytes, is_signed);
	} else {
		push_memory(m, pop(m).value, op->number, bytes, is_signed);
	}
}

static void push_base(struct machine *m, uint64_t reg, int64_t off)
{
	uint64_t value;

	if (reg == LOCATION_RSP && !location_is_set_up(m->f, LOCATION_RSP))
		m->is_broken = true;
	else if (read_register(m, reg, &value))
		push(m, value + (uint64_t)off);
}

static void push_cfa(struct machine *m)
{
	if (m->f->frame->has_cfa)
		push(m, m->f->frame->cfa);
	else
		m->is_broken = true;
}

static void push_frame_base(struct machine *m, int64_t off)
{
	struct machine base = {.f = m->f, .is_nested = true};
	Dwarf_Attribute attribute;
	Dwarf_Die function = m->f->function;
	struct location place;
	Dwarf_Op *ops;
	size_t count;
	uint64_t value;

	base.attr = &attribute;
	if (m->is_nested || !dwarf_attr_integrate(&function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, m->f->address, &ops, &count, 1) != 1) {
		m->is_broken = true;
		return;
	}
	if (count == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) {
		int reg = ops[0].atom - DW_OP_reg0;

		if ((reg == LOCATION_RSP || reg == LOCATION_RBP) && !location_is_set_up(m->f, reg))
			m->is_broken = true;
		else if (read_register(m, (uint64_t)reg, &value))
			push(m, value + (uint64_t)off);
		return;
	}
	if (evaluate(&base, ops, count, 8, &place) && place.kind == LOCATION_MEMORY && location_is_in_body(m->f))
		push(m, place.address + (uint64_t)off);
	else
		m->is_broken = true;
}

/* The program's own block ends at the thread pointer; where that of a library is only the loader knows. */
static void push_thread_local(struct machine *m)
{
	uint64_t off = pop(m).value;
	GElf_Addr bias;
	Elf *elf;
	size_t count;

	if (m->f->frame->module != m->f->s->main_module || !m->f->thread_pointer) {
		m->is_broken = true;
		return;
	}
	elf = dwfl_module_getelf(m->f->s->modules[m->f->frame->module].dwfl, &bias);
	if (!elf || elf_getphdrnum(elf, &count) != 0)
		count = 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr h;

		if (!gelf_getphdr(elf, (int)i, &h) || h.p_type != PT_TLS || !h.p_align || h.p_vaddr % h.p_align)
			continue;
		push(m, m->f->thread_pointer - ((h.p_memsz + h.p_align - 1) & ~(h.p_align - 1)) + off);
		return;
	}
	m->is_broken = true;
}

static void push_indexed(struct machine *m, const Dwarf_Op *op, bool is_address)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;
	Dwarf_Word value;

	if (dwarf_getlocation_attr(m->attr, op, &attribute) != 0)
		m->is_broken = true;
	else if (is_address && dwarf_formaddr(&attribute, &address) == 0)
		push(m, address + m->f->bias);
	else if (!is_address && dwarf_formudata(&attribute, &value) == 0)
		push(m, value);
	else
		m->is_broken = true;
}

/* ---- values at entry ---- */

static bool get_address(Dwarf_Die *die, unsigned int name, Dwarf_Addr *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formaddr(&attribute, ret) == 0;
}

static bool is_call_site(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_call_site || dwarf_tag(die) == DW_TAG_GNU_call_site;
}

static bool is_tail_call(Dwarf_Die *site)
{
	return dwarf_hasattr(site, DW_AT_call_tail_call) || dwarf_hasattr(site, DW_AT_GNU_tail_call);
}

/* Visits the calls of a function until visit returns true, and says whether it did. */
static bool each_call(Dwarf_Die *parent, int depth, int *left, bool (*visit)(Dwarf_Die *site, uint64_t what),
		      uint64_t what, Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (depth == SNAPSHOT_SCOPES_MAX || dwarf_child(parent, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (--*left < 0)
			return false;
		if (is_call_site(&die) && visit(&die, what)) {
			*ret = die;
			return true;
		}
		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
		    each_call(&die, depth + 1, left, visit, what, ret))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

static bool visit_tail_call(Dwarf_Die *site, uint64_t what)
{
	(void)what;
	return is_tail_call(site);
}

static bool visit_return(Dwarf_Die *site, uint64_t what)
{
	Dwarf_Addr address;

	return (get_address(site, DW_AT_call_return_pc, &address) || get_address(site, DW_AT_low_pc, &address)) &&
	       address == what && !is_tail_call(site);
}

/* Control cannot have come back to its beginning but by a call: none of its calls are tail calls. */
static bool is_entered_once(Dwarf_Die *function)
{
	int left = STEPS_MAX;
	Dwarf_Die site;

	if (!dwarf_hasattr_integrate(function, DW_AT_call_all_calls) &&
	    !dwarf_hasattr_integrate(function, DW_AT_GNU_all_call_sites))
		return false;
	return !each_call(function, 0, &left, visit_tail_call, 0, &site) && left >= 0;
}

static bool reference(Dwarf_Die *die, unsigned int name, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formref_die(&attribute, ret);
}

/* The call is one of this very function. */
static bool is_call_of(Dwarf_Die *site, const Dwarf_Die *function)
{
	Dwarf_Die origin, callee = *function;

	if (!reference(site, DW_AT_call_origin, &origin) && !reference(site, DW_AT_abstract_origin, &origin))
		return false;
	for (int i = 0; i < 8; i++) {
		if (dwarf_dieoffset(&callee) == dwarf_dieoffset(&origin))
			return true;
		if (!reference(&callee, DW_AT_abstract_origin, &callee) &&
		    !reference(&callee, DW_AT_specification, &callee))
			break;
	}
	return false;
}

static bool is_register(Dwarf_Attribute *attribute, uint64_t reg)
{
	Dwarf_Op *ops;
	size_t count;

	return dwarf_getlocation(attribute, &ops, &count) == 0 && count == 1 && ops[0].atom >= DW_OP_reg0 &&
	       ops[0].atom <= DW_OP_reg31 && (uint64_t)(ops[0].atom - DW_OP_reg0) == reg;
}

/* The expression for what the caller has put into the register. */
static bool find_passed(Dwarf_Die *site, uint64_t reg, Dwarf_Attribute *ret)
{
	Dwarf_Die die;
	Dwarf_Attribute location;

	if (dwarf_child(site, &die) != 0)
		return false;
	do {
		if ((dwarf_tag(&die) == DW_TAG_call_site_parameter ||
		     dwarf_tag(&die) == DW_TAG_GNU_call_site_parameter) &&
		    dwarf_attr(&die, DW_AT_location, &location) && is_register(&location, reg))
			return dwarf_attr(&die, DW_AT_call_value, ret) ||
			       dwarf_attr(&die, DW_AT_GNU_call_site_value, ret);
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

static bool passed_value(const struct location_frame *f, uint64_t reg, uint64_t *ret)
{
	struct snapshot_scopes *scopes = malloc(sizeof *scopes);
	struct location_frame caller;
	struct location place = {0};
	Dwarf_Attribute attribute;
	struct machine m = {.f = &caller, .attr = &attribute};
	int left = STEPS_MAX;
	Dwarf_Die site;
	Dwarf_Op *ops;
	size_t count;
	struct error *err = scopes ? snapshot_find_scopes(f->s, f->caller, scopes) : &error_no_memory;
	bool is_found = !err && scopes->count &&
			each_call(&scopes->dies[0], 0, &left, visit_return, f->caller->pc - scopes->bias, &site) &&
			is_call_of(&site, &f->function) && find_passed(&site, reg, &attribute) &&
			dwarf_getlocation(&attribute, &ops, &count) == 0;

	if (is_found) {
		location_frame_init(f->s, f->caller, NULL, f->thread_pointer, scopes, &caller);
		caller.depth = f->depth + 1;
		is_found = evaluate(&m, ops, count, 8, &place) && place.kind == LOCATION_MEMORY;
	}
	*ret = place.address;
	error_destroy(err);
	free(scopes);
	return is_found;
}

static void push_at_entry(struct machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute attribute;
	Dwarf_Die function = m->f->function;
	uint64_t value;
	Dwarf_Op *ops;
	size_t count;

	if (!m->f->caller || m->f->frame->is_trampoline || m->f->caller->is_activation ||
	    dwarf_getlocation_attr(m->attr, op, &attribute) != 0 || dwarf_getlocation(&attribute, &ops, &count) != 0 ||
	    count != 1 || ops[0].atom < DW_OP_reg0 || ops[0].atom > DW_OP_reg31 || !is_entered_once(&function) ||
	    !passed_value(m->f, (uint64_t)(ops[0].atom - DW_OP_reg0), &value))
		m->is_broken = true;
	else
		push(m, value);
}

/* ---- all operations ---- */

/* Those that only push or compute; false: none of them. */
static bool compute(struct machine *m, const Dwarf_Op *op)
{
	struct cell a;

	switch (op->atom) {
	case DW_OP_lit0 ... DW_OP_lit31:
		push(m, (uint64_t)(op->atom - DW_OP_lit0));
		return true;
	case DW_OP_addr:
		push(m, op->number + m->f->bias);
		return true;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		push(m, op->number);
		return true;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		push_indexed(m, op, true);
		return true;
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		push_indexed(m, op, false);
		return true;
	case DW_OP_breg0 ... DW_OP_breg31:
		push_base(m, (uint64_t)(op->atom - DW_OP_breg0), (int64_t)op->number);
		return true;
	case DW_OP_bregx:
		push_base(m, op->number, (int64_t)op->number2);
		return true;
	case DW_OP_fbreg:
		push_frame_base(m, (int64_t)op->number);
		return true;
	case DW_OP_call_frame_cfa:
		push_cfa(m);
		return true;
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		push_at_entry(m, op);
		return true;
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		push_thread_local(m);
		return true;
	case DW_OP_dup:
		pick(m, 0);
		return true;
	case DW_OP_over:
		pick(m, 1);
		return true;
	case DW_OP_pick:
		pick(m, op->number);
		return true;
	case DW_OP_drop:
		pop(m);
		return true;
	case DW_OP_swap:
		swap(m);
		return true;
	case DW_OP_rot:
		rotate(m);
		return true;
	case DW_OP_deref:
		push_memory(m, pop(m).value, 8, 8, false);
		return true;
	case DW_OP_deref_size:
		push_memory(m, pop(m).value, op->number, 8, false);
		return true;
	case DW_OP_abs:
		a = pop(m);
		push_typed(m, (int64_t)extend(a.value, a.bytes, true) < 0 ? -a.value : a.value, a.bytes, a.is_signed);
		return true;
	case DW_OP_neg:
		a = pop(m);
		push_typed(m, -a.value, a.bytes, a.is_signed);
		return true;
	case DW_OP_not:
		a = pop(m);
		push_typed(m, ~a.value, a.bytes, a.is_signed);
		return true;
	case DW_OP_plus_uconst:
		a = pop(m);
		push_typed(m, a.value + op->number, a.bytes, a.is_signed);
		return true;
	case DW_OP_and:
	case DW_OP_or:
	case DW_OP_xor:
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_mul:
	case DW_OP_div:
	case DW_OP_mod:
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
	case DW_OP_eq:
	case DW_OP_ne:
	case DW_OP_lt:
	case DW_OP_le:
	case DW_OP_gt:
	case DW_OP_ge:
		binary(m, op->atom);
		return true;
	case DW_OP_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_convert:
	case DW_OP_GNU_reinterpret:
		convert(m, op);
		return true;
	case DW_OP_regval_type:
	case DW_OP_deref_type:
	case DW_OP_GNU_regval_type:
	case DW_OP_GNU_deref_type:
		typed(m, op);
		return true;
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

/* Those that say where it is; false: none of them. */
static bool name_place(struct machine *m, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_reg0 ... DW_OP_reg31:
		m->kind = PLACE_REGISTER;
		m->reg = (uint64_t)(op->atom - DW_OP_reg0);
		return true;
	case DW_OP_regx:
		m->kind = PLACE_REGISTER;
		m->reg = op->number;
		return true;
	case DW_OP_stack_value:
		m->kind = PLACE_VALUE;
		return true;
	case DW_OP_implicit_value:
		m->kind = PLACE_BYTES;
		if (dwarf_getlocation_implicit_value(m->attr, op, &m->block) != 0)
			m->is_broken = true;
		return true;
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		m->kind = PLACE_NONE;
		return true;
	default:
		return false;
	}
}

/* ---- results ---- */

static void append(struct location *ret, const void *bytes, uint64_t len_bytes, uint64_t known_bytes)
{
	for (uint64_t i = 0; i < len_bytes && ret->len_bytes < LOCATION_BYTES_MAX; i++) {
		ret->bytes[ret->len_bytes] = i < known_bytes ? ((const uint8_t *)bytes)[i] : 0;
		ret->is_known[ret->len_bytes++] = i < known_bytes;
	}
}

/* Takes what the expression has come to for the next len_bytes. */
static void take_place(struct machine *m, uint64_t len_bytes, struct location *ret)
{
	uint8_t bytes[LOCATION_BYTES_MAX];
	uint64_t value, len = len_bytes < LOCATION_BYTES_MAX ? len_bytes : LOCATION_BYTES_MAX;

	switch (m->kind) {
	case PLACE_REGISTER:
		if (read_register(m, m->reg, &value))
			append(ret, &value, len_bytes, len < sizeof value ? len : sizeof value);
		break;
	case PLACE_VALUE:
		value = pop(m).value;
		append(ret, &value, len_bytes, len < sizeof value ? len : sizeof value);
		break;
	case PLACE_BYTES:
		append(ret, m->block.data, len_bytes, len < m->block.length ? len : m->block.length);
		break;
	case PLACE_STACK:
		if (m->count) {
			value = pop(m).value;
			append(ret, bytes, len_bytes, snapshot_read(m->f->s, value, bytes, (size_t)len) ? len : 0);
			break;
		}
		__attribute__((fallthrough));
	default:
		append(ret, bytes, len_bytes, 0);
		break;
	}
	m->kind = PLACE_STACK;
}

static bool find_op(const Dwarf_Op *ops, size_t count, uint64_t off, size_t *ret)
{
	for (*ret = 0; *ret < count; (*ret)++)
		if (ops[*ret].offset == off)
			return true;
	return false;
}

/* Where a jump goes; its operand is relative to the operation behind it, of three bytes. */
static bool jump(const Dwarf_Op *ops, size_t count, size_t *at)
{
	uint64_t off = ops[*at].offset + 3 + (uint64_t)(int64_t)(int16_t)ops[*at].number;

	if (*at + 1 < count && ops[*at + 1].offset == off) {
		(*at)++;
		return true;
	}
	return find_op(ops, count, off, at);
}

static bool step(struct machine *m, const Dwarf_Op *ops, size_t count, size_t *at)
{
	const Dwarf_Op *op = &ops[*at];

	if (op->atom == DW_OP_skip || (op->atom == DW_OP_bra && pop(m).value))
		return jump(ops, count, at);
	(*at)++;
	return op->atom == DW_OP_bra || compute(m, op) || name_place(m, op);
}

static bool finish(struct machine *m, bool has_pieces, uint64_t len_bytes, struct location *ret)
{
	if (has_pieces) {
		ret->kind = LOCATION_BYTES;
		return !m->is_broken;
	}
	if (m->kind == PLACE_STACK && m->count) {
		ret->kind = LOCATION_MEMORY;
		ret->address = pop(m).value;
		return true;
	}
	ret->kind = m->kind == PLACE_NONE || m->kind == PLACE_STACK ? LOCATION_OPTIMIZED_OUT : LOCATION_BYTES;
	if (ret->kind == LOCATION_BYTES)
		take_place(m, len_bytes, ret);
	return !m->is_broken;
}

/* false: not known. */
static bool evaluate(struct machine *m, const Dwarf_Op *ops, size_t count, uint64_t len_bytes, struct location *ret)
{
	bool has_pieces = false;
	size_t at = 0;

	*ret = (struct location){0};
	for (uint32_t steps = 0; at < count; steps++) {
		const Dwarf_Op *op = &ops[at];

		if (steps == STEPS_MAX)
			return false;
		if (op->atom == DW_OP_piece || (op->atom == DW_OP_bit_piece && op->number % 8 == 0 && !op->number2)) {
			has_pieces = true;
			take_place(m, op->atom == DW_OP_piece ? op->number : op->number / 8, ret);
			at++;
		} else if (!step(m, ops, count, &at)) {
			return false;
		}
		if (m->is_broken)
			return false;
	}
	return finish(m, has_pieces, len_bytes, ret);
}

static void take_constant(Dwarf_Attribute *attribute, uint64_t len_bytes, struct location *ret)
{
	Dwarf_Block block;
	Dwarf_Sword value;

	ret->kind = LOCATION_BYTES;
	if (dwarf_formblock(attribute, &block) == 0)
		append(ret, block.data, len_bytes, block.length < len_bytes ? block.length : len_bytes);
	else if (dwarf_formsdata(attribute, &value) == 0)
		append(ret, &value, len_bytes, len_bytes < sizeof value ? len_bytes : sizeof value);
	else
		ret->kind = LOCATION_UNKNOWN;
}

void location_find(const struct location_frame *f, Dwarf_Die *variable, uint64_t len_bytes, struct location *ret)
{
	struct machine m = {.f = f};
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;
	int found;

	*ret = (struct location){.kind = LOCATION_OPTIMIZED_OUT};
	m.attr = &attribute;
	if (!dwarf_attr(variable, DW_AT_location, &attribute)) {
		if (dwarf_attr_integrate(variable, DW_AT_const_value, &attribute))
			take_constant(&attribute, len_bytes, ret);
		return;
	}
	found = dwarf_getlocation_addr(&attribute, f->address, &ops, &count, 1);
	if (found == 1 && count && !evaluate(&m, ops, count, len_bytes, ret))
		ret->kind = LOCATION_UNKNOWN;
	else if (found < 0)
		ret->kind = LOCATION_UNKNOWN;
	else if (found == 1)
		location_find_loop(f, &attribute, ops, count, ret);
}
