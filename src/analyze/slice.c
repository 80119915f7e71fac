/* slice.c - demands go backward through blocks, from calls into functions and from functions to their calls, until nothing is new (slice.h). */
#include "analyze/slice.h"

#include <stdlib.h>
#include <string.h>

#include "llvm/ir.h"

/* Of a function: as one that a criterion is below, and as one whose effects matter to a call. */
enum phase {
	PHASE_UP,
	PHASE_DOWN,
	PHASES
};

/* A function in a phase. */
struct view {
	bool is_active; /* something of it is in the slice, so is what calls it */
	bool is_return_wanted;
	struct id_set wanted;    /* PHASE_DOWN: regions at its ends */
	struct id_set at_entry;  /* regions at its beginning */
	struct id_set asking;    /* PHASE_DOWN: calls, 2 * instruction + phase */
	struct id_set arguments; /* those that matter, by place */
};

/* An instruction in the slice. */
enum {
	IN_SLICE = 1,
	IN_FOR_VALUE = 2, /* of a call: not only for what it does */
};

struct work {
	const struct slice_request *request;
	const struct regions *regions;
	const struct memory *memory;
	const struct code *code;
	struct slice *slice;
	struct control *controls; /* [function] */
	bool *has_control;
	struct view *views[PHASES];    /* [function] */
	struct id_set *at_end[PHASES]; /* [block] regions that matter at its end */
	uint8_t *is_in[PHASES];        /* [instruction] of IN_* */
	uint8_t *is_waiting[PHASES];   /* [block] */
	struct function_ids blocks;    /* 2 * block + phase: to be gone through */
	bool has_threads;
	struct id_set ever;        /* has_threads: regions that matter somewhere */
	struct id_set at_jumps;    /* regions that matter behind a setjmp, and so where longjmp is called */
	struct id_set landings;    /* calls of setjmp and its kin */
	struct id_set jumps;       /* calls of longjmp and its kin */
	struct id_set changed;     /* regions that an instruction changes, of those that matter */
	struct function_ids found; /* 2 * instruction + phase: in the slice, not looked at yet */
};

static bool can_run(const struct work *w, uint32_t block)
{
	return !w->request->runs || w->request->runs[block];
}

/* ---- what joins ---- */

static struct error *wait(struct work *w, enum phase phase, uint32_t block)
{
	if (w->is_waiting[phase][block] || !can_run(w, block))
		return NULL;
	w->is_waiting[phase][block] = 1;
	return function_ids_append(&w->blocks, 2 * block + phase);
}

static struct error *join(struct work *w, enum phase phase, uint32_t instruction, enum slice_reason reason, uint32_t of)
{
	struct slice_why *why = &w->slice->why[instruction];
	bool is_for_value = reason == SLICE_VALUE || reason == SLICE_ARGUMENT || reason == SLICE_RETURN ||
			    reason == SLICE_CRITERION;
	uint8_t how = IN_SLICE | (is_for_value ? IN_FOR_VALUE : 0);

	if (!(how & ~w->is_in[phase][instruction]) || !can_run(w, w->code->instructions[instruction].block))
		return NULL;
	w->is_in[phase][instruction] |= how;
	if (!why->reason) {
		*why = (struct slice_why){reason, of};
		w->slice->count++;
	}
	return function_ids_append(&w->found, 2 * instruction + phase);
}

static struct error *want_at_end(struct work *w, enum phase phase, uint32_t block, const struct id_set *regions)
{
	bool is_new = false;
	struct error *err = id_set_add_all(&w->at_end[phase][block], regions, NULL, &is_new);

	return err || !is_new ? err : wait(w, phase, block);
}

/* ---- calls ---- */

/* Calls of a function that go with its phase: all of them, or those that asked. Each is told as 2 * instruction + phase. */
static struct error *
each_call(struct work *w, uint32_t function, enum phase phase,
	  struct error *(*visit)(struct work *w, enum phase phase, uint32_t call, const void *data), const void *data)
{
	const struct id_set *calls =
		phase == PHASE_UP ? &w->memory->callers[function] : &w->views[phase][function].asking;
	struct error *err = NULL;

	for (struct id_iterator i = id_set_begin(calls); !err && id_set_next(calls, &i);) {
		uint32_t call = phase == PHASE_UP ? i.id : i.id / 2;

		err = visit(w, phase == PHASE_UP ? PHASE_UP : (enum phase)(i.id % 2), call, data);
	}
	return err;
}

