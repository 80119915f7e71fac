/*
 * memory_clones.c - functions that return what they allocate, or what they are given, are stated once for each call: their allocations are then
 * objects of the calls, as those of malloc are, and what one call passes through does not come out of the others (Nystrom, Kim and Hwu, SAS 2004:
 * heap cloning, here of small functions alone).
 *
 *      p = xmalloc(8);      ->  a clone of xmalloc, with an object of its own
 *      q = xmalloc(16);     ->  another one
 *
 * A clone has nodes for the function's registers, which lead to the function's own nodes, too: those have what any clone has. A variable of the
 * function whose address does nothing but loads and stores is a node of the clone; other variables are shared by all clones. What a clone calls is a
 * clone again, down to a depth; calls that are not of this kind are stated once, for the function, and their values come out of each clone.
 */
#include <stdlib.h>

#include "analyze/memory_build.h"
#include "llvm/ir.h"

enum {
	INSTRUCTIONS_MAX = 96, /* of a function that is cloned */
	DEPTH_MAX = 3,         /* of clones in clones */
	BUDGET_FACTOR = 2,     /* instructions of all clones, for each of the code */
	BUDGET_LEAST = 20000,
};

struct clone {
	uint32_t function, number;
	uint32_t depth;
	uint32_t returned;  /* node */
	uint32_t *nodes;    /* [instruction of the function, then argument] node + 1 */
	uint32_t *contents; /* [instruction] of a variable, node + 1 */
};

static bool is_cloned(const struct builder *b, uint32_t function)
{
	return b->clones.is_cloned && b->clones.is_cloned[function];
}

/* ---- which functions ---- */

static bool has_copied_arguments(LLVMValueRef function)
{
	for (unsigned i = 0; i < LLVMCountParams(function); i++)
		if (LLVMGetEnumAttributeAtIndex(function, i + 1, ir_attribute_kind("byval")))
			return true;
	return false;
}

static bool is_only_called(LLVMValueRef function)
{
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsAInstruction(user) || !ir_is_call(user) || LLVMGetCalledValue(user) != function)
			return false;
		for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
			if (LLVMGetOperand(user, i) == function)
				return false;
	}
	return true;
}

static bool can_be_cloned(const struct builder *b, uint32_t function)
{
	const struct code_function *f = &b->code->functions[function];
	LLVMTypeRef type = LLVMGlobalGetValueType(f->value);
	LLVMValueRef start = LLVMGetNamedFunction(b->code->module, "main");

	return f->block_count && f->instruction_count <= INSTRUCTIONS_MAX && f->value != start &&
	       !LLVMIsFunctionVarArg(type) && LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMPointerTypeKind &&
	       (start || ir_is_local(f->value)) && is_only_called(f->value) && !has_copied_arguments(f->value);
}

/* A variable whose address does nothing but loads and stores of it. */
static bool is_promotable(LLVMValueRef variable)
{
	for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsALoadInst(user) || (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != variable))
			continue;
		return false;
	}
	return true;
}

static bool is_variable(LLVMValueRef value)
{
	return LLVMIsAAllocaInst(value) && is_promotable(value);
}

/* What is followed back from what a function returns. */
struct origins {
	const struct builder *b;
	LLVMValueRef values[INSTRUCTIONS_MAX + 1];
	uint32_t count;
};

static void add_origin(struct origins *o, LLVMValueRef value)
{
	for (uint32_t i = 0; i < o->count; i++)
		if (o->values[i] == value)
			return;
	if (LLVMIsAInstruction(value) && o->count < INSTRUCTIONS_MAX)
		o->values[o->count++] = value;
}

static void add_stored(struct origins *o, LLVMValueRef variable)
{
	for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use))
		if (LLVMIsAStoreInst(LLVMGetUser(use)))
			add_origin(o, LLVMGetOperand(LLVMGetUser(use), 0));
}

