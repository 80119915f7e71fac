/*
 * check_switches.c - test only: whether slices of what ran and their omissions have each branch that matters.
 *
 *      check_switches CODE.bc PROGRAM WHERE FIRST COUNT [SWITCHES [CRITERIA]]
 *
 * PROGRAM is CODE.bc as switch_pass.cpp changed it, with seeds from FIRST on as its argument; WHERE is a file for what it tells. Each program runs as
 * it is, and then with one execution of a branch going the other way, SWITCHES times. Where an instruction then runs as often and computes other
 * values, some branch is to blame that the slice of the instruction must have, or its omissions (analyze/omissions.h): the one that was switched,
 * or one that in consequence led to code that did not run before. Not asked: runs that do not end as they did before (code from which control does
 * not come back), jumps and ends that were not made before, stores that ran before and now go elsewhere, calls through pointers that now go to a function
 * that did not run before (omissions are branches), branches that leave loops (what they go on to do may be out of bounds), and those of va_arg, which
 * tell where an argument is.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/omissions.h"
#include "oracle_code.h"
#include "switches.h"

extern char **environ;

struct analysis {
	struct memory memory;
	struct regions regions;
	bool *runs; /* [block] NULL: all */
};

struct work {
	struct code code;
	const char *program, *where;
	uint32_t *number_of; /* [number of the pass] instruction */
	uint32_t numbered;
	struct analysis all, active;
	bool *comes;
	const struct switch_run *plain;
	uint64_t random;
	uint32_t switches, criteria; /* of a program, of a switch */
	uint64_t switched, asked, in_slices, in_omissions, missing;
};

static uint32_t choose(struct work *w, uint32_t count)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->random >> 33) % count;
}

/* ---- runs ---- */

static const struct switch_run *read_run(const struct work *w)
{
	int file = open(w->where, O_RDONLY | O_CLOEXEC);
	void *memory = mmap(NULL, sizeof(struct switch_run), PROT_READ, MAP_PRIVATE, file, 0);
	struct switch_run *copy = malloc(sizeof *copy);

	close(file);
	if (memory == MAP_FAILED || !copy)
		oracle_fail(error_create(ERROR_NOT_FOUND, "%s cannot be read", w->where));
	memcpy(copy, memory, sizeof *copy);
	munmap(memory, sizeof *copy);
	return copy;
}

static void set_number(const char *name, uint32_t value)
{
	char text[16];

	/* Stacks begin at the same address in each run. */
	snprintf(text, sizeof text, "%08" PRIu32, value);
	setenv(name, text, 1);
}

/* at 0: no branch. *ret_ended: by itself, not by a signal, and with its record whole: after a switch a program may write anywhere. */
static const struct switch_run *run_program(const struct work *w, uint32_t seed, uint32_t at, uint32_t time,
					    bool *ret_ended)
{
	char text[16], *arguments[] = {(char *)w->program, text, NULL};
	posix_spawn_file_actions_t actions;
	const struct switch_run *run;
	pid_t child;
	int status = 0;

	snprintf(text, sizeof text, "%" PRIu32, seed);
	setenv("SWITCH_OUT", w->where, 1);
	set_number("SWITCH_AT", at);
	set_number("SWITCH_TIME", time);
	unlink(w->where);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&child, w->program, &actions, NULL, arguments, environ))
		oracle_fail(error_create(ERROR_NOT_FOUND, "%s cannot be run", w->program));
	posix_spawn_file_actions_destroy(&actions);
	waitpid(child, &status, 0);
	run = read_run(w);
	*ret_ended = WIFEXITED(status) && run->header.magic == SWITCH_MAGIC;
	if (!at && run->header.magic != SWITCH_MAGIC)
		oracle_fail(error_create(ERROR_FORMAT, "%s is not what a run tells", w->where));
	return run;
}

static bool has_run(const struct switch_run *r, uint32_t block)
{
	return r->blocks[block + 1];
}

/* ---- analyses ---- */

static void analyse(struct work *w, struct analysis *a)
{
	oracle_fail(memory_analyse(&w->code, a->runs, (struct pointers_limit){.bytes = (size_t)4 << 30}, &a->memory));
	oracle_fail(regions_find(&a->memory, a->runs, &a->regions));
}

