/* forward.c - changes go forward through blocks, from calls into functions and from functions to their calls, until nothing is new (forward.h). */
#include "analyze/forward.h"

#include <stdlib.h>

#include "analyze/jumps.h"
#include "analyze/slice_limit.h"
#include "analyze/sweep.h"
#include "base/text.h"
#include "llvm/ir.h"

/* Of a function: as one that a criterion is below, and as one that is given something that can be other. */
enum phase {
	PHASE_UP,
	PHASE_DOWN,
	PHASES
};

/* A function in a phase. */
struct view {
	bool may_not_run;        /* PHASE_DOWN: whether it runs can be other */
	uint32_t a_return;       /* that is in the slice; CODE_NONE */
	struct id_set at_exit;   /* regions at its ends */
	struct id_set asking;    /* PHASE_DOWN: calls, 2 * instruction + phase */
	struct id_set arguments; /* that can be others, by place */
};

/* An instruction in the slice. */
enum {
	IN_SLICE = 1,
	IN_FOR_VALUE = 2, /* of a call: what it returns can be other */
	IN_FOR_RUN = 4,   /* of a call: whether it runs, or what is called */
};

struct work {
	const struct slice_request *request;
	const struct regions *regions;
	const struct memory *memory;
	const struct code *code;
	struct slice *slice;
	struct controls controls;
	struct view *views[PHASES];      /* [function] */
	struct id_set *at_begin[PHASES]; /* [block] regions that can be others at its beginning */
	uint8_t *is_in[PHASES];          /* [instruction] of IN_* */
	uint8_t *is_waiting[PHASES];     /* [block] */
	struct id_set *function_reads;   /* [function] what it and those that it calls read */
	uint32_t *changed_by;            /* [region] an instruction of the slice */
	struct sweep blocks;             /* to be gone through; contexts: phases */
	struct function_ids found;       /* 2 * instruction + phase: in the slice, not looked at yet */
	struct id_set landings, jumps;   /* calls of setjmp and longjmp */
	struct id_set at_jumps;          /* regions that can be others where longjmp is called */
	bool is_coarse;                  /* all of memory is in `ever`, and there is PHASE_UP alone (slice.h) */
	struct async async;
	struct id_set
		ever; /* async.is_some: regions that such functions can make others; is_coarse: that are others somewhere */
	struct id_set anywhere; /* async.is_some: regions that can be others somewhere */
	struct id_set some;     /* scratch */
};

static bool can_run(const struct work *w, uint32_t block)
{
	return !w->request->runs || w->request->runs[block];
}

/* ---- what joins ---- */

static struct error *wait(struct work *w, enum phase phase, uint32_t block)
{
	if (w->is_coarse || w->is_waiting[phase][block] || !can_run(w, block))
		return NULL;
	w->is_waiting[phase][block] = 1;
	return sweep_push(&w->blocks, block, phase);
}

static uint8_t how_in(const struct work *w, uint32_t instruction, enum slice_reason reason)
{
	if (!ir_is_call(w->code->instructions[instruction].value))
		return IN_SLICE;
	if (reason == SLICE_RETURN)
		return IN_SLICE | IN_FOR_VALUE;
	/* To code outside any argument can matter for all that it does. */
	if ((reason == SLICE_VALUE || reason == SLICE_MEMORY) && !memory_calls_outside(w->memory, instruction))
		return IN_SLICE;
	return IN_SLICE | IN_FOR_VALUE | IN_FOR_RUN;
}

static struct error *join(struct work *w, enum phase phase, uint32_t instruction, enum slice_reason reason, uint32_t of)
{
	struct slice_why *why = &w->slice->why[instruction];
	uint8_t how = how_in(w, instruction, reason);

	if (w->is_coarse)
		phase = PHASE_UP;
	if (!(how & ~w->is_in[phase][instruction]) || !can_run(w, w->code->instructions[instruction].block))
		return NULL;
	w->is_in[phase][instruction] |= how;
	if (!why->reason) {
		*why = (struct slice_why){reason, of};
		w->slice->count++;
	}
	return function_ids_append(&w->found, 2 * instruction + phase);
}

