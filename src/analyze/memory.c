/* memory.c - states constraints for each instruction (memory.h). */
#include <stdlib.h>
#include <string.h>

#include "analyze/memory_build.h"
#include "analyze/steps.h"
#include "llvm/ir.h"

enum {
	ACCESS_WORDS_MAX = 64,
};

static bool can_run(const struct builder *b, uint32_t block)
{
	return !b->runs || b->runs[block];
}

/* ---- objects and nodes ---- */

/* Objects up to that one are the solver's own. */
static struct error *add_inner_objects(struct builder *b, size_t end)
{
	struct error *err = NULL;

	while (!err && b->m->objects.count < end)
		err = memory_object_vec_append(&b->m->objects, (struct memory_object){.kind = MEMORY_INNER});
	return err;
}

struct error *memory_add_object(struct builder *b, const struct memory_object *object, uint32_t *ret)
{
	struct error *err = locations_add_object(pointers_locations(b->p), ret);

	if (!err)
		err = add_inner_objects(b, *ret);
	return err ? err : memory_object_vec_append(&b->m->objects, *object);
}

static struct error *location_at(struct builder *b, uint32_t object, int32_t offset, uint32_t *ret)
{
	return locations_get(pointers_locations(b->p), &(struct location){.object = object, .first = offset}, ret);
}

/* The object of a value is made when it is first asked for. */
struct error *memory_object_of(struct builder *b, LLVMValueRef value, const struct memory_object *object, uint32_t *ret)
{
	/* A call allocates another object in each clone. */
	struct key key = {{(uintptr_t)value, object->kind == MEMORY_HEAP ? memory_clone_number(b) : 0, 0}};
	uint32_t number;
	struct error *err = hashmap_add(&b->object_of, &key, &number);

	if (err)
		return err;
	if (number == b->objects_of_values.count) {
		uint32_t made;

		err = memory_add_object(b, object, &made);
		if (!err)
			err = function_ids_append(&b->objects_of_values, made);
		if (err)
			return err;
	}
	*ret = b->objects_of_values.items[number];
	return NULL;
}

static uint64_t size_of(const struct builder *b, LLVMTypeRef type)
{
	return LLVMTypeIsSized(type) ? LLVMABISizeOfType(b->code->layout, type) : 0;
}

struct error *memory_point_to(struct builder *b, uint32_t node, uint32_t object)
{
	uint32_t location;
	struct error *err = location_at(b, object, 0, &location);

	return err ? err : pointers_address(b->p, node, location);
}

static struct error *global_object(struct builder *b, LLVMValueRef global, uint32_t *ret)
{
	struct memory_object object = {.kind = LLVMIsAFunction(global) ? MEMORY_FUNCTION : MEMORY_VARIABLE,
				       .value = global};

	if (object.kind == MEMORY_VARIABLE)
		object.size_bytes = size_of(b, LLVMGlobalGetValueType(global));
	return memory_object_of(b, global, &object, ret);
}

/* Every address in a constant, whatever it is made of. */
static struct error *fill_constant(struct builder *b, LLVMValueRef value, uint32_t node)
{
	struct error *err = NULL;
	uint32_t object, from;

	if (LLVMIsAGlobalVariable(value) || LLVMIsAFunction(value)) {
		err = global_object(b, value, &object);
		return err ? err : memory_point_to(b, node, object);
	}
	if (LLVMIsAGlobalAlias(value))
		return fill_constant(b, LLVMAliasGetAliasee(value), node);
	if (LLVMIsAGlobalIFunc(value))
		return pointers_copy(b->p, b->foreign, node);
	if (!LLVMIsAConstant(value) || LLVMIsABlockAddress(value))
		return NULL;
	if (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMGetElementPtr) {
		struct pointer_step steps[STEPS_MAX];
		uint32_t count = steps_of(b->code->layout, value, steps);

		err = memory_node(b, LLVMGetOperand(value, 0), &from);
		for (uint32_t i = 0; i < count && !err; i++) {
			uint32_t to = node;

			if (i + 1 < count)
				err = pointers_add_node(b->p, &to);
			if (!err)
				err = pointers_step(b->p, from, to, &steps[i]);
			from = to;
		}
		if (!err && !count)
			err = pointers_copy(b->p, from, node);
		return err;
	}
	for (int i = 0; i < LLVMGetNumOperands(value) && !err; i++)
		err = fill_constant(b, LLVMGetOperand(value, (unsigned)i), node);
	return err;
}

