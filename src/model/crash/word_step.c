/*
 * word_step.c - the effect of one instruction on what is known of registers, of the frame and of the thread's words.
 *
 * Followed are the instructions by which compilers move and add numbers of 64 bits. Any other makes the registers that it writes to
 * unknown; the words themselves are written by no other.
 */
#include "model/crash/word_step.h"

#include <stddef.h>
#include <string.h>

#include "waymark/abi.h"

static const struct word_value unknown;

struct word_value word_number(int64_t n)
{
	return (struct word_value){.kind = WORD_NUMBER, .n = n};
}

bool word_is_same(struct word_value a, struct word_value b)
{
	return a.kind == b.kind && a.region == b.region && a.n == b.n;
}

static int64_t sum_of(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static struct word_value moved(struct word_value v, int64_t by)
{
	if (v.kind == WORD_UNKNOWN || v.kind >= WORD_RELATIVE)
		return unknown;
	v.n = sum_of(v.n, by);
	return v;
}

static struct word_value sum(struct word_value a, struct word_value b)
{
	if ((a.kind == WORD_RELATIVE && b.kind == WORD_NUMBER) || (b.kind == WORD_RELATIVE && a.kind == WORD_NUMBER))
		return a.n == b.n ? (struct word_value){WORD_TARGET, a.region | b.region, a.n} : unknown;
	if (b.kind == WORD_NUMBER)
		return moved(a, b.n);
	return a.kind == WORD_NUMBER ? moved(b, a.n) : unknown;
}

static struct word_value difference(struct word_value a, struct word_value b)
{
	return b.kind == WORD_NUMBER ? moved(a, (int64_t)(0 - (uint64_t)b.n)) : unknown;
}

static struct word_value value_of(const struct word_state *s, unsigned reg)
{
	return reg < WORD_REGISTERS ? s->registers[reg] : unknown;
}

struct word_value word_address(const struct word_state *s, const struct instruction *i, uint64_t next)
{
	struct word_value v = word_number(0);

	if (!i->is_memory || (i->is_far && !i->is_fs) || (i->index != INSTRUCTION_NONE && i->scale != 1))
		return unknown;
	if (i->base == INSTRUCTION_RIP)
		v = word_number((int64_t)next);
	else if (i->base != INSTRUCTION_NONE)
		v = value_of(s, i->base);
	if (i->index != INSTRUCTION_NONE)
		v = sum(v, value_of(s, i->index));
	v = moved(v, i->displacement);
	if (!i->is_fs)
		return v;
	return v.kind == WORD_NUMBER ? (struct word_value){.kind = WORD_THREAD, .n = v.n} : unknown;
}

void word_set(struct word_state *s, unsigned reg, struct word_value value, uint64_t pc)
{
	if (reg >= WORD_REGISTERS)
		return;
	if (reg == WORD_RSP && value.kind != WORD_STACK)
		value = (struct word_value){.kind = WORD_STACK, .region = (uint32_t)pc | 1u << 31};
	s->registers[reg] = value;
	if (s->compared == reg)
		s->compared = INSTRUCTION_NONE;
}

/* ---- the frame ---- */

static void forget_slot(struct word_state *s, struct word_value place)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->slot_count; i++) {
		const struct word_slot *slot = &s->slots[i];

		/* Further apart than 8 bytes, either way. */
		if (slot->place.region != place.region || (uint64_t)slot->place.n - (uint64_t)place.n + 7 > 14)
			s->slots[kept++] = *slot;
	}
	s->slot_count = kept;
}

static void set_slot(struct word_state *s, struct word_value place, struct word_value value)
{
	forget_slot(s, place);
	if (value.kind != WORD_UNKNOWN && s->slot_count < WORD_SLOTS_MAX)
		s->slots[s->slot_count++] = (struct word_slot){place, value};
}

static struct word_value slot_value(const struct word_state *s, struct word_value place)
{
	for (uint32_t i = 0; i < s->slot_count; i++)
		if (word_is_same(s->slots[i].place, place))
			return s->slots[i].value;
	return unknown;
}