static bool allocates(const struct builder *b, LLVMValueRef call, struct origins *o)
{
	LLVMValueRef callee = code_callee(call);
	struct library_function f;

	if (!callee || LLVMGetIntrinsicID(callee))
		return false;
	if (!LLVMIsDeclaration(callee))
		return is_cloned(b, code_function_number(b->code, callee));
	if (!library_find(LLVMGetValueName(callee), &f))
		return false;
	for (uint32_t i = 0; i < f.count; i++) {
		if (f.effects[i].kind == LIBRARY_NEW)
			return true;
		if (f.effects[i].kind == LIBRARY_RETURNS && f.effects[i].a < LLVMGetNumArgOperands(call))
			add_origin(o, LLVMGetOperand(call, f.effects[i].a));
	}
	return false;
}

/* Looks through what moves a pointer. True: an allocation, or a call of a function that is cloned. */
static bool look_through(const struct builder *b, LLVMValueRef value, struct origins *o)
{
	if (ir_is_call(value))
		return allocates(b, value, o);
	switch (LLVMGetInstructionOpcode(value)) {
	case LLVMLoad:
		if (is_variable(LLVMGetOperand(value, 0)))
			add_stored(o, LLVMGetOperand(value, 0));
		break;
	case LLVMPHI:
		for (unsigned i = 0; i < LLVMCountIncoming(value); i++)
			add_origin(o, LLVMGetIncomingValue(value, i));
		break;
	case LLVMSelect:
		add_origin(o, LLVMGetOperand(value, 1));
		add_origin(o, LLVMGetOperand(value, 2));
		break;
	case LLVMGetElementPtr:
	case LLVMBitCast:
	case LLVMFreeze:
		add_origin(o, LLVMGetOperand(value, 0));
		break;
	default:
		break;
	}
	return false;
}

/* What it returns can be what it has allocated. */
static bool returns_new(const struct builder *b, uint32_t function)
{
	const struct code_function *f = &b->code->functions[function];
	struct origins o = {.b = b};

	for (uint32_t i = f->first_instruction; i < f->first_instruction + f->instruction_count; i++)
		if (b->code->instructions[i].opcode == LLVMRet)
			add_origin(&o, LLVMGetOperand(b->code->instructions[i].value, 0));
	for (uint32_t i = 0; i < o.count; i++)
		if (look_through(b, o.values[i], &o))
			return true;
	return false;
}

/* What it returns is an argument of it, looked through as above. */
static bool returns_argument(const struct builder *b, uint32_t function)
{
	const struct code_function *f = &b->code->functions[function];
	struct origins o = {.b = b};

	for (uint32_t i = f->first_instruction; i < f->first_instruction + f->instruction_count; i++)
		if (b->code->instructions[i].opcode == LLVMRet)
			add_origin(&o, LLVMGetOperand(b->code->instructions[i].value, 0));
	for (uint32_t i = 0; i < o.count; i++) {
		if (LLVMIsALoadInst(o.values[i]) && is_variable(LLVMGetOperand(o.values[i], 0)))
			for (LLVMUseRef use = LLVMGetFirstUse(LLVMGetOperand(o.values[i], 0)); use;
			     use = LLVMGetNextUse(use))
				if (LLVMIsAStoreInst(LLVMGetUser(use)) &&
				    LLVMIsAArgument(LLVMGetOperand(LLVMGetUser(use), 0)))
					return true;
		look_through(b, o.values[i], &o);
	}
	for (uint32_t i = f->first_instruction; i < f->first_instruction + f->instruction_count; i++)
		if (b->code->instructions[i].opcode == LLVMRet &&
		    LLVMIsAArgument(LLVMGetOperand(b->code->instructions[i].value, 0)))
			return true;
	return false;
}

struct error *memory_find_cloned(struct builder *b)
{
	uint32_t count = b->code->function_count;
	bool *can = calloc((size_t)count + 1, sizeof *can), has_changed = true;