static void analysis_deinit(struct analysis *a)
{
	regions_deinit(&a->regions);
	memory_deinit(&a->memory);
	free(a->runs);
	*a = (struct analysis){0};
}

static void analyse_what_ran(struct work *w)
{
	uint32_t slots = 0;

	w->active.runs = calloc(w->code.block_count + 1, sizeof *w->active.runs);
	for (uint32_t b = 0; b < w->code.block_count; b++)
		slots += w->code.blocks[b].predecessor_count;
	w->comes = calloc(slots + 1, sizeof *w->comes);
	if (!w->active.runs || !w->comes || w->code.block_count + 1 >= SWITCH_BLOCKS)
		oracle_fail(&error_no_memory);
	for (uint32_t b = 0; b < w->code.block_count; b++) {
		const struct code_block *block = &w->code.blocks[b];

		w->active.runs[b] = has_run(w->plain, b);
		for (uint32_t p = block->first_predecessor; p < block->first_predecessor + block->predecessor_count;
		     p++)
			w->comes[p] = has_run(w->plain, b) && has_run(w->plain, w->code.predecessors[p]);
	}
	analyse(w, &w->active);
}

static bool leads_to(const struct work *w, uint32_t from, uint32_t to)
{
	const struct code_function *f = &w->code.functions[w->code.blocks[from].function];
	bool *is_seen = calloc(f->block_count + 1, sizeof *is_seen), found = from == to;
	uint32_t *list = calloc(f->block_count + 1, sizeof *list), count = 1;

	if (!is_seen || !list)
		oracle_fail(&error_no_memory);
	list[0] = from;
	while (count && !found) {
		const struct code_block *block = &w->code.blocks[list[--count]];

		for (uint32_t s = 0; s < block->successor_count && !found; s++) {
			uint32_t next = w->code.successors[block->first_successor + s];

			found = next == to;
			if (!is_seen[next - f->first_block])
				list[count++] = next;
			is_seen[next - f->first_block] = true;
		}
	}
	free(is_seen);
	free(list);
	return found;
}

/* Of va_arg: is the argument among those that registers passed? */
static bool is_of_va_arg(LLVMValueRef branch)
{
	LLVMValueRef compare = LLVMIsConditional(branch) ? LLVMIsAICmpInst(LLVMGetCondition(branch)) : NULL;
	LLVMValueRef most = compare ? LLVMIsAConstantInt(LLVMGetOperand(compare, 1)) : NULL;
	unsigned long long value = most ? LLVMConstIntGetZExtValue(most) : 0;

	return most && LLVMIsALoadInst(LLVMGetOperand(compare, 0)) &&
	       (value == 40 || value == 41 || value == 160 || value == 161);
}

/* It can be switched: two ways, neither of which alone comes back to it. */
static bool is_switchable(const struct work *w, uint32_t i)
{
	uint32_t block = w->code.instructions[i].block;
	const struct code_block *b = &w->code.blocks[block];
	const uint32_t *to = &w->code.successors[b->first_successor];

	return w->code.instructions[i].opcode == LLVMBr && b->successor_count == 2 && has_run(w->plain, block) &&
	       !is_of_va_arg(w->code.instructions[i].value) && leads_to(w, to[0], block) == leads_to(w, to[1], block);
}

/* ---- what must be found ---- */

static const char *callee_name(const struct work *w, uint32_t i)
{
	LLVMValueRef callee = code_is_call(&w->code, i) ? code_callee(w->code.instructions[i].value) : NULL;

	return callee ? LLVMGetValueName(callee) : "";
}

static bool is_jump(const struct work *w, uint32_t i)
{
	return strstr(callee_name(w, i), "longjmp");
}

/* What does not come back has not been counted: the block has run. */
static bool ends_elsewhere(const struct work *w, const struct switch_run *r)
{
	for (uint32_t i = 0; i < w->code.instruction_count; i++) {
		const uint32_t block = w->code.instructions[i].block;

		if (has_run(w->plain, block) != has_run(r, block) && strcmp(callee_name(w, i), "exit") == 0)
			return true;
	}
	return false;
}

