/* overruns.c - looks at what each instruction that ran writes to: where its pointer leads, by how much it is moved, and how long the write is (overruns.h). */
#include "analyze/overruns.h"

#include <stdlib.h>

#include "analyze/library.h"
#include "base/text.h"
#include "llvm/ir.h"

enum {
	NO_LENGTH = UINT32_MAX, /* computed, or not known */
	DEPTH_MAX = 8,          /* operands that an index is followed through */
};

struct search {
	const struct memory *m;
	overrun_visit visit;
	void *data;
};

/* ---- objects ---- */

static bool is_allocator_of_products(LLVMValueRef callee)
{
	return text_equal(LLVMGetValueName(callee), "calloc") || text_equal(LLVMGetValueName(callee), "reallocarray");
}

static uint64_t constant_argument(LLVMValueRef call, unsigned number)
{
	LLVMValueRef value = number < LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, number) : NULL;

	return value && LLVMIsAConstantInt(value) ? LLVMConstIntGetZExtValue(value) : 0;
}

static uint64_t allocated_bytes(LLVMValueRef call)
{
	LLVMValueRef callee = ir_is_call(call) ? code_callee(call) : NULL;
	uint64_t bytes;

	if (!callee)
		return 0;
	if (is_allocator_of_products(callee)) {
		unsigned first = LLVMGetNumArgOperands(call) - 2;

		return __builtin_mul_overflow(constant_argument(call, first), constant_argument(call, first + 1),
					      &bytes)
			       ? 0
			       : bytes;
	}
	if (text_equal(LLVMGetValueName(callee), "malloc"))
		return constant_argument(call, 0);
	if (text_equal(LLVMGetValueName(callee), "realloc"))
		return constant_argument(call, 1);
	return 0;
}

uint64_t overruns_size(const struct memory *m, uint32_t object)
{
	const struct memory_object *o = &m->objects.items[object];

	return o->kind == MEMORY_HEAP ? allocated_bytes(o->value) : o->size_bytes;
}

static bool is_ours(const struct memory_object *o)
{
	return o->kind == MEMORY_VARIABLE || o->kind == MEMORY_FRAME || o->kind == MEMORY_HEAP ||
	       o->kind == MEMORY_BYVAL;
}

/* ---- addresses ---- */

/* The value, taken as an unsigned number, is below the limit. */
static bool is_below(LLVMValueRef value, uint64_t limit, int depth)
{
	LLVMValueRef second;

	if (LLVMIsAConstantInt(value))
		return LLVMConstIntGetZExtValue(value) < limit;
	if (depth == DEPTH_MAX || !LLVMIsAInstruction(value))
		return false;
	switch (LLVMGetInstructionOpcode(value)) {
	case LLVMZExt: {
		unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(value, 0)));

		return (bits < 64 && 1ull << bits <= limit) || is_below(LLVMGetOperand(value, 0), limit, depth + 1);
	}
	case LLVMAnd:
		return is_below(LLVMGetOperand(value, 0), limit, depth + 1) ||
		       is_below(LLVMGetOperand(value, 1), limit, depth + 1);
	case LLVMURem:
		second = LLVMGetOperand(value, 1);
		return LLVMIsAConstantInt(second) && LLVMConstIntGetZExtValue(second) <= limit;
	default:
		return false;
	}
}

/* Each index into an array of a known length is below it, and no other one is computed. */
static bool stays_within(LLVMValueRef pointer)
{
	LLVMTypeRef type;
	int operands;

	if (!LLVMIsAGetElementPtrInst(pointer))
		return false;
	type = LLVMGetGEPSourceElementType(pointer);
	operands = LLVMGetNumOperands(pointer);
	for (int i = 1; i < operands; i++) {
		LLVMValueRef index = LLVMGetOperand(pointer, (unsigned)i);
		LLVMTypeKind kind = i == 1 ? LLVMVoidTypeKind : LLVMGetTypeKind(type);

		if (i > 1 && kind == LLVMStructTypeKind) {
			type = LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(index));
			continue;
		}
		if (i == 1 ? !(LLVMIsAConstantInt(index) && !LLVMConstIntGetZExtValue(index))
			   : kind != LLVMArrayTypeKind || !is_below(index, LLVMGetArrayLength2(type), 0))
			return false;
		if (i > 1)
			type = LLVMGetElementType(type);
	}
	return true;
}

