/* memory_calls.c - constraints of calls: of the program's functions, of the library's, of code outside, and of pointers that lead to any of them. */
#include <signal.h>
#include <string.h>

#include "analyze/library.h"
#include "analyze/memory_build.h"
#include "base/text.h"
#include "llvm/ir.h"

static struct error *allocate(struct builder *b, LLVMValueRef call, uint32_t *ret)
{
	struct memory_object object = {.kind = MEMORY_HEAP, .value = call};

	return memory_object_of(b, call, &object, ret);
}

static struct error *anywhere_in(struct builder *b, LLVMValueRef pointer, uint32_t *ret)
{
	uint32_t node;
	struct error *err = memory_node(b, pointer, &node);

	if (!err)
		err = pointers_add_node(b->p, ret);
	return err ? err : pointers_step(b->p, node, *ret, &(struct pointer_step){.stride = 1});
}

static LLVMValueRef argument(LLVMValueRef call, uint8_t number)
{
	return number < LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, number) : NULL;
}

static uint32_t transfer_bytes(LLVMValueRef call)
{
	LLVMValueRef length = argument(call, 2);

	if (!length || !LLVMIsAConstantInt(length))
		return POINTERS_ALL_BYTES;
	return LLVMConstIntGetZExtValue(length) > INT32_MAX ? POINTERS_ALL_BYTES
							    : (uint32_t)LLVMConstIntGetZExtValue(length);
}

/* What the callback can be, the solver tells memory_call_leads_to. */
static struct error *add_callback(struct builder *b, LLVMValueRef call, const struct library_effect *e, uint32_t node)
{
	uint32_t number = b->code->instruction_count + (uint32_t)b->callbacks.count;
	struct error *err = callback_vec_append(&b->callbacks, (struct callback){code_number(b->code, call), *e});

	return err ? err : pointers_call(b->p, node, number);
}

static struct error *state_callback(struct builder *b, LLVMValueRef call, const struct library_effect *e)
{
	LLVMValueRef callback = argument(call, e->a);
	uint32_t node;
	struct error *err = callback ? memory_node(b, callback, &node) : NULL;

	return err || !callback ? err : add_callback(b, call, e, node);
}

static struct error *handlers_of(struct builder *b, enum library_state state, uint32_t *ret)
{
	uint32_t node, number = b->code->instruction_count + (uint32_t)b->callbacks.count;
	struct error *err = NULL;

	if (!b->states[state].handlers) {
		err = pointers_add_node(b->p, &node);
		if (err)
			return err;
		b->states[state].handlers = node + 1;
		err = pointers_add_node(b->p, &node);
		if (err)
			return err;
		b->states[state].set = node + 1;
		err = pointers_copy(b->p, b->states[state].handlers - 1, node);
		if (!err)
			err = callback_vec_append(&b->callbacks,
						  (struct callback){.effect = {LIBRARY_HANDLER, .a = (uint8_t)state}});
		if (!err)
			err = pointers_call(b->p, b->foreign, number);
	}
	*ret = b->states[state].handlers - 1;
	return err;
}

/* The argument, or what lies where it leads, is a handler from then on: whoever asks for it, or runs it, has it. */
static struct error *add_handler(struct builder *b, LLVMValueRef call, const struct library_effect *e)
{
	LLVMValueRef given = argument(call, e->b);
	uint32_t handlers, node, there;
	struct error *err = handlers_of(b, e->a, &handlers);

	if (err || !given || memory_leads_nowhere(given))
		return err;
	err = memory_node(b, given, &node);
	if (!err && e->kind == LIBRARY_INSTALLS) {
		err = pointers_add_node(b->p, &there);
		if (!err)
			err = pointers_load(b->p, node, there, WORD);
		node = there;
	}
	if (!err)
		err = pointers_copy(b->p, node, handlers);
	return err ? err : add_callback(b, call, e, node);
}

/* One that was set before is returned, or stored. */
static struct error *give_handler(struct builder *b, LLVMValueRef call, const struct library_effect *e)
{
	LLVMValueRef place = argument(call, e->b);
	uint32_t handlers, node;
	struct error *err = handlers_of(b, e->a, &handlers);