static void forget_below(struct word_state *s)
{
	const struct word_value sp = s->registers[WORD_RSP];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->slot_count; i++)
		if (s->slots[i].place.region != sp.region || s->slots[i].place.n >= sp.n)
			s->slots[kept++] = s->slots[i];
	s->slot_count = kept;
}

void word_call(struct word_state *s, bool is_kept)
{
	static const uint8_t changed[] = {0, 11, 1, 2, 4, 5, 8, 9, 10}; /* rax, r11; rdx, rcx, rsi, rdi, r8 to r10 */
	const size_t count = is_kept ? 2 : sizeof changed;

	for (size_t i = 0; i < count; i++)
		word_set(s, changed[i], unknown, 0);
	forget_below(s);
	if (!is_kept)
		s->is_after_call = true;
}

/* ---- memory ---- */

static bool is_word(const struct word_code *code, struct word_value place, size_t off)
{
	return place.kind == WORD_THREAD && place.n == sum_of(code->state_off, (int64_t)off);
}

/* An entry of a table; region: how many entries there are, 0 where that is not known. */
static struct word_value entry_of(const struct word_state *s, const struct instruction *i, enum word_kind kind)
{
	const struct word_value base = i->base == INSTRUCTION_NONE ? word_number(0) : value_of(s, i->base);
	const bool is_bounded = s->is_bounded && s->compared == i->index;

	if (base.kind != WORD_NUMBER || i->is_far)
		return unknown;
	return (struct word_value){kind, is_bounded ? s->bound : 0, sum_of(base.n, i->displacement)};
}

/* What the dynamic linker has filled in: the offset of the words. */
static struct word_value read_constant(const struct word_code *code, struct word_value place)
{
	int64_t value;

	if (code->read(code->data, (uint64_t)place.n, &value, sizeof value) && value == code->state_off)
		return word_number(value);
	return unknown;
}

static struct word_value load(const struct word_code *code, const struct word_state *s, const struct instruction *i,
			      struct word_value place)
{
	if (i->index != INSTRUCTION_NONE && i->scale == 8)
		return entry_of(s, i, WORD_POINTER);
	if (place.kind == WORD_STACK)
		return slot_value(s, place);
	if (is_word(code, place, offsetof(struct wm1_thread, id)))
		return s->id;
	if (place.kind == WORD_THREAD && place.n == 0) /* its own address */
		return place;
	return place.kind == WORD_NUMBER && i->base == INSTRUCTION_RIP ? read_constant(code, place) : unknown;
}

static void set_id(struct word_state *s, const struct word_function *function, struct word_value value)
{
	if (strcmp(function->name, "wm1.put_back") == 0)
		value = s->saved;
	if (s->is_outside && value.kind == WORD_NUMBER)
		value = (struct word_value){.kind = WORD_ID};
	s->id = value;
	s->is_outside = false;
	s->is_after_call = false;
}

/* What a register leads to in thread-local storage may be the id, or the history; an array is not. */
static bool may_be_word(const struct instruction *i, struct word_value place)
{
	return i->is_fs && place.kind == WORD_UNKNOWN && i->index == INSTRUCTION_NONE;
}

static void forget_words(struct word_state *s)
{
	s->id = unknown;
	s->is_outside = false;
	s->history = WORD_HISTORY_UNKNOWN;
}

static void store(const struct word_code *code, const struct word_function *function, struct word_state *s,
		  const struct instruction *i, struct word_value place, struct word_value value)
{
	if (may_be_word(i, place))
		forget_words(s);
	else if (place.kind == WORD_STACK)
		set_slot(s, place, value);
	else if (is_word(code, place, offsetof(struct wm1_thread, id)))
		set_id(s, function, value);
	else if (is_word(code, place, offsetof(struct wm1_thread, deferred_sp)) && value.kind == WORD_STACK)
		s->saved = s->id;
}

