/*
 * compare.c - test only: whether each dynamic slice of a recording (shadow.h) is in the static slice of the same line.
 *
 *      compare write PROGRAM-OR-BITCODE CODE.bc    the code as src/analyze numbers it, for shadow_pass.cpp
 *      compare check CODE.bc [-r] [-n COUNT] [-f FILE] RECORDING...
 *
 * Every line that ran, of FILE if there is one, or COUNT of them over the whole recording, is a criterion: all executions of its instructions.
 * So is what the program did last. Instructions are compared, which is more than lines. With -r, each must be in the slice of the code that ran in
 * the recording, too: analysed and sliced as if there were no other blocks. What the program did last must then be in two slices more, if it was
 * stopped in calls: restricted by the stack, of all code, and by what ran in each activation on it.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <llvm-c/BitWriter.h>

#include "analyze/slice.h"
#include "oracle_code.h"
#include "shadow.h"

/* The slices of all code, or of what ran; and the same two with the activations that were on the stack at the end. */
enum kind {
	KIND_STATIC,
	KIND_ACTIVE,
	KIND_STACK,
	KIND_FRAMES,
	KINDS
};
static const char *const kind_names[] = {"static", "active", "stack's", "frames'"};

enum {
	ANALYSES = KIND_ACTIVE + 1, /* of all code, of what ran */
};

struct analysis {
	struct memory memory;
	struct regions regions;
	bool *runs; /* [block] NULL: all */
};

struct work {
	struct code code;
	struct analysis analyses[ANALYSES];
	uint32_t analyses_used;
	uint32_t *number_of; /* [instruction of the recording] of the code */
	uint32_t numbered;
	const char *file;   /* of criteria */
	uint32_t most;      /* criteria of a recording; 0: all */
	uint32_t *line_of;  /* [instruction] line in the order of the first instruction; CODE_NONE */
	uint32_t *first_of; /* [line] an instruction */
	uint32_t line_count;
	uint8_t *is_told; /* [instruction] */
	uint64_t criteria, stopped, dynamic, sizes[KINDS], missing, empty;
};

struct recording {
	const char *name;
	const struct shadow_header *header;
	const struct shadow_node *nodes;
	size_t len_bytes;
	uint32_t count;
	const uint8_t *blocks; /* [number of the block] it ran */
	const uint8_t *stack;
};

/* The activations at the end, innermost first. */
struct frames {
	struct slice_frame *items;
	uint32_t *calls; /* [count] */
	uint32_t count;
	bool are_whole;
};

/* ---- code ---- */

static int write_code(const char *from, const char *to)
{
	struct code code;

	if (oracle_ends_in(from, ".bc"))
		oracle_load_bitcode(from, &code);
	else
		oracle_load_program(from, &code);
	if (LLVMWriteBitcodeToFile(code.module, to))
		oracle_fail(error_create(ERROR_NOT_FOUND, "%s cannot be written", to));
	code_deinit(&code);
	return 0;
}

static uint32_t line_number(const struct code_line *line)
{
	return line->line;
}

static bool is_of_file(const struct work *w, const struct code_line *line)
{
	return !w->file || (line->file && oracle_ends_in(line->file, w->file));
}

/* Lines are told apart by file and number; few files: a search from the end is short. */
static void find_lines(struct work *w)
{
	uint32_t count = w->code.instruction_count;
	struct hashmap map = {0};

	w->number_of = calloc(count + 1, sizeof *w->number_of);
	w->line_of = calloc(count + 1, sizeof *w->line_of);
	w->first_of = calloc(count + 1, sizeof *w->first_of);
	w->is_told = calloc(count + 1, 1);
	if (!w->number_of || !w->line_of || !w->first_of || !w->is_told)
		oracle_fail(&error_no_memory);
	w->numbered = 1;
	for (uint32_t i = 0; i < count; i++) {
		struct code_line line;
		struct key key;

		if (oracle_is_counted(&w->code, i))
			w->number_of[w->numbered++] = i;
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

static void read_recording(const char *path, struct recording *ret)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat s;
	void *bytes;

	if (file < 0 || fstat(file, &s) || s.st_size <= SHADOW_NODES_AT + SHADOW_STACK + SHADOW_BLOCKS)
		oracle_fail(error_create(ERROR_NOT_FOUND, "%s cannot be read", path));
	bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_SHARED, file, 0);
	close(file);
	*ret = (struct recording){.name = path,
				  .header = bytes,
				  .nodes = (const void *)((const char *)bytes + SHADOW_NODES_AT),
				  .len_bytes = (size_t)s.st_size};
	ret->count = ret->header->count;
	ret->blocks = (const uint8_t *)bytes + s.st_size - SHADOW_BLOCKS;
	ret->stack = ret->blocks - SHADOW_STACK;
	if (ret->header->magic != SHADOW_MAGIC)
		oracle_fail(error_create(ERROR_FORMAT, "%s is no recording", path));
}

