/*
 * return_path.c - follows each way through the code at once, the shortest first: a run of instructions up to one that ends it, then those that
 * its branches lead to, in the order in which they were met.
 */
#include "sampler/return_path.h"

#include <string.h>

#include "base/instruction.h"

enum {
	WORD_BYTES = 8,
	RUNS_MAX = 64,
	STEPS_MAX = 2000, /* instructions in all */
	SAVED_MAX = 6,
	BIT_RSP = 1 << CFI_RSP,
};

static const uint8_t callee_saved[SAVED_MAX] = {CFI_RBX, CFI_RBP, CFI_R12, CFI_R13, CFI_R14, CFI_R15};

/* Where a register of the caller is. */
enum where {
	IN_PLACE,
	IN_SLOT, /* slot bytes from base */
	GONE,
};

struct state {
	int32_t off;  /* of the stack pointer from `base`, as both were at the start */
	uint8_t base; /* CFI_RSP or CFI_RBP */
	uint8_t where[SAVED_MAX];
	int32_t slot[SAVED_MAX];
};

struct run {
	uintptr_t start, end; /* end: of what was followed */
	struct state state;
};

struct search {
	const struct eh_text *text;
	struct run runs[RUNS_MAX];
	uint32_t count, steps;
};

enum outcome {
	GOES_ON,
	ENDS,
	RETURNS,
};

static int index_of(unsigned int reg)
{
	for (int i = 0; i < SAVED_MAX; i++)
		if (callee_saved[i] == reg)
			return i;
	return -1;
}

/* A register is read from the stack pointer's place. */
static void pop(struct state *s, unsigned int reg)
{
	int i = index_of(reg);

	if (i >= 0) {
		s->where[i] = IN_SLOT;
		s->slot[i] = s->off;
	}
	s->off += WORD_BYTES;
}

/* rsp = rbp + off. Only where rbp is what it was at the start, and nothing was found relative to rsp. */
static enum outcome from_rbp(struct state *s, int32_t off)
{
	if (s->base == CFI_RSP) {
		for (int i = 0; i < SAVED_MAX; i++)
			if (s->where[i] == IN_SLOT)
				return ENDS;
	} else if (s->where[index_of(CFI_RBP)] != IN_PLACE) {
		return ENDS;
	}
	if (s->where[index_of(CFI_RBP)] != IN_PLACE)
		return ENDS;
	s->base = CFI_RBP;
	s->off = off;
	return GOES_ON;
}

/* An instruction whose operand is the stack pointer, with its bytes behind REX.W. */
static enum outcome set_stack_pointer(struct state *s, const uint8_t *code, const struct instruction *in)
{
	uint8_t opcode = code[1], modrm = code[2];
	int32_t number = 0;

	if (code[0] != 0x48)
		return ENDS;
	if (opcode == 0x83)
		number = code[3] < 0x80 ? code[3] : code[3] - 0x100;
	else if (opcode == 0x81)
		memcpy(&number, code + 3, sizeof number);
	if ((opcode == 0x83 || opcode == 0x81) && (modrm == 0xc4 || modrm == 0xec)) { /* add, sub */
		s->off += modrm == 0xc4 ? number : -number;
		return GOES_ON;
	}
	if ((opcode == 0x89 && modrm == 0xec) || (opcode == 0x8b && modrm == 0xe5)) /* mov %rbp, %rsp */
		return from_rbp(s, 0);
	if (opcode == 0x8d && in->is_memory && !in->is_far && in->index == INSTRUCTION_NONE) { /* lea */
		if (in->base == CFI_RBP)
			return from_rbp(s, in->displacement);
		s->off += in->displacement;
		return in->base == CFI_RSP ? GOES_ON : ENDS;
	}
	return ENDS;
}

static void lose(struct state *s, uint16_t written)
{
	for (int i = 0; i < SAVED_MAX; i++)
		if (written >> callee_saved[i] & 1)
			s->where[i] = GONE;
}

/* Instructions without REX, 66 and the like, by their first byte; what they do to the stack. */
static enum outcome take_plain(struct state *s, const uint8_t *code, const struct instruction *in)
{
	uint8_t reg = in->has_operand ? code[1] >> 3 & 7 : 0;

	switch (code[0]) {
	case 0x50 ... 0x57: /* push */
	case 0x68:
	case 0x6a:
	case 0x9c:
		s->off -= WORD_BYTES;
		return GOES_ON;
	case 0x58 ... 0x5b: /* pop %rax, %rcx, %rdx, %rbx */
	case 0x5d ... 0x5f:
		pop(s, (const uint8_t[]){CFI_RAX, CFI_RCX, CFI_RDX, CFI_RBX, CFI_RSP, CFI_RBP, CFI_RSI,
					 CFI_RDI}[code[0] - 0x58]);
		return GOES_ON;
	case 0x9d:
		s->off += WORD_BYTES;
		return GOES_ON;
	case 0xc9: /* leave */
		if (from_rbp(s, 0) == ENDS)
			return ENDS;
		pop(s, CFI_RBP);
		return GOES_ON;
	case 0x8f: /* pop to memory */
		s->off += WORD_BYTES;
		return in->is_memory ? GOES_ON : ENDS;
	case 0xff:
		if (reg == 6)
			s->off -= WORD_BYTES;
		break;
	case 0x5c: /* pop %rsp */
	case 0xc8: /* enter */
	case 0xca: /* returns to other code segments, and from interrupts */
	case 0xcb:
	case 0xcc:
	case 0xcd:
	case 0xcf:
	case 0xf4: /* hlt */
	case 0x94: /* xchg %rax, %rsp */
		return ENDS;
	default:
		break;
	}
	lose(s, in->written);
	return GOES_ON;
}