	if (err)
		return err;
	handlers = b->states[e->a].set - 1;
	if (e->b == LIBRARY_NO_ARGUMENT)
		return memory_node(b, call, &node) ?: pointers_copy(b->p, handlers, node);
	if (!place || memory_leads_nowhere(place))
		return NULL;
	err = memory_node(b, place, &node);
	return err ? err : pointers_store(b->p, handlers, node, WORD);
}

/* The next variable of a state that the program has, from *i on; NULL: there is none. */
static LLVMValueRef next_variable(const struct builder *b, enum library_state state, uint32_t *i)
{
	const char *name;

	while ((name = library_variable(state, (*i)++))) {
		LLVMValueRef variable = LLVMGetNamedGlobal(b->code->module, name);

		if (variable && !LLVMGetInitializer(variable))
			return variable;
	}
	return NULL;
}

/* Each variable leads where functions do that return pointers of the state. */
static struct error *add_variables(struct builder *b, enum library_state state, uint32_t reached, uint32_t touched)
{
	struct error *err = NULL;
	LLVMValueRef variable;

	for (uint32_t i = 0, node; !err && (variable = next_variable(b, state, &i));) {
		err = memory_node(b, variable, &node);
		if (!err)
			err = pointers_load(b->p, node, reached, WORD);
		if (!err)
			err = pointers_step(b->p, node, touched, &(struct pointer_step){.stride = 1});
	}
	return err;
}

static struct error *use_state(struct builder *b, enum library_state state)
{
	struct memory_object object = {.kind = MEMORY_LIBRARY, .function = state + 1};
	uint32_t reached = 0, touched = 0;
	struct error *err;

	if (b->states[state].touched)
		return NULL;
	err = memory_add_closed_object(b, &object, &reached);
	if (!err)
		err = pointers_add_node(b->p, &touched);
	if (!err)
		err = pointers_step(b->p, reached, touched, &(struct pointer_step){.stride = 1});
	if (!err)
		err = add_variables(b, state, reached, touched);
	b->states[state].reached = reached + 1;
	b->states[state].touched = touched + 1;
	return err;
}

/* optarg leads to a string that argv has; environ to an array that has what putenv was given. */
static struct error *keep_in_variables(struct builder *b, enum library_state state, uint32_t kept)
{
	struct error *err = NULL;
	LLVMValueRef variable;

	for (uint32_t i = 0, node, inside; !err && (variable = next_variable(b, state, &i));) {
		err = memory_node(b, variable, &node) ?: pointers_add_node(b->p, &inside);
		if (!err)
			err = pointers_load(b->p, node, inside, WORD);
		if (!err)
			err = pointers_store(b->p, kept, inside, WORD);
		if (!err)
			err = pointers_store(b->p, kept, node, WORD);
	}
	return err;
}

static struct error *keep(struct builder *b, enum library_state state, LLVMValueRef given)
{
	uint32_t kept;
	struct error *err = use_state(b, state);

	if (err || !given || memory_leads_nowhere(given))
		return err;
	err = anywhere_in(b, given, &kept);
	if (!err)
		err = pointers_load(b->p, kept, kept, WORD);
	if (!err)
		err = pointers_copy(b->p, kept, b->states[state].reached - 1);
	return err ? err : keep_in_variables(b, state, kept);
}

static struct error *return_own(struct builder *b, uint8_t state, uint32_t result)
{
	struct error *err;

	if (state == LIBRARY_NO_ARGUMENT)
		return pointers_copy(b->p, b->library, result);
	err = use_state(b, state);
	return err ? err : pointers_copy(b->p, b->states[state].reached - 1, result);
}

/* The list, the arguments that its pointers lead to, and what these lead to. A call that has clones is stated more than once. */
static struct error *read_list(struct builder *b, LLVMValueRef call, LLVMValueRef list)
{
	uint32_t *read = &b->lists[code_number(b->code, call)];
	uint32_t at, next;
	struct error *err = NULL;

	if (!list || memory_leads_nowhere(list))
		return NULL;
	if (!*read) {
		err = pointers_add_node(b->p, &next);
		if (err)
			return err;
		*read = next + 1;
	}
	err = anywhere_in(b, list, &at) ?: pointers_copy(b->p, at, *read - 1);
	for (int depth = 0; depth < 2 && !err; depth++) {
		err = pointers_add_node(b->p, &next);
		if (!err)
			err = pointers_load(b->p, at, next, WORD);
		if (!err)
			err = pointers_copy(b->p, next, *read - 1);
		at = next;
	}
	return err;
}