static struct error *join_block(struct work *w, enum phase phase, uint32_t block, enum slice_reason reason, uint32_t of)
{
	const struct code_block *b = &w->code->blocks[block];
	struct error *err = NULL;

	for (uint32_t i = 0; i < b->instruction_count && !err; i++)
		err = join(w, phase, b->first_instruction + i, reason, of);
	return err;
}

static struct error *begin_with(struct work *w, enum phase phase, uint32_t block, const struct id_set *regions)
{
	bool is_new = false;
	struct error *err = id_set_add_all(&w->at_begin[phase][block], regions, NULL, &is_new);

	return err || !is_new ? err : wait(w, phase, block);
}

/* ---- calls ---- */

typedef struct error *(*call_visit)(struct work *w, enum phase phase, uint32_t call, uint32_t of);

/* The calls that a function's effects go back to: all of them, or those that gave something. */
static struct error *each_call(struct work *w, enum phase phase, uint32_t function, call_visit visit, uint32_t of)
{
	const struct id_set *calls =
		phase == PHASE_UP ? &w->memory->callers[function] : &w->views[phase][function].asking;
	struct error *err = NULL;

	for (struct id_iterator i = id_set_begin(calls); !err && id_set_next(calls, &i);)
		err = phase == PHASE_UP ? visit(w, PHASE_UP, i.id, of) : visit(w, (enum phase)(i.id % 2), i.id / 2, of);
	return err;
}

static struct error *return_to(struct work *w, enum phase phase, uint32_t call, uint32_t of)
{
	return join(w, phase, call, SLICE_RETURN, of);
}

static struct error *wait_for_call(struct work *w, enum phase phase, uint32_t call, uint32_t of)
{
	(void)of;
	return wait(w, phase, w->code->instructions[call].block);
}

static struct error *take_return(struct work *w, enum phase phase, uint32_t ret)
{
	uint32_t function = code_function_of(w->code, ret);

	if (!w->code->instructions[ret].operand_count)
		return NULL;
	w->views[phase][function].a_return = ret;
	return each_call(w, phase, function, return_to, ret);
}

/* The call gives something: the function's effects come back to it. */
static struct error *ask(struct work *w, enum phase phase, uint32_t call, uint32_t function)
{
	struct view *v = &w->views[PHASE_DOWN][function];
	bool is_new = false;
	struct error *err;

	/* What a function returns goes back to all calls of it. */
	if (w->is_coarse)
		return NULL;
	err = id_set_add(&v->asking, 2 * call + phase, &is_new);
	if (err || !is_new)
		return err;
	if (v->a_return != CODE_NONE)
		err = join(w, phase, call, SLICE_RETURN, v->a_return);
	return err ? err : wait(w, phase, w->code->instructions[call].block);
}

static struct error *join_users(struct work *w, enum phase phase, LLVMValueRef value, enum slice_reason reason,
				uint32_t of);

static struct error *give_argument(struct work *w, enum phase phase, uint32_t call, uint32_t function, uint32_t place)
{
	struct view *v = &w->views[PHASE_DOWN][function];
	bool is_new = false;
	struct error *err = ask(w, phase, call, function);

	if (!err)
		err = id_set_add(&v->arguments, place, &is_new);
	if (err || !is_new || place >= w->code->functions[function].argument_count)
		return err;
	return join_users(w, PHASE_DOWN, LLVMGetParam(w->code->functions[function].value, place), SLICE_ARGUMENT, call);
}

static bool is_variable_start(LLVMValueRef instruction)
{
	LLVMValueRef callee = ir_is_call(instruction) ? code_callee(instruction) : NULL;

	return callee && text_begins(LLVMGetValueName(callee), "llvm.va_start");
}

