/* crash_stack.c - finds the instructions in which control stands, frame by frame, and what ran of each (crash_stack.h). */
#include "model/slices/crash_stack.h"

#include <signal.h>
#include <string.h>

#include "base/text.h"

#define NONE UINT32_MAX

struct making {
	const struct crash_stack_request *request;
	const struct crash_code *m;
	const struct code *code;
	const struct crash_thread *thread;
	struct crash_stack *stack;
	bool is_interrupted; /* between the last frame and the one at hand a signal came */
	uint32_t *list;      /* [instruction_count of the code]: those found last */
	uint32_t count;
};

/* ---- where control stands ---- */

/* The innermost line of a machine frame. */
static const struct crash_frame *innermost_of(const struct making *k, uint32_t frame)
{
	while (frame && k->thread->frames[frame - 1].machine == k->thread->frames[frame].machine)
		frame--;
	return &k->thread->frames[frame];
}

enum nearness {
	NEAR_FUNCTION,
	NEAR_LINE,
	NEAR_COLUMN,
};

static enum nearness own_nearness(const struct making *k, uint32_t instruction, const struct crash_frame *at)
{
	struct code_line line;

	if (!at->line || !code_lines(k->code, instruction, &line, 1) || line.line != at->line || !line.file ||
	    !at->file || strcmp(text_base_name(line.file), text_base_name(at->file)) != 0)
		return NEAR_FUNCTION;
	return line.column == at->column ? NEAR_COLUMN : NEAR_LINE;
}

/* A load may have become an operand of what uses it. */
static enum nearness nearness(const struct making *k, uint32_t instruction, const struct crash_frame *at)
{
	enum nearness nearest = own_nearness(k, instruction, at);

	if (k->code->instructions[instruction].opcode != LLVMLoad)
		return nearest;
	for (LLVMUseRef use = LLVMGetFirstUse(k->code->instructions[instruction].value); use;
	     use = LLVMGetNextUse(use)) {
		uint32_t user = code_number(k->code, LLVMGetUser(use));
		enum nearness near = user == CODE_NONE ? NEAR_FUNCTION : own_nearness(k, user, at);

		nearest = near > nearest ? near : nearest;
	}
	return nearest;
}

static bool is_memory_intrinsic(LLVMValueRef callee)
{
	const char *name = LLVMGetValueName(callee);

	return text_begins(name, "llvm.mem");
}

/* It may become a call of something. */
static bool may_call(const struct making *k, uint32_t i)
{
	LLVMValueRef callee;

	if (!code_is_call(k->code, i))
		return false;
	callee = code_callee(k->code->instructions[i].value);
	return !callee || !LLVMGetIntrinsicID(callee) || is_memory_intrinsic(callee);
}

static bool divides(LLVMOpcode opcode)
{
	return opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMURem || opcode == LLVMSRem;
}

static bool touches_memory(const struct making *k, uint32_t i)
{
	LLVMOpcode opcode = k->code->instructions[i].opcode;

	return opcode == LLVMLoad || opcode == LLVMStore || opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg ||
	       opcode == LLVMVAArg || may_call(k, i);
}

/* A kind of instruction that the signal can be about. */
static bool can_be(const struct making *k, uint32_t i, bool is_call)
{
	const struct snapshot *s = k->m->crash->stopped;

	if (is_call)
		return may_call(k, i);
	if (k->thread->machine->is_first && s->signal == SIGFPE)
		return divides(k->code->instructions[i].opcode);
	if (k->thread->machine->is_first && (s->signal == SIGSEGV || s->signal == SIGBUS))
		return touches_memory(k, i);
	return true;
}

static void keep_if(struct making *k, bool (*fits)(const struct making *k, uint32_t i, const void *data),
		    const void *data)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < k->count; i++)
		if (fits(k, k->list[i], data))
			k->list[kept++] = k->list[i];
	if (kept)
		k->count = kept;
}

struct near {
	const struct crash_frame *at;
	enum nearness least;
};

static bool is_near(const struct making *k, uint32_t i, const void *data)
{
	const struct near *near = data;

	return nearness(k, i, near->at) >= near->least;
}

static bool is_kind(const struct making *k, uint32_t i, const void *data)
{
	return can_be(k, i, *(const bool *)data);
}

