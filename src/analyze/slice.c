/* slice.c - demands go backward through blocks, from calls into functions and from functions to their calls, until nothing is new (slice.h). */
#include "analyze/slice.h"

#include <stdlib.h>

#include "analyze/jumps.h"
#include "llvm/ir.h"

/*
 * Of a function: as one that a criterion is below, and as one whose effects matter to a call. Behind these two, each frame of the request is a
 * context of its own.
 */
enum context_number {
	CONTEXT_UP,
	CONTEXT_DOWN,
	CONTEXT_FRAMES
};

/* A function in a context. */
struct view {
	bool is_active; /* something of it is in the slice, so is what calls it */
	bool is_return_wanted;
	struct id_set wanted;    /* CONTEXT_DOWN: regions at its ends */
	struct id_set at_entry;  /* regions at its beginning */
	struct id_set asking;    /* CONTEXT_DOWN: calls, by place */
	struct id_set arguments; /* those that matter, by number */
};

/* An instruction in the slice. */
enum {
	IN_SLICE = 1,
	IN_FOR_VALUE = 2, /* of a call: not only for what it does */
	IN_STANDS = 4,    /* a criterion that control stands in: it has not read yet */
};

/* What is known in a context, of all code or of a frame's function. Each instruction in each context has a place, a number. */
struct context {
	const struct slice_frame *frame; /* NULL: of all code */
	struct code_function range;
	uint32_t first_function, function_count;
	uint32_t first_place;
	struct view *views;
	struct id_set *at_end; /* [block] regions that matter at its end */
	uint8_t *is_in;        /* [instruction] of IN_* */
	uint8_t *is_waiting;   /* [block] */
};

/* An instruction or a block, in a context. */
struct item {
	uint32_t context;
	uint32_t number;
};
VEC_DECLARE(item_vec, struct item);

struct work {
	const struct slice_request *request;
	const struct regions *regions;
	const struct memory *memory;
	const struct code *code;
	struct slice *slice;
	struct control *controls; /* [function] */
	bool *has_control;
	struct context *contexts;
	uint32_t context_count;
	struct item_vec blocks; /* to be gone through */
	bool has_threads;
	bool *is_async;     /* [function] it may run at any time: code outside calls it, or what that calls does */
	bool has_async;     /* there are such functions; with threads all are */
	struct id_set ever; /* has_async: regions that matter somewhere */
	struct id_set ever_async; /* and in functions that may run at any time */
	struct id_set at_jumps;   /* regions that matter behind a setjmp, and so where longjmp is called */
	struct id_set landings;   /* calls of setjmp and its kin */
	struct id_set jumps;      /* calls of longjmp and its kin */
	struct id_set changed;    /* regions that an instruction changes, of those that matter */
	struct item_vec found;    /* instructions in the slice, not looked at yet */
};

static struct view *view_of(const struct work *w, uint32_t context, uint32_t function)
{
	return &w->contexts[context].views[function - w->contexts[context].first_function];
}

static struct id_set *end_of(const struct work *w, uint32_t context, uint32_t block)
{
	return &w->contexts[context].at_end[block - w->contexts[context].range.first_block];
}

static uint8_t *in_of(const struct work *w, uint32_t context, uint32_t instruction)
{
	return &w->contexts[context].is_in[instruction - w->contexts[context].range.first_instruction];
}

static uint32_t place_of(const struct work *w, uint32_t context, uint32_t instruction)
{
	return w->contexts[context].first_place + instruction - w->contexts[context].range.first_instruction;
}

static struct item item_at(const struct work *w, uint32_t place)
{
	uint32_t low = 0, high = w->context_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (w->contexts[middle].first_place <= place)
			low = middle;
		else
			high = middle;
	}
	return (struct item){low, place - w->contexts[low].first_place + w->contexts[low].range.first_instruction};
}

static bool can_run(const struct work *w, uint32_t context, uint32_t block)
{
	const struct context *c = &w->contexts[context];

	if (c->frame && c->frame->runs && !c->frame->runs[block - c->range.first_block])
		return false;
	return !w->request->runs || w->request->runs[block];
}