static struct error *join_call(struct work *w, enum phase phase, uint32_t call, const void *data)
{
	return join(w, phase, call, SLICE_CALL, *(const uint32_t *)data);
}

/* Something of the function is in the slice: so are the calls that led to it. */
static struct error *activate(struct work *w, enum phase phase, uint32_t function, uint32_t of)
{
	struct view *v = &w->views[phase][function];

	if (v->is_active)
		return NULL;
	v->is_active = true;
	return each_call(w, function, phase, join_call, &of);
}

struct wanted_argument {
	uint32_t number;
	uint32_t of;
};

static struct error *join_register(struct work *w, enum phase phase, uint32_t number, enum slice_reason reason,
				   uint32_t of);

/* Code outside calls back what it was given: qsort. */
static bool is_callback(const struct work *w, uint32_t call)
{
	LLVMValueRef callee = code_callee(w->code->instructions[call].value);

	return w->memory->calls_foreign[call] || (callee && !LLVMCountBasicBlocks(callee));
}

/* Of code outside, or of a library that calls back: which argument matters for what is not known. */
static struct error *join_all_arguments(struct work *w, enum phase phase, uint32_t call, enum slice_reason reason)
{
	LLVMValueRef value = w->code->instructions[call].value;
	struct error *err = NULL;

	for (unsigned k = 0; k < LLVMGetNumArgOperands(value) && !err; k++)
		err = join_register(w, phase, code_number(w->code, LLVMGetOperand(value, k)), reason, call);
	return err;
}

static struct error *join_argument(struct work *w, enum phase phase, uint32_t call, const void *data)
{
	const struct wanted_argument *a = data;
	LLVMValueRef value = w->code->instructions[call].value;
	struct error *err = join(w, phase, call, SLICE_CALL, a->of);

	if (!err && is_callback(w, call))
		return join_all_arguments(w, phase, call, SLICE_ARGUMENT);
	if (err || a->number >= LLVMGetNumArgOperands(value))
		return err;
	return join_register(w, phase, code_number(w->code, LLVMGetOperand(value, a->number)), SLICE_ARGUMENT, call);
}

/* A register's value matters: where it is made joins. */
static struct error *join_register(struct work *w, enum phase phase, uint32_t number, enum slice_reason reason,
				   uint32_t of)
{
	struct wanted_argument a = {.of = of};
	uint32_t function;
	bool is_new = false;
	struct error *err;

	if (number == CODE_NONE)
		return NULL;
	if (number < w->code->instruction_count)
		return join(w, phase, number, reason, of);
	function = w->code->argument_function[number - w->code->instruction_count];
	a.number = number - w->code->functions[function].first_argument;
	err = id_set_add(&w->views[phase][function].arguments, a.number, &is_new);
	return err || !is_new ? err : each_call(w, function, phase, join_argument, &a);
}

static struct error *want_block_again(struct work *w, enum phase phase, uint32_t call, const void *data)
{
	(void)data;
	return wait(w, phase, w->code->instructions[call].block);
}

static struct error *join_return(struct work *w, uint32_t function, uint32_t of)
{
	const struct code_function *f = &w->code->functions[function];
	struct error *err = NULL;

	for (uint32_t i = 0; i < f->instruction_count && !err; i++)
		if (w->code->instructions[f->first_instruction + i].opcode == LLVMRet)
			err = join(w, PHASE_DOWN, f->first_instruction + i, SLICE_RETURN, of);
	return err;
}

/* The call's effects on regions, or its value, matter: so does what the function does. */
static struct error *ask(struct work *w, enum phase phase, uint32_t call, uint32_t function,
			 const struct id_set *regions)
{
	const struct code_function *f = &w->code->functions[function];
	struct view *v = &w->views[PHASE_DOWN][function];
	bool is_new_call = false, is_new = false;
	struct error *err = id_set_add(&v->asking, 2 * call + phase, &is_new_call);

	if (!err && is_new_call && v->is_active)
		err = join(w, phase, call, SLICE_CALL, call);
	/* Arguments that mattered to earlier calls matter to this one. */
	for (struct id_iterator i = id_set_begin(&v->arguments); !err && is_new_call && id_set_next(&v->arguments, &i);)
		err = join_argument(w, phase, call, &(struct wanted_argument){i.id, call});
	if (!err)
		err = id_set_add_all(&v->wanted, regions, NULL, &is_new);
	for (uint32_t b = f->first_block; is_new && !err && b < f->first_block + f->block_count; b++)
		if (!w->code->blocks[b].successor_count)
			err = want_at_end(w, PHASE_DOWN, b, &v->wanted);
	if (!err && is_new_call)
		err = wait(w, phase, w->code->instructions[call].block);
	return err;
}

