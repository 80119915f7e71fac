/*
 * omissions.c - the slice is made once more, with the regions of all code and nothing in it but what was: so it is known what is wanted where,
 * and in functions too of which nothing that ran changes it. Then each branch that ran is looked at (omissions.h).
 */
#include "analyze/omissions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"

enum {
	MILLION = 1000000,
	WORD_BYTES = 8, /* a variable of a library is read as itself: optind, not what stdin leads to */
};

/* A block that did not run and a branch that can have decided it. */
struct decided {
	uint32_t block, decider;
};
VEC_DECLARE(decided_vec, struct decided);

struct search {
	const struct omissions_request *request;
	const struct slice_request *ran;
	const struct code *code;
	const struct regions *all;
	struct regions reading; /* those of all code, but what was read is what was read in this run */
	uint32_t own_sets;      /* of reading.sets, from this one on */
	struct slice_demand demand;
	struct controls controls;
	uint32_t *reads;     /* as reading.reads, of all instructions */
	bool is_vague;       /* the vague counts, too (omissions.h) */
	uint32_t *reader_of; /* [region] the nearest instruction of the slice that reads it; CODE_NONE */
	/* Of the function that is looked at, in all activations or in a frame. */
	const struct slice_frame *frame;
	uint32_t context; /* in demand.at_end */
	bool *goes_on;    /* [block] control can leave the function behind it, or come to what ran */
	uint32_t *seen;   /* [block] the last question that came to it */
	uint32_t *may;    /* [block] the last branch that can have decided it */
	uint32_t question;
	struct function_ids work;
	struct decided_vec decided;
	struct id_set both; /* scratch */
	struct omission_vec *found;
};

/* ---- what was read ---- */

static const struct location *location_of(const struct regions *r, uint32_t region)
{
	return &pointers_locations(r->memory->pointers)->items.items[r->items.items[region].location];
}

static bool is_same_object(const struct memory_object *a, const struct memory_object *b)
{
	return a->kind == b->kind && a->value == b->value && a->function == b->function;
}

/* Regions of two analyses of the same code can have a byte in common. */
static bool regions_meet(const struct regions *a, uint32_t x, const struct regions *b, uint32_t y)
{
	const struct location *at = location_of(a, x);
	struct location there = *location_of(b, y);

	if (!is_same_object(&a->memory->objects.items[at->object], &b->memory->objects.items[there.object]))
		return false;
	there.object = at->object;
	return locations_meet(at, a->items.items[x].len_bytes, &there, b->items.items[y].len_bytes);
}

static struct error *keep_read(const struct search *s, const struct id_set *all, const struct id_set *read,
			       struct id_set *ret)
{
	const struct regions *active = s->ran->regions;
	struct error *err = NULL;

	for (struct id_iterator i = id_set_begin(all); !err && id_set_next(all, &i);) {
		bool is_read = i.id == REGION_CONTROL;

		if (is_read)
			continue;
		for (struct id_iterator k = id_set_begin(read); !is_read && id_set_next(read, &k);)
			is_read = k.id != REGION_CONTROL && regions_meet(s->all, i.id, active, k.id);
		if (is_read)
			err = id_set_add(ret, i.id, NULL);
	}
	return err;
}

/* A variable of a function that is there once, of what ran, has no contents where it begins: what is wanted of it is not wanted of callers. */
static struct error *begin_variables(struct search *s)
{
	struct id_set *of_alloca = calloc((size_t)s->code->instruction_count + 1, sizeof *of_alloca);
	struct error *err = of_alloca ? NULL : &error_no_memory;