/* Control can have come to a block from the predecessor of that index in code.predecessors. */
static bool can_come(const struct work *w, uint32_t context, uint32_t predecessor)
{
	const struct context *c = &w->contexts[context];

	if (c->frame && c->frame->comes &&
	    !c->frame->comes[predecessor - w->code->blocks[c->range.first_block].first_predecessor])
		return false;
	return (!w->request->comes || w->request->comes[predecessor]) &&
	       can_run(w, context, w->code->predecessors[predecessor]);
}

/* ---- what joins ---- */

static struct error *wait(struct work *w, uint32_t context, uint32_t block)
{
	uint8_t *is_waiting = &w->contexts[context].is_waiting[block - w->contexts[context].range.first_block];

	if (*is_waiting || !can_run(w, context, block))
		return NULL;
	*is_waiting = 1;
	return item_vec_append(&w->blocks, (struct item){context, block});
}

static struct error *join(struct work *w, uint32_t context, uint32_t instruction, enum slice_reason reason, uint32_t of)
{
	struct slice_why *why = &w->slice->why[instruction];
	bool is_for_value = reason == SLICE_VALUE || reason == SLICE_ARGUMENT || reason == SLICE_RETURN ||
			    reason == SLICE_CRITERION;
	uint8_t how = IN_SLICE | (is_for_value ? IN_FOR_VALUE : 0), *is_in = in_of(w, context, instruction);

	if (reason == SLICE_CRITERION && w->request->criteria_stand)
		how = IN_STANDS;
	if (!(how & ~*is_in) || !can_run(w, context, w->code->instructions[instruction].block))
		return NULL;
	if (w->request->within && !w->request->within->why[instruction].reason)
		return NULL;
	*is_in |= how;
	if (!why->reason) {
		*why = (struct slice_why){reason, of};
		w->slice->count++;
	}
	return item_vec_append(&w->found, (struct item){context, instruction});
}

static struct error *want_at_end(struct work *w, uint32_t context, uint32_t block, const struct id_set *regions)
{
	bool is_new = false;
	struct error *err = id_set_add_all(end_of(w, context, block), regions, NULL, &is_new);

	return err || !is_new ? err : wait(w, context, block);
}

/* ---- calls ---- */

typedef struct error *(*call_visit)(struct work *w, uint32_t context, uint32_t call, const void *data);

/* The calls of the next frame that can be in progress. */
static struct error *each_call_of_frame(struct work *w, uint32_t context, call_visit visit, const void *data)
{
	const struct slice_frame *frame = w->contexts[context].frame;
	struct error *err = NULL;

	for (uint32_t i = 0; i < frame->call_count && !err; i++)
		err = visit(w, context, frame->calls[i], data);
	return err;
}

static bool is_last_frame(const struct work *w, uint32_t context)
{
	return context >= CONTEXT_FRAMES && context + 1 == w->context_count;
}

/* Calls of a function that go with its context: all of them, those that asked, or those in progress. */
static struct error *each_call(struct work *w, uint32_t function, uint32_t context, call_visit visit, const void *data)
{
	bool goes_up = context == CONTEXT_UP || (is_last_frame(w, context) && !w->request->frames_are_whole);
	const struct id_set *calls = goes_up ? &w->memory->callers[function] : &view_of(w, context, function)->asking;
	struct error *err = NULL;

	if (context >= CONTEXT_FRAMES && !is_last_frame(w, context))
		return each_call_of_frame(w, context + 1, visit, data);
	for (struct id_iterator i = id_set_begin(calls); !err && id_set_next(calls, &i);) {
		struct item call = goes_up ? (struct item){CONTEXT_UP, i.id} : item_at(w, i.id);

		err = visit(w, call.context, call.number, data);
	}
	return err;
}

static struct error *join_call(struct work *w, uint32_t context, uint32_t call, const void *data)
{
	return join(w, context, call, SLICE_CALL, *(const uint32_t *)data);
}

/* Something of the function is in the slice: so are the calls that led to it. */
static struct error *activate(struct work *w, uint32_t context, uint32_t function, uint32_t of)
{
	struct view *v = view_of(w, context, function);

	if (v->is_active)
		return NULL;
	v->is_active = true;
	return each_call(w, function, context, join_call, &of);
}

struct wanted_argument {
	uint32_t number;
	uint32_t of;
};

static struct error *join_register(struct work *w, uint32_t context, uint32_t number, enum slice_reason reason,
				   uint32_t of);

