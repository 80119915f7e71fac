/* slice.c - demands go backward through blocks, from calls into functions and from functions to their calls, until nothing is new (slice.h). */
#include "analyze/slice_work.h"

#include "analyze/effects.h"
#include "analyze/jumps.h"
#include "analyze/slice_limit.h"
#include "llvm/ir.h"

enum {
	STEPS_TOLD = 1 << 22, /* each so many are told */
};

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

static void add_steps(struct work *w, uint64_t steps)
{
	uint64_t before = w->slice->steps;

	w->slice->steps += steps;
	if (before / STEPS_TOLD != w->slice->steps / STEPS_TOLD)
		watch_tell(w->code->watch, "what mattered", w->slice->steps);
}

/* ---- what joins ---- */

/* why: of WAITS_*. */
static struct error *wait(struct work *w, uint32_t context, uint32_t block, uint8_t why)
{
	uint8_t *is_waiting = &w->contexts[context].is_waiting[block - w->contexts[context].range.first_block];

	/* What matters at a place is what matters anywhere. */
	if (w->is_coarse)
		return NULL;
	if (!can_run(w, context, block))
		return NULL;
	*is_waiting |= why;
	return *is_waiting == why ? sweep_push(&w->blocks, block, context) : NULL;
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
	const struct context *c = &w->contexts[context];
	bool is_new = false;
	struct error *err;

	if (!can_run(w, context, block))
		return NULL;
	err = id_set_add_all(&c->more[block - c->range.first_block], regions, end_of(w, context, block), &is_new);
	return err || !is_new ? err : wait(w, context, block, WAITS_WITH_MORE);
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

/* The outermost frame is of a handler: it has been installed, and runs since the process ends, or a signal has come that is not known. */
static bool begins_in_handler(const struct work *w)
{
	return memory_is_called_from_outside(w->memory, w->contexts[w->context_count - 1].first_function);
}

/* Calls of a function that go with its context: all of them, those that asked, or those in progress. */
static struct error *each_call(struct work *w, uint32_t function, uint32_t context, call_visit visit, const void *data)
{
	bool is_up = context == CONTEXT_UP ||
		     (is_last_frame(w, context) && (!w->request->frames_are_whole || begins_in_handler(w)));
	const struct id_set *calls = is_up ? &w->memory->callers[function] : &view_of(w, context, function)->asking;
	struct error *err = NULL;