/* Variable arguments are in memory that nobody stores to. They are reached where the function begins to read them. */
static struct error *give_variable(struct work *w, enum phase phase, uint32_t call, uint32_t function)
{
	const struct code_function *f = &w->code->functions[function];
	struct error *err = ask(w, phase, call, function);

	for (uint32_t i = f->first_instruction; i < f->first_instruction + f->instruction_count && !err; i++)
		if (is_variable_start(w->code->instructions[i].value))
			err = join(w, PHASE_DOWN, i, SLICE_ARGUMENT, call);
	return err;
}

static struct error *give(struct work *w, enum phase phase, uint32_t call, uint32_t place)
{
	const struct function_ids *callees = &w->memory->callees[call];
	struct error *err = NULL;

	for (size_t k = 0; k < callees->count && !err; k++) {
		const struct code_function *f = &w->code->functions[callees->items[k]];

		err = place < f->argument_count ? give_argument(w, phase, call, callees->items[k], place)
						: give_variable(w, phase, call, callees->items[k]);
	}
	return err;
}

/* Code outside gives what it calls back anything of what it was given. */
static struct error *give_all(struct work *w, enum phase phase, uint32_t call)
{
	const struct function_ids *callees = &w->memory->callees[call];
	struct error *err = NULL;

	for (size_t k = 0; k < callees->count && !err; k++)
		for (uint32_t a = 0; a < w->code->functions[callees->items[k]].argument_count && !err; a++)
			err = give_argument(w, phase, call, callees->items[k], a);
	return err;
}

/* Whether the functions run that the call can lead to. */
static struct error *doubt(struct work *w, enum phase phase, uint32_t call)
{
	const struct function_ids *callees = &w->memory->callees[call];
	struct error *err = NULL;

	for (size_t k = 0; k < callees->count && !err; k++) {
		const struct code_function *f = &w->code->functions[callees->items[k]];
		struct view *v = &w->views[PHASE_DOWN][callees->items[k]];

		err = ask(w, phase, call, callees->items[k]);
		if (v->may_not_run)
			continue;
		v->may_not_run = true;
		for (uint32_t b = 0; b < f->block_count && !err; b++)
			err = join_block(w, PHASE_DOWN, f->first_block + b, SLICE_CALL, call);
	}
	return err;
}

/* ---- registers ---- */

static struct error *join_user(struct work *w, enum phase phase, LLVMUseRef use, enum slice_reason reason, uint32_t of)
{
	LLVMValueRef user = LLVMGetUser(use), value = LLVMGetUsedValue(use);
	uint32_t number = code_number(w->code, user);
	struct error *err;

	if (number == CODE_NONE)
		return NULL;
	if (!ir_is_call(user))
		return join(w, phase, number, reason, of);
	err = join(w, phase, number, LLVMGetCalledValue(user) == value ? SLICE_CONTROL : SLICE_VALUE, of);
	for (unsigned k = 0; k < LLVMGetNumArgOperands(user) && !err; k++)
		if (LLVMGetOperand(user, k) == value)
			err = give(w, phase, number, k);
	return err;
}

static struct error *join_users(struct work *w, enum phase phase, LLVMValueRef value, enum slice_reason reason,
				uint32_t of)
{
	struct error *err = NULL;

	for (LLVMUseRef use = LLVMGetFirstUse(value); use && !err; use = LLVMGetNextUse(use))
		err = join_user(w, phase, use, reason, of);
	return err;
}

/* ---- control ---- */

/* Which value a phi has is decided by how its block was reached. */
static struct error *join_phis_behind(struct work *w, enum phase phase, uint32_t block, uint32_t of)
{
	const struct code_block *b = &w->code->blocks[block];
	struct error *err = NULL;

	for (uint32_t s = 0; s < b->successor_count; s++) {
		const struct code_block *to = &w->code->blocks[w->code->successors[b->first_successor + s]];

		for (uint32_t i = 0; i < to->instruction_count && !err; i++) {
			if (w->code->instructions[to->first_instruction + i].opcode != LLVMPHI)
				break;
			err = join(w, phase, to->first_instruction + i, SLICE_CONTROL, of);
		}
	}
	return err;
}

