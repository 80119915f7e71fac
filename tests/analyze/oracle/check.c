/* check.c - test only: dynamic slices against static ones (check.h). */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/forward.h"

enum {
	TOLD_MAX = 40, /* links from the first instruction that is missing to the criterion */
};

static const char *const kind_names[] = {"static", "active", "stack's", "frames'"};

/* The activations at the end, innermost first. */
struct frames {
	struct slice_frame *items;
	uint32_t *calls; /* [count] */
	uint32_t count;
	bool are_whole;
};

/* ---- code ---- */

static uint32_t line_number(const struct code_line *line)
{
	return line->line;
}

static bool is_of_file(const struct work *w, const struct code_line *line)
{
	return !w->file || (line->file && oracle_ends_in(line->file, w->file));
}

static uint32_t number_in(LLVMValueRef function, const char *attribute, uint32_t otherwise)
{
	LLVMAttributeRef found = LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
							       attribute, (unsigned)strlen(attribute));
	unsigned len_bytes;

	return found ? (uint32_t)strtoul(LLVMGetStringAttributeValue(found, &len_bytes), NULL, 10) : otherwise;
}

/* Numbers of the recording follow each other but for what functions say (record.h). */
static void number_code(struct work *w)
{
	uint32_t next = 1, next_block = 1, first = 0, last;

	for (uint32_t f = 0; f < w->code.function_count; f++)
		first = number_in(w->code.functions[f].value, "shadow-instruction", first);
	w->is_part = first != 0;
	last = first + w->code.instruction_count;
	w->number_of = malloc((last + 2) * sizeof *w->number_of);
	w->block_numbers = calloc(w->code.block_count + 1, sizeof *w->block_numbers);
	if (!w->number_of || !w->block_numbers)
		oracle_fail(&error_no_memory);
	memset(w->number_of, 0xff, (last + 2) * sizeof *w->number_of);
	for (uint32_t f = 0; f < w->code.function_count; f++) {
		const struct code_function *function = &w->code.functions[f];

		next = number_in(function->value, "shadow-instruction", next);
		next_block = number_in(function->value, "shadow-block", next_block);
		for (uint32_t b = 0; b < function->block_count; b++)
			w->block_numbers[function->first_block + b] = next_block++;
		for (uint32_t i = 0; i < function->instruction_count; i++)
			if (oracle_is_counted(&w->code, function->first_instruction + i))
				w->number_of[next++] = function->first_instruction + i;
	}
	w->numbered = next;
}

/* Lines are told apart by file and number; few files: a search from the end is short. */
static void find_lines(struct work *w)
{
	uint32_t count = w->code.instruction_count;
	struct hashmap map = {0};

	w->line_of = calloc(count + 1, sizeof *w->line_of);
	w->first_of = calloc(count + 1, sizeof *w->first_of);
	w->is_told = calloc(count + 1, 1);
	if (!w->line_of || !w->first_of || !w->is_told)
		oracle_fail(&error_no_memory);
	number_code(w);
	for (uint32_t i = 0; i < count; i++) {
		struct code_line line;
		struct key key;

		w->line_of[i] = CODE_NONE;
		if (!code_lines(&w->code, i, &line, 1) || !line_number(&line) || !is_of_file(w, &line))
			continue;
		key = (struct key){{(uintptr_t)line.folder, (uintptr_t)line.file, line.line}};
		oracle_fail(hashmap_add(&map, &key, &w->line_of[i]));
		if (w->line_of[i] == w->line_count)
			w->first_of[w->line_count++] = i;
	}
	hashmap_deinit(&map);
}

/* ---- recordings ---- */

void check_take(const char *name, const void *bytes, size_t len_bytes, struct shadow_recording *ret)
{
	if (len_bytes <= SHADOW_NODES_AT + SHADOW_STACK + SHADOW_BLOCKS)
		oracle_fail(error_create(ERROR_FORMAT, "%s is too short", name));
	*ret = (struct shadow_recording){
		.name = name, .header = bytes, .nodes = (const void *)((const char *)bytes + SHADOW_NODES_AT)};
	ret->count = ret->header->count;
	ret->blocks = (const uint8_t *)bytes + len_bytes - SHADOW_BLOCKS;
	ret->stack = ret->blocks - SHADOW_STACK;
	if (ret->header->magic != SHADOW_MAGIC)
		oracle_fail(error_create(ERROR_FORMAT, "%s is no recording", name));
}

