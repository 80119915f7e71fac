/*
 * cfi_expression.c - DWARF expressions as call frame information has them: PLT stubs, realigned stacks, signal frames, assembly.
 *
 * Arithmetic, registers and reads of the stack. What expressions of debugging information have beyond that (locations, pieces,
 * types, thread-local variables) is unknown here.
 */
#include "native/unwind/cfi.h"

#include "native/unwind/eh_read.h"

enum {
	DW_OP_addr = 0x03,
	DW_OP_deref = 0x06,
	DW_OP_const1u = 0x08,
	DW_OP_const1s = 0x09,
	DW_OP_const2u = 0x0a,
	DW_OP_const2s = 0x0b,
	DW_OP_const4u = 0x0c,
	DW_OP_const4s = 0x0d,
	DW_OP_const8u = 0x0e,
	DW_OP_const8s = 0x0f,
	DW_OP_constu = 0x10,
	DW_OP_consts = 0x11,
	DW_OP_dup = 0x12,
	DW_OP_drop = 0x13,
	DW_OP_over = 0x14,
	DW_OP_pick = 0x15,
	DW_OP_swap = 0x16,
	DW_OP_rot = 0x17,
	DW_OP_abs = 0x19,
	DW_OP_and = 0x1a,
	DW_OP_div = 0x1b,
	DW_OP_minus = 0x1c,
	DW_OP_mod = 0x1d,
	DW_OP_mul = 0x1e,
	DW_OP_neg = 0x1f,
	DW_OP_not = 0x20,
	DW_OP_or = 0x21,
	DW_OP_plus = 0x22,
	DW_OP_plus_uconst = 0x23,
	DW_OP_shl = 0x24,
	DW_OP_shr = 0x25,
	DW_OP_shra = 0x26,
	DW_OP_xor = 0x27,
	DW_OP_bra = 0x28,
	DW_OP_eq = 0x29,
	DW_OP_ge = 0x2a,
	DW_OP_gt = 0x2b,
	DW_OP_le = 0x2c,
	DW_OP_lt = 0x2d,
	DW_OP_ne = 0x2e,
	DW_OP_skip = 0x2f,
	DW_OP_lit0 = 0x30,
	DW_OP_lit31 = 0x4f,
	DW_OP_breg0 = 0x70,
	DW_OP_breg31 = 0x8f,
	DW_OP_bregx = 0x92,
	DW_OP_deref_size = 0x94,
	DW_OP_nop = 0x96,

	STACK_MAX = 32,
	STEPS_MAX = 256, /* an expression can loop */
};

struct evaluation {
	struct eh_reader r;
	const uint8_t *start;
	const struct cfi_context *context;
	unsigned int depth;
	uint64_t stack[STACK_MAX];
};

static void push(struct evaluation *e, uint64_t v)
{
	if (e->depth == STACK_MAX)
		eh_fail(&e->r);
	else
		e->stack[e->depth++] = v;
}

static uint64_t pop(struct evaluation *e)
{
	if (e->depth == 0) {
		eh_fail(&e->r);
		return 0;
	}
	return e->stack[--e->depth];
}

static void push_copy(struct evaluation *e, unsigned int from_top)
{
	if (from_top >= e->depth)
		eh_fail(&e->r);
	else
		push(e, e->stack[e->depth - 1 - from_top]);
}

static void push_register(struct evaluation *e, uint64_t reg, int64_t offset)
{
	if (reg >= CFI_REGISTER_COUNT || !(e->context->known >> reg & 1))
		eh_fail(&e->r);
	else
		push(e, e->context->registers[reg] + (uint64_t)offset);
}

static void push_memory(struct evaluation *e, uint64_t address, unsigned int len_bytes)
{
	const struct cfi_context *c = e->context;
	uint64_t v;

	if (len_bytes == 0 || len_bytes > sizeof v || !cfi_load(c->stack_low, c->stack_high, address, &v)) {
		eh_fail(&e->r);
		return;
	}
	push(e, len_bytes == sizeof v ? v : v & ((UINT64_C(1) << len_bytes * 8) - 1));
}

static void jump(struct evaluation *e, int16_t offset)
{
	if (offset < e->start - e->r.at || offset > e->r.end - e->r.at)
		eh_fail(&e->r);
	else
		e->r.at += offset;
}

static void swap(struct evaluation *e)
{
	uint64_t top = pop(e), next = pop(e);

	push(e, top);
	push(e, next);
}

/* The top becomes the third. */
static void rotate(struct evaluation *e)
{
	uint64_t top = pop(e), second = pop(e), third = pop(e);

	push(e, top);
	push(e, third);
	push(e, second);
}