	for (uint32_t r = REGION_CONTROL + 1; r < s->all->items.count && !err; r++) {
		const struct memory_object *o = &s->all->memory->objects.items[location_of(s->all, r)->object];
		uint32_t i = o->kind == MEMORY_FRAME ? code_number(s->code, o->value) : CODE_NONE;

		if (i != CODE_NONE && !s->ran->regions->is_recursive[o->function] &&
		    s->code->instructions[i].block == s->code->functions[o->function].first_block)
			err = id_set_add(&of_alloca[i], r, NULL);
	}
	for (uint32_t i = 0; i < s->code->instruction_count && !err; i++) {
		if (!of_alloca[i].count)
			continue;
		s->reading.overwrites[i] = (uint32_t)s->reading.sets.count;
		err = id_set_vec_append(&s->reading.sets, of_alloca[i]);
		if (!err)
			of_alloca[i] = (struct id_set){0};
	}
	for (uint32_t i = 0; of_alloca && i < s->code->instruction_count; i++)
		id_set_deinit(&of_alloca[i]);
	free(of_alloca);
	return err;
}

/* The sets of all code are shared. Each pair of sets is looked at once. */
static struct error *share_sets(struct search *s)
{
	uint32_t count = s->code->instruction_count;
	struct error *err = NULL;

	s->own_sets = (uint32_t)s->all->sets.count;
	s->reading = *s->all;
	s->reading.sets = (struct id_set_vec){0};
	s->reads = calloc((size_t)count + 1, sizeof *s->reads);
	s->reading.reads = calloc((size_t)count + 1, sizeof *s->reading.reads);
	s->reading.overwrites = calloc((size_t)count + 1, sizeof *s->reading.overwrites);
	if (!s->reads || !s->reading.reads || !s->reading.overwrites)
		return &error_no_memory;
	memcpy(s->reading.overwrites, s->all->overwrites, count * sizeof *s->reading.overwrites);
	for (size_t i = 0; i < s->all->sets.count && !err; i++)
		err = id_set_vec_append(&s->reading.sets, s->all->sets.items[i]);
	return err ? err : begin_variables(s);
}

static struct error *restrict_reads(struct search *s)
{
	struct hashmap pairs = {0};
	struct error *err = share_sets(s);
	uint32_t first = (uint32_t)s->reading.sets.count;

	for (uint32_t i = 0; i < s->code->instruction_count && !err; i++) {
		const struct key pair = {{s->all->reads[i], s->ran->regions->reads[i], 0}};
		uint32_t number, before = pairs.count;
		struct id_set kept = {0};

		if (!s->request->slice->why[i].reason || !pair.words[0] || !pair.words[1])
			continue;
		err = hashmap_add(&pairs, &pair, &number);
		if (!err && number == before) {
			err = keep_read(s, region_set(s->all, s->all->reads[i]),
					region_set(s->ran->regions, s->ran->regions->reads[i]), &kept);
			if (!err)
				err = id_set_vec_append(&s->reading.sets, kept);
			if (err)
				id_set_deinit(&kept);
		}
		s->reads[i] = first + number;
	}
	hashmap_deinit(&pairs);
	return err;
}

/* Where control stands nothing was read yet. */
static bool is_standing(const struct search *s, uint32_t instruction)
{
	return s->ran->criteria_stand && s->request->slice->why[instruction].reason == SLICE_CRITERION;
}

static void choose_reads(struct search *s, bool is_vague)
{
	const bool *is_unknown = s->ran->regions->memory->calls_foreign;

	s->is_vague = is_vague;
	for (uint32_t i = 0; i < s->code->instruction_count; i++)
		s->reading.reads[i] = is_unknown[i] && !is_vague ? 0 : s->reads[i];
}

static void find_readers(struct search *s)
{
	const uint32_t *distances = s->request->distances;

	memset(s->reader_of, 0xff, (s->all->items.count + 1) * sizeof *s->reader_of);
	for (uint32_t i = 0; i < s->code->instruction_count; i++) {
		const struct id_set *reads = region_set(&s->reading, s->reading.reads[i]);

		for (struct id_iterator k = id_set_begin(reads); !is_standing(s, i) && id_set_next(reads, &k);)
			if (s->reader_of[k.id] == CODE_NONE || distances[i] < distances[s->reader_of[k.id]])
				s->reader_of[k.id] = i;
	}
}

static struct error *find_demand(struct search *s)
{
	struct slice_request request = *s->ran;
	struct slice slice = {0};
	struct error *err;

