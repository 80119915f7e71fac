/*
 * return_path.c - follows each way through the code at once, the shortest first: a run of instructions up to one that ends it, then those that
 * its branches lead to, in the order in which they were met. Each run has the registers as far as they are known, and what it has stored.
 *
 * Of instructions those are computed that move the stack pointer and what it comes from: push, pop, leave, mov, lea, add, sub, and, xchg. What
 * another one writes to is unknown.
 */
#include "sampler/walk/return_path.h"

#include <string.h>

#include "base/instruction.h"

enum {
	WORD_BYTES = 8,
	RUNS_MAX = 64,
	STEPS_MAX = 2000, /* instructions in all */
	STORES_MAX = 4,
	RED_ZONE_BYTES = 128,
	BIT_RSP = 1 << CFI_RSP,
	CALLEE_SAVED = 1 << CFI_RBX | 1 << CFI_RBP | 1 << CFI_R12 | 1 << CFI_R13 | 1 << CFI_R14 | 1 << CFI_R15,
	REGISTERS = CFI_RETURN_ADDRESS,
	REX_W = 8,
};

/* Unknown, or a number. */
struct value {
	uint64_t number;
	bool is_known;
};

struct store {
	uint64_t at;
	struct value value;
};

struct state {
	uint64_t r[REGISTERS]; /* by enum cfi_register */
	struct store stores[STORES_MAX];
	uint16_t known;
	uint8_t store_count; /* of all; the last ones are kept */
};

struct run {
	uintptr_t start, end; /* end: of what was followed */
	struct state state;
};

struct search {
	const struct return_path_code *code;
	const struct unwind_stack *stack;
	uint64_t unused; /* from there down to the end of the stack nothing is in use at the start */
	struct run runs[RUNS_MAX];
	uint32_t count, steps;
};

enum outcome {
	GOES_ON,
	ENDS,
	RETURNS,
	LEAVES,
};

/* An instruction and what is around it. */
struct step {
	const struct search *search;
	struct state *state;
	const struct instruction *in;
	const uint8_t *end;      /* of its bytes */
	uint64_t next;           /* the address of the next one */
	unsigned int rex;        /* 0: none */
	const uint8_t *opcode;   /* behind the prefixes */
	bool has_fs, has_prefix; /* has_prefix: 66, f2, f3 */
};

/* ---- registers and memory ---- */

static struct value get(const struct state *s, unsigned int reg)
{
	return (struct value){s->r[reg], s->known >> reg & 1};
}

static void set(struct state *s, unsigned int reg, struct value value)
{
	s->r[reg] = value.number;
	s->known = (uint16_t)(value.is_known ? s->known | 1u << reg : s->known & ~(1u << reg));
}

static struct value known(uint64_t number)
{
	return (struct value){number, true};
}

static struct value load(const struct step *step, struct value at)
{
	const struct unwind_stack *stack = step->search->stack;
	const struct state *s = step->state;
	struct value ret = {0, false};

	if (!at.is_known)
		return ret;
	for (unsigned int i = 0; i < s->store_count && i < STORES_MAX; i++) {
		const struct store *store = &s->stores[(s->store_count - 1 - i) % STORES_MAX];

		if (store->at == at.number)
			return store->value;
	}
	if (at.number < stack->low || at.number >= stack->high)
		ret.is_known = memory_copy(step->search->code->windows, at.number, (uint8_t *)&ret.number,
					   sizeof ret.number) == sizeof ret.number;
	else if (at.number >= step->search->unused)
		ret.is_known = cfi_load(stack->low, stack->high, at.number, &ret.number);
	return ret;
}

static void store(struct state *s, struct value at, struct value value)
{
	if (!at.is_known)
		return;
	s->stores[s->store_count % STORES_MAX] = (struct store){at.number, value};
	s->store_count++;
	if (s->store_count == 2 * STORES_MAX)
		s->store_count = STORES_MAX;
}

static void push(struct state *s, struct value value)
{
	s->r[CFI_RSP] -= WORD_BYTES;
	store(s, get(s, CFI_RSP), value);
}

static struct value pop(const struct step *step)
{
	struct value ret = load(step, get(step->state, CFI_RSP));

	step->state->r[CFI_RSP] += WORD_BYTES;
	return ret;
}

/* ---- operands ---- */

static unsigned int dwarf(unsigned int number)
{
	static const uint8_t numbers[REGISTERS] = {CFI_RAX, CFI_RCX, CFI_RDX, CFI_RBX, CFI_RSP, CFI_RBP,
						   CFI_RSI, CFI_RDI, CFI_R8,  CFI_R9,  CFI_R10, CFI_R11,
						   CFI_R12, CFI_R13, CFI_R14, CFI_R15};

	return numbers[number % REGISTERS];
}