static struct error *constant_node(struct builder *b, LLVMValueRef value, uint32_t *ret)
{
	struct key key = {{(uintptr_t)value, 0, 0}};
	uint32_t number, node;
	struct error *err = hashmap_add(&b->constants, &key, &number);

	if (err)
		return err;
	if (number < b->nodes_of_constants.count) {
		*ret = b->nodes_of_constants.items[number];
		return NULL;
	}
	err = pointers_add_node(b->p, &node);
	if (!err)
		err = function_ids_append(&b->nodes_of_constants, node);
	if (!err)
		err = fill_constant(b, value, node);
	*ret = node;
	return err;
}

struct error *memory_register(struct builder *b, uint32_t number, uint32_t *ret)
{
	struct error *err = NULL;
	uint32_t node;

	if (b->clone)
		return memory_clone_register(b, number, ret);
	if (!b->nodes[number]) {
		err = pointers_add_node(b->p, &node);
		if (err)
			return err;
		b->nodes[number] = node + 1;
	}
	*ret = b->nodes[number] - 1;
	return NULL;
}

struct error *memory_node(struct builder *b, LLVMValueRef value, uint32_t *ret)
{
	uint32_t number = code_number(b->code, value);

	return number == CODE_NONE ? constant_node(b, value, ret) : memory_register(b, number, ret);
}

/* Values that cannot lead anywhere: nothing is stated of them. */
bool memory_leads_nowhere(LLVMValueRef value)
{
	return LLVMIsAConstantInt(value) || LLVMIsAConstantFP(value) || LLVMIsAConstantPointerNull(value) ||
	       LLVMIsUndef(value) || LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMMetadataTypeKind ||
	       LLVMIsABasicBlock(value) || LLVMIsABlockAddress(value);
}

bool memory_may_carry(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMVoidTypeKind:
	case LLVMHalfTypeKind:
	case LLVMFloatTypeKind:
	case LLVMDoubleTypeKind:
	case LLVMX86_FP80TypeKind:
	case LLVMFP128TypeKind:
	case LLVMLabelTypeKind:
	case LLVMMetadataTypeKind:
		return false;
	case LLVMIntegerTypeKind:
		return LLVMGetIntTypeWidth(type) > 1;
	default:
		return true;
	}
}

/* ---- memory ---- */

uint32_t memory_access_bytes(const struct memory *m, LLVMTypeRef type)
{
	uint64_t bytes = LLVMStoreSizeOfType(m->code->layout, type);

	return bytes > INT32_MAX ? INT32_MAX : bytes ? (uint32_t)bytes : 1;
}

/* Larger values are words one behind the other; still larger ones are all the same to us. */
static struct error *access(struct builder *b, uint32_t pointer, uint32_t value, uint32_t len_bytes, bool is_store)
{
	struct error *err = NULL;

	if (len_bytes > WORD * ACCESS_WORDS_MAX) {
		struct pointer_step anywhere = {.stride = 1};
		uint32_t moved;

		err = pointers_add_node(b->p, &moved);
		if (!err)
			err = pointers_step(b->p, pointer, moved, &anywhere);
		pointer = moved;
		len_bytes = WORD;
	}
	for (uint32_t at = 0; at < len_bytes && !err; at += WORD) {
		uint32_t bytes = len_bytes - at < WORD ? len_bytes - at : WORD, moved = pointer;

		if (at) {
			err = pointers_add_node(b->p, &moved);
			if (!err)
				err = pointers_step(b->p, pointer, moved, &(struct pointer_step){.offset = at});
		}
		if (!err)
			err = is_store ? pointers_store(b->p, value, moved, bytes)
				       : pointers_load(b->p, moved, value, bytes);
	}
	return err;
}

static struct error *load(struct builder *b, LLVMValueRef pointer, LLVMValueRef result, LLVMTypeRef type)
{
	uint32_t from, to;
	struct error *err;