	b->clones.is_cloned = calloc((size_t)count + 1, sizeof *b->clones.is_cloned);
	b->clones.is_called = calloc((size_t)b->code->instruction_count + 1, sizeof *b->clones.is_called);
	b->clones.budget = (uint64_t)b->code->instruction_count * BUDGET_FACTOR + BUDGET_LEAST;
	b->clones.is_stated = calloc((size_t)count + 1, sizeof *b->clones.is_stated);
	b->clones.has_clones = calloc((size_t)count + 1, sizeof *b->clones.has_clones);
	if (!can || !b->clones.is_cloned || !b->clones.is_called || !b->clones.is_stated || !b->clones.has_clones) {
		free(can);
		return &error_no_memory;
	}
	for (uint32_t f = 0; f < count; f++) {
		can[f] = can_be_cloned(b, f);
		b->clones.is_cloned[f] = can[f] && returns_argument(b, f);
	}
	while (has_changed) {
		has_changed = false;
		for (uint32_t f = 0; f < count; f++)
			if (can[f] && !b->clones.is_cloned[f] && returns_new(b, f))
				has_changed = b->clones.is_cloned[f] = true;
	}
	free(can);
	return NULL;
}

void memory_clones_deinit(struct builder *b)
{
	free(b->clones.is_cloned);
	free(b->clones.is_called);
	free(b->clones.is_stated);
	free(b->clones.has_clones);
}

bool memory_is_cloned(const struct builder *b, uint32_t function)
{
	return is_cloned(b, function);
}

/* ---- nodes ---- */

static bool is_of_clone(const struct builder *b, uint32_t number, uint32_t *ret)
{
	const struct code_function *f = &b->code->functions[b->clone->function];

	*ret = number - f->first_instruction;
	if (number >= f->first_instruction && *ret < f->instruction_count)
		return true;
	*ret = number - f->first_argument + f->instruction_count;
	return number >= f->first_argument && number - f->first_argument < f->argument_count;
}

struct error *memory_clone_register(struct builder *b, uint32_t number, uint32_t *ret)
{
	struct clone *clone = b->clone;
	uint32_t at, shared;
	struct error *err = NULL;

	if (is_of_clone(b, number, &at) && clone->nodes[at]) {
		*ret = clone->nodes[at] - 1;
		return NULL;
	}
	b->clone = NULL;
	err = memory_register(b, number, &shared);
	b->clone = clone;
	if (err || !is_of_clone(b, number, &at)) {
		*ret = shared;
		return err;
	}
	err = pointers_add_node(b->p, ret);
	if (!err)
		err = pointers_copy(b->p, *ret, shared);
	if (!err)
		clone->nodes[at] = *ret + 1;
	return err;
}

uint32_t memory_clone_number(const struct builder *b)
{
	return b->clone ? b->clone->number : 0;
}

static struct error *contents_of(struct builder *b, LLVMValueRef variable, uint32_t *ret)
{
	uint32_t at = code_number(b->code, variable) - b->code->functions[b->clone->function].first_instruction;
	struct error *err = NULL;

	if (!b->clone->contents[at]) {
		err = pointers_add_node(b->p, ret);
		if (!err)
			b->clone->contents[at] = *ret + 1;
	}
	*ret = b->clone->contents[at] - 1;
	return err;
}

/* ---- statements ---- */

/* Of the function itself, once: not of a kind that clones state. Its value comes out of each clone. */
static struct error *state_shared_call(struct builder *b, uint32_t number)
{
	struct clone *clone = b->clone;
	LLVMValueRef call = b->code->instructions[number].value;
	uint32_t shared = 0, own;
	struct error *err = NULL;