static void add_range(struct making *k, uint32_t first, uint32_t end)
{
	while (first < end)
		k->list[k->count++] = first++;
}

/* Instructions of the nodes that control is in; of the whole function where that is not known. */
static void list_position(struct making *k, const struct crash_frame *frame, uint32_t function)
{
	const struct code_function *f = &k->code->functions[function];

	k->count = 0;
	for (uint32_t i = 0; k->m->fits[function] && i < frame->node_count; i++) {
		uint32_t first, end;

		if (ran_instructions(&k->m->nodes[function], frame->nodes[i], &first, &end))
			add_range(k, first, end);
	}
	if (!k->count)
		add_range(k, f->first_instruction, f->first_instruction + f->instruction_count);
}

/*
 * What control stands in: what is of the right kind and at the frame's place in the source, of what is in the nodes that it is in. Where
 * nothing is of the kind or at the place, that is no reason to leave anything out.
 */
static void find_standing(struct making *k, uint32_t frame, uint32_t function, bool is_call)
{
	const struct crash_frame *f = &k->thread->frames[frame];
	const struct near line = {innermost_of(k, frame), NEAR_LINE}, column = {line.at, NEAR_COLUMN};

	if (is_call && f->call != NONE && k->m->fits[function] &&
	    ran_call_count(&k->m->nodes[function]) == f->meta->call_count) {
		k->list[0] = ran_call(&k->m->nodes[function], f->call);
		k->count = 1;
		return;
	}
	list_position(k, f, function);
	keep_if(k, is_kind, &is_call);
	keep_if(k, is_near, &line);
	keep_if(k, is_near, &column);
}

static struct error *keep_list(struct making *k, const uint32_t **ret, uint32_t *ret_count)
{
	*ret = arena_copy(&k->stack->arena, k->list, k->count, sizeof *k->list);
	*ret_count = k->count;
	return *ret ? NULL : &error_no_memory;
}

/* ---- what ran of a frame ---- */

/* Marks what leads to the blocks that are marked. */
static struct error *lead_to(struct making *k, const struct code_function *f, bool *leads)
{
	struct arena scratch = {0};
	uint32_t *work = arena_calloc(&scratch, (size_t)f->block_count + 1, sizeof *work), waiting = 0;

	for (uint32_t b = 0; work && b < f->block_count; b++)
		if (leads[b])
			work[waiting++] = b;
	while (waiting) {
		const struct code_block *block = &k->code->blocks[f->first_block + work[--waiting]];

		for (uint32_t i = 0; i < block->predecessor_count; i++) {
			uint32_t from = k->code->predecessors[block->first_predecessor + i] - f->first_block;

			if (!leads[from]) {
				leads[from] = true;
				work[waiting++] = from;
			}
		}
	}
	arena_deinit(&scratch);
	return work ? NULL : &error_no_memory;
}

static uint32_t block_of(const struct making *k, uint32_t instruction)
{
	return k->code->instructions[instruction].block;
}

/* Blocks from which control can come to where it is: the graph alone. standing: instructions, one of which it is in. */
static struct error *tell_stack(struct making *k, const uint32_t *standing, uint32_t count, struct slice_frame *frame)
{
	const struct code_function *f = &k->code->functions[frame->function];
	bool *leads = arena_calloc(&k->stack->arena, (size_t)f->block_count + 1, sizeof *leads);

	if (!leads)
		return &error_no_memory;
	for (uint32_t i = 0; i < count; i++)
		leads[block_of(k, standing[i]) - f->first_block] = true;
	frame->runs = leads;
	return lead_to(k, f, leads);
}

static struct error *tell_ran(struct making *k, uint32_t number, const uint32_t *standing, uint32_t count,
			      struct slice_frame *frame)
{
	const struct code_function *f = &k->code->functions[frame->function];
	const struct cfg *g = &crash_code_flow(k->m, frame->function)->cfg;
	struct arena *arena = &k->stack->arena;
	uint32_t slots = 0;
	uint8_t *nodes = arena_calloc(arena, (size_t)g->node_count + 1, 1);
	uint8_t *edges = arena_calloc(arena, (size_t)g->edge_count + 1, 1);
	bool *runs = arena_calloc(arena, (size_t)f->block_count + 1, sizeof *runs), *comes;
	struct error *err;