	request.regions = &s->reading;
	request.within = s->request->slice;
	request.demand = &s->demand;
	slice_demand_deinit(&s->demand);
	err = slice_backward(&request, &slice);
	if (!err && slice.is_coarse)
		err = error_create(ERROR_OVERFLOW, "what mattered where needs more than %" PRIu64 " million steps",
				   request.limit_steps / MILLION);
	slice_deinit(&slice);
	return err;
}

/* ---- what ran ---- */

static bool ran(const struct search *s, uint32_t block)
{
	if (s->frame && s->frame->runs && !s->frame->runs[block - s->code->functions[s->frame->function].first_block])
		return false;
	return s->ran->runs[block];
}

static bool came(const struct search *s, uint32_t predecessor)
{
	const struct code_function *f = s->frame ? &s->code->functions[s->frame->function] : NULL;

	if (f && s->frame->comes && !s->frame->comes[predecessor - s->code->blocks[f->first_block].first_predecessor])
		return false;
	return s->ran->comes[predecessor];
}

static bool went(const struct search *s, uint32_t from, uint32_t to)
{
	const struct code_block *b = &s->code->blocks[to];

	for (uint32_t i = b->first_predecessor; ran(s, to) && i < b->first_predecessor + b->predecessor_count; i++)
		if (s->code->predecessors[i] == from && came(s, i))
			return true;
	return false;
}

/* The block that a branch led to. False: to none, control did not get there; *ret is CODE_NONE if it led to several. */
static bool find_way(const struct search *s, uint32_t block, uint32_t *ret)
{
	const struct code_block *b = &s->code->blocks[block];
	bool has_way = false;

	*ret = CODE_NONE;
	for (uint32_t i = 0; i < b->successor_count; i++) {
		uint32_t to = s->code->successors[b->first_successor + i];

		if (!went(s, block, to))
			continue;
		*ret = !has_way || *ret == to ? to : CODE_NONE;
		has_way = true;
	}
	return has_way;
}

static bool is_branch(const struct search *s, uint32_t block)
{
	LLVMOpcode opcode = s->code->instructions[control_branch(s->code, block)].opcode;

	return s->code->blocks[block].successor_count > 1 &&
	       (opcode == LLVMBr || opcode == LLVMSwitch || opcode == LLVMIndirectBr);
}

/* ---- a function ---- */

/* What ends the process changes nothing that is read later: blocks that lead to a return or to what ran. */
static struct error *find_goes_on(struct search *s, const struct code_function *f)
{
	struct error *err = NULL;

	for (uint32_t b = f->first_block; b < f->first_block + f->block_count && !err; b++) {
		LLVMOpcode opcode = s->code->instructions[control_branch(s->code, b)].opcode;

		s->goes_on[b] = ran(s, b) || opcode == LLVMRet || opcode == LLVMResume;
		if (s->goes_on[b])
			err = function_ids_append(&s->work, b);
	}
	while (s->work.count && !err) {
		const struct code_block *b = &s->code->blocks[s->work.items[--s->work.count]];

		for (uint32_t i = b->first_predecessor; i < b->first_predecessor + b->predecessor_count && !err; i++) {
			uint32_t from = s->code->predecessors[i];

			if (s->goes_on[from])
				continue;
			s->goes_on[from] = true;
			err = function_ids_append(&s->work, from);
		}
	}
	return err;
}

/* The branches that ran and that the block depends on, through what did not run. */
static struct error *find_deciders(struct search *s, uint32_t block)
{
	struct error *err = function_ids_append(&s->work, block);

	s->question++;
	s->seen[block] = s->question;
	while (s->work.count && !err) {
		const uint32_t *deciders;
		uint32_t count;

		err = controls_of(&s->controls, s->work.items[--s->work.count], &deciders, &count);
		for (uint32_t i = 0; !err && i < count; i++) {
			if (s->seen[deciders[i]] == s->question)
				continue;
			s->seen[deciders[i]] = s->question;
			if (!ran(s, deciders[i]))
				err = function_ids_append(&s->work, deciders[i]);
			else if (is_branch(s, deciders[i]))
				err = decided_vec_append(&s->decided, (struct decided){block, deciders[i]});
		}
	}
	return err;
}