static struct error *state_effect(struct builder *b, LLVMValueRef call, const struct library_effect *e)
{
	LLVMValueRef first = argument(call, e->a), second = argument(call, e->b);
	uint32_t result, node, other, object;
	struct error *err = memory_node(b, call, &result);

	if (err)
		return err;
	switch (e->kind) {
	case LIBRARY_NEW:
		err = allocate(b, call, &object);
		return err ? err : memory_point_to(b, result, object);
	case LIBRARY_OWN:
		return return_own(b, e->a, result);
	case LIBRARY_RETURNS:
		return first ? memory_copy(b, first, result, NULL) : NULL;
	case LIBRARY_INTO:
		return first ? memory_copy(b, first, result, &(struct pointer_step){.stride = 1}) : NULL;
	case LIBRARY_COPIES:
		if (!second)
			return NULL;
		err = memory_node(b, second, &other);
		if (err)
			return err;
		if (e->a == LIBRARY_NO_ARGUMENT)
			return pointers_transfer(b->p, result, other, POINTERS_ALL_BYTES);
		err = memory_node(b, first, &node);
		return err ? err : pointers_transfer(b->p, node, other, transfer_bytes(call));
	case LIBRARY_POINTS:
		if (!first || !second || memory_leads_nowhere(first))
			return NULL;
		err = anywhere_in(b, second, &other);
		if (!err)
			err = memory_node(b, first, &node);
		return err ? err : pointers_store(b->p, other, node, WORD);
	case LIBRARY_PUTS_NEW:
		if (!first)
			return NULL;
		err = allocate(b, call, &object);
		if (!err)
			err = pointers_add_node(b->p, &other);
		if (!err)
			err = memory_point_to(b, other, object);
		if (!err)
			err = memory_node(b, first, &node);
		return err ? err : pointers_store(b->p, other, node, WORD);
	case LIBRARY_CALLS:
		return state_callback(b, call, e);
	case LIBRARY_GETS:
	case LIBRARY_SETS:
		return use_state(b, e->a);
	case LIBRARY_KEEPS:
		return keep(b, e->a, second);
	case LIBRARY_LEADS:
		if (!first || memory_leads_nowhere(first))
			return NULL;
		err = memory_node(b, first, &node);
		return err ? err : pointers_load(b->p, node, result, WORD);
	case LIBRARY_HANDLES:
	case LIBRARY_INSTALLS:
		return add_handler(b, call, e);
	case LIBRARY_HANDLER:
		return give_handler(b, call, e);
	case LIBRARY_RUNS:
		err = handlers_of(b, e->a, &node);
		return err ? err : add_callback(b, call, e, node);
	case LIBRARY_LISTS:
		return read_list(b, call, first);
	case LIBRARY_READS:
	case LIBRARY_WRITES:
	case LIBRARY_KINDS:
		break;
	}
	return NULL;
}

/* Code outside has what it is given, and gives what it has. */
static struct error *call_outside(struct builder *b, LLVMValueRef call)
{
	uint32_t result;
	struct error *err = NULL;

	b->m->calls_foreign[code_number(b->code, call)] = true;
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call) && !err; i++)
		err = memory_copy(b, LLVMGetOperand(call, i), b->foreign, NULL);
	if (!err && memory_may_carry(LLVMTypeOf(call)))
		err = memory_node(b, call, &result) ?: pointers_copy(b->p, b->foreign, result);
	return err;
}

static struct error *call_library(struct builder *b, LLVMValueRef call, const char *name)
{
	struct library_function f;
	struct error *err = NULL;

	if (!library_find(name, &f))
		return call_outside(b, call);
	b->m->calls_library[code_number(b->code, call)] = true;
	for (uint32_t i = 0; i < f.count && !err; i++)
		err = state_effect(b, call, &f.effects[i]);
	return err;
}

static struct error *variadic_location(struct builder *b, uint32_t function, uint32_t *ret)
{
	struct memory_object object = {
		.kind = MEMORY_VARIADIC, .value = b->code->functions[function].value, .function = function};
	uint32_t number, location;
	struct error *err = NULL;