	if (context >= CONTEXT_FRAMES && !is_last_frame(w, context))
		return each_call_of_frame(w, context + 1, visit, data);
	for (struct id_iterator i = id_set_begin(calls); !err && id_set_next(calls, &i);) {
		struct item call = is_up ? (struct item){CONTEXT_UP, i.id} : slice_work_item(w, i.id);

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
	if (memory_calls_outside(w->memory, call))
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

static struct id_set *called_at(const struct work *w, uint32_t context, uint32_t call)
{
	return &w->contexts[context].called[call - w->contexts[context].range.first_instruction];
}

/* What matters where a function begins matters where it is called. data: regions. */
static struct error *bring_to_call(struct work *w, uint32_t context, uint32_t call, const void *data)
{
	const struct id_set *regions = data;
	uint32_t block = w->code->instructions[call].block;
	struct error *err;

	if (!regions->count || !can_run(w, context, block))
		return NULL;
	err = id_set_add_all(called_at(w, context, call), regions, NULL, NULL);
	return err ? err : wait(w, context, block, WAITS_FOR_CALLS);
}

static struct error *join_return(struct work *w, uint32_t function, uint32_t of)
{
	const struct code_function *f = &w->code->functions[function];
	uint32_t context = w->is_coarse ? CONTEXT_UP : CONTEXT_DOWN;
	struct error *err = NULL;

	for (uint32_t i = 0; i < f->instruction_count && !err; i++)
		if (w->code->instructions[f->first_instruction + i].opcode == LLVMRet)
			err = join(w, context, f->first_instruction + i, SLICE_RETURN, of);
	return err;
}

/* The call's effects on regions, or its value, matter: so does what the function does. */
static struct error *ask(struct work *w, uint32_t context, uint32_t call, uint32_t function,
			 const struct id_set *regions)
{
	const struct code_function *f = &w->code->functions[function];
	struct view *v = view_of(w, CONTEXT_DOWN, function);
	bool is_new_call = false, is_new = false;
	struct error *err;

	if (w->is_coarse)
		return NULL;
	err = id_set_add(&v->asking, place_of(w, context, call), &is_new_call);

	if (!err && is_new_call && v->is_active)
		err = join(w, context, call, SLICE_CALL, call);
	/* Arguments that mattered to earlier calls matter to this one. */
	for (struct id_iterator i = id_set_begin(&v->arguments); !err && is_new_call && id_set_next(&v->arguments, &i);)
		err = join_argument(w, context, call, &(struct wanted_argument){i.id, call});
	if (!err)
		err = id_set_add_all(&v->wanted, regions, NULL, &is_new);
	for (uint32_t b = f->first_block; is_new && !err && b < f->first_block + f->block_count; b++)
		if (!w->code->blocks[b].successor_count)
			err = want_at_end(w, CONTEXT_DOWN, b, regions);
	if (!err && is_new_call)
		err = bring_to_call(w, context, call, &v->at_entry);
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
	const struct id_set *passes = classes_of(w, w->regions->passes[call]);
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

/* regions: that matter behind the call. Leaves in w->changed those that the function can change. */
static struct error *pass_callee(struct work *w, uint32_t context, uint32_t call, uint32_t function,
				 const struct id_set *regions)
{
	const struct id_set *changes;
	struct error *err = region_classes_of_function(&w->classes, function, &changes);

	if (!err)
		err = id_set_intersect(regions, changes, &w->changed);
	if (err || !w->changed.count)
		return err;
	err = ask(w, context, call, function, &w->changed);
	return err ? err
		   : join(w, context, call, is_control_alone(&w->changed) ? SLICE_COMES_BACK : SLICE_MEMORY, CODE_NONE);
}

static struct error *sum_changes(struct work *w, struct call_group *g)
{
	struct error *err = NULL;

	for (size_t i = 0; i < g->callees->count && !err; i++) {
		const struct id_set *changes;

		err = region_classes_of_function(&w->classes, g->callees->items[i], &changes);
		if (!err)
			err = id_set_add_all(&g->changes, changes, NULL, NULL);
	}
	g->has_changes = true;
	return err;
}

/* Functions that the call has not asked yet, in the order of all. */
static struct error *ask_left(struct work *w, uint32_t context, uint32_t call, struct function_ids *left)
{
	size_t kept = 0;
	struct error *err = NULL;

	for (size_t i = 0; i < left->count && !err; i++) {
		err = pass_callee(w, context, call, left->items[i], &w->grouped);
		if (!w->changed.count)
			left->items[kept++] = left->items[i];
	}
	left->count = kept;
	return err;
}

static struct error *ask_all(struct work *w, uint32_t context, uint32_t call, struct call_group *g,
			     struct function_ids *left)
{
	size_t kept = 0, at = 0;
	struct error *err = NULL;

	for (size_t i = 0; i < g->callees->count && !err; i++) {
		uint32_t function = g->callees->items[i];

		err = pass_callee(w, context, call, function, &w->grouped);
		if (at == left->count || left->items[at] != function)
			continue;
		at++;
		if (!w->changed.count)
			left->items[kept++] = function;
	}
	left->count = kept;
	return err ? err : id_set_add_all(&g->asked, &w->grouped, NULL, NULL);
}

/*
 * What each function of the group was asked for by one call, it is not to be asked for by another one: that one is known to it, and that is all. To a
 * call that has asked it before it has nothing to say that it will not say anyway (enter_function).
 */
static struct error *pass_call_of_group(struct work *w, uint32_t context, uint32_t call, struct call_group *g,
					const struct id_set *regions)
{
	struct function_ids *left;
	struct error *err = g->has_changes ? NULL : sum_changes(w, g);
	bool is_first;

	if (!err)
		err = id_set_intersect(regions, &g->changes, &w->grouped);
	if (err || !w->grouped.count)
		return err;
	err = slice_work_left(w, place_of(w, context, call), g->callees, &left, &is_first);
	if (err)
		return err;
	if (!is_first && id_set_contains(&g->asked, &w->grouped))
		return ask_left(w, context, call, left);
	return ask_all(w, context, call, g, left);
}

static struct error *pass_call(struct work *w, uint32_t context, uint32_t call, struct id_set *regions)
{
	const struct function_ids *callees = &w->memory->callees[call];
	struct call_group *group = call_groups_of(&w->groups, call);
	struct error *err = NULL;

	add_steps(w, callees->count * ((uint64_t)regions->count + 1));
	if (group)
		return pass_call_of_group(w, context, call, group, regions);
	for (size_t i = 0; i < callees->count && !err; i++)
		err = pass_callee(w, context, call, callees->items[i], regions);
	return err;
}

/* In all contexts that lead upwards. */
static struct error *wait_everywhere(struct work *w, uint32_t block)
{
	uint32_t function = w->code->blocks[block].function;
	struct error *err = wait(w, CONTEXT_UP, block, WAITS_FOR_OWN);

	for (uint32_t i = CONTEXT_FRAMES; i < w->context_count && !err; i++)
		if (w->contexts[i].first_function == function)
			err = wait(w, i, block, WAITS_FOR_OWN);
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

/* own, here and below: what the instruction brings of itself is added, too; else only what comes from behind it goes on. */
static struct error *pass_jump(struct work *w, uint32_t context, uint32_t i, bool own, struct id_set *regions)
{
	struct error *err = NULL;

	if (id_set_has(&w->landings, i))
		return come_by_jump(w, regions);
	if (!own || context == CONTEXT_DOWN || !w->at_jumps.count || !id_set_has(&w->jumps, i))
		return NULL;
	err = join(w, context, i, SLICE_CONTROL, CODE_NONE);
	/* A handler may jump from anywhere to what matters behind the setjmp. */
	if (!err && async_may_run(&w->async, i))
		err = id_set_add_all(&w->ever_async, &w->at_jumps, NULL, NULL);
	return err ? err : id_set_add_all(regions, &w->at_jumps, NULL, NULL);
}

static struct error *take_called(struct id_set *called, struct id_set *regions)
{
	struct error *err = id_set_add_all(regions, called, NULL, NULL);

	id_set_deinit(called);
	return err;
}

static struct error *join_change(struct work *w, uint32_t context, uint32_t i, const struct id_set *changes,
				 const struct id_set *regions)
{
	struct error *err = id_set_intersect(regions, changes, &w->changed);

	if (err || !w->changed.count)
		return err;
	return join(w, context, i, is_control_alone(&w->changed) ? SLICE_COMES_BACK : SLICE_MEMORY, CODE_NONE);
}

/*
 * A function that may run at any time may have stored what an instruction reads, and any code what such a function reads. A handler of the end runs only
 * if the process has not ended otherwise. When a signal comes is decided outside.
 */
static struct error *want_asynchronously(struct work *w, uint32_t context, uint32_t i, const struct id_set *reads)
{
	struct error *err = id_set_add_all(&w->ever, reads, NULL, NULL);

	/* When a handler on the stack began is known, if it interrupted another function. */
	if (err || !async_may_run(&w->async, i) ||
	    (context >= CONTEXT_FRAMES && !w->has_threads && !begins_in_handler(w)))
		return err;
	err = id_set_add_all(&w->ever_async, reads, NULL, NULL);
	if (err || !memory_runs_at_end(w->memory, code_function_of(w->code, i)))
		return err;
	err = id_set_add(&w->ever_async, REGION_CONTROL, NULL);
	return err ? err : id_set_add(&w->ever, REGION_CONTROL, NULL);
}

/*
 * What the instruction itself makes matter in front of it. Once: what has gone through the block would do nothing there if it came again.
 */
static struct error *want_own(struct work *w, uint32_t context, uint32_t i, struct id_set *regions)
{
	const struct id_set *reads = classes_of(w, w->regions->reads[i]);
	uint8_t *is_in = in_of(w, context, i);
	struct error *err = NULL;

	if (!*is_in || *is_in & IN_HAS_READ)
		return NULL;
	if (!(*is_in & IN_SLICE))
		return id_set_add(regions, REGION_CONTROL, NULL);
	*is_in |= IN_HAS_READ;
	err = id_set_add_all(regions, reads, NULL, NULL);
	if (!err && w->async.is_some)
		err = want_asynchronously(w, context, i, reads);
	return err ? err : id_set_add(regions, REGION_CONTROL, NULL);
}

/* From behind the instruction to in front of it. */
static struct error *pass_instruction(struct work *w, uint32_t context, uint32_t i, bool own, struct id_set *regions)
{
	const struct id_set *changes = classes_of(w, w->regions->changes[i]);
	struct id_set *called = called_at(w, context, i);
	struct error *err = w->landings.count ? pass_jump(w, context, i, own, regions) : NULL;

	/* What matters where a library calls back matters behind that call, too: it may have called back before. */
	if (!err && called->count && memory_calls_outside(w->memory, i))
		err = take_called(called, regions);
	if (err)
		return err;
	if (changes->count)
		err = join_change(w, context, i, changes, regions);
	if (!err && w->regions->overwrites[i])
		id_set_remove_all(regions, classes_of(w, w->regions->overwrites[i]));
	if (!err && w->memory->callees[i].count)
		err = pass_call(w, context, i, regions);
	if (!err && called->count)
		err = take_called(called, regions);
	if (!err && w->regions->passes[i])
		err = pass_memory(w, context, i, regions);
	return err;
}

static struct error *enter_function(struct work *w, uint32_t context, uint32_t function, const struct id_set *regions)
{
	struct id_set *at_entry = &view_of(w, context, function)->at_entry, more = {0};
	struct error *err = id_set_add_all(&more, regions, at_entry, NULL);

	if (!err)
		err = id_set_add_all(at_entry, &more, NULL, NULL);
	if (!err && more.count)
		err = each_call(w, function, context, bring_to_call, &more);
	id_set_deinit(&more);
	return err;
}

/* Most instructions do nothing to what matters behind them. Steps are counted as if they were gone through. */
static struct error *pass_more(struct work *w, uint32_t context, const struct code_block *b, struct id_set *regions)
{
	uint32_t at = b->instruction_count;
	struct error *err = NULL;

	while (at && regions->count && !err) {
		uint32_t next = w->effect_in_front[b->first_instruction + at - 1];
		uint32_t to = next == CODE_NONE ? 0 : next - b->first_instruction;

		add_steps(w, (at - to) * ((uint64_t)regions->count + 1));
		at = to;
		if (next != CODE_NONE)
			err = pass_instruction(w, context, next, false, regions);
	}
	return err;
}

static struct error *pass_all(struct work *w, uint32_t context, const struct code_block *b, bool own,
			      struct id_set *regions)
{
	struct error *err = NULL;

	for (uint32_t i = b->first_instruction + b->instruction_count; i-- > b->first_instruction && !err;) {
		add_steps(w, regions->count + 1);
		/* A handler has its say behind what it interrupted, whatever that is. */
		if (w->effect_in_front[i] == i || called_at(w, context, i)->count)
			err = pass_instruction(w, context, i, own, regions);
		else if (own && w->landings.count)
			err = pass_jump(w, context, i, own, regions);
		if (!err && own)
			err = want_own(w, context, i, regions);
	}
	return err;
}

/* Only what has come since last time goes through: what comes out of it is added to what has come out. */
static struct error *pass_block(struct work *w, uint32_t context, uint32_t number, uint8_t why)
{
	const struct code_block *b = &w->code->blocks[number];
	struct id_set *more = &w->contexts[context].more[number - w->contexts[context].range.first_block];
	struct id_set regions = *more;
	struct error *err;

	*more = (struct id_set){0};
	err = id_set_add_all(end_of(w, context, number), &regions, NULL, NULL);
	if (!err && why == WAITS_WITH_MORE)
		err = pass_more(w, context, b, &regions);
	else if (!err)
		err = pass_all(w, context, b, why & WAITS_FOR_OWN, &regions);
	add_steps(w, (uint64_t)regions.count * b->predecessor_count);
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
	const uint32_t *deciders;
	uint32_t count;
	struct error *err = controls_of(&w->controls, block, &deciders, &count);

	for (uint32_t i = 0; !err && i < count; i++)
		err = join(w, context, control_branch(w->code, deciders[i]), SLICE_CONTROL, of);
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
	if (!err && (!callees->count || w->memory->calls_library[i] || memory_calls_outside(w->memory, i)))
		err = join_all_arguments(w, context, i, SLICE_VALUE);
	/* What a function returns that a library calls back decides what the library does. */
	if (!memory_calls_outside(w->memory, i) &&
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

/* The coarse slice: memory that an instruction reads, and that control comes to it. */
static struct error *want_everywhere(struct work *w, uint32_t i)
{
	struct error *err = id_set_add(&w->ever, REGION_CONTROL, NULL);

	add_steps(w, 1);
	if (err || !(*in_of(w, CONTEXT_UP, i) & IN_SLICE))
		return err;
	return id_set_add_all(&w->ever, classes_of(w, w->regions->reads[i]), NULL, NULL);
}

/* All that an instruction of the slice needs. */
static struct error *follow(struct work *w, uint32_t context, uint32_t i)
{
	const struct code_instruction *x = &w->code->instructions[i];
	struct error *err = join_deciders(w, context, x->block, i);

	if (!err)
		err = activate(w, context, w->code->blocks[x->block].function, i);
	if (!err)
		err = wait(w, context, x->block, WAITS_FOR_OWN);
	if (!err && w->is_coarse)
		err = want_everywhere(w, i);
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

static bool is_over(const struct work *w)
{
	return slice_is_over(w->request, w->slice);
}

static struct error *settle(struct work *w)
{
	struct error *err = NULL;

	while (!err && (w->found.count || !sweep_is_done(&w->blocks)) && !is_over(w)) {
		struct item next;

		if (w->found.count) {
			next = w->found.items[--w->found.count];
			err = follow(w, next.context, next.number);
		} else {
			uint8_t *is_waiting, why;

			err = sweep_pop(&w->blocks, &next.number, &next.context);
			if (err)
				break;
			is_waiting = &w->contexts[next.context]
					      .is_waiting[next.number - w->contexts[next.context].range.first_block];
			why = *is_waiting;
			*is_waiting = 0;
			err = pass_block(w, next.context, next.number, why);
		}
	}
	return err;
}

/* A thread, or a handler, may store at any time what others read, and read what others have stored. */
static struct error *join_stores_of_threads(struct work *w)
{
	struct error *err = NULL;

	for (uint32_t i = 0; w->async.is_some && i < w->code->instruction_count && !err; i++)
		if (id_set_meets(async_may_run(&w->async, i) ? &w->ever : &w->ever_async,
				 classes_of(w, w->regions->changes[i])))
			err = join(w, CONTEXT_UP, i, SLICE_MEMORY, CODE_NONE);
	return err;
}

/* The coarse slice: whatever changes what matters. Each longjmp does: it changes whether control goes on (REGION_CONTROL). */
static struct error *join_all_stores(struct work *w)
{
	const struct regions *r = w->regions;
	struct error *err = NULL;

	for (uint32_t i = 0; i < w->code->instruction_count && !err; i++) {
		add_steps(w, 1);
		if (id_set_meets(&w->ever, classes_of(w, r->changes[i])))
			err = join(w, CONTEXT_UP, i, SLICE_MEMORY, CODE_NONE);
		if (err || !r->passes[i] || !id_set_meets(&w->ever, classes_of(w, r->passes[i])))
			continue;
		err = join(w, CONTEXT_UP, i, SLICE_MEMORY, CODE_NONE);
		if (!err)
			err = join_variadic(w, CONTEXT_UP, i);
	}
	return err;
}

/* Calls in progress, of all frames: the coarse slice does not tell activations apart. */
static struct error *join_calls_of_frames(struct work *w)
{
	struct error *err = NULL;

	for (uint32_t f = 0; f < w->request->frame_count; f++)
		for (uint32_t i = 0; i < w->request->frames[f].call_count && !err; i++)
			err = join(w, CONTEXT_UP, w->request->frames[f].calls[i], SLICE_CALL, CODE_NONE);
	return err;
}

static struct error *run(struct work *w)
{
	bool has_frames = w->request->frame_count && !w->is_coarse;
	struct error *err = jumps_find(w->regions->memory, &w->landings, &w->jumps);

	if (!err)
		err = effects_find(w->regions, &w->landings, &w->effect_in_front);
	w->has_threads = jumps_has_threads(w->code);
	if (!err)
		err = async_find(w->memory, w->request->runs, w->has_threads, &w->async);
	for (uint32_t i = 0; i < w->request->criterion_count && !err; i++)
		err = join(w, has_frames ? CONTEXT_FRAMES : CONTEXT_UP, w->request->criteria[i], SLICE_CRITERION,
			   CODE_NONE);
	for (uint32_t i = 0; i < w->request->call_count && !err; i++)
		err = join(w, CONTEXT_UP, w->request->calls[i], SLICE_CALL, CODE_NONE);
	if (!err && w->is_coarse)
		err = join_calls_of_frames(w);
	do {
		err = err ? err : settle(w);
		if (!err && !is_over(w))
			err = w->is_coarse ? join_all_stores(w) : join_stores_of_threads(w);
	} while (!err && (w->found.count || !sweep_is_done(&w->blocks)) && !is_over(w));
	return err;
}

static struct error *make(const struct slice_request *request, struct slice *s)
{
	struct work w = {.request = request,
			 .regions = request->regions,
			 .memory = request->regions->memory,
			 .code = request->regions->memory->code,
			 .slice = s,
			 .is_coarse = s->is_coarse};
	struct error *err = slice_work_open(&w);

	if (!err)
		err = run(&w);
	if (!err && request->demand && !s->is_coarse && !is_over(&w))
		err = slice_work_take_demand(&w, request->demand);
	slice_work_close(&w);
	return err;
}

struct error *slice_within_limit(const struct slice_request *request, slice_make *make_one, struct slice *ret)
{
	struct slice s = {.is_coarse = request->is_coarse};
	struct error *err = make_one(request, &s);

	if (!err && slice_is_over(request, &s)) {
		slice_deinit(&s);
		s.is_coarse = true;
		err = make_one(request, &s);
	}
	if (err)
		slice_deinit(&s);
	else
		*ret = s;
	return err;
}

struct error *slice_backward(const struct slice_request *request, struct slice *ret)
{
	return slice_within_limit(request, make, ret);
}

void slice_deinit(struct slice *s)
{
	free(s->why);
	*s = (struct slice){0};
}