static struct error *join_decided(struct work *w, enum phase phase, uint32_t branch)
{
	uint32_t decider = w->code->instructions[branch].block;
	const struct code_function *f = &w->code->functions[w->code->blocks[decider].function];
	struct error *err = join_phis_behind(w, phase, decider, branch);

	for (uint32_t b = f->first_block; b < f->first_block + f->block_count && !err; b++) {
		const uint32_t *deciders;
		uint32_t count;
		bool is_decided = false;

		err = controls_of(&w->controls, b, &deciders, &count);
		for (uint32_t i = 0; !err && i < count; i++)
			is_decided |= deciders[i] == decider;
		if (err || !is_decided)
			continue;
		err = join_block(w, phase, b, SLICE_CONTROL, branch);
		if (!err)
			err = join_phis_behind(w, phase, b, branch);
	}
	return err;
}

/* ---- instructions ---- */

/* What is behind a setjmp is reached in another way, or by another one. */
static struct error *jump(struct work *w, uint32_t call)
{
	bool is_new = false;
	struct error *err = id_set_add(w->is_coarse ? &w->ever : &w->at_jumps, REGION_CONTROL, &is_new);

	if (w->changed_by[REGION_CONTROL] == CODE_NONE)
		w->changed_by[REGION_CONTROL] = call;
	for (struct id_iterator i = id_set_begin(&w->landings); !err && id_set_next(&w->landings, &i);) {
		err = join(w, PHASE_UP, i.id, SLICE_CONTROL, call);
		if (!err)
			err = wait(w, PHASE_UP, w->code->instructions[i.id].block);
	}
	return err;
}

static struct error *follow_call(struct work *w, enum phase phase, uint32_t i, uint8_t how)
{
	struct error *err = NULL;

	if (id_set_has(&w->jumps, i))
		err = jump(w, i);
	if (!err && memory_calls_outside(w->memory, i))
		err = give_all(w, phase, i);
	if (!err && (how & IN_FOR_RUN))
		err = doubt(w, phase, i);
	if (!err && (how & IN_FOR_VALUE))
		err = join_users(w, phase, w->code->instructions[i].value, SLICE_VALUE, i);
	return err;
}

/* What it changes can be other wherever it is read. */
static struct error *change_everywhere(struct work *w, uint32_t i)
{
	const struct id_set *changes = region_set(w->regions, w->regions->changes[i]);

	w->slice->steps += changes->count + 1;
	for (struct id_iterator k = id_set_begin(changes); id_set_next(changes, &k);)
		if (w->changed_by[k.id] == CODE_NONE)
			w->changed_by[k.id] = i;
	return id_set_add_all(&w->ever, changes, NULL, NULL);
}

/* What an instruction of the slice leads to, but for memory. */
static struct error *follow(struct work *w, enum phase phase, uint32_t i)
{
	const struct code_instruction *x = &w->code->instructions[i];
	const struct code_block *b = &w->code->blocks[x->block];
	struct error *err = w->is_coarse ? change_everywhere(w, i) : wait(w, phase, x->block);

	if (err)
		return err;
	if (ir_is_call(x->value))
		err = follow_call(w, phase, i, w->is_in[phase][i]);
	else if (x->opcode == LLVMRet)
		err = take_return(w, phase, i);
	else
		err = join_users(w, phase, x->value, SLICE_VALUE, i);
	if (!err && i == control_branch(w->code, x->block) && b->successor_count > 1)
		err = join_decided(w, phase, i);
	return err;
}

/* ---- blocks ---- */

static struct error *join_reader(struct work *w, enum phase phase, uint32_t i, const struct id_set *regions)
{
	const struct id_set *reads = region_set(w->regions, w->regions->reads[i]);