/* mov off(%rsp), %reg: 48 or 4c, 8b, ModRM. */
static bool is_restored(struct state *s, const uint8_t *code, const struct instruction *in)
{
	unsigned int number = (code[2] >> 3 & 7u) | (code[0] & 4u) << 1;
	int i = number == 3 ? 0 : number == 5 ? 1 : number >= 12 ? (int)number - 10 : -1;

	if ((code[0] & 0xf8) != 0x48 || code[1] != 0x8b || !in->is_memory || in->is_far || in->base != CFI_RSP ||
	    in->index != INSTRUCTION_NONE || i < 0)
		return false;
	s->where[i] = IN_SLOT;
	s->slot[i] = s->off + in->displacement;
	return true;
}

static enum outcome take(struct state *s, const uint8_t *code, const struct instruction *in)
{
	if (in->kind == INSTRUCTION_TRAP)
		return ENDS;
	if (in->written & BIT_RSP && (code[0] & 0xf0) == 0x40)
		return set_stack_pointer(s, code, in);
	if (code[0] == 0x41 && code[1] >= 0x50 && code[1] <= 0x57) {
		s->off -= WORD_BYTES;
		return GOES_ON;
	}
	if (code[0] == 0x41 && code[1] >= 0x58 && code[1] <= 0x5f) {
		pop(s, CFI_R8 + code[1] - 0x58u);
		return GOES_ON;
	}
	if (is_restored(s, code, in))
		return GOES_ON;
	if ((code[0] & 0xf0) == 0x40) {
		/* Of what remains push and pop of memory move the stack pointer; so do sign extensions of them that nobody writes. */
		if (code[1] == 0x8f || (code[1] == 0xff && (code[2] >> 3 & 7) == 6) || code[1] == 0xc9)
			return ENDS;
		lose(s, in->written);
		return GOES_ON;
	}
	return in->written & BIT_RSP ? ENDS : take_plain(s, code, in);
}

/* A way that was followed already, in whatever state. */
static bool is_known(const struct search *s, uintptr_t pc)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (pc == s->runs[i].start || (pc > s->runs[i].start && pc < s->runs[i].end))
			return true;
	return false;
}

static void add_run(struct search *s, uintptr_t pc, const struct state *state)
{
	if (s->count == RUNS_MAX || pc < s->text->low || pc >= s->text->high || is_known(s, pc))
		return;
	s->runs[s->count++] = (struct run){pc, pc, *state};
}

/* *ret is the state at the ret. */
static enum outcome follow(struct search *s, uint32_t number, struct state *ret)
{
	struct run *run = &s->runs[number];
	struct instruction in;

	*ret = run->state;
	while (s->steps++ < STEPS_MAX && (run->end == run->start || !is_known(s, run->end))) {
		const uint8_t *code = (const uint8_t *)run->end; /* NOLINT(performance-no-int-to-ptr) */

		if (run->end >= s->text->high || !instruction_decode(code, s->text->high - run->end, run->end, &in))
			return ENDS;
		if (in.kind == INSTRUCTION_RETURN)
			return RETURNS;
		if ((in.kind == INSTRUCTION_BRANCH || in.kind == INSTRUCTION_JUMP) && in.is_direct)
			add_run(s, in.target, ret);
		if (in.kind == INSTRUCTION_JUMP || take(ret, code, &in) == ENDS)
			return ENDS;
		run->end += in.len_bytes;
	}
	return ENDS;
}

static void make_row(const struct state *s, struct cfi_row *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->cfa_kind = CFI_CFA_REGISTER;
	ret->cfa_register = s->base;
	ret->cfa_value = s->off + WORD_BYTES;
	ret->rule[CFI_RETURN_ADDRESS] = CFI_OFFSET;
	ret->value[CFI_RETURN_ADDRESS] = -WORD_BYTES;
	for (int i = 0; i < SAVED_MAX; i++) {
		static const uint8_t rules[] = {[IN_PLACE] = CFI_SAME, [IN_SLOT] = CFI_OFFSET, [GONE] = CFI_UNDEFINED};

		ret->rule[callee_saved[i]] = rules[s->where[i]];
		if (s->where[i] == IN_SLOT)
			ret->value[callee_saved[i]] = s->slot[i] - ret->cfa_value;
	}
}

bool return_path_row(const struct eh_text *text, uintptr_t pc, struct cfi_row *ret)
{
	struct search s = {.text = text};
	struct state state = {.base = CFI_RSP};

	add_run(&s, pc, &state);
	for (uint32_t i = 0; i < s.count; i++)
		if (follow(&s, i, &state) == RETURNS) {
			make_row(&state, ret);
			return true;
		}
	return false;
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