/* Other pointers than the one that a getelementptr moves: the same index from an object's beginning. */
static bool begins_object(const struct search *s, LLVMValueRef pointer)
{
	const struct id_set *locations = memory_of(s->m, LLVMGetOperand(pointer, 0));

	for (struct id_iterator i = locations ? id_set_begin(locations) : (struct id_iterator){0};
	     locations && id_set_next(locations, &i);) {
		const struct location *at = &pointers_locations(s->m->pointers)->items.items[i.id];

		if (at->stride || at->first)
			return false;
	}
	return locations;
}

static bool leaves(const struct location *at, uint64_t size_bytes, uint32_t len_bytes)
{
	return size_bytes && len_bytes != NO_LENGTH && (at->first < 0 || (uint64_t)at->first + len_bytes > size_bytes);
}

static struct error *add(struct search *s, uint32_t instruction, enum overrun_how how, uint32_t object)
{
	return s->visit(s->data, &(struct overrun){instruction, how, object});
}

/* The write fits into an object that the pointer can lead to, or may by an index. */
static bool fits_somewhere(const struct search *s, const struct id_set *locations, uint32_t len_bytes)
{
	for (struct id_iterator i = locations ? id_set_begin(locations) : (struct id_iterator){0};
	     locations && id_set_next(locations, &i);) {
		const struct location *at = &pointers_locations(s->m->pointers)->items.items[i.id];

		if (at->stride || !leaves(at, overruns_size(s->m, at->object), len_bytes))
			return true;
	}
	return false;
}

/* A write of len_bytes through the pointer; how: what is the matter if it has no constant length. */
static struct error *look_at(struct search *s, uint32_t instruction, LLVMValueRef pointer, uint32_t len_bytes,
			     enum overrun_how how)
{
	const struct id_set *locations = pointer ? memory_of(s->m, pointer) : NULL;
	bool is_within = len_bytes != NO_LENGTH && stays_within(pointer) && begins_object(s, pointer);
	bool fits = fits_somewhere(s, locations, len_bytes);
	struct error *err = NULL;

	for (struct id_iterator i = locations ? id_set_begin(locations) : (struct id_iterator){0};
	     locations && !err && id_set_next(locations, &i);) {
		const struct location *at = &pointers_locations(s->m->pointers)->items.items[i.id];

		if (!is_ours(&s->m->objects.items[at->object]))
			continue;
		if (len_bytes == NO_LENGTH)
			err = add(s, instruction, how, at->object);
		else if (!at->stride && leaves(at, overruns_size(s->m, at->object), len_bytes))
			err = add(s, instruction, fits ? OVERRUN_MISFIT : OVERRUN_CONSTANT, at->object);
		else if (at->stride && !is_within)
			err = add(s, instruction, OVERRUN_INDEX, at->object);
	}
	return err;
}

/* ---- calls ---- */

/* Write as much as they find; what they write by argument: '*' stands for all variable ones. */
static bool is_unbounded(const char *name, const struct library_effect *e)
{
	static const char *const names[] = {"gets",   "realpath", "sprintf", "stpcpy",   "strcat",
					    "strcpy", "wcscat",   "wcscpy",  "vsprintf", "getwd"};

	if (e->a == LIBRARY_VARIABLE)
		return strstr(name, "scanf") != NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (text_equal(name, names[i]))
			return true;
	return false;
}

/* The length is computed, though not one argument alone has it. */
static bool is_counted(const char *name, const struct library_effect *e)
{
	static const char *const names[] = {"fread",   "fread_unlocked", "memccpy", "mbstowcs", "stpncpy",
					    "strncat", "wcsncpy",        "wcsncat", "wmemcpy",  "wmemmove",
					    "wmemset", "wcstombs",       "strxfrm"};

	for (size_t i = 0; e->a == 0 && i < sizeof names / sizeof *names; i++)
		if (text_equal(name, names[i]))
			return true;
	return false;
}