/* Code outside calls back what it was given: qsort. */
static bool is_callback(const struct work *w, uint32_t call)
{
	LLVMValueRef callee = code_callee(w->code->instructions[call].value);

	return w->memory->calls_foreign[call] || (callee && !LLVMCountBasicBlocks(callee));
}

/* Of code outside, or of a library that calls back: which argument matters for what is not known. */
static struct error *join_all_arguments(struct work *w, uint32_t context, uint32_t call, enum slice_reason reason)
{
	LLVMValueRef value = w->code->instructions[call].value;
	struct error *err = NULL;

	for (unsigned k = 0; k < LLVMGetNumArgOperands(value) && !err; k++)
		err = join_register(w, context, code_number(w->code, LLVMGetOperand(value, k)), reason, call);
	return err;
}

static struct error *join_argument(struct work *w, uint32_t context, uint32_t call, const void *data)
{
	const struct wanted_argument *a = data;
	LLVMValueRef value = w->code->instructions[call].value;
	struct error *err = join(w, context, call, SLICE_CALL, a->of);

	/* What a signal interrupted is no call. */
	if (err || !ir_is_call(value))
		return err;
	if (is_callback(w, call))
		return join_all_arguments(w, context, call, SLICE_ARGUMENT);
	if (a->number >= LLVMGetNumArgOperands(value))
		return NULL;
	return join_register(w, context, code_number(w->code, LLVMGetOperand(value, a->number)), SLICE_ARGUMENT, call);
}

/* A register's value matters: where it is made joins. */
static struct error *join_register(struct work *w, uint32_t context, uint32_t number, enum slice_reason reason,
				   uint32_t of)
{
	struct wanted_argument a = {.of = of};
	uint32_t function;
	bool is_new = false;
	struct error *err;

	if (number == CODE_NONE)
		return NULL;
	if (number < w->code->instruction_count)
		return join(w, context, number, reason, of);
	function = w->code->argument_function[number - w->code->instruction_count];
	a.number = number - w->code->functions[function].first_argument;
	err = id_set_add(&view_of(w, context, function)->arguments, a.number, &is_new);
	return err || !is_new ? err : each_call(w, function, context, join_argument, &a);
}

static struct error *want_block_again(struct work *w, uint32_t context, uint32_t call, const void *data)
{
	(void)data;
	return wait(w, context, w->code->instructions[call].block);
}

static struct error *join_return(struct work *w, uint32_t function, uint32_t of)
{
	const struct code_function *f = &w->code->functions[function];
	struct error *err = NULL;

	for (uint32_t i = 0; i < f->instruction_count && !err; i++)
		if (w->code->instructions[f->first_instruction + i].opcode == LLVMRet)
			err = join(w, CONTEXT_DOWN, f->first_instruction + i, SLICE_RETURN, of);
	return err;
}

/* The call's effects on regions, or its value, matter: so does what the function does. */
static struct error *ask(struct work *w, uint32_t context, uint32_t call, uint32_t function,
			 const struct id_set *regions)
{
	const struct code_function *f = &w->code->functions[function];
	struct view *v = view_of(w, CONTEXT_DOWN, function);
	bool is_new_call = false, is_new = false;
	struct error *err = id_set_add(&v->asking, place_of(w, context, call), &is_new_call);

	if (!err && is_new_call && v->is_active)
		err = join(w, context, call, SLICE_CALL, call);
	/* Arguments that mattered to earlier calls matter to this one. */
	for (struct id_iterator i = id_set_begin(&v->arguments); !err && is_new_call && id_set_next(&v->arguments, &i);)
		err = join_argument(w, context, call, &(struct wanted_argument){i.id, call});
	if (!err)
		err = id_set_add_all(&v->wanted, regions, NULL, &is_new);
	for (uint32_t b = f->first_block; is_new && !err && b < f->first_block + f->block_count; b++)
		if (!w->code->blocks[b].successor_count)
			err = want_at_end(w, CONTEXT_DOWN, b, &v->wanted);
	if (!err && is_new_call)
		err = wait(w, context, w->code->instructions[call].block);
	return err;
}

/* ---- blocks ---- */

static bool is_control_alone(const struct id_set *regions)
{
	return regions->count == 1 && !regions->words[0].index && regions->words[0].bits == 1 << REGION_CONTROL;
}

/* Variable arguments are memory to who is called: those behind the named ones. */
static struct error *join_variadic(struct work *w, uint32_t context, uint32_t call)
{
	LLVMValueRef value = w->code->instructions[call].value;
	const struct function_ids *callees = &w->memory->callees[call];
	struct error *err = NULL;