/* ---- blocks ---- */

static bool is_control_alone(const struct id_set *regions)
{
	return regions->count == 1 && !regions->words[0].index && regions->words[0].bits == 1 << REGION_CONTROL;
}

static struct error *pass_call(struct work *w, enum phase phase, uint32_t call, struct id_set *regions)
{
	const struct function_ids *callees = &w->memory->callees[call];
	struct id_set *changed = &w->changed;
	struct error *err = NULL;

	for (size_t i = 0; i < callees->count && !err; i++) {
		uint32_t function = callees->items[i];

		err = id_set_intersect(regions, &w->regions->function_changes[function], changed);
		if (!err && changed->count)
			err = ask(w, phase, call, function, changed);
		if (!err && changed->count)
			err = join(w, phase, call, is_control_alone(changed) ? SLICE_COMES_BACK : SLICE_MEMORY,
				   CODE_NONE);
	}
	for (size_t i = 0; i < callees->count && !err; i++) {
		uint32_t function = callees->items[i];

		if (id_set_has(&w->views[PHASE_DOWN][function].asking, 2 * call + phase))
			err = id_set_add_all(regions, &w->views[PHASE_DOWN][function].at_entry, NULL, NULL);
		if (!err && phase == PHASE_UP)
			err = id_set_add_all(regions, &w->views[PHASE_UP][function].at_entry, NULL, NULL);
	}
	return err;
}

/* Control may have come behind a setjmp from any longjmp: what matters there matters here. */
static struct error *come_by_jump(struct work *w, const struct id_set *regions)
{
	bool is_new = false;
	struct error *err = id_set_add_all(&w->at_jumps, regions, NULL, &is_new);

	for (struct id_iterator i = id_set_begin(&w->jumps); is_new && !err && id_set_next(&w->jumps, &i);)
		err = wait(w, PHASE_UP, w->code->instructions[i.id].block);
	return err;
}

static struct error *pass_jump(struct work *w, enum phase phase, uint32_t i, struct id_set *regions)
{
	struct error *err = NULL;

	if (id_set_has(&w->landings, i))
		return come_by_jump(w, regions);
	if (phase != PHASE_UP || !w->at_jumps.count || !id_set_has(&w->jumps, i))
		return NULL;
	err = join(w, phase, i, SLICE_CONTROL, CODE_NONE);
	return err ? err : id_set_add_all(regions, &w->at_jumps, NULL, NULL);
}

/* From behind the instruction to in front of it. */
static struct error *pass_instruction(struct work *w, enum phase phase, uint32_t i, struct id_set *regions)
{
	const struct id_set *changes = region_set(w->regions, w->regions->changes[i]);
	struct error *err = w->landings.count ? pass_jump(w, phase, i, regions) : NULL;

	if (err)
		return err;
	err = id_set_intersect(regions, changes, &w->changed);
	if (!err && w->changed.count)
		err = join(w, phase, i, is_control_alone(&w->changed) ? SLICE_COMES_BACK : SLICE_MEMORY, CODE_NONE);
	if (!err && w->regions->overwrites[i])
		id_set_remove_all(regions, region_set(w->regions, w->regions->overwrites[i]));
	if (!err && w->memory->callees[i].count)
		err = pass_call(w, phase, i, regions);
	if (err || !w->is_in[phase][i])
		return err;
	err = id_set_add_all(regions, region_set(w->regions, w->regions->reads[i]), NULL, NULL);
	if (!err && w->has_threads)
		err = id_set_add_all(&w->ever, region_set(w->regions, w->regions->reads[i]), NULL, NULL);
	return err ? err : id_set_add(regions, REGION_CONTROL, NULL);
}

static struct error *enter_function(struct work *w, enum phase phase, uint32_t function, const struct id_set *regions)
{
	bool is_new = false;
	struct error *err = id_set_add_all(&w->views[phase][function].at_entry, regions, NULL, &is_new);