/* CODE_NONE: the number is nobody's. */
static uint32_t instruction_of(const struct work *w, const struct shadow_recording *r, uint32_t number)
{
	if (number < w->numbered)
		return number ? w->number_of[number] : CODE_NONE;
	if (number != (uint32_t)SHADOW_CAME_BACK && !w->is_part)
		oracle_fail(error_create(ERROR_MISMATCH, "%s is of other code", r->name));
	return CODE_NONE;
}

static uint32_t instruction_at(const struct work *w, const struct shadow_recording *r, uint32_t node)
{
	return instruction_of(w, r, r->nodes[node].instruction);
}

/* An executed access whose pointer the analysis leads nowhere. */
static void count_empty(struct work *w, const struct memory *memory, const struct shadow_recording *r,
			const uint8_t *has_run)
{
	for (uint32_t i = 0; i < w->code.instruction_count; i++) {
		const struct code_instruction *x = &w->code.instructions[i];
		const struct id_set *locations;
		LLVMValueRef pointer;

		if (!has_run[i] || (x->opcode != LLVMLoad && x->opcode != LLVMStore))
			continue;
		pointer = LLVMGetOperand(x->value, x->opcode == LLVMStore);
		locations = memory_of(memory, pointer);
		if (locations && locations->count)
			continue;
		/* The last instruction of a crash leads nowhere. */
		if (instruction_at(w, r, r->count - 1) == i)
			continue;
		w->empty++;
		if (w->empty <= 20)
			oracle_tell(&w->code, "EMPTY points-to set at", i);
	}
}

/* Of the first that is missing with all that leads from it to the criterion, of others with what needs them. user: by node, another node. */
static void tell_missing(struct work *w, const struct shadow_recording *r, enum kind kind, uint32_t node,
			 const uint32_t *user, const struct slice_why *why, uint32_t criterion)
{
	uint32_t missing = instruction_at(w, r, node), left = w->missing == 1 ? TOLD_MAX : 1;

	if (w->is_told[missing])
		return;
	w->is_told[missing] = 1;
	printf("FAIL %s: an instruction is not in the %s slice\n", r->name, kind_names[kind]);
	oracle_tell(&w->code, "missing  ", missing);
	for (uint32_t n = user[node]; n != CODE_NONE && left; n = user[n], left--) {
		uint32_t i = instruction_at(w, r, n);

		oracle_tell(&w->code, why[i].reason ? "needed by" : "needed by (missing, too)", i);
	}
	oracle_tell(&w->code, "criterion", criterion);
}

/* Backward from the nodes of the criterion, which are wanted: all that is reached is in the slice. */
static void sweep(struct work *w, const struct shadow_recording *r, enum kind kind, const struct slice *slice,
		  uint8_t *wanted, uint32_t *user, uint32_t criterion)
{
	uint8_t *is_seen = calloc(w->code.instruction_count + 1, 1);

	if (!is_seen)
		oracle_fail(&error_no_memory);
	for (uint32_t n = r->count - 1; n > 0; n--) {
		uint32_t i = instruction_at(w, r, n);
		/* What could have ended the process and did not run is no reason in code that ran (slice.h). */
		bool is_half = kind % ANALYSES == KIND_ACTIVE && r->nodes[n].instruction == (uint32_t)SHADOW_CAME_BACK;

		if (!wanted[n])
			continue;
		for (int k = 0; k < (is_half ? 1 : 3); k++) {
			uint32_t of = r->nodes[n].of[k];

			if (of && !wanted[of]) {
				wanted[of] = 1;
				user[of] = i == CODE_NONE ? user[n] : n;
			}
		}
		if (i == CODE_NONE || is_seen[i])
			continue;
		is_seen[i] = 1;
		w->dynamic += kind == KIND_STATIC;
		if (slice->why[i].reason)
			continue;
		w->missing++;
		tell_missing(w, r, kind, n, user, slice->why, criterion);
	}
	for (uint32_t i = 0; w->tells_more && kind == KIND_FRAMES && i < w->code.instruction_count; i++)
		if (slice->why[i].reason && !is_seen[i])
			oracle_tell(&w->code, "more", i);
	free(is_seen);
}