	if (!memory_may_carry(type) || memory_leads_nowhere(pointer))
		return NULL;
	err = memory_node(b, pointer, &from);
	if (!err)
		err = memory_node(b, result, &to);
	return err ? err : access(b, from, to, memory_access_bytes(b->m, type), false);
}

static struct error *store(struct builder *b, LLVMValueRef value, LLVMValueRef pointer)
{
	uint32_t from, to;
	struct error *err;

	if (!memory_may_carry(LLVMTypeOf(value)) || memory_leads_nowhere(value) || memory_leads_nowhere(pointer))
		return NULL;
	err = memory_node(b, value, &from);
	if (!err)
		err = memory_node(b, pointer, &to);
	return err ? err : access(b, to, from, memory_access_bytes(b->m, LLVMTypeOf(value)), true);
}

struct error *memory_copy(struct builder *b, LLVMValueRef from, uint32_t to, const struct pointer_step *step)
{
	uint32_t node;
	struct error *err;

	if (memory_leads_nowhere(from) || !memory_may_carry(LLVMTypeOf(from)))
		return NULL;
	err = memory_node(b, from, &node);
	if (err)
		return err;
	return step ? pointers_step(b->p, node, to, step) : pointers_copy(b->p, node, to);
}

static struct error *store_constant(struct builder *b, LLVMValueRef value, uint32_t object, uint64_t offset)
{
	LLVMTypeRef type = LLVMTypeOf(value);
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	struct error *err = NULL;
	uint32_t location, target, node;

	if (memory_leads_nowhere(value) || LLVMIsNull(value) || LLVMIsAConstantDataSequential(value) ||
	    offset > INT32_MAX)
		return NULL;
	if ((kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind) && !LLVMIsAConstantExpr(value)) {
		int count = LLVMGetNumOperands(value);
		uint64_t element = kind == LLVMArrayTypeKind ? size_of(b, LLVMGetElementType(type)) : 0;

		for (int i = 0; i < count && !err; i++)
			err = store_constant(
				b, LLVMGetOperand(value, (unsigned)i), object,
				offset + (element ? (uint64_t)i * element
						  : LLVMOffsetOfElement(b->code->layout, type, (unsigned)i)));
		return err;
	}
	if (!memory_may_carry(type))
		return NULL;
	err = location_at(b, object, (int32_t)offset, &location);
	if (!err)
		err = pointers_add_node(b->p, &target);
	if (!err)
		err = pointers_address(b->p, target, location);
	if (!err)
		err = memory_node(b, value, &node);
	return err ? err : access(b, target, node, memory_access_bytes(b->m, type), true);
}

struct error *memory_add_closed_object(struct builder *b, const struct memory_object *object, uint32_t *ret)
{
	uint32_t number;
	struct error *err = memory_add_object(b, object, &number);

	if (!err)
		err = pointers_add_node(b->p, ret);
	if (!err)
		err = memory_point_to(b, *ret, number);
	if (!err)
		err = pointers_step(b->p, *ret, *ret, &(struct pointer_step){.stride = 1});
	return err ? err : pointers_store(b->p, *ret, *ret, WORD);
}

static struct error *state_global(struct builder *b, LLVMValueRef global)
{
	LLVMValueRef value = LLVMGetInitializer(global);
	uint32_t object, node, inside;
	struct error *err = global_object(b, global, &object);

	if (err)
		return err;
	if (value && LLVMGetLinkage(global) != LLVMAvailableExternallyLinkage)
		return store_constant(b, value, object, 0);
	/* A variable of a library (stdin, environ) leads to memory of its own. */
	err = constant_node(b, global, &node);
	if (!err)
		err = pointers_add_node(b->p, &inside);
	if (!err)
		err = pointers_step(b->p, node, inside, &(struct pointer_step){.stride = 1});
	if (!err)
		err = memory_add_closed_object(b, &(struct memory_object){.kind = MEMORY_LIBRARY, .value = global},
					       &node);
	return err ? err : pointers_store(b->p, node, inside, WORD);
}

/* ---- instructions ---- */

static struct error *state_getelementptr(struct builder *b, LLVMValueRef i, uint32_t result)
{
	struct pointer_step steps[STEPS_MAX];
	uint32_t count = steps_of(b->code->layout, i, steps), from, to;
	struct error *err;