/* The register that ModRM.reg names, and that of the opcode's low bits. */
static unsigned int reg_of(const struct step *step)
{
	return dwarf((step->opcode[1] >> 3 & 7u) | (step->rex & 4u) << 1);
}

static unsigned int opcode_reg_of(const struct step *step)
{
	return dwarf((step->opcode[0] & 7u) | (step->rex & 1u) << 3);
}

static struct value address_of(const struct step *step)
{
	const struct instruction *in = step->in;
	struct value base = known(0), index = known(0);

	if (step->has_fs && in->base == INSTRUCTION_NONE && in->index == INSTRUCTION_NONE)
		return known((uint64_t)__builtin_thread_pointer() + (uint64_t)(int64_t)in->displacement);
	if (in->is_far)
		return (struct value){0, false};
	if (in->base == INSTRUCTION_RIP)
		base = known(step->next);
	else if (in->base != INSTRUCTION_NONE)
		base = get(step->state, in->base);
	if (in->index != INSTRUCTION_NONE)
		index = get(step->state, in->index);
	return (struct value){base.number + index.number * in->scale + (uint64_t)(int64_t)in->displacement,
			      base.is_known && index.is_known};
}

/* The operand of ModRM.rm. */
static struct value operand(const struct step *step)
{
	return step->in->is_memory ? load(step, address_of(step)) : get(step->state, step->in->reg);
}

static void set_operand(const struct step *step, struct value value)
{
	if (step->in->is_memory)
		store(step->state, address_of(step), value);
	else
		set(step->state, step->in->reg, value);
}

/* The last bytes of the instruction, with a sign. */
static struct value immediate(const struct step *step, size_t bytes)
{
	int32_t wide;

	if (bytes == 1)
		return known((uint64_t)(int64_t)(int8_t)step->end[-1]);
	memcpy(&wide, step->end - sizeof wide, sizeof wide);
	return known((uint64_t)(int64_t)wide);
}

/* ---- instructions ---- */

enum {
	ADD = 0,
	AND = 4,
	SUB = 5,
	COMPARE = 7,
};

static struct value compute(unsigned int what, struct value a, struct value b)
{
	struct value ret = {0, a.is_known && b.is_known};

	if (what == ADD)
		ret.number = a.number + b.number;
	else if (what == SUB)
		ret.number = a.number - b.number;
	else if (what == AND)
		ret.number = a.number & b.number;
	else
		ret.is_known = false;
	return ret;
}

static void forget(const struct step *step)
{
	step->state->known = (uint16_t)(step->state->known & ~step->in->written);
}

/* Instructions that move words to and from the stack, whatever their prefix. */
static bool take_stack(const struct step *step)
{
	struct state *s = step->state;
	unsigned int extension = step->in->has_operand ? step->opcode[1] >> 3 & 7 : 0;

	switch (step->opcode[0]) {
	case 0x50 ... 0x57: /* push */
		push(s, get(s, opcode_reg_of(step)));
		return true;
	case 0x58 ... 0x5f: /* pop */
		set(s, opcode_reg_of(step), pop(step));
		return true;
	case 0x68:
	case 0x6a:
		push(s, immediate(step, step->opcode[0] == 0x6a ? 1 : 4));
		return true;
	case 0x8f: /* pop to memory */
		set_operand(step, pop(step));
		return true;
	case 0x9c: /* flags */
		push(s, (struct value){0, false});
		return true;
	case 0x9d:
		pop(step);
		return true;
	case 0xc9: /* leave */
		set(s, CFI_RSP, get(s, CFI_RBP));
		set(s, CFI_RBP, pop(step));
		return true;
	case 0xff:
		if (extension == 6)
			push(s, operand(step));
		return extension == 6;
	default:
		return false;
	}
}

static void exchange(const struct step *step, unsigned int reg)
{
	struct value was = get(step->state, reg);

	set(step->state, reg, operand(step));
	set_operand(step, was);
}

static void exchange_rax(const struct step *step)
{
	unsigned int reg = opcode_reg_of(step);
	struct value was = get(step->state, reg), rax = get(step->state, CFI_RAX);

	/* Half a word is not computed. */
	was.is_known &= (step->rex & REX_W) != 0;
	rax.is_known &= (step->rex & REX_W) != 0;
	set(step->state, reg, rax);
	set(step->state, CFI_RAX, was);
}