/* A call that ran before may have gone there, through a pointer. */
static bool may_be_new_target(const struct work *w, uint32_t function)
{
	for (uint32_t i = 0; i < w->code.instruction_count; i++) {
		const struct function_ids *callees = &w->all.memory.callees[i];

		if (!callees->count ||
		    code_callee(w->code.instructions[i].value) == w->code.functions[function].value ||
		    !has_run(w->plain, w->code.instructions[i].block))
			continue;
		for (size_t k = 0; k < callees->count; k++)
			if (callees->items[k] == function)
				return true;
	}
	return false;
}

static bool has_new_target(const struct work *w, const struct switch_run *r)
{
	for (uint32_t f = 0; f < w->code.function_count; f++) {
		const struct code_function *function = &w->code.functions[f];

		if (function->block_count && !has_run(w->plain, function->first_block) &&
		    has_run(r, function->first_block) && may_be_new_target(w, f))
			return true;
	}
	return false;
}

static bool is_same(const struct switch_value *a, const struct switch_value *b)
{
	return a->count == b->count && a->values == b->values;
}

/* It ended as before, made the same jumps, called no other functions through pointers, and what ran as often wrote to the same places. */
static bool is_comparable(const struct work *w, const struct switch_run *r)
{
	if (r->header.is_cut || r->header.last != w->plain->header.last || has_new_target(w, r) || ends_elsewhere(w, r))
		return false;
	for (uint32_t n = 1; n < w->numbered; n++) {
		bool is_as_often = r->values[n].count == w->plain->values[n].count;

		if (is_as_often ? !is_same(&r->places[n], &w->plain->places[n]) : is_jump(w, w->number_of[n]))
			return false;
	}
	return true;
}

static bool has_changed(const struct work *w, const struct switch_run *r, uint32_t n)
{
	return w->plain->values[n].count && r->values[n].count == w->plain->values[n].count &&
	       r->values[n].values != w->plain->values[n].values;
}

/* Branches that ran before, and now led to what did not: to_blame[instruction]. */
static void find_blamed(const struct work *w, const struct switch_run *r, uint32_t switched, bool *to_blame)
{
	memset(to_blame, 0, w->code.instruction_count);
	to_blame[switched] = true;
	for (uint32_t b = 0; b < w->code.block_count; b++) {
		const struct code_block *block = &w->code.blocks[b];

		if (has_run(w->plain, b) || !has_run(r, b))
			continue;
		for (uint32_t p = block->first_predecessor; p < block->first_predecessor + block->predecessor_count;
		     p++) {
			const struct code_block *from = &w->code.blocks[w->code.predecessors[p]];

			if (has_run(w->plain, w->code.predecessors[p]))
				to_blame[from->first_instruction + from->instruction_count - 1] = true;
		}
	}
}

static bool is_found(struct work *w, uint32_t criterion, const bool *to_blame)
{
	const struct slice_request request = {.regions = &w->active.regions,
					      .runs = w->active.runs,
					      .comes = w->comes,
					      .criteria = &criterion,
					      .criterion_count = 1};
	uint32_t *distances = calloc(w->code.instruction_count + 1, sizeof *distances);
	struct omission_vec omissions = {0};
	struct slice slice;
	bool found = false;

	oracle_fail(distances ? slice_backward(&request, &slice) : &error_no_memory);
	for (uint32_t i = 0; i < w->code.instruction_count && !found; i++)
		found = to_blame[i] && slice.why[i].reason;
	w->in_slices += found;
	if (!found) {
		const struct omissions_request asked = {
			.slice_request = &request, .slice = &slice, .all = &w->all.regions, .distances = distances};

		oracle_fail(omissions_find(&asked, &omissions));
		for (size_t k = 0; k < omissions.count && !found; k++)
			found = to_blame[omissions.items[k].branch];
		w->in_omissions += found;
	}
	omission_vec_deinit(&omissions);
	slice_deinit(&slice);
	free(distances);
	return found;
}