	if (memory_leads_nowhere(LLVMGetOperand(i, 0)))
		return NULL;
	err = memory_node(b, LLVMGetOperand(i, 0), &from);
	if (!err && !count)
		err = pointers_copy(b->p, from, result);
	for (uint32_t k = 0; k < count && !err; k++, from = to) {
		to = result;
		if (k + 1 < count)
			err = pointers_add_node(b->p, &to);
		if (!err)
			err = pointers_step(b->p, from, to, &steps[k]);
	}
	return err;
}

static struct error *state_alloca(struct builder *b, uint32_t number, uint32_t result)
{
	struct memory_object object = {.kind = MEMORY_FRAME,
				       .value = b->code->instructions[number].value,
				       .function = code_function_of(b->code, number)};
	uint32_t made;
	struct error *err;

	if (LLVMIsAConstantInt(LLVMGetOperand(object.value, 0)))
		object.size_bytes = size_of(b, LLVMGetAllocatedType(object.value)) *
				    LLVMConstIntGetZExtValue(LLVMGetOperand(object.value, 0));
	err = memory_object_of(b, object.value, &object, &made);
	return err ? err : memory_point_to(b, result, made);
}

/* Arithmetic on a pointer leads anywhere in its object. */
static struct error *state_arithmetic(struct builder *b, const struct code_instruction *i, uint32_t result)
{
	struct pointer_step anywhere = {.stride = 1};
	struct error *err = NULL;

	for (uint32_t k = 0; k < i->operand_count && !err; k++)
		err = memory_copy(b, LLVMGetOperand(i->value, k), result, &anywhere);
	return err;
}

/* Where a constant leads is asked of every access by it, whatever is loaded, stored or passed. */
struct error *memory_state_constants(struct builder *b, uint32_t number)
{
	const struct code_instruction *i = &b->code->instructions[number];
	struct error *err = NULL;
	uint32_t node;

	for (uint32_t k = 0; k < i->operand_count && !err; k++) {
		LLVMValueRef operand = LLVMGetOperand(i->value, k);

		if (LLVMIsAConstant(operand) && LLVMGetTypeKind(LLVMTypeOf(operand)) == LLVMPointerTypeKind &&
		    !memory_leads_nowhere(operand))
			err = memory_node(b, operand, &node);
	}
	return err;
}

/*
 * What computes one value of another one needs no node of its own: the same of the same node is one node, so that there is one for all loads of a
 * variable, and for all that use its member (Rountev and Chandra, PLDI 2000, substitute such nodes afterwards). Not where somebody has asked for it before.
 */
static bool is_of_one_value(const struct builder *b, uint32_t number)
{
	const struct code_instruction *i = &b->code->instructions[number];

	if (b->clone || b->nodes[number] || !i->operand_count || !memory_may_carry(LLVMTypeOf(i->value)))
		return false;
	return i->opcode == LLVMGetElementPtr ||
	       (i->opcode == LLVMLoad && memory_access_bytes(b->m, LLVMTypeOf(i->value)) <= WORD);
}

static struct error *state_of_one_value(struct builder *b, uint32_t number)
{
	LLVMValueRef value = b->code->instructions[number].value, operand = LLVMGetOperand(value, 0);
	struct pointer_step steps[STEPS_MAX];
	uint32_t count = 0, node;
	struct error *err;

	if (memory_leads_nowhere(operand))
		return memory_register(b, number, &node);
	err = memory_node(b, operand, &node);
	if (LLVMGetInstructionOpcode(value) == LLVMGetElementPtr)
		count = steps_of(b->code->layout, value, steps);
	for (uint32_t k = 0; k < count && !err; k++)
		err = pointers_stepped(b->p, node, &steps[k], &node);
	if (!err && LLVMGetInstructionOpcode(value) == LLVMLoad)
		err = pointers_loaded(b->p, node, memory_access_bytes(b->m, LLVMTypeOf(value)), &node);
	if (!err)
		b->nodes[number] = node + 1;
	return err;
}

struct error *memory_state(struct builder *b, uint32_t number)
{
	const struct code_instruction *i = &b->code->instructions[number];
	LLVMValueRef value = i->value;
	struct error *err = memory_state_constants(b, number);
	uint32_t result = 0;

