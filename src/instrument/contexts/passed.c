/*
 * passed.c - functions that are passed as arguments: which ones a call through a parameter can reach.
 *
 *      int list_traverse(list, visit, arg)      type->traverse(object, visit_decref, arg)      calls of its type, or of it, pass visit_decref
 *        visit(item, arg)                                                                     and visit_move: these are what it calls
 *
 * What is passed to a function by its name is looked for in each such call, also where that passes on a parameter; what is passed through a pointer, in the calls
 * of the function's type. It is a guess, as that by types (pointed.c). Where it is wrong, a call costs more; its context is right all the same.
 */
#include <stdlib.h>
#include <string.h>

#include "llvm/ir.h"
#include "instrument/contexts/program.h"

enum {
	MOST_DEPTH = 4, /* of parameters that are passed on */
	MOST_PASSED = 64,
	MOST_LOOKED_AT = 1024, /* arguments, parameters among them */
};

/* One argument of one call. */
struct passed {
	const void *callee; /* a function, or the type of what a pointer leads to */
	uint32_t number;    /* of the argument */
	LLVMValueRef value; /* a function, or a parameter of the function that calls */
};
VEC_DECLARE(passed_vec, struct passed);

/* What was found for one parameter. */
struct sought {
	double pushes;
	uint32_t count;
	uint32_t looked_at;
};

static int by_callee(const void *a, const void *b)
{
	const struct passed *x = a, *y = b;
	if (x->callee != y->callee)
		return (uintptr_t)x->callee < (uintptr_t)y->callee ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static struct error *add_arguments(struct passed_vec *found, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	const bool is_known = LLVMIsAFunction(callee) != NULL;
	const unsigned count = (unsigned)LLVMGetNumArgOperands(call);
	struct error *err = NULL;
	if (is_known && LLVMIsDeclaration(callee))
		return NULL;
	for (unsigned i = 0; i < count && !err; i++) {
		LLVMValueRef value = LLVMGetOperand(call, i);
		if (!LLVMIsAFunction(value) && !(is_known && LLVMIsAArgument(value)))
			continue;
		const void *key = is_known ? (const void *)callee : (const void *)LLVMGetCalledFunctionType(call);
		err = passed_vec_append(found, (struct passed){key, i, value});
	}
	return err;
}

static struct error *collect(struct passed_vec *found, LLVMModuleRef module)
{
	struct error *err = NULL;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !err; i = LLVMGetNextInstruction(i))
				if (ir_is_call(i))
					err = add_arguments(found, i);
	return err;
}

static uint32_t number_of(LLVMValueRef function, LLVMValueRef parameter)
{
	uint32_t number = 0;
	while (LLVMGetParam(function, number) != parameter)
		number++;
	return number;
}

static void add_parameter(const struct program *p, struct sought *s, LLVMValueRef parameter, unsigned depth);

static void add_value(const struct program *p, struct sought *s, LLVMValueRef value, unsigned depth)
{
	if (LLVMIsAArgument(value)) {
		if (depth < MOST_DEPTH)
			add_parameter(p, s, value, depth + 1);
		return;
	}
	const uint32_t index = program_find(p, value);
	const struct function *f = index == NO_INDEX ? NULL : &p->functions.items[index];
	s->count++;
	if (f && f->is_observable)
		s->pushes += f->is_late ? f->starts : 1;
}

static void add_passed(const struct program *p, struct sought *s, struct passed key, unsigned depth)
{
	size_t low = 0, high = p->passed_count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (by_callee(&p->passed[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < p->passed_count && !by_callee(&p->passed[low], &key) && s->count < MOST_PASSED; low++) {
		if (s->looked_at == MOST_LOOKED_AT)
			return;
		s->looked_at++;
		add_value(p, s, p->passed[low].value, depth);
	}
}

static void add_parameter(const struct program *p, struct sought *s, LLVMValueRef parameter, unsigned depth)
{
	LLVMValueRef function = LLVMGetParamParent(parameter);
	const uint32_t index = program_find(p, function), number = number_of(function, parameter);
	add_passed(p, s, (struct passed){function, number, NULL}, depth);
	if (index != NO_INDEX && p->functions.items[index].is_address_taken)
		add_passed(p, s, (struct passed){LLVMGlobalGetValueType(function), number, NULL}, depth);
}

struct error *passed_collect(struct program *p)
{
	struct passed_vec found = {0};
	struct error *err = collect(&found, p->module);
	p->passed = NULL;
	p->passed_count = 0;
	if (!err && found.count) {
		qsort(found.items, found.count, sizeof *found.items, by_callee);
		p->passed = arena_calloc(&p->arena, found.count, sizeof *p->passed);
		err = p->passed ? NULL : &error_no_memory;
	}
	if (p->passed) {
		memcpy(p->passed, found.items, found.count * sizeof *p->passed);
		p->passed_count = found.count;
	}
	passed_vec_deinit(&found);
	return err;
}

bool passed_hardly_pushes(const struct program *p, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	struct sought s = {0};
	if (!LLVMIsAArgument(callee))
		return false;
	add_parameter(p, &s, callee, 0);
	return s.count && s.pushes * 5 <= s.count * 2;
}