static int compare_decided(const void *a, const void *b)
{
	const struct decided *x = a, *y = b;

	if (x->decider != y->decider)
		return x->decider < y->decider ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

static enum omission_by memory_kind(const struct search *s, uint32_t region)
{
	const struct memory_object *o = &s->all->memory->objects.items[location_of(s->all, region)->object];

	switch (o->kind) {
	case MEMORY_VARIABLE:
	case MEMORY_FRAME:
	case MEMORY_BYVAL:
		return OMISSION_VARIABLE;
	case MEMORY_LIBRARY:
		return o->value && s->all->items.items[region].len_bytes <= WORD_BYTES ? OMISSION_VARIABLE
										       : OMISSION_VAGUE;
	case MEMORY_FOREIGN:
		return OMISSION_VAGUE;
	default:
		return OMISSION_ALLOCATED;
	}
}

/* The reader, if it is nearer than the one that is known. is_call: functions that i calls change it. */
static struct error *take_reader(struct search *s, const struct id_set *changes, const struct id_set *wanted,
				 uint32_t i, bool is_call, struct omission *best)
{
	const uint32_t *distances = s->request->distances;
	struct error *err = id_set_intersect(changes, wanted, &s->both);

	for (struct id_iterator k = id_set_begin(&s->both); !err && id_set_next(&s->both, &k);) {
		uint32_t reader = s->reader_of[k.id];
		enum omission_by by;

		if (reader == CODE_NONE)
			continue;
		by = s->is_vague ? OMISSION_VAGUE : memory_kind(s, k.id);
		if (by == OMISSION_VARIABLE && is_call)
			by = OMISSION_BY_CALL;
		if ((by == OMISSION_VAGUE && !s->is_vague) || by > best->by)
			continue;
		if (by == best->by && best->reader != CODE_NONE && distances[reader] >= distances[best->reader])
			continue;
		best->by = by;
		best->omitted = i;
		best->reader = reader;
	}
	return err;
}

static struct error *take_instruction(struct search *s, const struct id_set *wanted, uint32_t i, struct omission *best)
{
	const struct function_ids *callees = &s->all->memory->callees[i];
	struct error *err = take_reader(s, region_set(s->all, s->all->changes[i]), wanted, i, false, best);

	if (!err)
		err = take_reader(s, region_set(s->all, s->all->passes[i]), wanted, i, false, best);
	for (size_t k = 0; k < callees->count && !err; k++)
		err = take_reader(s, &s->all->function_changes[callees->items[k]], wanted, i, true, best);
	return err;
}

/* What a block that did not run could have changed of what was wanted behind the branch. */
static struct error *take_block(struct search *s, uint32_t block, struct omission omission)
{
	const struct code_block *b = &s->code->blocks[block];
	uint32_t decider = s->code->instructions[omission.branch].block, function = b->function;
	uint32_t first = s->frame ? s->code->functions[function].first_block : 0;
	const struct id_set *ever = s->demand.async.functions[function] ? &s->demand.ever : &s->demand.ever_async;
	struct error *err = NULL;

	for (uint32_t i = b->first_instruction; i < b->first_instruction + b->instruction_count && !err; i++) {
		err = take_instruction(s, &s->demand.at_end[s->context][decider - first], i, &omission);
		if (!err)
			err = take_instruction(s, ever, i, &omission);
	}
	return err || omission.reader == CODE_NONE ? err : omission_vec_append(s->found, omission);
}

static struct error *come_to(struct search *s, uint32_t block)
{
	if (ran(s, block) || s->seen[block] == s->question || s->may[block] != s->question)
		return NULL;
	s->seen[block] = s->question;
	return function_ids_append(&s->work, block);
}

/* A branch, and the blocks that it may have decided: those that its other ways lead to. */
static struct error *look_at(struct search *s, const struct decided *first, const struct decided *end)
{
	const struct code_block *b = &s->code->blocks[first->decider];
	struct omission omission = {.branch = control_branch(s->code, first->decider),
				    .omitted = CODE_NONE,
				    .reader = CODE_NONE,
				    .by = OMISSION_VAGUE};
	struct error *err = NULL;

	if (!find_way(s, first->decider, &omission.went))
		return NULL;
	s->question++;
	for (const struct decided *x = first; x < end; x++)
		s->may[x->block] = s->question;
	for (uint32_t i = 0; i < b->successor_count && !err; i++)
		err = come_to(s, s->code->successors[b->first_successor + i]);
	while (s->work.count && !err) {
		uint32_t at = s->work.items[--s->work.count];

		b = &s->code->blocks[at];
		if (s->goes_on[at])
			err = take_block(s, at, omission);
		for (uint32_t i = 0; i < b->successor_count && !err; i++)
			err = come_to(s, s->code->successors[b->first_successor + i]);
	}
	return err;
}

static struct error *look_at_function(struct search *s, uint32_t function)
{
	const struct code_function *f = &s->code->functions[function];
	struct error *err;

	if (!f->block_count || !ran(s, f->first_block))
		return NULL;
	s->decided.count = 0;
	err = find_goes_on(s, f);
	for (uint32_t b = f->first_block; b < f->first_block + f->block_count && !err; b++)
		if (!ran(s, b))
			err = find_deciders(s, b);
	if (s->decided.count)
		qsort(s->decided.items, s->decided.count, sizeof *s->decided.items, compare_decided);
	for (size_t i = 0, end; i < s->decided.count && !err; i = end) {
		for (end = i; end < s->decided.count && s->decided.items[end].decider == s->decided.items[i].decider;)
			end++;
		err = look_at(s, &s->decided.items[i], &s->decided.items[end]);
	}
	return err;
}

/* ---- the whole ---- */

static struct error *look_at_all(struct search *s)
{
	struct error *err;

	find_readers(s);
	err = find_demand(s);
	s->frame = NULL;
	s->context = 0;
	for (uint32_t f = 0; f < s->code->function_count && !err; f++)
		err = look_at_function(s, f);
	for (uint32_t i = 0; i < s->ran->frame_count && !err; i++) {
		s->frame = &s->ran->frames[i];
		s->context = i + 1;
		err = look_at_function(s, s->frame->function);
	}
	return err;
}

static struct error *run(struct search *s)
{
	struct error *err = restrict_reads(s);

	for (int is_vague = 0; is_vague < 2 && !err; is_vague++) {
		choose_reads(s, is_vague);
		err = look_at_all(s);
	}
	return err;
}

static void search_deinit(struct search *s)
{
	for (size_t i = s->own_sets; i < s->reading.sets.count; i++)
		id_set_deinit(&s->reading.sets.items[i]);
	id_set_vec_deinit(&s->reading.sets);
	free(s->reading.reads);
	free(s->reading.overwrites);
	free(s->reads);
	slice_demand_deinit(&s->demand);
	controls_deinit(&s->controls);
	free(s->reader_of);
	free(s->goes_on);
	free(s->seen);
	free(s->may);
	function_ids_deinit(&s->work);
	decided_vec_deinit(&s->decided);
	id_set_deinit(&s->both);
}

struct error *omissions_find(const struct omissions_request *request, struct omission_vec *ret)
{
	const struct code *c = request->all->memory->code;
	struct omission_vec found = {0};
	struct search s = {
		.request = request, .ran = request->slice_request, .code = c, .all = request->all, .found = &found};
	struct error *err = controls_init(c, &s.controls);

	s.goes_on = calloc((size_t)c->block_count + 1, sizeof *s.goes_on);
	s.seen = calloc((size_t)c->block_count + 1, sizeof *s.seen);
	s.may = calloc((size_t)c->block_count + 1, sizeof *s.may);
	s.reader_of = calloc(request->all->items.count + 1, sizeof *s.reader_of);
	if (!err && (!s.goes_on || !s.seen || !s.may || !s.reader_of))
		err = &error_no_memory;
	if (!err)
		err = run(&s);
	search_deinit(&s);
	if (err)
		omission_vec_deinit(&found);
	else
		*ret = found;
	return err;
}