	if (err)
		return err;
	if (is_of_one_value(b, number))
		return state_of_one_value(b, number);
	if (memory_may_carry(LLVMTypeOf(value)))
		err = memory_register(b, number, &result);
	if (err)
		return err;
	switch (i->opcode) {
	case LLVMAlloca:
		return state_alloca(b, number, result);
	case LLVMLoad:
		return load(b, LLVMGetOperand(value, 0), value, LLVMTypeOf(value));
	case LLVMStore:
		return store(b, LLVMGetOperand(value, 0), LLVMGetOperand(value, 1));
	case LLVMAtomicRMW:
		err = load(b, LLVMGetOperand(value, 0), value, LLVMTypeOf(value));
		return err ? err : store(b, LLVMGetOperand(value, 1), LLVMGetOperand(value, 0));
	case LLVMAtomicCmpXchg:
		err = load(b, LLVMGetOperand(value, 0), value, LLVMTypeOf(LLVMGetOperand(value, 1)));
		return err ? err : store(b, LLVMGetOperand(value, 2), LLVMGetOperand(value, 0));
	case LLVMGetElementPtr:
		return state_getelementptr(b, value, result);
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr:
		return memory_state_call(b, number);
	case LLVMRet:
		if (i->operand_count && b->returned[code_function_of(b->code, number)])
			return memory_copy(b, LLVMGetOperand(value, 0),
					   b->returned[code_function_of(b->code, number)] - 1, NULL);
		return NULL;
	case LLVMPHI:
		for (unsigned k = 0; k < LLVMCountIncoming(value) && !err; k++)
			err = memory_copy(b, LLVMGetIncomingValue(value, k), result, NULL);
		return err;
	case LLVMLandingPad:
		return pointers_copy(b->p, b->foreign, result);
	case LLVMResume:
		return memory_copy(b, LLVMGetOperand(value, 0), b->foreign, NULL);
	case LLVMSelect:
	case LLVMBitCast:
	case LLVMPtrToInt:
	case LLVMIntToPtr:
	case LLVMAddrSpaceCast:
	case LLVMFreeze:
	case LLVMTrunc:
	case LLVMZExt:
	case LLVMSExt:
	case LLVMExtractValue:
	case LLVMInsertValue:
	case LLVMExtractElement:
	case LLVMInsertElement:
	case LLVMShuffleVector:
		for (uint32_t k = i->opcode == LLVMSelect; k < i->operand_count && !err; k++)
			err = memory_copy(b, LLVMGetOperand(value, k), result, NULL);
		return err;
	case LLVMAdd:
	case LLVMSub:
	case LLVMOr:
	case LLVMAnd:
	case LLVMXor:
	case LLVMShl:
	case LLVMLShr:
	case LLVMAShr:
	case LLVMMul:
		return state_arithmetic(b, i, result);
	case LLVMVAArg:
		return pointers_copy(b->p, b->foreign, result);
	default:
		return NULL;
	}
}

/* ---- the whole ---- */

static struct error *make_returned(struct builder *b)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < b->code->function_count && !err; i++) {
		LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(b->code->functions[i].value));
		uint32_t node;

		if (!b->code->functions[i].block_count || !memory_may_carry(type))
			continue;
		err = pointers_add_node(b->p, &node);
		b->returned[i] = node + 1;
	}
	return err;
}

/* Code outside can follow, read and write what it has, and call functions among it. */
static struct error *state_foreign(struct builder *b)
{
	struct pointer_step anywhere = {.stride = 1};
	uint32_t foreign;
	struct error *err = memory_add_object(b, &(struct memory_object){.kind = MEMORY_FOREIGN}, &foreign);

	if (!err)
		err = pointers_add_node(b->p, &b->foreign);
	if (!err)
		err = memory_point_to(b, b->foreign, foreign);
	if (!err)
		err = pointers_step(b->p, b->foreign, b->foreign, &anywhere);
	if (!err)
		err = pointers_load(b->p, b->foreign, b->foreign, WORD);
	if (!err)
		err = pointers_store(b->p, b->foreign, b->foreign, WORD);
	if (!err)
		err = pointers_call(b->p, b->foreign, MEMORY_CALL_FROM_OUTSIDE);
	return err ? err : memory_add_closed_object(b, &(struct memory_object){.kind = MEMORY_LIBRARY}, &b->library);
}