static uint32_t instruction_at(const struct work *w, const struct recording *r, uint32_t node)
{
	uint32_t number = r->nodes[node].instruction;

	if (number == (uint32_t)SHADOW_CAME_BACK)
		return CODE_NONE;
	if (number >= w->numbered)
		oracle_fail(error_create(ERROR_MISMATCH, "%s is of other code", r->name));
	return number ? w->number_of[number] : CODE_NONE;
}

/* An executed access whose pointer the analysis leads nowhere. */
static void count_empty(struct work *w, const struct memory *memory, const struct recording *r, const uint8_t *has_run)
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

static void tell_missing(struct work *w, const struct recording *r, enum kind kind, uint32_t missing, uint32_t user,
			 const struct slice_why *why, uint32_t criterion)
{
	if (w->is_told[missing])
		return;
	w->is_told[missing] = 1;
	printf("FAIL %s: an instruction is not in the %s slice\n", r->name, kind_names[kind]);
	oracle_tell(&w->code, "missing  ", missing);
	if (user != CODE_NONE)
		oracle_tell(&w->code, why[user].reason ? "needed by" : "needed by (missing, too)", user);
	oracle_tell(&w->code, "criterion", criterion);
}

/* Backward from the nodes of the criterion, which are wanted: all that is reached is in the slice. */
static void sweep(struct work *w, const struct recording *r, enum kind kind, const struct slice *slice, uint8_t *wanted,
		  uint32_t *user, uint32_t criterion)
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
				user[of] = i == CODE_NONE ? user[n] : i;
			}
		}
		if (i == CODE_NONE || is_seen[i])
			continue;
		is_seen[i] = 1;
		w->dynamic += kind == KIND_STATIC;
		if (slice->why[i].reason)
			continue;
		w->missing++;
		tell_missing(w, r, kind, i, user[n], slice->why, criterion);
	}
	free(is_seen);
}

/* criterion[node]: 1 for its nodes. */
static void check_slice(struct work *w, const struct recording *r, enum kind kind, const struct slice_request *request,
			const uint8_t *criterion)
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
	slice_deinit(&slice);
	free(wanted);
	free(user);
}

static struct slice_request request_of(const struct work *w, enum kind kind, const uint32_t *criteria, uint32_t count)
{
	const struct analysis *a = &w->analyses[kind % ANALYSES];

	return (struct slice_request){
		.regions = &a->regions, .runs = a->runs, .criteria = criteria, .criterion_count = count};
}