	if (!b->variadic[function]) {
		err = memory_add_object(b, &object, &number);
		if (!err)
			err = locations_get(pointers_locations(b->p),
					    &(struct location){.object = number, .stride = 1, .end = LOCATION_NO_END},
					    &location);
		if (err)
			return err;
		b->variadic[function] = location + 1;
	}
	*ret = b->variadic[function] - 1;
	return NULL;
}

/* What a call gives as an argument, by place. */
struct error *memory_pass(struct builder *b, uint32_t function, uint32_t number, uint32_t node)
{
	const struct code_function *f = &b->code->functions[function];
	uint32_t parameter, location;
	struct error *err;

	if (number < f->argument_count) {
		err = memory_register(b, f->first_argument + number, &parameter);
		return err ? err : pointers_copy(b->p, node, parameter);
	}
	if (!LLVMIsFunctionVarArg(LLVMGlobalGetValueType(f->value)))
		return NULL;
	err = variadic_location(b, function, &location);
	if (!err)
		err = pointers_add_node(b->p, &parameter);
	if (!err)
		err = pointers_address(b->p, parameter, location);
	return err ? err : pointers_store(b->p, node, parameter, WORD);
}

static bool is_byval(LLVMValueRef call, unsigned argument_number)
{
	return LLVMGetCallSiteEnumAttribute(call, argument_number + 1, ir_attribute_kind("byval")) != NULL;
}

/* The callee has a copy of what the argument leads to. */
static struct error *pass_copy(struct builder *b, uint32_t function, uint32_t number, uint32_t node)
{
	const struct code_function *f = &b->code->functions[function];
	struct memory_object object = {.kind = MEMORY_BYVAL, .function = function};
	uint32_t made, parameter;
	struct error *err;

	if (number >= f->argument_count)
		return memory_pass(b, function, number, node);
	object.value = LLVMGetParam(f->value, number);
	err = memory_object_of(b, object.value, &object, &made);
	if (!err)
		err = memory_register(b, f->first_argument + number, &parameter);
	if (!err)
		err = memory_point_to(b, parameter, made);
	return err ? err : pointers_transfer(b->p, parameter, node, POINTERS_ALL_BYTES);
}

static struct error *note_callee(struct builder *b, uint32_t call, uint32_t function, bool *ret_is_new)
{
	struct error *err;

	*ret_is_new = false;
	err = id_set_add(&b->m->callers[function], call, ret_is_new);
	return err || !*ret_is_new ? err : function_ids_append(&b->m->callees[call], function);
}

static struct error *call_function(struct builder *b, uint32_t call, uint32_t function)
{
	LLVMValueRef value = b->code->instructions[call].value;
	uint32_t node, result;
	bool is_new;
	struct error *err = note_callee(b, call, function, &is_new);

	if (err || !is_new)
		return err;
	for (unsigned i = 0; i < LLVMGetNumArgOperands(value) && !err; i++) {
		LLVMValueRef given = LLVMGetOperand(value, i);

		if (memory_leads_nowhere(given) || !memory_may_carry(LLVMTypeOf(given)))
			continue;
		err = memory_node(b, given, &node);
		if (!err)
			err = is_byval(value, i) ? pass_copy(b, function, i, node) : memory_pass(b, function, i, node);
	}
	if (err || !memory_may_carry(LLVMTypeOf(value)) || !b->returned[function])
		return err;
	err = memory_node(b, value, &result);
	return err ? err : pointers_copy(b->p, b->returned[function] - 1, result);
}

static bool can_call(LLVMValueRef call, LLVMValueRef function)
{
	unsigned given = LLVMGetNumArgOperands(call), taken = LLVMCountParams(function);

	return LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)) ? given >= taken
								      : given == taken || !taken || given > taken;
}

/* Code outside can call the function with all that it has. */
struct error *memory_call_from_outside(struct builder *b, uint32_t function)
{
	const struct code_function *f = &b->code->functions[function];
	struct error *err = NULL;

	if (b->is_called_from_outside[function] || !f->block_count)
		return NULL;
	b->is_called_from_outside[function] = true;
	/* Variable ones, too. */
	for (uint32_t i = 0; i <= f->argument_count && !err; i++)
		err = memory_pass(b, function, i, b->foreign);
	if (!err && b->returned[function])
		err = pointers_copy(b->p, b->returned[function] - 1, b->foreign);
	return err;
}