	return err || !is_new ? err : each_call(w, function, phase, want_block_again, NULL);
}

static struct error *pass_block(struct work *w, enum phase phase, uint32_t number)
{
	const struct code_block *b = &w->code->blocks[number];
	struct id_set regions = {0};
	struct error *err = id_set_add_all(&regions, &w->at_end[phase][number], NULL, NULL);

	w->slice->steps++;
	for (uint32_t i = b->instruction_count; i-- > 0 && !err;)
		err = pass_instruction(w, phase, b->first_instruction + i, &regions);
	for (uint32_t i = 0; i < b->predecessor_count && !err; i++)
		err = want_at_end(w, phase, w->code->predecessors[b->first_predecessor + i], &regions);
	if (!err && number == w->code->functions[b->function].first_block)
		err = enter_function(w, phase, b->function, &regions);
	id_set_deinit(&regions);
	return err;
}

/* ---- instructions ---- */

static struct error *join_deciders(struct work *w, enum phase phase, uint32_t block, uint32_t of)
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

		err = join(w, phase, decider->first_instruction + decider->instruction_count - 1, SLICE_CONTROL, of);
	}
	return err;
}

/* Which value a phi has is decided by how its block was reached. */
static struct error *follow_phi(struct work *w, enum phase phase, uint32_t i)
{
	LLVMValueRef phi = w->code->instructions[i].value;
	struct error *err = NULL;

	for (unsigned k = 0; k < LLVMCountIncoming(phi) && !err; k++) {
		uint32_t from = code_block_number(w->code, LLVMGetIncomingBlock(phi, k));
		const struct code_block *b = &w->code->blocks[from];

		if (!can_run(w, from))
			continue;
		err = join_register(w, phase, code_number(w->code, LLVMGetIncomingValue(phi, k)), SLICE_VALUE, i);
		if (!err && b->successor_count > 1)
			err = join(w, phase, b->first_instruction + b->instruction_count - 1, SLICE_CONTROL, i);
		if (!err)
			err = join_deciders(w, phase, from, i);
	}
	return err;
}

/* A call is in: for its value, its effects, or as the call that something runs in. */
static struct error *follow_call(struct work *w, enum phase phase, uint32_t i)
{
	LLVMValueRef call = w->code->instructions[i].value;
	const struct function_ids *callees = &w->memory->callees[i];
	const struct id_set nothing = {0};
	struct error *err = join_register(w, phase, code_number(w->code, LLVMGetCalledValue(call)), SLICE_VALUE, i);

	/* Of functions of the module those arguments matter that they use. */
	if (!err && (!callees->count || is_callback(w, i)))
		err = join_all_arguments(w, phase, i, SLICE_VALUE);
	/* What a function returns that a library calls back decides what the library does. */
	if (!is_callback(w, i) &&
	    (!(w->is_in[phase][i] & IN_FOR_VALUE) || LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind))
		return err;
	for (size_t k = 0; k < callees->count && !err; k++) {
		err = ask(w, phase, i, callees->items[k], &nothing);
		if (!err && !w->views[PHASE_DOWN][callees->items[k]].is_return_wanted) {
			w->views[PHASE_DOWN][callees->items[k]].is_return_wanted = true;
			err = join_return(w, callees->items[k], i);
		}
	}
	return err;
}

/* All that an instruction of the slice needs. */
static struct error *follow(struct work *w, enum phase phase, uint32_t i)
{
	const struct code_instruction *x = &w->code->instructions[i];
	struct error *err = join_deciders(w, phase, x->block, i);

	if (!err)
		err = activate(w, phase, w->code->blocks[x->block].function, i);
	if (!err)
		err = wait(w, phase, x->block);
	if (err)
		return err;
	if (ir_is_call(x->value))
		return follow_call(w, phase, i);
	if (x->opcode == LLVMPHI)
		return follow_phi(w, phase, i);
	for (uint32_t k = 0; k < x->operand_count && !err; k++)
		err = join_register(w, phase, w->code->operands[x->first_operand + k], SLICE_VALUE, i);
	return err;
}

/* ---- the whole ---- */

static struct error *survey(struct work *w)
{
	static const char *const names[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};
	struct error *err = NULL;