static void check_criterion(struct work *w, const struct recording *r, const uint32_t *criteria, uint32_t count,
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
	if (w->code.functions[function].first_block + 1 != from->first_block)
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

static void find_frames(const struct work *w, const struct recording *r, enum kind kind, uint32_t criterion,
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
	ret->are_whole = true;
	while (count && ret->are_whole)
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

static void check_stopped(struct work *w, const struct recording *r, uint32_t criterion, const uint8_t *wanted)
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

static void check_line(struct work *w, const struct recording *r, uint32_t line, uint8_t *wanted)
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

static void check_last(struct work *w, const struct recording *r, uint8_t *wanted)
{
	uint32_t last = r->count - 1, i;

	while (last && instruction_at(w, r, last) == CODE_NONE)
		last--;
	if (!last)
		return;
	i = instruction_at(w, r, last);
	memset(wanted, 0, r->count);
	wanted[last] = 1;
	check_criterion(w, r, &i, 1, wanted);
	if (w->analyses_used == ANALYSES)
		check_stopped(w, r, i, wanted);
}

static void analyse(struct work *w, struct analysis *ret)
{
	oracle_fail(memory_analyse(&w->code, ret->runs, (size_t)4 << 30, &ret->memory));
	oracle_fail(regions_find(&ret->memory, ret->runs, &ret->regions));
}

static void analysis_deinit(struct analysis *a)
{
	regions_deinit(&a->regions);
	memory_deinit(&a->memory);
	free(a->runs);
	*a = (struct analysis){0};
}

static void analyse_what_ran(struct work *w, const struct recording *r)
{
	bool *runs = calloc(w->code.block_count + 1, sizeof *runs);

	if (!runs || w->code.block_count >= SHADOW_BLOCKS)
		oracle_fail(&error_no_memory);
	for (uint32_t b = 0; b < w->code.block_count; b++)
		runs[b] = r->blocks[b + 1];
	w->analyses[KIND_ACTIVE].runs = runs;
	analyse(w, &w->analyses[KIND_ACTIVE]);
}

static void check_recording(struct work *w, const char *path)
{
	struct recording r;
	uint8_t *has_run = calloc(w->code.instruction_count + 1, 1), *line_ran = calloc(w->line_count + 1, 1), *wanted;
	uint32_t lines = 0, every;

	read_recording(path, &r);
	wanted = calloc(r.count, 1);
	if (!has_run || !line_ran || !wanted)
		oracle_fail(&error_no_memory);
	for (uint32_t n = 1; n < r.count; n++) {
		uint32_t i = instruction_at(w, &r, n);

		if (i == CODE_NONE)
			continue;
		has_run[i] = 1;
		if (w->line_of[i] != CODE_NONE && !line_ran[w->line_of[i]]) {
			line_ran[w->line_of[i]] = 1;
			lines++;
		}
	}
	for (uint32_t k = 0; k < w->analyses_used; k++) {
		if (k == KIND_ACTIVE)
			analyse_what_ran(w, &r);
		count_empty(w, &w->analyses[k].memory, &r, has_run);
	}
	every = w->most && lines > w->most ? lines / w->most : 1;
	for (uint32_t line = 0, seen = 0; line < w->line_count; line++)
		if (line_ran[line] && seen++ % every == 0)
			check_line(w, &r, line, wanted);
	check_last(w, &r, wanted);
	if (w->analyses_used == ANALYSES)
		analysis_deinit(&w->analyses[KIND_ACTIVE]);
	munmap((void *)r.header, r.len_bytes);
	free(has_run);
	free(line_ran);
	free(wanted);
}

static int check(struct work *w, const char *code, char **recordings)
{
	oracle_load_bitcode(code, &w->code);
	find_lines(w);
	analyse(w, &w->analyses[KIND_STATIC]);
	for (; *recordings; recordings++)
		check_recording(w, *recordings);
	printf("%" PRIu64 " criteria, %" PRIu64 " instructions in dynamic slices, %" PRIu64 " in static ones, %" PRIu64
	       " in active ones, %" PRIu64 " missing; %" PRIu64 " empty points-to sets; %" PRIu64 " stacks, %" PRIu64
	       " instructions in slices of stacks, %" PRIu64 " in those of their activations\n",
	       w->criteria, w->dynamic, w->sizes[KIND_STATIC], w->sizes[KIND_ACTIVE], w->missing, w->empty, w->stopped,
	       w->sizes[KIND_STACK], w->sizes[KIND_FRAMES]);
	return w->missing || w->empty || !w->criteria;
}

int main(int argc, char **argv)
{
	struct work w = {.analyses_used = 1};
	int option;

	if (argc == 4 && strcmp(argv[1], "write") == 0)
		return write_code(argv[2], argv[3]);
	if (argc < 4 || strcmp(argv[1], "check") != 0) {
		fputs("usage: compare write PROGRAM CODE.bc | check CODE.bc [-r] [-n COUNT] [-f FILE] RECORDING...\n",
		      stderr);
		return 2;
	}
	optind = 3;
	while ((option = getopt(argc, argv, "+rn:f:")) != -1)
		if (option == 'r')
			w.analyses_used = ANALYSES;
		else if (option == 'n')
			w.most = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'f')
			w.file = optarg;
		else
			return 2;
	return check(&w, argv[2], argv + optind);
}