static bool is_handler(const struct library_effect *e)
{
	return e->kind == LIBRARY_HANDLES || e->kind == LIBRARY_INSTALLS || e->kind == LIBRARY_RUNS;
}

/* It runs only if the process has not ended before, or as it ends: abort is as exit is. */
static bool is_of_end(LLVMValueRef call, const struct library_effect *e)
{
	LLVMValueRef signal = argument(call, 0);

	if (!is_handler(e) || e->kind == LIBRARY_RUNS)
		return false;
	if (e->a == LIBRARY_SIGNALS)
		return !signal || !LLVMIsAConstantInt(signal) || LLVMConstIntGetZExtValue(signal) == SIGABRT;
	return e->a == LIBRARY_END;
}

/* A library calls back: which of its arguments lead where is in its effect. */
static struct error *call_back(struct builder *b, uint32_t call, uint32_t function, const struct library_effect *e)
{
	LLVMValueRef value = b->code->instructions[call].value;
	const uint8_t given[] = {is_handler(e) ? LIBRARY_NO_ARGUMENT : e->b, e->c};
	bool is_new;
	uint32_t node;
	struct error *err = note_callee(b, call, function, &is_new);

	for (uint32_t i = 0; i < 2 && !err; i++) {
		LLVMValueRef pointer = argument(value, given[i]);

		if (!pointer || memory_leads_nowhere(pointer))
			continue;
		err = anywhere_in(b, pointer, &node);
		if (!err)
			err = memory_pass(b, function, i, node);
	}
	/* At any time, with what the kernel has: it is code outside. */
	if (!err && is_of_end(value, e))
		b->runs_at_end[function] = true;
	return err || !is_handler(e) ? err : memory_call_from_outside(b, function);
}

/*
 * Whether the call is told of the function, or of code outside (CODE_NONE), for the first time. Where nodes become one the solver tells again; what has
 * nodes of its own would then be stated again, and these become one with the others.
 */
static struct error *is_first_told(struct builder *b, uint32_t call, uint32_t function, bool *ret)
{
	uint32_t count = b->told.count, number;
	struct error *err = hashmap_add(&b->told, &(struct key){{call, function, 0}}, &number);

	*ret = !err && number == count;
	return err;
}

static struct error *call_through_pointer(struct builder *b, uint32_t call, const struct memory_object *target)
{
	LLVMValueRef value = b->code->instructions[call].value;
	uint32_t function;
	bool is_first;
	struct error *err;

	if (target->kind == MEMORY_FOREIGN || target->kind == MEMORY_LIBRARY) {
		err = is_first_told(b, call, CODE_NONE, &is_first);
		return err || !is_first ? err : call_outside(b, value);
	}
	if (target->kind != MEMORY_FUNCTION || !can_call(value, target->value))
		return NULL;
	function = code_function_number(b->code, target->value);
	if (b->code->functions[function].block_count)
		return call_function(b, call, function);
	err = is_first_told(b, call, function, &is_first);
	return err || !is_first ? err : call_library(b, value, LLVMGetValueName(target->value));
}

/* What a library calls back is code outside. Handlers have been called when they were installed. */
static bool is_of_outside(const struct memory_object *target, const struct library_effect *e)
{
	if (e->kind == LIBRARY_CALLS)
		return target->kind == MEMORY_FOREIGN || target->kind == MEMORY_LIBRARY;
	return target->kind == MEMORY_FOREIGN && is_handler(e) && e->kind != LIBRARY_RUNS;
}

static struct error *lead_callback_to(struct builder *b, uint32_t number, const struct memory_object *target,
				      uint32_t location)
{
	struct callback callback = b->callbacks.items[number - b->code->instruction_count];
	bool is_outside = is_of_outside(target, &callback.effect), is_first;
	uint32_t function = CODE_NONE;
	struct library_function known;
	struct error *err;

	if (!is_outside && target->kind != MEMORY_FUNCTION)
		return NULL;
	if (!is_outside)
		function = code_function_number(b->code, target->value);
	if (callback.effect.kind == LIBRARY_HANDLER)
		return b->code->functions[function].block_count
			       ? pointers_address(b->p, b->states[callback.effect.a].set - 1, location)
			       : NULL;
	err = is_first_told(b, number, function, &is_first);
	if (err || !is_first)
		return err;
	if (!is_outside && b->code->functions[function].block_count)
		return call_back(b, callback.call, function, &callback.effect);
	/* Code outside that is not known. A handler: as if who installs it called it. */
	if (is_outside || !library_find(LLVMGetValueName(target->value), &known))
		return call_outside(b, b->code->instructions[callback.call].value);
	return NULL;
}