/* A coarse slice has all that the finer one has. */
static void check_coarse(struct work *w, const struct shadow_recording *r, enum kind kind,
			 const struct slice_request *request, const struct slice *slice)
{
	struct slice_request limited = *request;
	struct slice coarse;

	limited.is_coarse = true;
	oracle_fail(slice->is_forward ? slice_forward(&limited, &coarse) : slice_backward(&limited, &coarse));
	for (uint32_t i = 0; i < w->code.instruction_count; i++) {
		if (!slice->why[i].reason || coarse.why[i].reason)
			continue;
		w->missing++;
		if (w->is_told[i])
			continue;
		w->is_told[i] = 1;
		printf("FAIL %s: an instruction of the %s %sslice is not in the coarse one\n", r->name,
		       kind_names[kind], slice->is_forward ? "forward " : "");
		oracle_tell(&w->code, "missing  ", i);
		if (slice->why[i].of != CODE_NONE)
			oracle_tell(&w->code, "needed by", slice->why[i].of);
		oracle_tell(&w->code, "criterion", request->criteria[0]);
	}
	slice_deinit(&coarse);
}

static void check_forward(struct work *w, const struct shadow_recording *r, enum kind kind,
			  const struct slice_request *request)
{
	struct slice slice;

	oracle_fail(slice_forward(request, &slice));
	check_coarse(w, r, kind, request, &slice);
	slice_deinit(&slice);
}

/* criterion[node]: 1 for its nodes. */
static void check_slice(struct work *w, const struct shadow_recording *r, enum kind kind,
			const struct slice_request *request, const uint8_t *criterion)
{
	uint8_t *wanted = malloc(r->count);
	uint32_t *user = malloc(r->count * sizeof *user);
	struct slice slice;

	if (!wanted || !user)
		oracle_fail(&error_no_memory);
	oracle_fail(slice_backward(request, &slice));
	w->sizes[kind] += slice.count;
	memcpy(wanted, criterion, r->count);
	memset(user, 0xff, r->count * sizeof *user);
	sweep(w, r, kind, &slice, wanted, user, request->criteria[0]);
	check_coarse(w, r, kind, request, &slice);
	if (kind == KIND_ACTIVE)
		check_forward(w, r, kind, request);
	slice_deinit(&slice);
	free(wanted);
	free(user);
}

static struct slice_request request_of(const struct work *w, enum kind kind, const uint32_t *criteria, uint32_t count)
{
	const struct analysis *a = &w->analyses[kind % ANALYSES];

	return (struct slice_request){.regions = &a->regions,
				      .runs = a->runs,
				      .comes = a->comes,
				      .criteria = criteria,
				      .criterion_count = count};
}

static void check_criterion(struct work *w, const struct shadow_recording *r, const uint32_t *criteria, uint32_t count,
			    const uint8_t *criterion)
{
	for (uint32_t k = 0; k < w->analyses_used; k++) {
		struct slice_request request = request_of(w, (enum kind)k, criteria, count);

		check_slice(w, r, (enum kind)k, &request, criterion);
	}
	w->criteria++;
}

/* ---- what was on the stack ---- */

static bool is_callee(const struct work *w, enum kind kind, uint32_t call, uint32_t function)
{
	const struct function_ids *callees = &w->analyses[kind % ANALYSES].memory.callees[call];

	for (size_t i = 0; i < callees->count; i++)
		if (callees->items[i] == function)
			return true;
	return false;
}