/* Instructions with words of 64 bits as operands. */
static bool take_wide(const struct step *step)
{
	struct state *s = step->state;
	uint8_t opcode = step->opcode[0], extension = step->in->has_operand ? step->opcode[1] >> 3 & 7 : 0;

	switch (opcode) {
	case 0x01: /* add, and, sub: to the operand, from it */
	case 0x21:
	case 0x29:
		set_operand(step, compute(opcode >> 3, operand(step), get(s, reg_of(step))));
		return true;
	case 0x03:
	case 0x23:
	case 0x2b:
		set(s, reg_of(step), compute(opcode >> 3, get(s, reg_of(step)), operand(step)));
		return true;
	case 0x81:
	case 0x83:
		if (extension != COMPARE)
			set_operand(step, compute(extension, operand(step), immediate(step, opcode == 0x83 ? 1 : 4)));
		return true;
	case 0x87:
		exchange(step, reg_of(step));
		return true;
	case 0x89: /* mov */
		set_operand(step, get(s, reg_of(step)));
		return true;
	case 0x8b:
		set(s, reg_of(step), operand(step));
		return true;
	case 0x8d:
		set(s, reg_of(step), address_of(step));
		return true;
	case 0xc7:
		set_operand(step, immediate(step, 4));
		return true;
	default:
		return false;
	}
}

/* The outcome of instructions that are no jump, branch or return. */
static enum outcome take(const struct step *step)
{
	static const uint8_t system_call = 0x05;
	const uint8_t *opcode = step->opcode;

	if (step->in->kind == INSTRUCTION_TRAP)
		return ENDS;
	switch (opcode[0]) {
	case 0xc8: /* enter */
	case 0xca: /* returns to other code segments, and from interrupts */
	case 0xcb:
	case 0xcc:
	case 0xcd:
	case 0xcf:
	case 0xf4: /* hlt */
		return ENDS;
	case 0x91 ... 0x97:
		exchange_rax(step);
		break;
	case 0x0f:
		if (opcode[1] == system_call)
			step->state->known &= (uint16_t)~(1 << CFI_RAX | 1 << CFI_RCX | 1 << CFI_R11);
		forget(step);
		break;
	default:
		if (step->has_prefix || !(take_stack(step) || (step->rex & REX_W && take_wide(step))))
			forget(step);
		break;
	}
	return step->state->known & BIT_RSP ? GOES_ON : ENDS;
}

/* The bytes of an instruction behind its prefixes. */
static void find_opcode(struct step *step, const uint8_t *bytes)
{
	for (;; bytes++) {
		if (*bytes == 0x64)
			step->has_fs = true;
		else if (*bytes == 0x66 || *bytes == 0xf2 || *bytes == 0xf3)
			step->has_prefix = true;
		else if (*bytes != 0x2e && *bytes != 0x36 && *bytes != 0x3e && *bytes != 0x26 && *bytes != 0x65 &&
			 *bytes != 0x67 && *bytes != 0xf0)
			break;
	}
	if ((*bytes & 0xf0) == 0x40)
		step->rex = *bytes++;
	step->opcode = bytes;
}

/* ---- ways ---- */

/* A way that was followed already, in whatever state. */
static bool is_known(const struct search *s, uintptr_t pc)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (pc == s->runs[i].start || (pc > s->runs[i].start && pc < s->runs[i].end))
			return true;
	return false;
}

static bool is_in_code(const struct return_path_code *code, uintptr_t pc)
{
	return !code->text || (pc >= code->text->low && pc < code->text->high);
}

static void add_run(struct search *s, uintptr_t pc, const struct state *state)
{
	if (s->count == RUNS_MAX || !is_in_code(s->code, pc) || is_known(s, pc))
		return;
	s->runs[s->count++] = (struct run){pc, pc, *state};
}

/* The bytes at pc, at most those of one instruction; NULL: none can be read. They may be in `copy`. */
static const uint8_t *fetch(const struct return_path_code *code, uintptr_t pc, uint8_t *copy, size_t *ret_len)
{
	if (!is_in_code(code, pc))
		return NULL;
	if (code->text) {
		*ret_len =
			code->text->high - pc < INSTRUCTION_BYTES_MAX ? code->text->high - pc : INSTRUCTION_BYTES_MAX;
		return (const uint8_t *)pc; /* NOLINT(performance-no-int-to-ptr) */
	}
	*ret_len = memory_copy(code->windows, pc, copy, INSTRUCTION_BYTES_MAX);
	return *ret_len ? copy : NULL;
}