	for (size_t i = 0; i < callees->count && !err; i++)
		for (unsigned k = w->code->functions[callees->items[i]].argument_count;
		     k < LLVMGetNumArgOperands(value) && !err; k++)
			err = join_register(w, context, code_number(w->code, LLVMGetOperand(value, k)), SLICE_ARGUMENT,
					    call);
	return err;
}

/* What the call itself writes, in front of all that the callees do. */
static struct error *pass_memory(struct work *w, uint32_t context, uint32_t call, struct id_set *regions)
{
	const struct id_set *passes = region_set(w->regions, w->regions->passes[call]);
	const struct function_ids *callees = &w->memory->callees[call];
	struct error *err = id_set_intersect(regions, passes, &w->changed);

	if (err || !w->changed.count)
		return err;
	err = join(w, context, call, SLICE_MEMORY, CODE_NONE);
	if (!err)
		err = join_variadic(w, context, call);
	if (callees->count == 1 && !w->regions->is_recursive[callees->items[0]])
		id_set_remove_all(regions, passes);
	return err;
}

static struct error *pass_call(struct work *w, uint32_t context, uint32_t call, struct id_set *regions)
{
	const struct function_ids *callees = &w->memory->callees[call];
	struct id_set *changed = &w->changed;
	struct error *err = NULL;

	for (size_t i = 0; i < callees->count && !err; i++) {
		uint32_t function = callees->items[i];

		err = id_set_intersect(regions, &w->regions->function_changes[function], changed);
		if (!err && changed->count)
			err = ask(w, context, call, function, changed);
		if (!err && changed->count)
			err = join(w, context, call, is_control_alone(changed) ? SLICE_COMES_BACK : SLICE_MEMORY,
				   CODE_NONE);
	}
	for (size_t i = 0; i < callees->count && !err; i++) {
		const struct view *down = view_of(w, CONTEXT_DOWN, callees->items[i]);

		if (id_set_has(&down->asking, place_of(w, context, call)))
			err = id_set_add_all(regions, &down->at_entry, NULL, NULL);
		if (!err && context == CONTEXT_UP)
			err = id_set_add_all(regions, &view_of(w, CONTEXT_UP, callees->items[i])->at_entry, NULL, NULL);
	}
	return err;
}

/* What matters where the frame in front of this one began matters at the call in progress. */
static struct error *pass_call_of_frame(struct work *w, uint32_t context, uint32_t call, struct id_set *regions)
{
	const struct slice_frame *frame = w->contexts[context].frame;
	struct error *err = NULL;

	for (uint32_t i = 0; i < frame->call_count && !err; i++)
		if (frame->calls[i] == call)
			err = id_set_add_all(regions, &w->contexts[context - 1].views[0].at_entry, NULL, NULL);
	return err;
}

/* In all contexts that lead upwards. */
static struct error *wait_everywhere(struct work *w, uint32_t block)
{
	uint32_t function = w->code->blocks[block].function;
	struct error *err = wait(w, CONTEXT_UP, block);

	for (uint32_t i = CONTEXT_FRAMES; i < w->context_count && !err; i++)
		if (w->contexts[i].first_function == function)
			err = wait(w, i, block);
	return err;
}

/* Control may have come behind a setjmp from any longjmp: what matters there matters here. */
static struct error *come_by_jump(struct work *w, const struct id_set *regions)
{
	bool is_new = false;
	struct error *err = id_set_add_all(&w->at_jumps, regions, NULL, &is_new);

	for (struct id_iterator i = id_set_begin(&w->jumps); is_new && !err && id_set_next(&w->jumps, &i);)
		err = wait_everywhere(w, w->code->instructions[i.id].block);
	return err;
}

static struct error *pass_jump(struct work *w, uint32_t context, uint32_t i, struct id_set *regions)
{
	struct error *err = NULL;

	if (id_set_has(&w->landings, i))
		return come_by_jump(w, regions);
	if (context == CONTEXT_DOWN || !w->at_jumps.count || !id_set_has(&w->jumps, i))
		return NULL;
	err = join(w, context, i, SLICE_CONTROL, CODE_NONE);
	return err ? err : id_set_add_all(regions, &w->at_jumps, NULL, NULL);
}