	/* The function's own nodes must have what this clone gives. */
	for (uint32_t i = 0; i < b->code->instructions[number].operand_count && !err; i++)
		if (code_number(b->code, LLVMGetOperand(call, i)) != CODE_NONE)
			err = memory_node(b, LLVMGetOperand(call, i), &own);
	if (err)
		return err;
	b->clone = NULL;
	if (!b->clones.is_called[number]) {
		b->clones.is_called[number] = true;
		err = memory_state_call(b, number);
	}
	if (!err && memory_may_carry(LLVMTypeOf(call)))
		err = memory_register(b, number, &shared);
	b->clone = clone;
	if (err || !memory_may_carry(LLVMTypeOf(call)))
		return err;
	err = memory_register(b, number, &own);
	return err ? err : pointers_copy(b->p, shared, own);
}

/* A known function of a library that calls nothing back which it is given. */
static bool is_plain(LLVMValueRef callee)
{
	struct library_function f;

	if (!LLVMIsDeclaration(callee) || !library_find(LLVMGetValueName(callee), &f))
		return false;
	for (uint32_t i = 0; i < f.count; i++)
		if (f.effects[i].kind == LIBRARY_CALLS || f.effects[i].kind == LIBRARY_HANDLES ||
		    f.effects[i].kind == LIBRARY_INSTALLS)
			return false;
	return true;
}

static struct error *state_call(struct builder *b, uint32_t number)
{
	LLVMValueRef call = b->code->instructions[number].value, callee = code_callee(call);

	if (callee && (LLVMGetIntrinsicID(callee) || is_plain(callee)))
		return memory_state_call(b, number);
	if (callee && !LLVMIsDeclaration(callee) && is_cloned(b, code_function_number(b->code, callee)) &&
	    b->clone->depth < DEPTH_MAX)
		return memory_state_call(b, number);
	return state_shared_call(b, number);
}

static struct error *state_load(struct builder *b, LLVMValueRef load)
{
	uint32_t from, to;
	struct error *err = contents_of(b, LLVMGetOperand(load, 0), &from);

	if (err || !memory_may_carry(LLVMTypeOf(load)))
		return err;
	err = memory_node(b, load, &to);
	return err ? err : pointers_copy(b->p, from, to);
}

static struct error *state_store(struct builder *b, LLVMValueRef store)
{
	uint32_t to;
	struct error *err = contents_of(b, LLVMGetOperand(store, 1), &to);

	return err ? err : memory_copy(b, LLVMGetOperand(store, 0), to, NULL);
}

static struct error *state(struct builder *b, uint32_t number)
{
	LLVMValueRef value = b->code->instructions[number].value;
	struct error *err = memory_state_constants(b, number);

	if (err)
		return err;
	switch (b->code->instructions[number].opcode) {
	case LLVMLoad:
		return is_variable(LLVMGetOperand(value, 0)) ? state_load(b, value) : memory_state(b, number);
	case LLVMStore:
		return is_variable(LLVMGetOperand(value, 1)) ? state_store(b, value) : memory_state(b, number);
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr:
		return state_call(b, number);
	case LLVMRet:
		err = memory_state(b, number);
		return err ? err : memory_copy(b, LLVMGetOperand(value, 0), b->clone->returned, NULL);
	default:
		return memory_state(b, number);
	}
}

static struct error *open_clone(struct builder *b, uint32_t function, struct clone *ret)
{
	const struct code_function *f = &b->code->functions[function];

	*ret = (struct clone){.function = function,
			      .number = ++b->clones.count,
			      .depth = b->clone ? b->clone->depth + 1 : 1,
			      .nodes = calloc((size_t)f->instruction_count + f->argument_count + 1, sizeof *ret->nodes),
			      .contents = calloc((size_t)f->instruction_count + 1, sizeof *ret->contents)};
	return ret->nodes && ret->contents ? pointers_add_node(b->p, &ret->returned) : &error_no_memory;
}

