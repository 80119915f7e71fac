/*
 * word_flow.c - the abstract interpretation of word_flow.h: control is followed from the function's entry, states are joined where it meets.
 *
 *      call of a helper (wm1.*)      its code is followed with the caller's state, as if it were inlined
 *      call of anything else         leaves the id as it was; registers that calls may change are unknown
 *      jump through a table          leads to the table's entries that are instructions of the function
 *      jump elsewhere                leaves the function
 *
 * Whether a call returns is not written in the code: behind one of abort() stands whatever the compiler has put there. So what is only
 * reached by a return to a place that jumps lead to as well is doubtful, and gives way to a state that comes by a jump (merge).
 *
 * What is not reached so begins as a landing pad: any call may have led there, and nothing is known of the id but where it is kept.
 */
#include "model/crash/word_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "model/crash/word_step.h"
#include "waymark/abi.h"

enum {
	CODE_BYTES_MAX = 1 << 24,
	HELPERS_DEEP = 4,
	ENTRIES_MAX = 1 << 14, /* of a table of jumps */
};

VEC_DECLARE(offset_vec, uint32_t);

enum mark {
	MARK_INSTRUCTION = 1 << 0,
	MARK_TARGET = 1 << 1, /* of a jump */
};

struct word_flow {
	const struct word_code *code;
	struct word_function function;
	uint8_t *bytes;
	uint32_t len_bytes;
	uint8_t *marks;
	uint8_t *call_bytes;        /* [offset]: length of the call that ends there */
	struct word_state **states; /* [offset] in front of the instruction; NULL: not reached */
	struct offset_vec work;
	struct word_state at_return; /* has_returned */
	bool has_returned;
	bool recovers;
	unsigned depth; /* of helpers that it is in */
	const char *why;
	struct error *err;
};

static const struct word_value unknown;

bool word_is_helper(const char *name)
{
	return text_begins(name, "wm1.") && !text_begins(name, WM1_CALL) && strcmp(name, WM1_CALL_BOUND) != 0;
}