/* From behind the instruction to in front of it. */
static struct error *pass_instruction(struct work *w, uint32_t context, uint32_t i, struct id_set *regions)
{
	const struct id_set *changes = region_set(w->regions, w->regions->changes[i]);
	struct error *err = w->landings.count ? pass_jump(w, context, i, regions) : NULL;

	if (err)
		return err;
	err = id_set_intersect(regions, changes, &w->changed);
	if (!err && w->changed.count)
		err = join(w, context, i, is_control_alone(&w->changed) ? SLICE_COMES_BACK : SLICE_MEMORY, CODE_NONE);
	if (!err && w->regions->overwrites[i])
		id_set_remove_all(regions, region_set(w->regions, w->regions->overwrites[i]));
	if (!err && w->memory->callees[i].count)
		err = pass_call(w, context, i, regions);
	if (!err && context > CONTEXT_FRAMES)
		err = pass_call_of_frame(w, context, i, regions);
	if (!err && w->regions->passes[i])
		err = pass_memory(w, context, i, regions);
	if (err || !*in_of(w, context, i))
		return err;
	if (!(*in_of(w, context, i) & IN_SLICE))
		return id_set_add(regions, REGION_CONTROL, NULL);
	err = id_set_add_all(regions, region_set(w->regions, w->regions->reads[i]), NULL, NULL);
	if (!err && w->has_async)
		err = id_set_add_all(&w->ever, region_set(w->regions, w->regions->reads[i]), NULL, NULL);
	/* When a handler on the stack began is known. */
	if (!err && w->has_async && w->is_async[code_function_of(w->code, i)] &&
	    (context < CONTEXT_FRAMES || w->has_threads))
		err = id_set_add_all(&w->ever_async, region_set(w->regions, w->regions->reads[i]), NULL, NULL);
	return err ? err : id_set_add(regions, REGION_CONTROL, NULL);
}

static struct error *enter_function(struct work *w, uint32_t context, uint32_t function, const struct id_set *regions)
{
	bool is_new = false;
	struct error *err = id_set_add_all(&view_of(w, context, function)->at_entry, regions, NULL, &is_new);

	if (!err && is_last_frame(w, context) && !w->request->frames_are_whole)
		err = id_set_add_all(&view_of(w, CONTEXT_UP, function)->at_entry, regions, NULL, NULL);
	return err || !is_new ? err : each_call(w, function, context, want_block_again, NULL);
}

static struct error *pass_block(struct work *w, uint32_t context, uint32_t number)
{
	const struct code_block *b = &w->code->blocks[number];
	struct id_set regions = {0};
	struct error *err = id_set_add_all(&regions, end_of(w, context, number), NULL, NULL);

	w->slice->steps++;
	for (uint32_t i = b->instruction_count; i-- > 0 && !err;)
		err = pass_instruction(w, context, b->first_instruction + i, &regions);
	for (uint32_t i = b->first_predecessor; i < b->first_predecessor + b->predecessor_count && !err; i++)
		if (can_come(w, context, i))
			err = want_at_end(w, context, w->code->predecessors[i], &regions);
	if (!err && number == w->code->functions[b->function].first_block)
		err = enter_function(w, context, b->function, &regions);
	id_set_deinit(&regions);
	return err;
}

/* ---- instructions ---- */

static struct error *join_deciders(struct work *w, uint32_t context, uint32_t block, uint32_t of)
{
	uint32_t function = w->code->blocks[block].function, at;
	struct control *control = &w->controls[function];
	struct error *err = NULL;

	if (!w->has_control[function]) {
		err = control_find(w->code, function, control);
		if (err)
			return err;
		w->has_control[function] = true;
	}
	at = block - control->first_block;
	for (uint32_t i = control->first[at]; i < control->first[at + 1] && !err; i++) {
		const struct code_block *decider = &w->code->blocks[control->deciders[i]];

		err = join(w, context, decider->first_instruction + decider->instruction_count - 1, SLICE_CONTROL, of);
	}
	return err;
}

static bool can_come_from(const struct work *w, uint32_t context, uint32_t block, uint32_t from)
{
	const struct code_block *b = &w->code->blocks[block];

	for (uint32_t i = b->first_predecessor; i < b->first_predecessor + b->predecessor_count; i++)
		if (w->code->predecessors[i] == from && can_come(w, context, i))
			return true;
	return false;
}