	for (uint32_t b = 0; b < f->block_count; b++)
		slots += k->code->blocks[f->first_block + b].predecessor_count;
	comes = arena_calloc(arena, (size_t)slots + 1, sizeof *comes);
	if (!nodes || !edges || !runs || !comes)
		return &error_no_memory;
	memset(runs, true, f->block_count);
	memset(comes, true, slots);
	err = crash_frame_activity(k->m->crash, k->request->ran, k->request->thread, number, nodes, edges);
	if (err)
		return err;
	ran_tell(&k->m->nodes[frame->function], g, nodes, edges, runs, comes);
	/* Where control is cannot be what did not run: then the frame's record says nothing. */
	for (uint32_t i = 0; i < count; i++)
		if (!runs[block_of(k, standing[i]) - f->first_block])
			return tell_stack(k, standing, count, frame);
	frame->runs = runs;
	frame->comes = comes;
	return NULL;
}

/* ---- frames ---- */

static uint32_t function_of(const struct making *k, uint32_t frame)
{
	return crash_code_function(k->m, &k->thread->frames[frame]);
}

static bool is_callee(const struct making *k, uint32_t call, uint32_t function)
{
	const struct function_ids *callees = &k->request->memory->callees[call];

	for (size_t i = 0; i < callees->count; i++)
		if (callees->items[i] == function)
			return true;
	return false;
}

/* The last thing that its function does: the frame is gone then, or may be. */
static bool is_tail_call(const struct making *k, uint32_t i)
{
	const struct code_instruction *call = &k->code->instructions[i];
	const struct code_block *b = &k->code->blocks[call->block];
	uint32_t last = b->first_instruction + b->instruction_count - 1;

	if (call->opcode != LLVMCall || !LLVMIsTailCall(call->value))
		return false;
	for (i++; i < last; i++)
		if (code_is_call(k->code, i) || k->code->instructions[i].opcode != LLVMCall)
			return false;
	return k->code->instructions[last].opcode == LLVMRet || b->successor_count == 1;
}

static bool has_tail_callers(const struct making *k, uint32_t function)
{
	const struct id_set *callers = &k->request->memory->callers[function];

	for (struct id_iterator i = id_set_begin(callers); id_set_next(callers, &i);)
		if (is_tail_call(k, i.id))
			return true;
	return false;
}

static bool has_tail_calls(const struct making *k, uint32_t function)
{
	const struct code_function *f = &k->code->functions[function];

	for (uint32_t i = f->first_instruction; i < f->first_instruction + f->instruction_count; i++)
		if (is_tail_call(k, i))
			return true;
	return false;
}

/* One of these calls led to the frame inside, and no activation that a tail call ended lies between. */
static bool is_link(const struct making *k, uint32_t inner)
{
	bool has_callers = has_tail_callers(k, inner), has_both = has_callers && has_tail_calls(k, inner);

	for (uint32_t i = 0; i < k->count; i++) {
		LLVMValueRef callee = code_callee(k->code->instructions[k->list[i]].value);
		bool is_direct = callee == k->code->functions[inner].value;

		if (is_direct ? has_both : has_callers || !is_callee(k, k->list[i], inner))
			return false;
	}
	return true;
}

static struct error *add_frame(struct making *k, uint32_t number, uint32_t function)
{
	struct slice_frame *frame = &k->stack->frames[k->stack->frame_count];
	struct error *err = NULL;

	*frame = (struct slice_frame){.function = function};
	if (!k->stack->frame_count)
		err = keep_list(k, (const uint32_t **)&k->stack->criteria, &k->stack->criterion_count);
	else
		err = keep_list(k, &frame->calls, &frame->call_count);
	if (!err && k->request->ran && k->m->fits[function])
		err = tell_ran(k, number, k->list, k->count, frame);
	else if (!err)
		err = tell_stack(k, k->list, k->count, frame);
	k->stack->frame_count++;
	return err;
}