/* Of the runtime: they keep all registers but r11 and their result (waymark/runtime.h). */
static bool is_kept_call(const char *name)
{
	static const char *const names[] = {"wm1_grow",       "wm1_drop_tails", "wm1_push_deferred", "wm1_put_back",
					    "wm1_path_enter", "wm1_path_miss",  "wm1_path_residual", "wm1.push_tail"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

struct word_state word_state_begin(bool is_outside)
{
	struct word_state s = {.compared = INSTRUCTION_NONE, .is_outside = is_outside};

	s.id.kind = is_outside ? WORD_UNKNOWN : WORD_ID;
	s.saved = s.id;
	s.registers[WORD_RSP].kind = WORD_STACK;
	return s;
}

/* ---- joins ---- */

static bool join_value(struct word_value *a, struct word_value b)
{
	if (a->kind == WORD_UNKNOWN || word_is_same(*a, b))
		return false;
	*a = unknown;
	return true;
}

static bool join_flag(bool *a, bool b)
{
	const bool is_new = b && !*a;

	*a |= b;
	return is_new;
}

static bool join_slots(struct word_state *a, const struct word_state *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < a->slot_count; i++)
		for (uint32_t k = 0; k < b->slot_count; k++)
			if (word_is_same(a->slots[i].place, b->slots[k].place) &&
			    word_is_same(a->slots[i].value, b->slots[k].value)) {
				a->slots[kept++] = a->slots[i];
				break;
			}
	if (kept == a->slot_count)
		return false;
	a->slot_count = kept;
	return true;
}

static bool join_stack_pointer(struct word_value *a, struct word_value b, uint64_t pc)
{
	const struct word_value own = {.kind = WORD_STACK, .region = (uint32_t)pc | 1u << 31};

	if (word_is_same(*a, b) || word_is_same(*a, own))
		return false;
	*a = own;
	return true;
}

/* Behind a call by itself, which has pushed where there was no room for its bits. */
static bool join_history(uint8_t *a, uint8_t b)
{
	const uint8_t before = *a;
	const bool may_push = before != WORD_HISTORY_OWN && b != WORD_HISTORY_OWN;

	if (may_push && before == WORD_HISTORY_PUSHED)
		*a = b;
	else if (before != b && !(may_push && b == WORD_HISTORY_PUSHED))
		*a = WORD_HISTORY_UNKNOWN;
	return *a != before;
}

static bool join(struct word_state *a, const struct word_state *b, uint64_t pc)
{
	bool changed = join_slots(a, b);

	for (unsigned r = 0; r < WORD_REGISTERS; r++)
		if (r != WORD_RSP)
			changed |= join_value(&a->registers[r], b->registers[r]);
	changed |= join_stack_pointer(&a->registers[WORD_RSP], b->registers[WORD_RSP], pc);
	if (a->is_outside != b->is_outside) {
		changed |= a->is_outside || a->id.kind != WORD_UNKNOWN;
		a->is_outside = false;
		a->id = unknown;
	}
	changed |= join_value(&a->id, b->id);
	changed |= join_value(&a->saved, b->saved);
	if (a->compared != INSTRUCTION_NONE &&
	    (a->compared != b->compared || a->bound != b->bound || a->is_bounded != b->is_bounded)) {
		a->compared = INSTRUCTION_NONE;
		changed = true;
	}
	changed |= join_flag(&a->is_after_call, b->is_after_call);
	changed |= join_flag(&a->has_jumped_on, b->has_jumped_on);
	changed |= join_flag(&a->has_cleaned, b->has_cleaned);
	return join_history(&a->history, b->history) || changed;
}

/* Both can be one function's at one place. */
static bool is_alike(const struct word_state *a, const struct word_state *b)
{
	return word_is_same(a->id, b->id) && word_is_same(a->registers[WORD_RSP], b->registers[WORD_RSP]);
}

static void queue(struct word_flow *f, uint32_t off)
{
	if (!f->err)
		f->err = offset_vec_append(&f->work, off);
}

/* Control may come to off with the state. */
static void merge(struct word_flow *f, uint32_t off, const struct word_state *s)
{
	struct word_state *to = f->states[off];
	bool changed = true;

	if (!to) {
		to = f->states[off] = malloc(sizeof *to);
		if (!to) {
			f->err = f->err ? f->err : &error_no_memory;
			return;
		}
		*to = *s;
	} else if (is_alike(to, s) || to->is_doubtful == s->is_doubtful) {
		changed = join(to, s, f->function.start + off);
		if (to->is_doubtful && !s->is_doubtful) {
			to->is_doubtful = false;
			changed = true;
		}
	} else if (to->is_doubtful) {
		*to = *s;
	} else {
		return; /* the call does not return */
	}
	if (changed)
		queue(f, off);
}

/* ---- the code ---- */

static bool is_inside(const struct word_flow *f, uint64_t address)
{
	return address >= f->function.start && address < f->function.start + f->len_bytes;
}

static bool decode(const struct word_flow *f, uint32_t off, struct instruction *ret)
{
	return instruction_decode(f->bytes + off, f->len_bytes - off, f->function.start + off, ret);
}

/* All instructions are one behind the other: tables of jumps are elsewhere. */
static void mark_instructions(struct word_flow *f)
{
	struct instruction i;

	for (uint32_t off = 0; off < f->len_bytes; off += i.len_bytes) {
		if (!decode(f, off, &i)) {
			f->why = "has an instruction that is not known";
			return;
		}
		f->marks[off] |= MARK_INSTRUCTION;
		if (i.is_direct && i.kind != INSTRUCTION_CALL && is_inside(f, i.target))
			f->marks[i.target - f->function.start] |= MARK_TARGET;
		if (i.kind == INSTRUCTION_CALL)
			f->call_bytes[off + i.len_bytes] = i.len_bytes;
	}
}

/* ---- where control goes ---- */

static void jump_to(struct word_flow *f, uint64_t target, const struct word_state *s)
{
	const uint32_t off = (uint32_t)(target - f->function.start);

	if (!(f->marks[off] & MARK_INSTRUCTION))
		f->why = "has a jump into an instruction";
	else
		merge(f, off, s);
}

static void fall_through(struct word_flow *f, uint32_t off, const struct word_state *s)
{
	if (off < f->len_bytes)
		merge(f, off, s);
}

static void leave(struct word_flow *f, const struct word_state *s)
{
	if (!f->has_returned)
		f->at_return = *s;
	else
		join(&f->at_return, s, f->function.start + f->len_bytes);
	f->has_returned = true;
}

/* *ret: where entry i of a table leads. */
static bool read_entry(const struct word_flow *f, struct word_value table, uint32_t i, uint64_t *ret)
{
	int32_t distance;

	if (table.kind == WORD_POINTER)
		return f->code->read(f->code->data, (uint64_t)table.n + 8u * (uint64_t)i, ret, sizeof *ret);
	if (!f->code->read(f->code->data, (uint64_t)table.n + 4u * (uint64_t)i, &distance, sizeof distance))
		return false;
	*ret = (uint64_t)table.n + (uint64_t)(int64_t)distance;
	return true;
}

/* The stack is as it was at the entry: a jump that leads elsewhere is a tail call. */
static bool may_leave(const struct word_state *s)
{
	return !s->registers[WORD_RSP].region && !s->registers[WORD_RSP].n;
}

static void jump_by_table(struct word_flow *f, struct word_value table, const struct word_state *s)
{
	const uint32_t most = table.region ? table.region : ENTRIES_MAX;
	uint32_t count = 0;
	uint64_t target;

	for (; count < most && read_entry(f, table, count, &target); count++) {
		if (!is_inside(f, target) || !(f->marks[target - f->function.start] & MARK_INSTRUCTION))
			break;
		f->marks[target - f->function.start] |= MARK_TARGET;
		jump_to(f, target, s);
	}
	if (!count && !may_leave(s))
		f->why = "has a jump through a table that cannot be read";
}

static void jump_indirect(struct word_flow *f, const struct instruction *i, uint64_t next, const struct word_state *s)
{
	const struct word_value to = word_operand(f->code, s, i, next);

	if (to.kind == WORD_TARGET || to.kind == WORD_POINTER)
		jump_by_table(f, to, s);
	else if (!may_leave(s))
		f->why = "has a jump of which it is not known where it leads";
}

/* ---- calls ---- */

/* The function that a call or jump leads to, by the dynamic linker, too. */
static bool find_callee(const struct word_flow *f, const struct instruction *i, uint64_t next,
			struct word_function *ret)
{
	uint64_t address = i->target;

	if (!i->is_direct &&
	    (!i->is_memory || i->is_far || i->base != INSTRUCTION_RIP || i->index != INSTRUCTION_NONE ||
	     !f->code->read(f->code->data, next + (uint64_t)(int64_t)i->displacement, &address, sizeof address)))
		return false;
	return f->code->find(f->code->data, address, ret);
}

static struct error *create(const struct word_code *code, const struct word_function *function,
			    const struct word_state *begin, unsigned depth, struct word_flow **ret);

/* *s becomes the state behind the helper. */
static void run_helper(struct word_flow *f, const struct word_function *helper, struct word_state *s)
{
	struct word_state begin = *s;
	struct word_flow *inner = NULL;

	if (f->depth == HELPERS_DEEP) {
		f->why = "calls helpers that call each other";
		return;
	}
	begin.registers[WORD_RSP].n -= 8;
	f->err = f->err ? f->err : create(f->code, helper, &begin, f->depth + 1, &inner);
	if (f->err)
		return;
	word_call(s, true);
	if (inner->why || !inner->has_returned) {
		f->why = "calls a helper that cannot be read";
	} else {
		s->id = inner->at_return.id;
		s->saved = inner->at_return.saved;
		s->is_outside = inner->at_return.is_outside;
		s->is_after_call = inner->at_return.is_after_call;
		s->history = inner->at_return.history;
		/* wm1.enter_slow keeps it: the offset of the words, in code of libraries. */
		s->registers[11] = inner->at_return.registers[11];
	}
	word_flow_destroy(inner);
}

static void put_back(struct word_state *s)
{
	s->id = s->saved;
	s->is_outside = false;
	s->is_after_call = false;
	s->history = WORD_HISTORY_OWN;
	word_call(s, true);
}

/* Behind a call of the function by itself, which has its own id. */
static void put_back_self(struct word_state *s)
{
	put_back(s);
	s->id = (struct word_value){.kind = WORD_ID};
}

static void call(struct word_flow *f, const struct instruction *i, uint64_t next, struct word_state *s)
{
	struct word_function callee;

	if (!find_callee(f, i, next, &callee)) {
		word_call(s, false);
		return;
	}
	if (strcmp(callee.name, "wm1.put_back") == 0 || strcmp(callee.name, "wm1_put_back") == 0)
		put_back(s);
	else if (strcmp(callee.name, "wm1.put_back_self") == 0)
		put_back_self(s);
	else if (is_kept_call(callee.name) || !word_is_helper(callee.name))
		word_call(s, is_kept_call(callee.name));
	else {
		if (strcmp(callee.name, "wm1.push_here") == 0 || strcmp(callee.name, "wm1.defer_here") == 0)
			s->saved = s->id;
		run_helper(f, &callee, s);
		if (text_begins(callee.name, "wm1.push_self"))
			s->history = WORD_HISTORY_PUSHED;
	}
	s->has_jumped_on |= strcmp(callee.name, "wm1.push_tail") == 0;
	s->has_cleaned |= strcmp(callee.name, "wm1_drop_tails") == 0;
}

/* A helper goes on in another one. */
static void jump_out(struct word_flow *f, const struct instruction *i, uint64_t next, struct word_state *s)
{
	struct word_function callee;

	if (!word_is_helper(f->function.name))
		return;
	if (!find_callee(f, i, next, &callee) || strcmp(callee.name, "wm1.put_back") != 0)
		f->why = "goes on elsewhere";
	put_back(s);
	leave(f, s);
}

/* ---- instructions ---- */

/* ja: what is not taken is at most what was compared. */
static void branch(struct word_flow *f, const struct instruction *i, uint32_t next_off, struct word_state *s)
{
	const bool is_above = (i->map == 1 && i->opcode == 0x87) || (i->map == 0 && i->opcode == 0x77);
	struct word_state taken = *s;

	taken.compared = INSTRUCTION_NONE;
	if (is_inside(f, i->target))
		jump_to(f, i->target, &taken);
	else
		jump_out(f, i, f->function.start + next_off, &taken);
	s->is_bounded = is_above && s->compared != INSTRUCTION_NONE;
	if (!is_above)
		s->compared = INSTRUCTION_NONE;
	fall_through(f, next_off, s);
}

static void visit(struct word_flow *f, uint32_t off)
{
	struct word_state s = *f->states[off];
	const uint64_t pc = f->function.start + off;
	struct instruction i;
	uint32_t next;

	if (!decode(f, off, &i))
		return;
	next = off + i.len_bytes;
	switch (i.kind) {
	case INSTRUCTION_CALL:
		call(f, &i, pc + i.len_bytes, &s);
		if (next < f->len_bytes)
			s.is_doubtful |= (f->marks[next] & MARK_TARGET) != 0;
		fall_through(f, next, &s);
		break;
	case INSTRUCTION_JUMP:
		if (!i.is_direct)
			jump_indirect(f, &i, pc + i.len_bytes, &s);
		else if (is_inside(f, i.target))
			jump_to(f, i.target, &s);
		else
			jump_out(f, &i, pc + i.len_bytes, &s);
		break;
	case INSTRUCTION_BRANCH:
		branch(f, &i, next, &s);
		break;
	case INSTRUCTION_RETURN:
		leave(f, &s);
		break;
	case INSTRUCTION_TRAP:
		break;
	default:
		if (!i.map && (i.opcode == 0xf4 || i.opcode == 0xcc)) /* hlt, int3 */
			break;
		f->recovers |= word_puts_back_history(f->code, &s, &i, pc + i.len_bytes);
		word_step(f->code, &f->function, &s, &i, pc);
		fall_through(f, next, &s);
		break;
	}
}

/* ---- landing pads ---- */

static bool is_padding(const struct instruction *i)
{
	return (!i->map && (i->opcode == 0x90 || i->opcode == 0xcc)) || (i->map == 1 && i->opcode == 0x1f);
}

/* A call that an exception may come from: code of ours throws nothing. */
static bool may_throw(const struct word_flow *f, uint32_t off)
{
	struct word_function callee;
	struct instruction i;

	if (!f->states[off] || !decode(f, off, &i) || i.kind != INSTRUCTION_CALL)
		return false;
	return !find_callee(f, &i, f->function.start + off + i.len_bytes, &callee) ||
	       !(word_is_helper(callee.name) || is_kept_call(callee.name));
}

/* Behind any call of the function, by an exception. Arguments on the stack have been taken off. false: it has none. */
static bool landing_state(const struct word_flow *f, struct word_state *ret)
{
	bool has_call = false;

	for (uint32_t off = 0; off < f->len_bytes; off++) {
		struct word_value *sp;
		struct word_state s;

		if (!may_throw(f, off))
			continue;
		s = *f->states[off];
		word_call(&s, false);
		s.id = unknown;
		s.is_outside = false;
		s.history = WORD_HISTORY_UNKNOWN;
		s.is_doubtful = false;
		sp = &s.registers[WORD_RSP];
		if (has_call && sp->region == ret->registers[WORD_RSP].region) {
			if (sp->n < ret->registers[WORD_RSP].n)
				*sp = ret->registers[WORD_RSP];
			ret->registers[WORD_RSP] = *sp;
		}
		if (has_call)
			join(ret, &s, f->function.start + off);
		else
			*ret = s;
		has_call = true;
	}
	return has_call;
}

/* The first instruction that is not reached; UINT32_MAX: none. */
static uint32_t find_landing_pad(const struct word_flow *f)
{
	struct instruction i;

	for (uint32_t off = 0; off < f->len_bytes; off += i.len_bytes)
		if (!decode(f, off, &i) || (!f->states[off] && !is_padding(&i)))
			return off;
	return UINT32_MAX;
}

static void follow_all(struct word_flow *f)
{
	while (f->work.count && !f->err && !f->why)
		visit(f, f->work.items[--f->work.count]);
}

static void follow_landing_pads(struct word_flow *f)
{
	struct word_state s;

	for (;;) {
		const uint32_t off = find_landing_pad(f);

		if (off == UINT32_MAX || f->err || f->why || !landing_state(f, &s))
			return;
		merge(f, off, &s);
		follow_all(f);
	}
}

static struct error *follow(struct word_flow *f, const struct word_state *begin)
{
	f->len_bytes = (uint32_t)(f->function.end - f->function.start);
	f->bytes = malloc(f->len_bytes);
	f->marks = calloc(f->len_bytes + 1, sizeof *f->marks);
	f->call_bytes = calloc(f->len_bytes + 1, sizeof *f->call_bytes);
	f->states = calloc(f->len_bytes, sizeof(struct word_state *));
	if (!f->bytes || !f->marks || !f->call_bytes || !f->states)
		return &error_no_memory;
	if (!f->code->read(f->code->data, f->function.start, f->bytes, f->len_bytes)) {
		f->why = "has code that cannot be read";
		return NULL;
	}
	mark_instructions(f);
	merge(f, 0, begin);
	follow_all(f);
	if (!f->depth)
		follow_landing_pads(f);
	return f->err;
}

static struct error *create(const struct word_code *code, const struct word_function *function,
			    const struct word_state *begin, unsigned depth, struct word_flow **ret)
{
	struct word_flow *f = calloc(1, sizeof *f);
	struct error *err = NULL;

	if (!f)
		return &error_no_memory;
	f->code = code;
	f->function = *function;
	f->depth = depth;
	if (function->end <= function->start || function->end - function->start > CODE_BYTES_MAX)
		f->why = "has no size, or is too large";
	else
		err = follow(f, begin);
	if (err)
		word_flow_destroy(f);
	else
		*ret = f;
	return err;
}

struct error *word_flow_create(const struct word_code *code, const struct word_function *function,
			       const struct word_state *begin, struct word_flow **ret)
{
	return create(code, function, begin, 0, ret);
}

void word_flow_destroy(struct word_flow *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; f->states && i < f->len_bytes; i++)
		free(f->states[i]);
	free(f->states);
	free(f->call_bytes);
	free(f->marks);
	free(f->bytes);
	offset_vec_deinit(&f->work);
	free(f);
}

const struct word_function *word_flow_function(const struct word_flow *f)
{
	return &f->function;
}

bool word_flow_recovers(const struct word_flow *f)
{
	return f->recovers;
}

const char *word_flow_why(const struct word_flow *f)
{
	return f->why;
}

bool word_flow_at(const struct word_flow *f, uint64_t pc, struct word_state *ret)
{
	if (f->why || !is_inside(f, pc) || !f->states[pc - f->function.start])
		return false;
	*ret = *f->states[pc - f->function.start];
	return true;
}

bool word_flow_at_call(const struct word_flow *f, uint64_t address, struct word_state *ret)
{
	const uint64_t off = address - f->function.start;

	if (f->why || off > f->len_bytes || !f->call_bytes[off])
		return false;
	return word_flow_at(f, address - f->call_bytes[off], ret);
}