/* main has its arguments and the environment; in a program without main, others may call whatever they can name. */
static struct error *state_start(struct builder *b)
{
	LLVMValueRef start = LLVMGetNamedFunction(b->code->module, "main");
	uint32_t node, number;
	struct error *err = NULL;

	if (!start || !LLVMCountBasicBlocks(start)) {
		for (uint32_t i = 0; i < b->code->function_count && !err; i++)
			if (!ir_is_local(b->code->functions[i].value))
				err = memory_call_from_outside(b, i);
		return err;
	}
	err = memory_add_closed_object(b, &(struct memory_object){.kind = MEMORY_START}, &node);
	number = code_function_number(b->code, start);
	for (uint32_t i = 0; i < b->code->functions[number].argument_count && !err; i++)
		err = memory_pass(b, number, i, node);
	return err;
}

/* Calls state what is cloned, all but that variables are there. */
static bool is_stated_here(const struct builder *b, uint32_t number)
{
	return b->code->instructions[number].opcode == LLVMAlloca ||
	       !memory_is_cloned(b, code_function_of(b->code, number));
}

static struct error *state_all(struct builder *b, bool is_coarse)
{
	struct error *err = state_foreign(b);

	if (!err)
		err = make_returned(b);
	for (LLVMValueRef g = LLVMGetFirstGlobal(b->code->module); g && !err; g = LLVMGetNextGlobal(g))
		err = state_global(b, g);
	if (!err && !is_coarse)
		err = memory_find_cloned(b);
	for (uint32_t i = 0; i < b->code->instruction_count && !err; i++)
		if (can_run(b, b->code->instructions[i].block) && is_stated_here(b, i))
			err = memory_state(b, i);
	if (!err)
		err = memory_state_uncalled(b);
	return err ? err : state_start(b);
}

static void builder_free(struct builder *b)
{
	if (!b)
		return;
	free(b->nodes);
	free(b->returned);
	free(b->variadic);
	free(b->lists);
	free(b->is_called_from_outside);
	free(b->runs_at_end);
	hashmap_deinit(&b->constants);
	hashmap_deinit(&b->object_of);
	function_ids_deinit(&b->nodes_of_constants);
	function_ids_deinit(&b->objects_of_values);
	callback_vec_deinit(&b->callbacks);
	hashmap_deinit(&b->told);
	memory_clones_deinit(b);
	free(b);
}

static struct error *allocate_builder(struct memory *m, struct builder *b)
{
	const struct code *c = b->code;

	m->callees = calloc(c->instruction_count + 1, sizeof *m->callees);
	m->callers = calloc(c->function_count + 1, sizeof *m->callers);
	m->calls_foreign = calloc(c->instruction_count + 1, 1);
	m->calls_library = calloc(c->instruction_count + 1, 1);
	b->nodes = calloc(c->instruction_count + c->argument_count + 1, sizeof *b->nodes);
	b->returned = calloc(c->function_count + 1, sizeof *b->returned);
	b->variadic = calloc(c->function_count + 1, sizeof *b->variadic);
	b->lists = calloc(c->instruction_count + 1, sizeof *b->lists);
	b->is_called_from_outside = calloc(c->function_count + 1, sizeof *b->is_called_from_outside);
	b->runs_at_end = calloc(c->function_count + 1, sizeof *b->runs_at_end);
	return m->callees && m->callers && m->calls_foreign && m->calls_library && b->nodes && b->returned &&
			       b->variadic && b->lists && b->is_called_from_outside && b->runs_at_end
		       ? NULL
		       : &error_no_memory;
}

/* Code outside that is called may call what it has been given. */
static struct error *call_back_from_outside(struct builder *b)
{
	struct function_ids calls = {0};
	struct error *err = NULL;

	for (uint32_t i = 0; i < b->code->instruction_count && !err; i++)
		if (b->m->calls_foreign[i])
			err = function_ids_append(&calls, i);
	for (uint32_t f = 0; f < b->code->function_count && !err; f++)
		for (size_t i = 0; b->is_called_from_outside[f] && i < calls.count && !err; i++) {
			bool is_new = false;

			err = id_set_add(&b->m->callers[f], calls.items[i], &is_new);
			if (is_new && !err)
				err = function_ids_append(&b->m->callees[calls.items[i]], f);
		}
	function_ids_deinit(&calls);
	return err;
}