/* A part of a word: roots set their id in two halves where it is large. */
static void store_part(const struct word_code *code, const struct word_function *function, struct word_state *s,
		       struct word_value place, const struct instruction *i)
{
	if (may_be_word(i, place))
		forget_words(s);
	else if (place.kind == WORD_STACK)
		forget_slot(s, place);
	else if (is_word(code, place, offsetof(struct wm1_thread, id) + 4) && i->opcode == 0xc7)
		set_id(s, function, word_number(i->immediate));
	else if (is_word(code, place, offsetof(struct wm1_thread, id)) && !s->is_outside)
		s->id = unknown;
}

/* ---- instructions ---- */

static void push(struct word_state *s, struct word_value value)
{
	s->registers[WORD_RSP].n = sum_of(s->registers[WORD_RSP].n, -8);
	set_slot(s, s->registers[WORD_RSP], value);
}

static struct word_value pop(struct word_state *s)
{
	struct word_value value = slot_value(s, s->registers[WORD_RSP]);

	s->registers[WORD_RSP].n = sum_of(s->registers[WORD_RSP].n, 8);
	forget_below(s);
	return value;
}

/* The operand of ModRM, of 64 bits. */
static struct word_value read_operand(const struct word_code *code, const struct word_state *s,
				      const struct instruction *i, struct word_value place)
{
	return i->is_memory ? load(code, s, i, place) : value_of(s, i->reg);
}

static void write_operand(const struct word_code *code, const struct word_function *function, struct word_state *s,
			  const struct instruction *i, struct word_value place, struct word_value value, uint64_t pc)
{
	if (i->is_memory)
		store(code, function, s, i, place, value);
	else
		word_set(s, i->reg, value, pc);
}

/* add, sub, and, cmp with a number. */
static void step_immediate(const struct word_code *code, const struct word_function *function, struct word_state *s,
			   const struct instruction *i, struct word_value place, uint64_t pc)
{
	const struct word_value old = read_operand(code, s, i, place);

	switch (i->extension) {
	case 0:
		write_operand(code, function, s, i, place, moved(old, i->immediate), pc);
		break;
	case 5:
		write_operand(code, function, s, i, place, moved(old, -i->immediate), pc);
		break;
	case 7:
		break;
	default:
		write_operand(code, function, s, i, place, unknown, pc);
		break;
	}
}

/* ff: inc, dec, push. */
static void step_ff(const struct word_code *code, const struct word_function *function, struct word_state *s,
		    const struct instruction *i, struct word_value place, uint64_t pc)
{
	const struct word_value old = read_operand(code, s, i, place);

	if (i->extension == 6)
		push(s, old);
	else if (i->extension < 2)
		write_operand(code, function, s, i, place, moved(old, i->extension ? -1 : 1), pc);
}

/* Of 64 bits. false: none of those that are followed. */
static bool step_wide(const struct word_code *code, const struct word_function *function, struct word_state *s,
		      const struct instruction *i, struct word_value place, uint64_t pc)
{
	const struct word_value own = value_of(s, i->other);
	const struct word_value operand = read_operand(code, s, i, place);

	switch (i->opcode) {
	case 0x01:
		write_operand(code, function, s, i, place, sum(operand, own), pc);
		return true;
	case 0x03:
		word_set(s, i->other, sum(own, operand), pc);
		return true;
	case 0x05: /* rax and a number */
		word_set(s, 0, moved(value_of(s, 0), i->immediate), pc);
		return true;
	case 0x2d:
		word_set(s, 0, moved(value_of(s, 0), -i->immediate), pc);
		return true;
	case 0x29:
		write_operand(code, function, s, i, place, difference(operand, own), pc);
		return true;
	case 0x2b:
		word_set(s, i->other, difference(own, operand), pc);
		return true;
	case 0x31:
	case 0x33:
		if (i->is_memory || i->reg != i->other)
			return false;
		word_set(s, i->other, word_number(0), pc);
		return true;
	case 0x63:
		word_set(s, i->other, unknown, pc);
		return true;
	case 0x81:
	case 0x83:
		step_immediate(code, function, s, i, place, pc);
		return true;
	case 0x89:
		write_operand(code, function, s, i, place, own, pc);
		return true;
	case 0x8b:
		word_set(s, i->other, operand, pc);
		return true;
	case 0x8d:
		word_set(s, i->other, place, pc);
		return true;
	case 0xb8 ... 0xbf:
		word_set(s, i->other, word_number(i->immediate), pc);
		return true;
	case 0xc7:
		write_operand(code, function, s, i, place, word_number(i->immediate), pc);
		return true;
	case 0xff:
		step_ff(code, function, s, i, place, pc);
		return true;
	default:
		return false;
	}
}