/* Which value a phi has is decided by how its block was reached. */
static struct error *follow_phi(struct work *w, uint32_t context, uint32_t i)
{
	LLVMValueRef phi = w->code->instructions[i].value;
	struct error *err = NULL;

	for (unsigned k = 0; k < LLVMCountIncoming(phi) && !err; k++) {
		uint32_t from = code_block_number(w->code, LLVMGetIncomingBlock(phi, k));
		const struct code_block *b = &w->code->blocks[from];

		if (!can_come_from(w, context, w->code->instructions[i].block, from))
			continue;
		err = join_register(w, context, code_number(w->code, LLVMGetIncomingValue(phi, k)), SLICE_VALUE, i);
		if (!err && b->successor_count > 1)
			err = join(w, context, b->first_instruction + b->instruction_count - 1, SLICE_CONTROL, i);
		if (!err)
			err = join_deciders(w, context, from, i);
	}
	return err;
}

/* A call is in: for its value, its effects, or as the call that something runs in. */
static struct error *follow_call(struct work *w, uint32_t context, uint32_t i)
{
	LLVMValueRef call = w->code->instructions[i].value;
	const struct function_ids *callees = &w->memory->callees[i];
	const struct id_set nothing = {0};
	struct error *err = join_register(w, context, code_number(w->code, LLVMGetCalledValue(call)), SLICE_VALUE, i);

	/* Of functions of the module those arguments matter that they use, of others all. */
	if (!err && (!callees->count || w->memory->calls_library[i] || is_callback(w, i)))
		err = join_all_arguments(w, context, i, SLICE_VALUE);
	/* What a function returns that a library calls back decides what the library does. */
	if (!is_callback(w, i) &&
	    (!(*in_of(w, context, i) & IN_FOR_VALUE) || LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind))
		return err;
	for (size_t k = 0; k < callees->count && !err; k++) {
		err = ask(w, context, i, callees->items[k], &nothing);
		if (!err && !view_of(w, CONTEXT_DOWN, callees->items[k])->is_return_wanted) {
			view_of(w, CONTEXT_DOWN, callees->items[k])->is_return_wanted = true;
			err = join_return(w, callees->items[k], i);
		}
	}
	return err;
}

/* Control stands in the instruction: where it was to read or write matters, and what a call was given; not what it would have made. */
static struct error *follow_standing(struct work *w, uint32_t context, uint32_t i)
{
	const struct code_instruction *x = &w->code->instructions[i];
	struct error *err = NULL;

	if (x->opcode == LLVMStore)
		return join_register(w, context, w->code->operands[x->first_operand + 1], SLICE_VALUE, i);
	if (x->opcode == LLVMPHI)
		return follow_phi(w, context, i);
	for (uint32_t k = 0; k < x->operand_count && !err; k++)
		err = join_register(w, context, w->code->operands[x->first_operand + k], SLICE_VALUE, i);
	return err;
}

/* All that an instruction of the slice needs. */
static struct error *follow(struct work *w, uint32_t context, uint32_t i)
{
	const struct code_instruction *x = &w->code->instructions[i];
	struct error *err = join_deciders(w, context, x->block, i);

	if (!err)
		err = activate(w, context, w->code->blocks[x->block].function, i);
	if (!err)
		err = wait(w, context, x->block);
	if (err)
		return err;
	if (!(*in_of(w, context, i) & IN_SLICE))
		return follow_standing(w, context, i);
	if (ir_is_call(x->value))
		return follow_call(w, context, i);
	if (x->opcode == LLVMPHI)
		return follow_phi(w, context, i);
	for (uint32_t k = 0; k < x->operand_count && !err; k++)
		err = join_register(w, context, w->code->operands[x->first_operand + k], SLICE_VALUE, i);
	return err;
}

/* ---- the whole ---- */

/* What code outside may call at any time: handlers of signals and of the end, what unknown functions were given; and what these call. */
static struct error *find_async(struct work *w)
{
	const struct code *c = w->code;
	uint32_t *work = calloc((size_t)c->function_count + 1, sizeof *work), waiting = 0;