static void check_switch(struct work *w, uint32_t seed, uint32_t switched, uint32_t time, const struct switch_run *r)
{
	bool *to_blame = calloc(w->code.instruction_count + 1, sizeof *to_blame);
	uint32_t *changed = calloc(w->numbered + 1, sizeof *changed), count = 0;

	if (!to_blame || !changed)
		oracle_fail(&error_no_memory);
	find_blamed(w, r, switched, to_blame);
	for (uint32_t n = 1; n < w->numbered; n++)
		if (has_changed(w, r, n))
			changed[count++] = w->number_of[n];
	for (uint32_t k = 0; k < w->criteria && count; k++) {
		uint32_t criterion = changed[choose(w, count)];

		w->asked++;
		if (is_found(w, criterion, to_blame))
			continue;
		w->missing++;
		printf("FAIL seed %" PRIu32 ": a branch is neither in the slice nor an omission\n", seed);
		oracle_tell(&w->code, "branch   ", switched);
		printf("  its execution %" PRIu32 " went the other way\n", time);
		oracle_tell(&w->code, "criterion", criterion);
	}
	free(to_blame);
	free(changed);
}

static void check_program(struct work *w, uint32_t seed)
{
	uint32_t *branches = calloc(w->numbered + 1, sizeof *branches), *numbers, count = 0;
	bool ended;

	w->plain = run_program(w, seed, 0, 0, &ended);
	numbers = calloc(w->numbered + 1, sizeof *numbers);
	if (!branches || !numbers)
		oracle_fail(&error_no_memory);
	for (uint32_t n = 1; n < w->numbered; n++)
		if (is_switchable(w, w->number_of[n])) {
			branches[count] = w->number_of[n];
			numbers[count++] = n;
		}
	if (ended && !w->plain->header.is_cut && count)
		analyse_what_ran(w);
	for (uint32_t k = 0; k < w->switches && w->active.runs && count; k++) {
		uint32_t which = choose(w, count), time = 1 + choose(w, 3);
		const struct switch_run *r = run_program(w, seed, numbers[which], time, &ended);

		if (ended && is_comparable(w, r)) {
			w->switched++;
			check_switch(w, seed, branches[which], time, r);
		}
		free((void *)r);
	}
	if (w->active.runs)
		analysis_deinit(&w->active);
	free(w->comes);
	w->comes = NULL;
	free((void *)w->plain);
	free(branches);
	free(numbers);
}

int main(int argc, char **argv)
{
	struct work w = {.switches = 12, .criteria = 4};
	uint32_t first, count;

	if (argc < 6 || argc > 8) {
		fputs("usage: check_switches CODE.bc PROGRAM WHERE FIRST COUNT [SWITCHES [CRITERIA]]\n", stderr);
		return 2;
	}
	personality(ADDR_NO_RANDOMIZE);
	oracle_open(argv[1], &w.code);
	oracle_fail(code_number_all(&w.code));
	w.program = argv[2];
	w.where = argv[3];
	first = (uint32_t)strtoul(argv[4], NULL, 10);
	count = (uint32_t)strtoul(argv[5], NULL, 10);
	if (argc > 6)
		w.switches = (uint32_t)strtoul(argv[6], NULL, 10);
	if (argc > 7)
		w.criteria = (uint32_t)strtoul(argv[7], NULL, 10);
	w.number_of = calloc(w.code.instruction_count + 2, sizeof *w.number_of);
	w.numbered = 1;
	for (uint32_t i = 0; i < w.code.instruction_count; i++)
		if (oracle_is_counted(&w.code, i))
			w.number_of[w.numbered++] = i;
	if (w.numbered >= SWITCH_VALUES)
		oracle_fail(error_create(ERROR_OVERFLOW, "%s is too large", argv[1]));
	analyse(&w, &w.all);
	for (uint32_t seed = first; seed < first + count; seed++) {
		w.random = seed;
		check_program(&w, seed);
	}
	printf("%" PRIu64 " switches, %" PRIu64 " changes asked about, %" PRIu64 " in slices, %" PRIu64
	       " in omissions, %" PRIu64 " missing\n",
	       w.switched, w.asked, w.in_slices, w.in_omissions, w.missing);
	return w.missing || !w.asked;
}