/* movslq (TABLE, index, 4): an entry of a table of distances. */
static bool step_table(struct word_state *s, const struct instruction *i, uint64_t pc)
{
	if (i->opcode != 0x63 || !i->is_memory || i->index == INSTRUCTION_NONE || i->scale != 4)
		return false;
	word_set(s, i->other, entry_of(s, i, WORD_RELATIVE), pc);
	return true;
}

/* Those whose width is that of the stack, or does not matter. */
static bool step_narrow(struct word_state *s, const struct instruction *i, uint64_t pc)
{
	struct word_value value;

	switch (i->opcode) {
	case 0x31:
	case 0x33:
		if (i->is_memory || i->reg != i->other)
			return false;
		word_set(s, i->other, word_number(0), pc);
		return true;
	case 0x50 ... 0x57:
		push(s, value_of(s, i->other));
		return true;
	case 0x58 ... 0x5f:
		value = pop(s);
		word_set(s, i->other, value, pc);
		return true;
	case 0x68:
	case 0x6a:
		push(s, word_number(i->immediate));
		return true;
	case 0x9c: /* pushf */
		push(s, unknown);
		return true;
	case 0x9d:
		pop(s);
		return true;
	case 0xb8 ... 0xbf:
		if (i->is_wide)
			return false;
		word_set(s, i->other, word_number((uint32_t)i->immediate), pc);
		return true;
	case 0xc9: /* leave */
		word_set(s, WORD_RSP, value_of(s, 6), pc);
		value = pop(s);
		word_set(s, 6, value, pc);
		return true;
	default:
		return false;
	}
}

/* Moves to memory, of any width and register. */
static bool is_store(const struct instruction *i)
{
	if (i->map == 0)
		return i->opcode == 0x88 || i->opcode == 0x89 || i->opcode == 0xc6 || i->opcode == 0xc7;
	return i->map == 1 && (i->opcode == 0x11 || i->opcode == 0x13 || i->opcode == 0x17 || i->opcode == 0x29 ||
			       i->opcode == 0x7e || i->opcode == 0x7f || i->opcode == 0xd6 || i->opcode == 0xe7);
}

static void step_other(const struct word_code *code, const struct word_function *function, struct word_state *s,
		       const struct instruction *i, struct word_value place, uint64_t pc)
{
	/* xchg with rax, repeated string instructions, bit fields: their registers are not told. */
	const bool is_untold =
		(i->map == 0 && ((i->opcode >= 0x91 && i->opcode <= 0x97) ||
				 (i->opcode >= 0xa4 && i->opcode <= 0xaf && i->opcode != 0xa8 && i->opcode != 0xa9))) ||
		(i->map == 1 && (i->opcode == 0xa2 || i->opcode == 0x31)) || (i->map >= 2 && i->opcode >= 0xf0);

	for (unsigned r = 0; r < WORD_REGISTERS; r++)
		if (r != WORD_RSP && (is_untold || i->written >> r & 1))
			word_set(s, r, unknown, pc);
	if (i->written >> WORD_RSP & 1)
		word_set(s, WORD_RSP, unknown, pc);
	if (i->is_memory && is_store(i))
		store_part(code, function, s, place, i);
}

/* cmp $N, register: what ja behind it does not take is at most N. */
static void note_compare(struct word_state *s, const struct instruction *i)
{
	const bool is_number = i->opcode == 0x81 || i->opcode == 0x83;

	if (i->map || !is_number || i->extension != 7 || i->is_memory || i->immediate < 0 || i->immediate > 1 << 20)
		return;
	s->compared = i->reg;
	s->is_bounded = false;
	s->bound = (uint32_t)i->immediate + 1;
}