	if (id_set_has(regions, REGION_CONTROL))
		return join(w, phase, i, SLICE_COMES_BACK, w->changed_by[REGION_CONTROL]);
	for (struct id_iterator k = id_set_begin(reads); id_set_next(reads, &k);)
		if (id_set_has(regions, k.id))
			return join(w, phase, i, SLICE_MEMORY, w->changed_by[k.id]);
	return NULL;
}

static struct error *pass_to_callees(struct work *w, enum phase phase, uint32_t call, const struct id_set *regions)
{
	const struct function_ids *callees = &w->memory->callees[call];
	struct error *err = NULL;

	for (size_t k = 0; k < callees->count && !err; k++) {
		uint32_t function = callees->items[k];

		err = id_set_intersect(regions, &w->function_reads[function], &w->some);
		if (!err && w->some.count)
			err = ask(w, phase, call, function);
		if (!err && w->some.count)
			err = begin_with(w, PHASE_DOWN, w->code->functions[function].first_block, &w->some);
	}
	return err;
}

static struct error *pass_call(struct work *w, enum phase phase, uint32_t call, struct id_set *regions)
{
	const struct function_ids *callees = &w->memory->callees[call];
	struct error *err = pass_to_callees(w, phase, call, regions);

	for (size_t k = 0; k < callees->count && !err; k++) {
		uint32_t function = callees->items[k];
		const struct id_set *changes = &w->regions->function_changes[function];

		err = id_set_intersect(&w->views[PHASE_UP][function].at_exit, changes, &w->some);
		if (!err && phase == PHASE_UP)
			err = id_set_add_all(regions, &w->some, NULL, NULL);
		if (err || !id_set_has(&w->views[PHASE_DOWN][function].asking, 2 * call + phase))
			continue;
		err = id_set_intersect(&w->views[PHASE_DOWN][function].at_exit, changes, &w->some);
		if (!err)
			err = id_set_add_all(regions, &w->some, NULL, NULL);
	}
	return err;
}

static struct error *pass_jump(struct work *w, enum phase phase, uint32_t i, struct id_set *regions)
{
	bool is_new = false;
	struct error *err;

	if (id_set_has(&w->jumps, i)) {
		err = id_set_add_all(&w->at_jumps, regions, NULL, &is_new);
		for (struct id_iterator k = id_set_begin(&w->landings);
		     is_new && !err && id_set_next(&w->landings, &k);)
			err = wait(w, PHASE_UP, w->code->instructions[k.id].block);
		return err;
	}
	if (phase != PHASE_UP || !id_set_has(&w->landings, i))
		return NULL;
	return id_set_add_all(regions, &w->at_jumps, NULL, NULL);
}

/* The instruction changes regions: they can be others; or, if it is as it was, it makes them what they were. */
static struct error *change(struct work *w, enum phase phase, uint32_t i, struct id_set *regions)
{
	const struct id_set *changes = region_set(w->regions, w->regions->changes[i]);
	struct error *err;

	if (!w->is_in[phase][i]) {
		if (w->regions->overwrites[i])
			id_set_remove_all(regions, region_set(w->regions, w->regions->overwrites[i]));
		return NULL;
	}
	for (struct id_iterator k = id_set_begin(changes); id_set_next(changes, &k);)
		if (w->changed_by[k.id] == CODE_NONE)
			w->changed_by[k.id] = i;
	err = id_set_add_all(regions, changes, NULL, NULL);
	if (!err && w->async.is_some)
		err = id_set_add_all(&w->anywhere, changes, NULL, NULL);
	return err || !async_may_run(&w->async, i) ? err : id_set_add_all(&w->ever, changes, NULL, NULL);
}

static struct error *leave_function(struct work *w, enum phase phase, uint32_t function, const struct id_set *regions)
{
	bool is_new = false;
	struct error *err = id_set_add_all(&w->views[phase][function].at_exit, regions, NULL, &is_new);

	return err || !is_new ? err : each_call(w, phase, function, wait_for_call, CODE_NONE);
}