/* The first frame, from the one asked for outwards, that is of the program's code. */
static struct error *find_first(struct making *k, uint32_t *ret, bool *ret_is_inner)
{
	*ret_is_inner = true;
	for (uint32_t i = k->request->frame; i < k->thread->frame_count; i++) {
		if (function_of(k, i) != NONE &&
		    crash_frame_standing(k->m->crash, k->request->thread, i) == CRASH_STANDS_HERE) {
			*ret_is_inner &= innermost_of(k, i) == k->thread->frames;
			*ret = i;
			return NULL;
		}
	}
	return error_create(ERROR_NOT_FOUND,
			    "frame %u of this thread and those outside of it are in no code of the program "
			    "that was built with --wm=trace",
			    k->request->frame);
}

static bool is_start(const struct making *k, uint32_t function)
{
	return k->code->functions[function].value == LLVMGetNamedFunction(k->code->module, "main");
}

/* One more frame outwards; *inner: the function of the last one. *ret_ends: it is not certain that there is one. */
static struct error *follow(struct making *k, uint32_t number, uint32_t *inner, bool *ret_ends)
{
	const struct crash_frame *frame = &k->thread->frames[number];
	enum crash_standing standing = crash_frame_standing(k->m->crash, k->request->thread, number);
	uint32_t function = function_of(k, number);
	struct error *err;

	k->is_interrupted |= frame->machine->is_trampoline || frame->machine->is_activation;
	*ret_ends = standing == CRASH_STANDS_UNSURE || k->stack->frame_count == CRASH_STACK_MAX;
	if (*ret_ends || standing != CRASH_STANDS_HERE || frame->image != k->m->image)
		return NULL;
	*ret_ends = true;
	if (function == NONE)
		return NULL;
	/* A signal came, in no certain instruction. */
	if (frame->machine->is_activation)
		list_position(k, frame, function);
	else
		find_standing(k, number, function, true);
	if (k->is_interrupted ? has_tail_callers(k, *inner) : !is_link(k, *inner))
		return NULL;
	err = add_frame(k, number, function);
	k->is_interrupted = false;
	*inner = function;
	*ret_ends = false;
	return err;
}

static struct error *list_calls(struct crash_stack *s)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < s->frame_count; i++)
		count += s->frames[i].call_count;
	s->calls = arena_calloc(&s->arena, (size_t)count + 1, sizeof *s->calls);
	if (!s->calls)
		return &error_no_memory;
	for (uint32_t i = 0; i < s->frame_count; i++)
		for (uint32_t c = 0; c < s->frames[i].call_count; c++)
			s->calls[s->call_count++] = s->frames[i].calls[c];
	return NULL;
}

static struct error *make(struct making *k)
{
	uint32_t first = 0, inner;
	bool is_innermost, ends = false;
	struct error *err = find_first(k, &first, &is_innermost);

	if (err)
		return err;
	k->stack->frame = first;
	inner = function_of(k, first);
	/* The innermost frame of all stands in an instruction of its own, others in a call. */
	find_standing(k, first, inner, !is_innermost || !k->thread->frames[first].machine->is_activation);
	err = add_frame(k, first, inner);
	for (uint32_t i = first + 1; i < k->thread->frame_count && !err && !ends; i++)
		err = follow(k, i, &inner, &ends);
	k->stack->is_whole = !ends && !k->thread->machine->cut && is_start(k, inner);
	return err ? err : list_calls(k->stack);
}

struct error *crash_stack_create(const struct crash_stack_request *request, struct crash_stack *ret)
{
	struct crash_stack stack = {0};
	struct making k = {.request = request,
			   .m = request->code,
			   .code = request->code->code,
			   .thread = &request->code->crash->threads[request->thread],
			   .stack = &stack};
	struct arena scratch = {0};
	struct error *err = NULL;

	k.list = arena_calloc(&scratch, (size_t)k.code->instruction_count + 1, sizeof *k.list);
	stack.frames = arena_calloc(&stack.arena, CRASH_STACK_MAX, sizeof *stack.frames);
	if (!k.list || !stack.frames)
		err = &error_no_memory;
	if (!err)
		err = make(&k);
	arena_deinit(&scratch);
	if (err)
		crash_stack_deinit(&stack);
	else
		*ret = stack;
	return err;
}

void crash_stack_deinit(struct crash_stack *s)
{
	arena_deinit(&s->arena);
	*s = (struct crash_stack){0};
}