struct error *memory_open(const struct code *c, const bool *runs, struct memory *ret)
{
	struct builder *b = calloc(1, sizeof *b);
	struct error *err;

	*ret = (struct memory){.code = c, .builder = b};
	if (!b)
		return &error_no_memory;
	*b = (struct builder){.m = ret, .code = c, .runs = runs};
	err = allocate_builder(ret, b);
	if (!err)
		err = pointers_create(memory_call_leads_to, b, &ret->pointers);
	b->p = ret->pointers;
	return err;
}

static struct error *analyse(const struct code *c, const bool *runs, struct pointers_limit limit, bool is_coarse,
			     struct memory *ret)
{
	struct error *err = memory_open(c, runs, ret);
	struct builder *b = ret->builder;

	ret->is_coarse = is_coarse;
	if (!err)
		pointers_watch(b->p, c->watch);
	if (!err && is_coarse)
		pointers_be_coarse(b->p);
	if (!err)
		err = state_all(b, is_coarse);
	if (!err)
		err = pointers_solve(b->p, limit);
	if (!err)
		err = add_inner_objects(b, pointers_locations(b->p)->of_object.count);
	if (!err)
		err = call_back_from_outside(b);
	if (!err)
		err = pointers_shrink(b->p);
	if (err)
		memory_deinit(ret);
	return err;
}

struct error *memory_analyse(const struct code *c, const bool *runs, struct pointers_limit limit, struct memory *ret)
{
	return analyse(c, runs, limit, false, ret);
}

struct error *memory_analyse_coarsely(const struct code *c, const bool *runs, struct memory *ret)
{
	return analyse(c, runs, (struct pointers_limit){0}, true, ret);
}

void memory_deinit(struct memory *m)
{
	for (uint32_t i = 0; m->callees && i < m->code->instruction_count; i++)
		function_ids_deinit(&m->callees[i]);
	for (uint32_t i = 0; m->callers && i < m->code->function_count; i++)
		id_set_deinit(&m->callers[i]);
	free(m->callees);
	free(m->callers);
	free(m->calls_foreign);
	free(m->calls_library);
	memory_object_vec_deinit(&m->objects);
	pointers_destroy(m->pointers);
	builder_free(m->builder);
	*m = (struct memory){0};
}

const struct id_set *memory_of(const struct memory *m, LLVMValueRef value)
{
	const struct builder *b = m->builder;
	uint32_t number = code_number(m->code, value);
	struct key key = {{(uintptr_t)value, 0, 0}};

	if (number != CODE_NONE)
		return b->nodes[number] ? pointers_of(m->pointers, b->nodes[number] - 1) : NULL;
	return hashmap_find(&b->constants, &key, &number)
		       ? pointers_of(m->pointers, b->nodes_of_constants.items[number])
		       : NULL;
}

bool memory_is_called_from_outside(const struct memory *m, uint32_t function)
{
	const struct builder *b = m->builder;

	return b->is_called_from_outside[function];
}

bool memory_runs_at_end(const struct memory *m, uint32_t function)
{
	const struct builder *b = m->builder;

	return b->runs_at_end[function];
}

const struct id_set *memory_foreign(const struct memory *m)
{
	const struct builder *b = m->builder;

	return pointers_of(m->pointers, b->foreign);
}

bool memory_calls_outside(const struct memory *m, uint32_t call)
{
	LLVMValueRef value = m->code->instructions[call].value, callee;

	if (m->calls_foreign[call])
		return true;
	if (!ir_is_call(value))
		return false;
	callee = code_callee(value);
	return callee ? LLVMIsDeclaration(callee) : m->calls_library[call];
}

const struct id_set *memory_of_list(const struct memory *m, uint32_t call)
{
	const struct builder *b = m->builder;

	return b->lists[call] ? pointers_of(m->pointers, b->lists[call] - 1) : NULL;
}

const struct id_set *memory_of_state(const struct memory *m, enum library_state state)
{
	const struct builder *b = m->builder;

	return b->states[state].touched ? pointers_of(m->pointers, b->states[state].touched - 1) : NULL;
}