/* add, or, adc, sbb, and, sub, xor, cmp of a register; test; mov from memory; cmp and test of a number. */
static bool only_reads(const struct instruction *i)
{
	const bool is_of_number = (i->opcode >= 0x80 && i->opcode <= 0x83) || i->opcode == 0xf6 || i->opcode == 0xf7;

	if (is_of_number)
		return i->extension == (i->opcode < 0x90 ? 7 : 0);
	return (i->opcode < 0x40 && ((i->opcode & 6) == 2 || i->opcode >= 0x38)) || i->opcode == 0x84 ||
	       i->opcode == 0x85 || i->opcode == 0x8a || i->opcode == 0x8b;
}

/* The history has changed: by a shift to the left, which makes room for the code of a call, or by how the code gets there. */
static void note_append(struct word_state *s, const struct instruction *i)
{
	const bool is_told = !i->map && !i->is_vector;
	const bool is_code = i->opcode == 0x81 || i->opcode == 0x83; /* or, xor */
	const bool is_shift = (i->opcode == 0xc1 || i->opcode == 0xd1) && i->extension == 4;

	if (is_told && is_shift && s->history == WORD_HISTORY_OWN)
		s->history = i->opcode == 0xd1 ? 1 : (uint8_t)(i->immediate & WORD_HISTORY_BITS_MAX);
	else if (s->history == WORD_HISTORY_OWN ||
		 !(is_told &&
		   (s->history == WORD_HISTORY_PUSHED || (is_code && (i->extension == 1 || i->extension == 6)))))
		s->history = WORD_HISTORY_UNKNOWN;
}

/*
 * Calls of the function by itself append to the history; a shift takes that off again (contexts/support.ll). Behind it the id is the function's own,
 * unless the call has pushed: then nothing of the history is left, and wm1.put_back_self follows.
 */
static void note_history(const struct word_code *code, struct word_state *s, const struct instruction *i,
			 struct word_value place)
{
	const bool is_told = !i->map && !i->is_vector;

	if (!i->is_memory || !is_word(code, place, offsetof(struct wm1_thread, history)) || (is_told && only_reads(i)))
		return;
	if (!is_told || (i->opcode != 0xc1 && i->opcode != 0xd1) || i->extension != 5) {
		note_append(s, i);
		return;
	}
	s->history = WORD_HISTORY_OWN;
	s->id = (struct word_value){.kind = WORD_ID};
	s->is_after_call = false;
}

void word_step(const struct word_code *code, const struct word_function *function, struct word_state *s,
	       const struct instruction *i, uint64_t pc)
{
	const struct word_value place = word_address(s, i, pc + i->len_bytes);

	note_compare(s, i);
	note_history(code, s, i, place);
	if (i->map == 1 && !i->is_vector && (i->opcode & 0xf0) == 0x40) { /* cmov */
		if (!i->is_wide || !word_is_same(value_of(s, i->other), read_operand(code, s, i, place)))
			word_set(s, i->other, unknown, pc);
		return;
	}
	if (!i->map && !i->is_vector) {
		if ((i->is_wide && step_table(s, i, pc)) || step_narrow(s, i, pc))
			return;
		if (i->is_wide && step_wide(code, function, s, i, place, pc))
			return;
		if (i->opcode == 0xff && i->extension == 6) {
			step_ff(code, function, s, i, place, pc);
			return;
		}
		if (i->opcode == 0x8f) {
			struct word_value value = pop(s);

			write_operand(code, function, s, i, place, value, pc);
			return;
		}
	}
	step_other(code, function, s, i, place, pc);
}

bool word_puts_back_history(const struct word_code *code, const struct word_state *s, const struct instruction *i,
			    uint64_t next)
{
	return !i->map && !i->is_vector && i->opcode == 0x89 && i->is_memory &&
	       is_word(code, word_address(s, i, next), offsetof(struct wm1_thread, history));
}

struct word_value word_operand(const struct word_code *code, const struct word_state *s, const struct instruction *i,
			       uint64_t next)
{
	return read_operand(code, s, i, word_address(s, i, next));
}