	if (!work)
		return &error_no_memory;
	for (uint32_t f = 0; f < c->function_count; f++) {
		if (!c->functions[f].block_count || !can_run(w, CONTEXT_UP, c->functions[f].first_block))
			continue;
		w->is_async[f] = w->has_threads || memory_is_called_from_outside(w->memory, f);
		w->has_async |= w->is_async[f];
		if (w->is_async[f])
			work[waiting++] = f;
	}
	while (waiting) {
		const struct code_function *f = &c->functions[work[--waiting]];

		for (uint32_t i = f->first_instruction; i < f->first_instruction + f->instruction_count; i++) {
			const struct function_ids *callees = &w->memory->callees[i];

			for (size_t k = 0; k < callees->count && can_run(w, CONTEXT_UP, c->instructions[i].block); k++)
				if (!w->is_async[callees->items[k]]) {
					w->is_async[callees->items[k]] = true;
					work[waiting++] = callees->items[k];
				}
		}
	}
	free(work);
	return NULL;
}

static struct error *settle(struct work *w)
{
	struct error *err = NULL;

	while (!err && (w->found.count || w->blocks.count)) {
		struct item next;

		if (w->found.count) {
			next = w->found.items[--w->found.count];
			err = follow(w, next.context, next.number);
		} else {
			next = w->blocks.items[--w->blocks.count];
			w->contexts[next.context].is_waiting[next.number - w->contexts[next.context].range.first_block] =
				0;
			err = pass_block(w, next.context, next.number);
		}
	}
	return err;
}

/* A thread, or a handler, may store at any time what others read, and read what others have stored. */
static struct error *join_stores_of_threads(struct work *w)
{
	struct error *err = NULL;

	for (uint32_t i = 0; w->has_async && i < w->code->instruction_count && !err; i++)
		if (id_set_meets(w->is_async[code_function_of(w->code, i)] ? &w->ever : &w->ever_async,
				 region_set(w->regions, w->regions->changes[i])))
			err = join(w, CONTEXT_UP, i, SLICE_MEMORY, CODE_NONE);
	return err;
}

static struct error *run(struct work *w)
{
	struct error *err = jumps_find(w->code, &w->landings, &w->jumps);

	w->has_threads = jumps_has_threads(w->code);
	if (!err)
		err = find_async(w);
	for (uint32_t i = 0; i < w->request->criterion_count && !err; i++)
		err = join(w, w->request->frame_count ? CONTEXT_FRAMES : CONTEXT_UP, w->request->criteria[i],
			   SLICE_CRITERION, CODE_NONE);
	for (uint32_t i = 0; i < w->request->call_count && !err; i++)
		err = join(w, CONTEXT_UP, w->request->calls[i], SLICE_CALL, CODE_NONE);
	do {
		err = err ? err : settle(w);
		if (!err)
			err = join_stores_of_threads(w);
	} while (!err && (w->found.count || w->blocks.count));
	return err;
}

static struct error *open_context(struct context *c)
{
	c->views = calloc((size_t)c->function_count + 1, sizeof *c->views);
	c->at_end = calloc((size_t)c->range.block_count + 1, sizeof *c->at_end);
	c->is_in = calloc((size_t)c->range.instruction_count + 1, 1);
	c->is_waiting = calloc((size_t)c->range.block_count + 1, 1);
	return c->views && c->at_end && c->is_in && c->is_waiting ? NULL : &error_no_memory;
}

static struct error *allocate(struct work *w)
{
	const struct code *c = w->code;
	const struct code_function all = {.block_count = c->block_count, .instruction_count = c->instruction_count};
	uint32_t place = 0;
	struct error *err = NULL;

	w->slice->why = calloc((size_t)c->instruction_count + 1, sizeof *w->slice->why);
	w->controls = calloc((size_t)c->function_count + 1, sizeof *w->controls);
	w->has_control = calloc((size_t)c->function_count + 1, sizeof *w->has_control);
	w->contexts = calloc((size_t)CONTEXT_FRAMES + w->request->frame_count, sizeof *w->contexts);
	w->is_async = calloc((size_t)c->function_count + 1, sizeof *w->is_async);
	if (!w->slice->why || !w->controls || !w->has_control || !w->contexts || !w->is_async)
		return &error_no_memory;
	w->context_count = CONTEXT_FRAMES + w->request->frame_count;
	for (uint32_t i = 0; i < w->context_count && !err; i++) {
		struct context *x = &w->contexts[i];

		*x = (struct context){.range = all, .function_count = c->function_count, .first_place = place};
		if (i >= CONTEXT_FRAMES) {
			x->frame = &w->request->frames[i - CONTEXT_FRAMES];
			x->range = c->functions[x->frame->function];
			x->first_function = x->frame->function;
			x->function_count = 1;
		}
		place += x->range.instruction_count;
		err = open_context(x);
	}
	return err;
}