static bool push_constant(struct evaluation *e, uint8_t op)
{
	struct eh_reader *r = &e->r;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push(e, op - DW_OP_lit0);
		return true;
	}
	switch (op) {
	case DW_OP_const1u:
		push(e, eh_u8(r));
		break;
	case DW_OP_const1s:
		push(e, (uint64_t)(int64_t)(int8_t)eh_u8(r));
		break;
	case DW_OP_const2u:
		push(e, eh_u16(r));
		break;
	case DW_OP_const2s:
		push(e, (uint64_t)(int64_t)(int16_t)eh_u16(r));
		break;
	case DW_OP_const4u:
		push(e, eh_u32(r));
		break;
	case DW_OP_const4s:
		push(e, (uint64_t)(int64_t)(int32_t)eh_u32(r));
		break;
	case DW_OP_addr:
	case DW_OP_const8u:
	case DW_OP_const8s:
		push(e, eh_u64(r));
		break;
	case DW_OP_constu:
		push(e, eh_uleb(r));
		break;
	case DW_OP_consts:
		push(e, (uint64_t)eh_sleb(r));
		break;
	default:
		return false;
	}
	return true;
}

/* The top of one operand is replaced; b is the top of two. */
static bool compute(struct evaluation *e, uint8_t op)
{
	uint64_t b, a;

	switch (op) {
	case DW_OP_abs:
		b = pop(e);
		push(e, (int64_t)b < 0 ? 0 - b : b);
		return true;
	case DW_OP_neg:
		push(e, 0 - pop(e));
		return true;
	case DW_OP_not:
		push(e, ~pop(e));
		return true;
	case DW_OP_plus_uconst:
		b = pop(e);
		push(e, b + eh_uleb(&e->r));
		return true;
	default:
		break;
	}
	if (op < DW_OP_and || op > DW_OP_ne || op == DW_OP_bra)
		return false;
	b = pop(e);
	a = pop(e);
	switch (op) {
	case DW_OP_and:
		a &= b;
		break;
	case DW_OP_div:
		if (b == 0 || (b == UINT64_MAX && a == UINT64_C(1) << 63))
			eh_fail(&e->r);
		else
			a = (uint64_t)((int64_t)a / (int64_t)b);
		break;
	case DW_OP_minus:
		a -= b;
		break;
	case DW_OP_mod:
		if (b == 0)
			eh_fail(&e->r);
		else
			a %= b;
		break;
	case DW_OP_mul:
		a *= b;
		break;
	case DW_OP_or:
		a |= b;
		break;
	case DW_OP_plus:
		a += b;
		break;
	case DW_OP_shl:
		a = b < 64 ? a << b : 0;
		break;
	case DW_OP_shr:
		a = b < 64 ? a >> b : 0;
		break;
	case DW_OP_shra:
		a = (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
		break;
	case DW_OP_xor:
		a ^= b;
		break;
	case DW_OP_eq:
		a = a == b;
		break;
	case DW_OP_ge:
		a = (int64_t)a >= (int64_t)b;
		break;
	case DW_OP_gt:
		a = (int64_t)a > (int64_t)b;
		break;
	case DW_OP_le:
		a = (int64_t)a <= (int64_t)b;
		break;
	case DW_OP_lt:
		a = (int64_t)a < (int64_t)b;
		break;
	default: /* DW_OP_ne */
		a = a != b;
	}
	push(e, a);
	return true;
}

static void step(struct evaluation *e)
{
	struct eh_reader *r = &e->r;
	uint8_t op = eh_u8(r);
	uint64_t reg;
	int16_t offset;

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(e, op - DW_OP_breg0, eh_sleb(r));
		return;
	}
	if (push_constant(e, op) || compute(e, op))
		return;
	switch (op) {
	case DW_OP_bregx:
		reg = eh_uleb(r);
		push_register(e, reg, eh_sleb(r));
		break;
	case DW_OP_deref:
		push_memory(e, pop(e), 8);
		break;
	case DW_OP_deref_size:
		push_memory(e, pop(e), eh_u8(r));
		break;
	case DW_OP_dup:
		push_copy(e, 0);
		break;
	case DW_OP_drop:
		pop(e);
		break;
	case DW_OP_over:
		push_copy(e, 1);
		break;
	case DW_OP_pick:
		push_copy(e, eh_u8(r));
		break;
	case DW_OP_swap:
		swap(e);
		break;
	case DW_OP_rot:
		rotate(e);
		break;
	case DW_OP_skip:
		jump(e, (int16_t)eh_u16(r));
		break;
	case DW_OP_bra:
		offset = (int16_t)eh_u16(r);
		if (pop(e))
			jump(e, offset);
		break;
	case DW_OP_nop:
		break;
	default:
		eh_fail(r);
	}
}

bool cfi_evaluate(const struct eh_table *t, int32_t expression, const struct cfi_context *context,
		  const uint64_t *initial, uint64_t *ret)
{
	struct evaluation e;
	uint64_t len_bytes;

	e.r = (struct eh_reader){t->image.low + expression, t->image.high, false};
	e.context = context;
	e.depth = 0;
	len_bytes = eh_uleb(&e.r);
	e.start = eh_take(&e.r, len_bytes);
	if (!e.start)
		return false;
	e.r = (struct eh_reader){e.start, e.start + len_bytes, false};
	if (initial)
		push(&e, *initial);
	for (unsigned int steps = 0; eh_left(&e.r); steps++) {
		if (steps == STEPS_MAX)
			return false;
		step(&e);
	}
	*ret = pop(&e);
	return !e.r.has_failed;
}