/* Blocks of a function that lead to those that are marked. */
static void lead_to(const struct work *w, const struct code_function *f, bool *leads)
{
	for (bool is_new = true; is_new;) {
		is_new = false;
		for (uint32_t b = 0; b < f->block_count; b++) {
			const struct code_block *block = &w->code.blocks[f->first_block + b];

			for (uint32_t p = 0; p < block->predecessor_count && leads[b]; p++) {
				bool *from =
					&leads[w->code.predecessors[block->first_predecessor + p] - f->first_block];

				is_new |= !*from;
				*from = true;
			}
		}
	}
}

static bool *blocks_of(const struct work *w, enum kind kind, const struct shadow_frame *from,
		       const struct code_function *f, uint32_t at)
{
	bool *runs = calloc((size_t)f->block_count + 1, sizeof *runs);

	if (!runs)
		oracle_fail(&error_no_memory);
	runs[w->code.instructions[at].block - f->first_block] = true;
	if (kind == KIND_STACK)
		lead_to(w, f, runs);
	else
		for (uint32_t b = 0; b < f->block_count; b++)
			runs[b] = from->ran[b];
	return runs;
}

/* One more activation outwards. False: it is not certain that it called the one before. */
static bool add_frame(const struct work *w, enum kind kind, const struct shadow_frame *from, uint32_t criterion,
		      struct frames *ret)
{
	uint32_t at = ret->count ? w->number_of[from->call] : criterion, function;
	struct slice_frame *frame = &ret->items[ret->count];

	if (ret->count && !from->call)
		return false;
	function = code_function_of(&w->code, at);
	if (w->block_numbers[w->code.functions[function].first_block] != from->first_block)
		return false;
	if (ret->count && !is_callee(w, kind, at, frame[-1].function))
		return false;
	ret->calls[ret->count] = at;
	*frame = (struct slice_frame){.function = function,
				      .runs = blocks_of(w, kind, from, &w->code.functions[function], at),
				      .calls = &ret->calls[ret->count],
				      .call_count = ret->count ? 1 : 0};
	ret->count++;
	return true;
}

/* The criterion is a call, and the innermost of these activations has just begun, by it: the one around it stands there. In a function that calls itself
 * that may not be certain; then 0. */
static uint32_t without_callee(const struct work *w, const struct shadow_frame *const *all, uint32_t count,
			       uint32_t criterion)
{
	const struct shadow_frame *inner;
	uint32_t block = w->block_numbers[w->code.instructions[criterion].block];

	if (count < 2 || !all[count - 2]->call || w->number_of[all[count - 2]->call] != criterion)
		return count;
	inner = all[count - 1];
	if (block < inner->first_block || block >= inner->first_block + inner->block_count ||
	    !inner->ran[block - inner->first_block])
		return count - 1;
	return 0;
}

static void find_frames(const struct work *w, const struct shadow_recording *r, enum kind kind, uint32_t criterion,
			struct frames *ret)
{
	const struct shadow_frame **all;
	uint32_t count = 0;

	*ret = (struct frames){0};
	if (r->header->is_stack_lost)
		return;
	all = calloc(r->header->stack_bytes + 1, sizeof *all);
	ret->items = calloc(r->header->stack_bytes + 1, sizeof *ret->items);
	ret->calls = calloc(r->header->stack_bytes + 1, sizeof *ret->calls);
	if (!all || !ret->items || !ret->calls)
		oracle_fail(&error_no_memory);
	for (uint32_t at = 0; at < r->header->stack_bytes; at = all[count++]->end)
		all[count] = (const struct shadow_frame *)(r->stack + at);
	count = without_callee(w, all, count, criterion);
	ret->are_whole = true;
	/* What calls the part of the code that is looked at is outside of it. */
	while (count && ret->are_whole &&
	       !(w->is_part && ret->count && instruction_of(w, r, all[count - 1]->call) == CODE_NONE))
		ret->are_whole = add_frame(w, kind, all[--count], criterion, ret);
	free(all);
}