/* ret, or ret $n, which takes n bytes more off the stack. */
static bool take_return(const struct step *step, struct unwind_regs *ret)
{
	static const uint8_t takes_more = 0xc2;
	struct value pc = pop(step);
	const struct state *s = step->state;

	if (!pc.is_known || !pc.number)
		return false;
	*ret = (struct unwind_regs){
		.pc = pc.number, .known = s->known & (CALLEE_SAVED | BIT_RSP), .is_return_address = true};
	memcpy(ret->r, s->r, sizeof ret->r);
	if (step->opcode[0] == takes_more)
		ret->r[CFI_RSP] += step->opcode[1] | (uint64_t)step->opcode[2] << 8;
	return true;
}

/* A jump that leads nobody knows where, in code that made code has come to. */
static bool take_leave(const struct step *step, uintptr_t pc, struct unwind_regs *ret)
{
	const struct return_path_code *code = step->search->code;

	if (code->text || !code->is_described || !code->is_described(code->data, pc))
		return false;
	*ret = (struct unwind_regs){.pc = pc, .known = step->state->known};
	memcpy(ret->r, step->state->r, sizeof ret->r);
	return true;
}

static enum outcome follow(struct search *s, uint32_t number, struct unwind_regs *ret)
{
	struct run *run = &s->runs[number];
	struct state state = run->state;

	while (s->steps++ < STEPS_MAX && (run->end == run->start || !is_known(s, run->end))) {
		struct instruction in;
		uint8_t copy[INSTRUCTION_BYTES_MAX];
		size_t len_bytes = 0;
		const uint8_t *bytes = fetch(s->code, run->end, copy, &len_bytes);
		struct step step = {.search = s, .state = &state, .in = &in};
		struct value target;

		if (!bytes || !instruction_decode(bytes, len_bytes, run->end, &in))
			return ENDS;
		step.end = bytes + in.len_bytes;
		step.next = run->end + in.len_bytes;
		find_opcode(&step, bytes);
		if (in.kind == INSTRUCTION_RETURN)
			return take_return(&step, ret) ? RETURNS : ENDS;
		if (in.kind == INSTRUCTION_BRANCH || in.kind == INSTRUCTION_JUMP) {
			target = in.is_direct ? known(in.target) : operand(&step);
			if (target.is_known)
				add_run(s, target.number, &state);
			else if (take_leave(&step, run->end, ret))
				return LEAVES;
		}
		if (in.kind == INSTRUCTION_JUMP || take(&step) == ENDS)
			return ENDS;
		run->end += in.len_bytes;
	}
	return ENDS;
}

/* Of the same stack, a caller's frame lies above. */
static bool is_above(const struct unwind_stack *stack, const struct unwind_regs *callee,
		     const struct unwind_regs *caller)
{
	uint64_t sp = caller->r[CFI_RSP];

	return sp < stack->low || sp >= stack->high || sp > callee->r[CFI_RSP];
}

enum return_path_end return_path_step(const struct return_path_code *code, const struct unwind_stack *stack,
				      struct unwind_regs *regs)
{
	struct search s; /* large */
	struct state state = {.known = (uint16_t)regs->known};
	struct unwind_regs next;

	if (!(regs->known & BIT_RSP))
		return RETURN_PATH_NONE;
	s.code = code;
	s.stack = stack;
	s.count = s.steps = 0;
	memcpy(state.r, regs->r, sizeof state.r);
	s.unused = regs->r[CFI_RSP] - (regs->is_return_address ? 0 : RED_ZONE_BYTES);
	add_run(&s, regs->pc, &state);
	for (uint32_t i = 0; i < s.count; i++) {
		enum outcome outcome = follow(&s, i, &next);

		if (outcome == ENDS)
			continue;
		if (outcome == RETURNS && !is_above(stack, regs, &next))
			return RETURN_PATH_NONE;
		*regs = next;
		return outcome == LEAVES ? RETURN_PATH_LEAVES : RETURN_PATH_CALLER;
	}
	return RETURN_PATH_NONE;
}

bool return_path_is_straight(const struct eh_text *text, uintptr_t start, uintptr_t pc)
{
	struct instruction in;

	if (start < text->low || pc > text->high)
		return false;
	while (start < pc) {
		if (!instruction_decode((const uint8_t *)start, text->high - start, start,
					&in) || /* NOLINT(performance-no-int-to-ptr) */
		    in.kind == INSTRUCTION_JUMP ||
		    in.kind == INSTRUCTION_RETURN || in.kind == INSTRUCTION_TRAP)
			return false;
		start += in.len_bytes;
	}
	return start == pc;
}