/* Arguments are of whoever calls. */
static struct error *pass_arguments(struct builder *b, uint32_t call, struct clone *clone)
{
	const struct code_function *f = &b->code->functions[clone->function];
	struct clone *caller = b->clone;
	LLVMValueRef value = b->code->instructions[call].value;
	struct error *err = NULL;

	for (unsigned i = 0; i < LLVMGetNumArgOperands(value) && i < f->argument_count && !err; i++) {
		uint32_t parameter;

		b->clone = clone;
		err = memory_register(b, f->first_argument + i, &parameter);
		b->clone = caller;
		if (!err)
			err = memory_copy(b, LLVMGetOperand(value, i), parameter, NULL);
	}
	return err;
}

static struct error *take_returned(struct builder *b, uint32_t call, uint32_t returned)
{
	uint32_t result;
	struct error *err = memory_node(b, b->code->instructions[call].value, &result);

	return err ? err : pointers_copy(b->p, returned, result);
}

static bool can_run(const struct builder *b, uint32_t instruction)
{
	return !b->runs || b->runs[b->code->instructions[instruction].block];
}

/* As functions that are not cloned are stated. */
static struct error *state_function(struct builder *b, uint32_t function)
{
	const struct code_function *f = &b->code->functions[function];
	struct clone *clone = b->clone;
	struct error *err = NULL;

	b->clones.is_stated[function] = true;
	b->clone = NULL;
	for (uint32_t i = f->first_instruction; i < f->first_instruction + f->instruction_count && !err; i++)
		if (can_run(b, i))
			err = memory_state(b, i);
	b->clone = clone;
	return err;
}

/* By the function's own nodes. */
static struct error *call_shared(struct builder *b, uint32_t call, uint32_t function)
{
	const struct code_function *f = &b->code->functions[function];
	LLVMValueRef value = b->code->instructions[call].value;
	struct clone *caller = b->clone;
	struct error *err = b->clones.is_stated[function] ? NULL : state_function(b, function);

	for (unsigned i = 0; i < LLVMGetNumArgOperands(value) && i < f->argument_count && !err; i++) {
		uint32_t parameter;

		b->clone = NULL;
		err = memory_register(b, f->first_argument + i, &parameter);
		b->clone = caller;
		if (!err)
			err = memory_copy(b, LLVMGetOperand(value, i), parameter, NULL);
	}
	return err || !memory_may_carry(LLVMTypeOf(value)) ? err : take_returned(b, call, b->returned[function] - 1);
}

/* False: the budget is used up. */
static bool take_budget(struct builder *b, uint32_t function)
{
	uint64_t cost = (uint64_t)b->code->functions[function].instruction_count + 1;

	if (b->clones.budget < cost)
		return false;
	b->clones.budget -= cost;
	return true;
}

struct error *memory_call_clone(struct builder *b, uint32_t call, uint32_t function)
{
	const struct code_function *f = &b->code->functions[function];
	struct clone *caller = b->clone, clone;
	struct error *err;

	if (!take_budget(b, function))
		return call_shared(b, call, function);
	b->clones.has_clones[function] = true;
	err = open_clone(b, function, &clone);
	if (!err)
		err = pass_arguments(b, call, &clone);
	b->clone = &clone;
	for (uint32_t i = f->first_instruction; i < f->first_instruction + f->instruction_count && !err; i++)
		if (can_run(b, i))
			err = state(b, i);
	b->clone = caller;
	if (!err && memory_may_carry(LLVMTypeOf(b->code->instructions[call].value)))
		err = take_returned(b, call, clone.returned);
	free(clone.nodes);
	free(clone.contents);
	return err;
}

/* Nothing that can run calls them. */
struct error *memory_state_uncalled(struct builder *b)
{
	struct error *err = NULL;

	for (uint32_t f = 0; f < b->code->function_count && !err; f++)
		if (is_cloned(b, f) && !b->clones.has_clones[f] && !b->clones.is_stated[f])
			err = state_function(b, f);
	return err;
}