static void frames_deinit(struct frames *f)
{
	for (uint32_t i = 0; i < f->count; i++)
		free((void *)f->items[i].runs);
	free(f->items);
	free(f->calls);
}

static void check_stopped(struct work *w, const struct shadow_recording *r, uint32_t criterion, const uint8_t *wanted)
{
	for (uint32_t k = KIND_STACK; k < KINDS; k++) {
		struct slice_request request = request_of(w, (enum kind)k, &criterion, 1);
		struct frames frames;

		find_frames(w, r, (enum kind)k, criterion, &frames);
		request.frames = frames.items;
		request.frame_count = frames.count;
		request.frames_are_whole = frames.are_whole;
		if (frames.count) {
			w->stopped += k == KIND_STACK;
			check_slice(w, r, (enum kind)k, &request, wanted);
		}
		frames_deinit(&frames);
	}
}

static void check_line(struct work *w, const struct shadow_recording *r, uint32_t line, uint8_t *wanted)
{
	uint32_t *criteria = calloc(w->code.instruction_count + 1, sizeof *criteria), count = 0;

	if (!criteria)
		oracle_fail(&error_no_memory);
	for (uint32_t i = 0; i < w->code.instruction_count; i++)
		if (w->line_of[i] == line)
			criteria[count++] = i;
	memset(wanted, 0, r->count);
	for (uint32_t n = 1; n < r->count; n++) {
		uint32_t i = instruction_at(w, r, n);

		wanted[n] = i != CODE_NONE && w->line_of[i] == line;
	}
	check_criterion(w, r, criteria, count, wanted);
	free(criteria);
}

/* The nodes of what the program did last. Returns the instruction; CODE_NONE: nothing. */
static uint32_t mark_last(const struct work *w, const struct shadow_recording *r, uint8_t *wanted)
{
	uint32_t last = r->count - 1, i;

	memset(wanted, 0, r->count);
	while (last && instruction_at(w, r, last) == CODE_NONE)
		last--;
	if (!last)
		return CODE_NONE;
	i = instruction_at(w, r, last);
	wanted[last] = 1;
	/* What was joined behind a call in progress are its arguments; at the limit, operands of the next instruction. */
	if (w->code.instructions[i].opcode == LLVMCall && !r->header->is_full)
		memset(wanted + last, 1, r->count - last);
	return i;
}

static void check_last(struct work *w, const struct shadow_recording *r, uint8_t *wanted)
{
	uint32_t i = mark_last(w, r, wanted);

	if (i == CODE_NONE)
		return;
	check_criterion(w, r, &i, 1, wanted);
	/* The activation of a return is gone, and one of the same function may have called it. */
	if (w->analyses_used == ANALYSES && w->code.instructions[i].opcode != LLVMRet)
		check_stopped(w, r, i, wanted);
}

void check_print_last(struct work *w, const struct shadow_recording *r)
{
	uint8_t *wanted = calloc(r->count, 1);

	if (!wanted)
		oracle_fail(&error_no_memory);
	find_lines(w);
	mark_last(w, r, wanted);
	for (uint32_t n = r->count - 1; n > 0; n--) {
		uint32_t i = instruction_at(w, r, n), line = i == CODE_NONE ? CODE_NONE : w->line_of[i];
		bool is_half = r->nodes[n].instruction == (uint32_t)SHADOW_CAME_BACK;
		struct code_line at;

		for (int k = 0; wanted[n] && k < (is_half ? 1 : 3); k++)
			wanted[r->nodes[n].of[k]] = 1;
		if (!wanted[n] || line == CODE_NONE || w->is_told[line] || !code_lines(&w->code, i, &at, 1))
			continue;
		w->is_told[line] = 1;
		printf("%s/%s:%" PRIu32 "\n", at.folder, at.file, at.line);
	}
	free(wanted);
}

static void analyse(struct work *w, struct analysis *ret)
{
	oracle_fail(
		memory_analyse(&w->code, ret->runs, (struct pointers_limit){.bytes = (size_t)4 << 30}, &ret->memory));
	oracle_fail(regions_find(&ret->memory, ret->runs, &ret->regions));
}