static uint32_t length_argument(LLVMValueRef call, unsigned number)
{
	LLVMValueRef length = number < LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, number) : NULL;

	if (!length || !LLVMIsAConstantInt(length) || LLVMConstIntGetZExtValue(length) >= INT32_MAX)
		return NO_LENGTH;
	return (uint32_t)LLVMConstIntGetZExtValue(length);
}

static struct error *look_at_argument(struct search *s, uint32_t i, unsigned number, uint32_t len_bytes,
				      enum overrun_how how)
{
	LLVMValueRef call = s->m->code->instructions[i].value;

	if (number >= LLVMGetNumArgOperands(call))
		return NULL;
	return look_at(s, i, LLVMGetOperand(call, number), len_bytes, how);
}

static struct error *look_at_library(struct search *s, uint32_t i, LLVMValueRef callee,
				     const struct library_function *f)
{
	LLVMValueRef call = s->m->code->instructions[i].value;
	const char *name = LLVMGetValueName(callee);
	struct error *err = NULL;

	for (uint32_t k = 0; k < f->count && !err; k++) {
		const struct library_effect *e = &f->effects[k];

		if (e->kind == LIBRARY_COPIES) {
			err = look_at_argument(s, i, e->a, length_argument(call, 2), OVERRUN_LENGTH);
		} else if (e->kind != LIBRARY_WRITES) {
			continue;
		} else if (e->b != LIBRARY_NO_ARGUMENT) {
			err = look_at_argument(s, i, e->a, length_argument(call, e->b), OVERRUN_LENGTH);
		} else if (is_unbounded(name, e)) {
			unsigned first = e->a == LIBRARY_VARIABLE ? LLVMCountParams(callee) : e->a,
				 end = e->a == LIBRARY_VARIABLE ? LLVMGetNumArgOperands(call) : first + 1;

			for (unsigned n = first; n < end && !err; n++)
				err = look_at_argument(s, i, n, NO_LENGTH, OVERRUN_UNBOUNDED);
		} else if (is_counted(name, e)) {
			err = look_at_argument(s, i, e->a, NO_LENGTH, OVERRUN_LENGTH);
		}
	}
	return err;
}

static struct error *look_at_call(struct search *s, uint32_t i)
{
	LLVMValueRef call = s->m->code->instructions[i].value, callee = code_callee(call);
	const char *name = callee ? LLVMGetValueName(callee) : "";
	struct library_function f;
	struct error *err = NULL;

	if (text_begins(name, "llvm.memcpy") || text_begins(name, "llvm.memmove") || text_begins(name, "llvm.memset"))
		return look_at_argument(s, i, 0, length_argument(call, 2), OVERRUN_LENGTH);
	if (callee && LLVMIsDeclaration(callee) && library_find(name, &f))
		return look_at_library(s, i, callee, &f);
	for (unsigned k = 0; s->m->calls_foreign[i] && k < LLVMGetNumArgOperands(call) && !err; k++)
		err = look_at_argument(s, i, k, NO_LENGTH, OVERRUN_OUTSIDE);
	return err;
}

/* ---- the whole ---- */

static struct error *look(struct search *s, uint32_t i)
{
	const struct code_instruction *x = &s->m->code->instructions[i];

	switch (x->opcode) {
	case LLVMStore:
		return look_at(s, i, LLVMGetOperand(x->value, 1),
			       memory_access_bytes(s->m, LLVMTypeOf(LLVMGetOperand(x->value, 0))), OVERRUN_INDEX);
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		return look_at(s, i, LLVMGetOperand(x->value, 0),
			       memory_access_bytes(s->m, LLVMTypeOf(LLVMGetOperand(x->value, 1))), OVERRUN_INDEX);
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr:
		return look_at_call(s, i);
	default:
		return NULL;
	}
}

struct error *overruns_each(const struct memory *m, const bool *runs, overrun_visit visit, void *data)
{
	struct search s = {.m = m, .visit = visit, .data = data};
	struct error *err = NULL;

	for (uint32_t i = 0; i < m->code->instruction_count && !err; i++)
		if (!runs || runs[m->code->instructions[i].block])
			err = look(&s, i);
	return err;
}