static struct error *pass_block(struct work *w, enum phase phase, uint32_t number)
{
	const struct code_block *b = &w->code->blocks[number];
	struct id_set regions = {0};
	struct error *err = id_set_add_all(&regions, &w->at_begin[phase][number], NULL, NULL);

	for (uint32_t i = b->first_instruction; i < b->first_instruction + b->instruction_count && !err; i++) {
		w->slice->steps += (regions.count + 1) * (w->memory->callees[i].count + 1);
		err = join_reader(w, phase, i, &regions);
		if (!err && w->memory->callees[i].count)
			err = pass_call(w, phase, i, &regions);
		if (!err && w->landings.count)
			err = pass_jump(w, phase, i, &regions);
		if (!err)
			err = change(w, phase, i, &regions);
		/* A library may call back again, with what it and those that it called have changed. */
		if (!err && w->memory->callees[i].count && memory_calls_outside(w->memory, i))
			err = pass_to_callees(w, phase, i, &regions);
	}
	for (uint32_t i = 0; i < b->successor_count && !err; i++)
		err = begin_with(w, phase, w->code->successors[b->first_successor + i], &regions);
	if (!err && !b->successor_count)
		err = leave_function(w, phase, b->function, &regions);
	id_set_deinit(&regions);
	return err;
}

/* ---- the whole ---- */

/* What a function reads is what its instructions and those that they call do. */
static struct error *sum_reads(struct work *w)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < w->code->instruction_count && !err; i++)
		err = id_set_add_all(&w->function_reads[code_function_of(w->code, i)],
				     region_set(w->regions, w->regions->reads[i]), NULL, NULL);
	return err ? err : call_order_sum(&w->regions->calls, w->memory, w->function_reads);
}

static bool is_over(const struct work *w)
{
	return slice_is_over(w->request, w->slice);
}

static struct error *settle(struct work *w)
{
	struct error *err = NULL;

	while (!err && (w->found.count || !sweep_is_done(&w->blocks)) && !is_over(w)) {
		if (w->found.count) {
			uint32_t next = w->found.items[--w->found.count];

			err = follow(w, (enum phase)(next % 2), next / 2);
		} else {
			uint32_t block, phase;

			err = sweep_pop(&w->blocks, &block, &phase);
			if (err)
				break;
			w->is_waiting[phase][block] = 0;
			err = pass_block(w, (enum phase)phase, block);
		}
	}
	return err;
}

/* A handler may jump from anywhere to what is behind a setjmp. */
static struct error *jump_from_anywhere(struct work *w)
{
	bool is_new = false;
	struct error *err = NULL;

	for (struct id_iterator i = id_set_begin(&w->jumps); !err && id_set_next(&w->jumps, &i);)
		if (async_may_run(&w->async, i.id))
			err = id_set_add_all(&w->at_jumps, &w->anywhere, NULL, &is_new);
	for (struct id_iterator i = id_set_begin(&w->landings); is_new && !err && id_set_next(&w->landings, &i);)
		err = wait(w, PHASE_UP, w->code->instructions[i.id].block);
	return err;
}

/* A thread, or a handler, may read at any time what another one stores. The coarse slice takes all code for such threads. */
static struct error *join_readers_anywhere(struct work *w)
{
	struct error *err = jump_from_anywhere(w);

	for (uint32_t i = 0; (w->async.is_some || w->is_coarse) && i < w->code->instruction_count && !err; i++) {
		uint32_t function = code_function_of(w->code, i);
		const struct id_set *ever = w->is_coarse || !async_may_run(&w->async, i) ? &w->ever : &w->anywhere;
		/* Also whether the process ends. */
		bool takes_all = w->is_coarse || memory_runs_at_end(w->memory, function);

		if ((takes_all && id_set_has(ever, REGION_CONTROL)) ||
		    id_set_meets(ever, region_set(w->regions, w->regions->reads[i])))
			err = join_reader(w, PHASE_UP, i, ever);
	}
	return err;
}

static struct error *run(struct work *w)
{
	struct error *err = jumps_find(w->regions->memory, &w->landings, &w->jumps);