struct error *memory_call_leads_to(void *data, uint32_t call, uint32_t location)
{
	struct builder *b = data;
	struct location at = pointers_locations(b->p)->items.items[location];
	struct memory_object target = b->m->objects.items[at.object];
	uint32_t function;

	if (call < b->code->instruction_count)
		return call_through_pointer(b, call, &target);
	if (call != MEMORY_CALL_FROM_OUTSIDE)
		return lead_callback_to(b, call, &target, location);
	if (target.kind != MEMORY_FUNCTION)
		return NULL;
	function = code_function_number(b->code, target.value);
	/* Code outside may make it a handler. */
	b->runs_at_end[function] = true;
	return memory_call_from_outside(b, function);
}

static struct error *state_va_start(struct builder *b, LLVMValueRef call)
{
	uint32_t function = code_function_of(b->code, code_number(b->code, call)), location, list, values, at;
	struct error *err = variadic_location(b, function, &location);

	if (!err)
		err = memory_node(b, LLVMGetOperand(call, 0), &list);
	if (!err)
		err = pointers_add_node(b->p, &values);
	if (!err)
		err = pointers_address(b->p, values, location);
	/* overflow_arg_area and reg_save_area of the System V ABI. */
	for (int64_t off = 8; off <= 16 && !err; off += 8) {
		err = pointers_add_node(b->p, &at);
		if (!err)
			err = pointers_step(b->p, list, at, &(struct pointer_step){.offset = off});
		if (!err)
			err = pointers_store(b->p, values, at, WORD);
	}
	return err;
}

static struct error *state_intrinsic(struct builder *b, LLVMValueRef call, const char *name)
{
	uint32_t to, from, result;
	struct error *err;

	if (text_begins(name, "llvm.memcpy") || text_begins(name, "llvm.memmove")) {
		err = memory_node(b, LLVMGetOperand(call, 0), &to);
		if (!err)
			err = memory_node(b, LLVMGetOperand(call, 1), &from);
		return err ? err : pointers_transfer(b->p, to, from, transfer_bytes(call));
	}
	if (text_begins(name, "llvm.va_start"))
		return state_va_start(b, call);
	if (text_begins(name, "llvm.va_copy")) {
		err = memory_node(b, LLVMGetOperand(call, 0), &to);
		if (!err)
			err = memory_node(b, LLVMGetOperand(call, 1), &from);
		return err ? err : pointers_transfer(b->p, to, from, 24);
	}
	/* All others compute: what comes out is of what goes in. */
	if (!memory_may_carry(LLVMTypeOf(call)))
		return NULL;
	err = memory_node(b, call, &result);
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call) && !err; i++)
		err = memory_copy(b, LLVMGetOperand(call, i), result, &(struct pointer_step){.stride = 1});
	return err;
}

struct error *memory_state_call(struct builder *b, uint32_t number)
{
	LLVMValueRef call = b->code->instructions[number].value;
	LLVMValueRef callee = code_callee(call);
	uint32_t node, function;
	bool is_new;
	struct error *err;

	if (!callee) {
		if (LLVMIsAInlineAsm(LLVMGetCalledValue(call)))
			return call_outside(b, call);
		err = memory_node(b, LLVMGetCalledValue(call), &node);
		return err ? err : pointers_call(b->p, node, number);
	}
	if (LLVMGetIntrinsicID(callee))
		return state_intrinsic(b, call, LLVMGetValueName(callee));
	if (!LLVMIsDeclaration(callee)) {
		function = code_function_number(b->code, callee);
		if (!memory_is_cloned(b, function))
			return call_function(b, number, function);
		err = note_callee(b, number, function, &is_new);
		return err ? err : memory_call_clone(b, number, function);
	}
	return call_library(b, call, LLVMGetValueName(callee));
}