	w->has_threads = LLVMGetNamedFunction(w->code->module, "pthread_create") ||
			 LLVMGetNamedFunction(w->code->module, "thrd_create");
	for (uint32_t i = 0; i < w->code->instruction_count && !err; i++) {
		LLVMValueRef value = w->code->instructions[i].value, callee;

		if (!ir_is_call(value))
			continue;
		callee = code_callee(value);
		if (ir_returns_twice(value))
			err = id_set_add(&w->landings, i, NULL);
		for (size_t k = 0; callee && !err && k < sizeof names / sizeof *names; k++)
			if (strcmp(LLVMGetValueName(callee), names[k]) == 0)
				err = id_set_add(&w->jumps, i, NULL);
	}
	return err;
}

static struct error *settle(struct work *w)
{
	struct error *err = NULL;

	while (!err && (w->found.count || w->blocks.count)) {
		if (w->found.count) {
			uint32_t next = w->found.items[--w->found.count];

			err = follow(w, (enum phase)(next % 2), next / 2);
		} else {
			uint32_t next = w->blocks.items[--w->blocks.count];

			w->is_waiting[next % 2][next / 2] = 0;
			err = pass_block(w, (enum phase)(next % 2), next / 2);
		}
	}
	return err;
}

/* A thread may store at any time what another one reads. */
static struct error *join_stores_of_threads(struct work *w)
{
	struct error *err = NULL;

	for (uint32_t i = 0; w->has_threads && i < w->code->instruction_count && !err; i++)
		if (id_set_meets(&w->ever, region_set(w->regions, w->regions->changes[i])))
			err = join(w, PHASE_UP, i, SLICE_MEMORY, CODE_NONE);
	return err;
}

static struct error *run(struct work *w)
{
	struct error *err = survey(w);

	for (uint32_t i = 0; i < w->request->criterion_count && !err; i++)
		err = join(w, PHASE_UP, w->request->criteria[i], SLICE_CRITERION, CODE_NONE);
	do {
		err = err ? err : settle(w);
		if (!err)
			err = join_stores_of_threads(w);
	} while (!err && (w->found.count || w->blocks.count));
	return err;
}

static struct error *allocate(struct work *w)
{
	const struct code *c = w->code;
	bool has_all;

	w->slice->why = calloc((size_t)c->instruction_count + 1, sizeof *w->slice->why);
	w->controls = calloc((size_t)c->function_count + 1, sizeof *w->controls);
	w->has_control = calloc((size_t)c->function_count + 1, sizeof *w->has_control);
	has_all = w->slice->why && w->controls && w->has_control;
	for (int p = 0; p < PHASES; p++) {
		w->views[p] = calloc((size_t)c->function_count + 1, sizeof *w->views[p]);
		w->at_end[p] = calloc((size_t)c->block_count + 1, sizeof *w->at_end[p]);
		w->is_in[p] = calloc((size_t)c->instruction_count + 1, 1);
		w->is_waiting[p] = calloc((size_t)c->block_count + 1, 1);
		has_all &= w->views[p] && w->at_end[p] && w->is_in[p] && w->is_waiting[p];
	}
	return has_all ? NULL : &error_no_memory;
}

static void free_view(struct view *v)
{
	id_set_deinit(&v->wanted);
	id_set_deinit(&v->at_entry);
	id_set_deinit(&v->asking);
	id_set_deinit(&v->arguments);
}

static void work_deinit(struct work *w)
{
	for (uint32_t f = 0; w->has_control && f < w->code->function_count; f++)
		if (w->has_control[f])
			control_deinit(&w->controls[f]);
	for (int p = 0; p < PHASES; p++) {
		for (uint32_t f = 0; w->views[p] && f < w->code->function_count; f++)
			free_view(&w->views[p][f]);
		for (uint32_t b = 0; w->at_end[p] && b < w->code->block_count; b++)
			id_set_deinit(&w->at_end[p][b]);
		free(w->views[p]);
		free(w->at_end[p]);
		free(w->is_in[p]);
		free(w->is_waiting[p]);
	}
	free(w->controls);
	free(w->has_control);
	id_set_deinit(&w->changed);
	id_set_deinit(&w->at_jumps);
	id_set_deinit(&w->ever);
	id_set_deinit(&w->landings);
	id_set_deinit(&w->jumps);
	function_ids_deinit(&w->blocks);
	function_ids_deinit(&w->found);
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