/* ---- what is left for others ---- */

static struct error *open_demand(const struct work *w, struct slice_demand *ret)
{
	uint32_t count = w->request->frame_count + 1;

	*ret = (struct slice_demand){.at_end = calloc(count, sizeof *ret->at_end),
				     .block_counts = calloc(count, sizeof *ret->block_counts),
				     .count = count};
	if (ret->at_end && ret->block_counts)
		return NULL;
	slice_demand_deinit(ret);
	return &error_no_memory;
}

/* Takes the sets from the contexts; those of CONTEXT_UP and CONTEXT_DOWN become one. */
static struct error *take_demand(struct work *w, struct slice_demand *ret)
{
	struct error *err = open_demand(w, ret);

	for (uint32_t b = 0; b < w->code->block_count && !err; b++)
		err = id_set_add_all(end_of(w, CONTEXT_UP, b), end_of(w, CONTEXT_DOWN, b), NULL, NULL);
	if (err)
		return err;
	for (uint32_t i = 0; i < ret->count; i++) {
		struct context *c = &w->contexts[i ? CONTEXT_FRAMES + i - 1 : CONTEXT_UP];

		ret->at_end[i] = c->at_end;
		ret->block_counts[i] = c->range.block_count;
		c->at_end = NULL;
	}
	ret->is_async = w->is_async;
	ret->ever = w->ever;
	ret->ever_async = w->ever_async;
	w->is_async = NULL;
	w->ever = w->ever_async = (struct id_set){0};
	return NULL;
}

void slice_demand_deinit(struct slice_demand *d)
{
	for (uint32_t i = 0; i < d->count && d->at_end && d->block_counts; i++) {
		for (uint32_t b = 0; b < d->block_counts[i]; b++)
			id_set_deinit(&d->at_end[i][b]);
		free(d->at_end[i]);
	}
	free(d->at_end);
	free(d->block_counts);
	free(d->is_async);
	id_set_deinit(&d->ever);
	id_set_deinit(&d->ever_async);
	*d = (struct slice_demand){0};
}

static void free_view(struct view *v)
{
	id_set_deinit(&v->wanted);
	id_set_deinit(&v->at_entry);
	id_set_deinit(&v->asking);
	id_set_deinit(&v->arguments);
}

static void close_context(struct context *c)
{
	for (uint32_t f = 0; c->views && f < c->function_count; f++)
		free_view(&c->views[f]);
	for (uint32_t b = 0; c->at_end && b < c->range.block_count; b++)
		id_set_deinit(&c->at_end[b]);
	free(c->views);
	free(c->at_end);
	free(c->is_in);
	free(c->is_waiting);
}

static void work_deinit(struct work *w)
{
	for (uint32_t f = 0; w->has_control && f < w->code->function_count; f++)
		if (w->has_control[f])
			control_deinit(&w->controls[f]);
	for (uint32_t i = 0; i < w->context_count; i++)
		close_context(&w->contexts[i]);
	free(w->contexts);
	free(w->controls);
	free(w->has_control);
	id_set_deinit(&w->changed);
	id_set_deinit(&w->at_jumps);
	id_set_deinit(&w->ever);
	id_set_deinit(&w->ever_async);
	free(w->is_async);
	id_set_deinit(&w->landings);
	id_set_deinit(&w->jumps);
	item_vec_deinit(&w->blocks);
	item_vec_deinit(&w->found);
}

struct error *slice_backward(const struct slice_request *request, struct slice *ret)
{
	struct slice slice = {0};
	struct work w = {.request = request,
			 .regions = request->regions,
			 .memory = request->regions->memory,
			 .code = request->regions->memory->code,
			 .slice = &slice};
	struct error *err = allocate(&w);

	if (!err)
		err = run(&w);
	if (!err && request->demand)
		err = take_demand(&w, request->demand);
	work_deinit(&w);
	if (err)
		slice_deinit(&slice);
	else
		*ret = slice;
	return err;
}

void slice_deinit(struct slice *s)
{
	free(s->why);
	*s = (struct slice){0};
}