	if (!err)
		err = async_find(w->memory, w->request->runs, jumps_has_threads(w->code), &w->async);
	for (size_t i = 0; i < w->regions->items.count; i++)
		w->changed_by[i] = CODE_NONE;
	if (!err)
		err = sum_reads(w);
	for (uint32_t i = 0; i < w->request->criterion_count && !err; i++)
		err = join(w, PHASE_UP, w->request->criteria[i], SLICE_CRITERION, CODE_NONE);
	do {
		err = err ? err : settle(w);
		if (!err && !is_over(w))
			err = join_readers_anywhere(w);
	} while (!err && (w->found.count || !sweep_is_done(&w->blocks)) && !is_over(w));
	return err;
}

static struct error *allocate(struct work *w)
{
	const struct code *c = w->code;
	struct error *err = controls_init(c, &w->controls);
	bool has_all;

	if (!err)
		err = sweep_init(c, &w->regions->calls, true, &w->blocks);
	if (err)
		return err;
	w->slice->why = calloc((size_t)c->instruction_count + 1, sizeof *w->slice->why);
	w->function_reads = calloc((size_t)c->function_count + 1, sizeof *w->function_reads);
	w->changed_by = calloc(w->regions->items.count + 1, sizeof *w->changed_by);
	has_all = w->slice->why && w->function_reads && w->changed_by;
	for (int p = 0; p < PHASES; p++) {
		w->views[p] = calloc((size_t)c->function_count + 1, sizeof *w->views[p]);
		w->at_begin[p] = calloc((size_t)c->block_count + 1, sizeof *w->at_begin[p]);
		w->is_in[p] = calloc((size_t)c->instruction_count + 1, 1);
		w->is_waiting[p] = calloc((size_t)c->block_count + 1, 1);
		for (uint32_t f = 0; w->views[p] && f < c->function_count; f++)
			w->views[p][f].a_return = CODE_NONE;
		has_all &= w->views[p] && w->at_begin[p] && w->is_in[p] && w->is_waiting[p];
	}
	return has_all ? NULL : &error_no_memory;
}

static void work_deinit(struct work *w)
{
	for (int p = 0; p < PHASES; p++) {
		for (uint32_t f = 0; w->views[p] && f < w->code->function_count; f++) {
			id_set_deinit(&w->views[p][f].at_exit);
			id_set_deinit(&w->views[p][f].asking);
			id_set_deinit(&w->views[p][f].arguments);
		}
		for (uint32_t b = 0; w->at_begin[p] && b < w->code->block_count; b++)
			id_set_deinit(&w->at_begin[p][b]);
		free(w->views[p]);
		free(w->at_begin[p]);
		free(w->is_in[p]);
		free(w->is_waiting[p]);
	}
	for (uint32_t f = 0; w->function_reads && f < w->code->function_count; f++)
		id_set_deinit(&w->function_reads[f]);
	free(w->function_reads);
	free(w->changed_by);
	async_deinit(&w->async);
	controls_deinit(&w->controls);
	id_set_deinit(&w->landings);
	id_set_deinit(&w->jumps);
	id_set_deinit(&w->at_jumps);
	id_set_deinit(&w->ever);
	id_set_deinit(&w->anywhere);
	id_set_deinit(&w->some);
	sweep_deinit(&w->blocks);
	function_ids_deinit(&w->found);
}

static struct error *make(const struct slice_request *request, struct slice *s)
{
	struct work w = {.request = request,
			 .regions = request->regions,
			 .memory = request->regions->memory,
			 .code = request->regions->memory->code,
			 .slice = s,
			 .is_coarse = s->is_coarse};
	struct error *err;

	s->is_forward = true;
	err = allocate(&w);
	if (!err)
		err = run(&w);
	work_deinit(&w);
	return err;
}

struct error *slice_forward(const struct slice_request *request, struct slice *ret)
{
	return slice_within_limit(request, make, ret);
}