static void analysis_deinit(struct analysis *a)
{
	regions_deinit(&a->regions);
	memory_deinit(&a->memory);
	free(a->runs);
	*a = (struct analysis){0};
}

static void check_ran(struct work *w, const struct shadow_recording *r, uint32_t block)
{
	if (r->ran->runs[block] || !r->blocks[w->block_numbers[block]])
		return;
	w->missing++;
	printf("FAIL %s: a block ran, and did not by what is said\n", r->name);
	oracle_tell(&w->code, "block ", w->code.blocks[block].first_instruction);
}

static void analyse_what_ran(struct work *w, const struct shadow_recording *r)
{
	bool *runs = calloc(w->code.block_count + 1, sizeof *runs);

	if (!runs || w->code.block_count >= SHADOW_BLOCKS)
		oracle_fail(&error_no_memory);
	for (uint32_t b = 0; b < w->code.block_count; b++) {
		runs[b] = r->ran ? r->ran->runs[b] : r->blocks[w->block_numbers[b]];
		if (r->ran)
			check_ran(w, r, b);
	}
	w->analyses[KIND_ACTIVE].runs = runs;
	w->analyses[KIND_ACTIVE].comes = r->ran ? r->ran->comes : NULL;
	analyse(w, &w->analyses[KIND_ACTIVE]);
}

void check_recording(struct work *w, const struct shadow_recording *r)
{
	uint8_t *has_run = calloc(w->code.instruction_count + 1, 1), *line_ran = calloc(w->line_count + 1, 1);
	uint8_t *wanted = calloc(r->count, 1);
	uint32_t lines = 0, every;

	if (!has_run || !line_ran || !wanted)
		oracle_fail(&error_no_memory);
	for (uint32_t n = 1; n < r->count; n++) {
		uint32_t i = instruction_at(w, r, n);

		if (i == CODE_NONE)
			continue;
		w->ran += !has_run[i];
		has_run[i] = 1;
		if (w->line_of[i] != CODE_NONE && !line_ran[w->line_of[i]]) {
			line_ran[w->line_of[i]] = 1;
			lines++;
		}
	}
	for (uint32_t k = 0; k < w->analyses_used; k++) {
		if (k == KIND_ACTIVE)
			analyse_what_ran(w, r);
		count_empty(w, &w->analyses[k].memory, r, has_run);
	}
	every = w->most && lines > w->most ? lines / w->most : 1;
	for (uint32_t line = 0, seen = 0; line < w->line_count; line++)
		if (line_ran[line] && seen++ % every == 0)
			check_line(w, r, line, wanted);
	check_last(w, r, wanted);
	if (w->analyses_used == ANALYSES)
		analysis_deinit(&w->analyses[KIND_ACTIVE]);
	free(has_run);
	free(line_ran);
	free(wanted);
}

void check_begin(struct work *w)
{
	find_lines(w);
	analyse(w, &w->analyses[KIND_STATIC]);
}

void check_leave(struct work *w)
{
	analysis_deinit(&w->analyses[KIND_STATIC]);
	free(w->number_of);
	free(w->block_numbers);
	free(w->line_of);
	free(w->first_of);
	free(w->is_told);
	w->line_count = 0;
	code_deinit(&w->code);
}

int check_end(const struct work *w)
{
	printf("%" PRIu64 " criteria, %" PRIu64 " instructions in dynamic slices, %" PRIu64 " in static ones, %" PRIu64
	       " in active ones, %" PRIu64 " missing; %" PRIu64 " empty points-to sets; %" PRIu64 " stacks, %" PRIu64
	       " instructions in slices of stacks, %" PRIu64 " in those of their activations; %" PRIu64
	       " instructions ran\n",
	       w->criteria, w->dynamic, w->sizes[KIND_STATIC], w->sizes[KIND_ACTIVE], w->missing, w->empty, w->stopped,
	       w->sizes[KIND_STACK], w->sizes[KIND_FRAMES], w->ran);
	return w->missing || w->empty || !w->criteria;
}
