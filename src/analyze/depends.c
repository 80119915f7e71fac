/* depends.c - what an instruction takes from others, one step back (depends.h). */
#include "analyze/depends.h"

#include <stdlib.h>

#include "analyze/effects.h"
#include "analyze/jumps.h"
#include "llvm/ir.h"

/* Places that a search goes through: the end of each block, in the load's function and its callers, or in a function that is called on the way
 * back; in front of each call; and each function, for what goes through it unchanged. */
enum {
	WAY_UP,
	WAY_DOWN,
	WAYS
};

struct search {
	struct depends *d;
	uint32_t of;
	bool is_new; /* stores that another such search found are left out, with the ways to them */
	struct dependence_vec *found;
};

static bool is_in(const struct depends *d, uint32_t instruction)
{
	return d->slice->why[instruction].reason != SLICE_OUT;
}

static struct error *add(struct search *s, enum slice_reason reason, uint32_t on)
{
	if (on == s->of || (on < s->d->regions->memory->code->instruction_count && !is_in(s->d, on)))
		return NULL;
	return dependence_vec_append(s->found, (struct dependence){.reason = reason, .on = on, .through = CODE_NONE});
}

/* ---- registers ---- */

/* An argument is what each call gives. */
static struct error *add_given(struct search *s)
{
	const struct code *c = s->d->regions->memory->code;
	uint32_t function = c->argument_function[s->of - c->instruction_count];
	const struct id_set *callers = &s->d->regions->memory->callers[function];
	uint32_t place = s->of - c->functions[function].first_argument;
	struct error *err = NULL;

	for (struct id_iterator i = id_set_begin(callers); !err && id_set_next(callers, &i);) {
		LLVMValueRef call = c->instructions[i.id].value;
		uint32_t given;

		if (!is_in(s->d, i.id))
			continue;
		given = place < LLVMGetNumArgOperands(call) ? code_number(c, LLVMGetOperand(call, place)) : CODE_NONE;
		err = dependence_vec_append(s->found, (struct dependence){SLICE_ARGUMENT, given, i.id, false});
	}
	return err || s->found->count ? err : add(s, SLICE_ARGUMENT, CODE_NONE);
}

/* The operand says where memory is, and not what is read or written there. */
static bool is_address(const struct search *s, LLVMOpcode opcode, uint32_t operand)
{
	LLVMValueRef value = s->d->regions->memory->code->instructions[s->of].value;

	if (opcode == LLVMStore)
		return operand == 1;
	if (ir_is_call(value))
		return LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(value, operand))) == LLVMPointerTypeKind;
	return opcode == LLVMLoad || opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg ? !operand : false;
}

/* A constant among these operands can be the value; among others it only takes part in making it. */
static bool passes_values_on(LLVMOpcode opcode)
{
	return opcode == LLVMStore || opcode == LLVMPHI || opcode == LLVMRet || opcode == LLVMSelect ||
	       opcode == LLVMFreeze;
}

static struct error *add_operands(struct search *s)
{
	const struct code *c = s->d->regions->memory->code;
	const struct code_instruction *x = &c->instructions[s->of];
	struct error *err = NULL;

	for (uint32_t i = 0; i < x->operand_count && !err; i++) {
		uint32_t number = c->operands[x->first_operand + i];
		bool address = is_address(s, x->opcode, i);
		size_t before = s->found->count;

		if (number != CODE_NONE ||
		    (!address && passes_values_on(x->opcode) && LLVMIsConstant(LLVMGetOperand(x->value, i))))
			err = add(s, SLICE_VALUE, number);
		if (s->found->count > before)
			s->found->items[before].is_address = address;
	}
	return err;
}

static struct error *add_returns(struct search *s)
{
	const struct code *c = s->d->regions->memory->code;
	const struct function_ids *callees = &s->d->regions->memory->callees[s->of];
	struct error *err = NULL;

	for (size_t k = 0; k < callees->count; k++) {
		const struct code_function *f = &c->functions[callees->items[k]];

		for (uint32_t i = 0; i < f->instruction_count && !err; i++)
			if (c->instructions[f->first_instruction + i].opcode == LLVMRet)
				err = add(s, SLICE_RETURN, f->first_instruction + i);
	}
	return err;
}

/* ---- control ---- */

static struct error *add_control(struct search *s)
{
	const struct code *c = s->d->regions->memory->code;
	const struct id_set *callers = &s->d->regions->memory->callers[code_function_of(c, s->of)];
	const uint32_t *deciders;
	uint32_t count;
	struct error *err = controls_of(&s->d->controls, c->instructions[s->of].block, &deciders, &count);

	for (uint32_t i = 0; !err && i < count; i++)
		err = add(s, SLICE_CONTROL, control_branch(c, deciders[i]));
	for (struct id_iterator i = id_set_begin(callers); !err && id_set_next(callers, &i);)
		err = add(s, SLICE_CALL, i.id);
	return err;
}

/* ---- memory ---- */

/* block: that the place is in, or of a function the first one. */
static struct error *want(struct search *s, uint32_t place, uint32_t block, const struct id_set *regions)
{
	struct depends *d = s->d;
	bool is_first = !d->wanted[place].count, is_new = false;
	struct error *err;

	if (!regions->count || (d->runs && !d->runs[block]))
		return NULL;
	err = id_set_add_all(&d->wanted[place], regions, s->is_new ? &d->seen[place] : NULL, &is_new);
	if (!err && is_first && is_new)
		err = function_ids_append(&d->touched, place);
	if (err || !is_new || d->is_waiting[place])
		return err;
	d->is_waiting[place] = true;
	return function_ids_append(&d->waiting, place);
}

static uint32_t place_in_front(const struct code *c, uint32_t call)
{
	return WAYS * c->block_count + call;
}

static uint32_t place_of_function(const struct code *c, uint32_t function)
{
	return WAYS * c->block_count + c->instruction_count + function;
}

static size_t place_count(const struct code *c)
{
	return (size_t)WAYS * c->block_count + c->instruction_count + c->function_count;
}

/*
 * On the way up. What neither the function nor those that it calls can change is not looked for in its blocks: it goes to its callers at once.
 * *regions: becomes the rest.
 */
static struct error *pass_function(struct search *s, uint32_t function, struct id_set *regions)
{
	struct depends *d = s->d;
	const struct code *c = d->regions->memory->code;
	const struct id_set *changes = &d->regions->function_changes[function];
	struct error *err = NULL;

	if (d->lands[function])
		return NULL;
	if (!id_set_meets(regions, changes)) {
		err = want(s, place_of_function(c, function), c->functions[function].first_block, regions);
		id_set_clear(regions);
	} else if (!id_set_contains(changes, regions)) {
		id_set_clear(&d->passed);
		err = id_set_add_all(&d->passed, regions, changes, NULL);
		if (!err)
			err = want(s, place_of_function(c, function), c->functions[function].first_block, &d->passed);
		if (!err)
			id_set_remove_all(regions, &d->passed);
	}
	return err;
}

static struct error *want_at_end(struct search *s, uint32_t block, uint32_t way, const struct id_set *regions)
{
	return want(s, WAYS * block + way, block, regions);
}

static struct error *want_in_front(struct search *s, uint32_t call, const struct id_set *regions)
{
	const struct code *c = s->d->regions->memory->code;

	return want(s, place_in_front(c, call), c->instructions[call].block, regions);
}

/* Calls that lead to a backward slice are in it. */
static struct error *want_in_front_of_callers(struct search *s, uint32_t function, const struct id_set *regions)
{
	const struct id_set *callers = &s->d->regions->memory->callers[function];
	struct error *err = NULL;

	for (struct id_iterator i = id_set_begin(callers); !err && id_set_next(callers, &i);)
		if (s->d->slice->is_forward || is_in(s->d, i.id))
			err = want_in_front(s, i.id, regions);
	return err;
}

/* To the ends of a function, which can change some of the regions. */
static struct error *go_down_to(struct search *s, uint32_t function, const struct id_set *regions)
{
	struct depends *d = s->d;
	const struct code *c = d->regions->memory->code;
	const struct code_function *f = &c->functions[function];
	struct error *err = id_set_intersect(regions, &d->regions->function_changes[function], &d->changed);

	for (uint32_t b = f->first_block; !err && d->changed.count && b < f->first_block + f->block_count; b++)
		if (!c->blocks[b].successor_count)
			err = want_at_end(s, b, WAY_DOWN, &d->changed);
	return err;
}

static struct error *sum_changes(struct depends *d, struct call_group *g)
{
	struct error *err = NULL;

	for (size_t k = 0; k < g->callees->count && !err; k++)
		err = id_set_add_all(&g->changes, &d->regions->function_changes[g->callees->items[k]], NULL, NULL);
	g->has_changes = true;
	return err;
}

/* What was looked for in all of the functions need not be looked for there again. */
static struct error *go_down_to_group(struct search *s, struct call_group *g, const struct id_set *regions)
{
	struct id_set *rest = &s->d->rest;
	struct error *err = g->has_changes ? NULL : sum_changes(s->d, g);

	if (!err)
		err = id_set_intersect(regions, &g->changes, rest);
	if (err)
		return err;
	if (s->is_new)
		id_set_remove_all(rest, &g->asked);
	for (size_t k = 0; k < g->callees->count && rest->count && !err; k++)
		err = go_down_to(s, g->callees->items[k], rest);
	return err || !s->is_new ? err : id_set_add_all(&g->asked, rest, NULL, NULL);
}

static struct error *go_down(struct search *s, uint32_t call, const struct id_set *regions)
{
	const struct function_ids *callees = &s->d->regions->memory->callees[call];
	struct call_group *group = call_groups_of(&s->d->groups, call);
	struct error *err = NULL;

	if (group)
		return go_down_to_group(s, group, regions);
	for (size_t k = 0; k < callees->count && !err; k++)
		err = go_down_to(s, callees->items[k], regions);
	return err;
}

/* From behind the instruction to in front of it. */
static struct error *pass(struct search *s, uint32_t i, struct id_set *regions)
{
	const struct regions *r = s->d->regions;
	struct error *err = NULL;

	if (r->memory->callees[i].count)
		err = go_down(s, i, regions);
	if (!err && s->d->landings.count && id_set_has(&s->d->landings, i))
		for (struct id_iterator k = id_set_begin(&s->d->jumps); !err && id_set_next(&s->d->jumps, &k);)
			err = want_in_front(s, k.id, regions);
	if (!err && r->changes[i] && id_set_meets(regions, region_set(r, r->changes[i])))
		err = add(s, SLICE_MEMORY, i);
	if (r->overwrites[i])
		id_set_remove_all(regions, region_set(r, r->overwrites[i]));
	return err;
}

/* From behind instruction `end` - 1 of the block to its beginning, and on to what leads there. */
static struct error *pass_block(struct search *s, uint32_t block, uint32_t end, uint32_t way, struct id_set *regions)
{
	const struct code *c = s->d->regions->memory->code;
	const struct code_block *b = &c->blocks[block];
	struct error *err = way == WAY_UP ? pass_function(s, b->function, regions) : NULL;

	while (end > b->first_instruction && regions->count && !err) {
		uint32_t next = s->d->effect_in_front[end - 1];
		uint32_t to = next == CODE_NONE ? b->first_instruction : next;

		s->d->steps += (end - to) * ((uint64_t)regions->count + 1);
		end = to;
		if (next != CODE_NONE)
			err = pass(s, next, regions);
	}
	if (err || !regions->count)
		return err;
	for (uint32_t i = 0; i < b->predecessor_count && !err; i++)
		err = want_at_end(s, c->predecessors[b->first_predecessor + i], way, regions);
	if (err || way == WAY_DOWN || block != c->functions[b->function].first_block)
		return err;
	return want_in_front_of_callers(s, b->function, regions);
}

static void forget(struct depends *d)
{
	for (size_t i = 0; i < d->touched.count; i++) {
		id_set_clear(&d->wanted[d->touched.items[i]]);
		d->is_waiting[d->touched.items[i]] = false;
	}
	d->touched.count = 0;
	d->waiting.count = 0;
}

static struct error *pass_place(struct search *s, uint32_t place, struct id_set *regions)
{
	const struct code *c = s->d->regions->memory->code;
	const struct code_block *b;

	if (place >= place_of_function(c, 0))
		return want_in_front_of_callers(s, place - place_of_function(c, 0), regions);
	if (place >= place_in_front(c, 0)) {
		place -= place_in_front(c, 0);
		return pass_block(s, c->instructions[place].block, place, WAY_UP, regions);
	}
	b = &c->blocks[place / WAYS];
	return pass_block(s, place / WAYS, b->first_instruction + b->instruction_count, place % WAYS, regions);
}

/* What is looked for at the place need not be looked for there again. */
static struct error *take_new(struct depends *d, uint32_t place)
{
	struct error *err = id_set_add_all(&d->seen[place], &d->wanted[place], NULL, NULL);

	id_set_clear(&d->wanted[place]);
	return err;
}

static struct error *add_stores(struct search *s)
{
	const struct regions *r = s->d->regions;
	struct id_set regions = {0};
	struct error *err = id_set_add_all(&regions, region_set(r, r->reads[s->of]), NULL, NULL);

	if (!err && regions.count)
		err = pass_block(s, r->memory->code->instructions[s->of].block, s->of, WAY_UP, &regions);
	while (!err && s->d->waiting.count) {
		uint32_t place = s->d->waiting.items[--s->d->waiting.count];

		s->d->is_waiting[place] = false;
		id_set_clear(&regions);
		err = id_set_add_all(&regions, &s->d->wanted[place], NULL, NULL);
		if (!err && s->is_new)
			err = take_new(s->d, place);
		if (!err)
			err = pass_place(s, place, &regions);
	}
	id_set_deinit(&regions);
	forget(s->d);
	return err;
}

/* Many loads read one set, and many stores change one: each pair of sets is looked at once. */
struct depends_stores {
	struct function_ids items; /* instructions of the slice that change memory, rising */
	struct id_set changed;     /* in regions.sets: what they change */
	struct id_set *met;        /* [set] those of `changed` that have a region in common with it */
	bool *has_met;             /* [set] */
	bool *is_met;              /* [set] as met[of] */
	uint32_t of;               /* 0: of none, which is the empty set */
	/* depends_on_new */
	struct function_ids left; /* of `items`: those that were not found yet */
	bool *is_done;            /* [set] what changes it was found */
	uint32_t *asked;          /* [set] the last one that it was compared with */
	bool *has_common;         /* [set] and they have a region in common */
};

static void stores_destroy(struct depends_stores *x, size_t set_count)
{
	if (!x)
		return;
	for (size_t i = 0; x->met && i < set_count; i++)
		id_set_deinit(&x->met[i]);
	function_ids_deinit(&x->items);
	function_ids_deinit(&x->left);
	id_set_deinit(&x->changed);
	free(x->met);
	free(x->has_met);
	free(x->is_met);
	free(x->is_done);
	free(x->asked);
	free(x->has_common);
	free(x);
}

static struct error *stores_create(struct depends *d)
{
	const struct regions *r = d->regions;
	size_t count = r->sets.count + 1;
	struct depends_stores *x = calloc(1, sizeof *x);
	struct error *err = NULL;

	if (!x)
		return &error_no_memory;
	d->stores = x;
	x->met = calloc(count, sizeof *x->met);
	x->has_met = calloc(count, sizeof *x->has_met);
	x->is_met = calloc(count, sizeof *x->is_met);
	x->is_done = calloc(count, sizeof *x->is_done);
	x->asked = calloc(count, sizeof *x->asked);
	x->has_common = calloc(count, sizeof *x->has_common);
	if (!x->met || !x->has_met || !x->is_met || !x->is_done || !x->asked || !x->has_common)
		return &error_no_memory;
	for (uint32_t i = 0; i < r->memory->code->instruction_count && !err; i++) {
		if (!is_in(d, i) || !r->changes[i])
			continue;
		err = function_ids_append(&x->items, i);
		if (!err)
			err = function_ids_append(&x->left, i);
		if (!err)
			err = id_set_add(&x->changed, r->changes[i], NULL);
	}
	return err;
}

/* Makes is_met that of what an instruction reads. */
static struct error *meet_stores(const struct regions *r, struct depends_stores *x, uint32_t set)
{
	struct error *err = NULL;

	for (struct id_iterator i = id_set_begin(&x->changed);
	     !x->has_met[set] && !err && id_set_next(&x->changed, &i);)
		if (id_set_meets(region_set(r, set), region_set(r, i.id)))
			err = id_set_add(&x->met[set], i.id, NULL);
	if (err || x->of == set)
		return err;
	for (struct id_iterator i = id_set_begin(&x->met[x->of]); id_set_next(&x->met[x->of], &i);)
		x->is_met[i.id] = false;
	for (struct id_iterator i = id_set_begin(&x->met[set]); id_set_next(&x->met[set], &i);)
		x->is_met[i.id] = true;
	x->has_met[set] = true;
	x->of = set;
	return NULL;
}

/* Another thread may store at any time. */
static struct error *add_all_stores(struct search *s)
{
	const struct regions *r = s->d->regions;
	struct error *err = s->d->stores ? NULL : stores_create(s->d);
	const struct depends_stores *x = s->d->stores;

	if (!err)
		err = meet_stores(r, s->d->stores, r->reads[s->of]);
	for (size_t i = 0; !err && i < x->items.count; i++)
		if (x->is_met[r->changes[x->items.items[i]]])
			err = add(s, SLICE_MEMORY, x->items.items[i]);
	return err;
}

static bool has_common(const struct regions *r, struct depends_stores *x, uint32_t reads, uint32_t changes)
{
	if (x->asked[changes] != reads)
		x->has_common[changes] = id_set_meets(region_set(r, reads), region_set(r, changes));
	x->asked[changes] = reads;
	return x->has_common[changes];
}

static struct error *add_new_stores(struct search *s)
{
	const struct regions *r = s->d->regions;
	struct error *err = s->d->stores ? NULL : stores_create(s->d);
	struct depends_stores *x = s->d->stores;
	uint32_t reads = r->reads[s->of];
	size_t kept = 0;

	if (err || x->is_done[reads])
		return err;
	for (size_t i = 0; i < x->left.count && !err; i++) {
		uint32_t store = x->left.items[i];

		if (has_common(r, x, reads, r->changes[store]))
			err = add(s, SLICE_MEMORY, store);
		else
			x->left.items[kept++] = store;
	}
	x->left.count = kept;
	x->is_done[reads] = true;
	return err;
}

static struct error *add_memory(struct search *s)
{
	size_t before = s->found->count;
	struct error *err;

	if (!s->d->has_threads)
		err = add_stores(s);
	else
		err = s->is_new ? add_new_stores(s) : add_all_stores(s);

	return err || s->found->count > before ? err : add(s, SLICE_MEMORY, CODE_NONE);
}

/* ---- the whole ---- */

static bool has_values(const struct dependence_vec *found)
{
	for (size_t i = 0; i < found->count; i++)
		if (!found->items[i].is_address)
			return true;
	return false;
}

static struct error *search(struct search *s)
{
	const struct regions *r = s->d->regions;
	const struct code *c = r->memory->code;
	struct error *err;

	if (s->of >= c->instruction_count)
		return add_given(s);
	err = r->memory->callees[s->of].count ? add_returns(s) : add_operands(s);
	if (!err && r->reads[s->of])
		err = add_memory(s);
	/* What a library makes of nothing that is known, or of constants, begins there. */
	if (!err && ir_is_call(c->instructions[s->of].value) && !has_values(s->found))
		err = add(s, SLICE_VALUE, CODE_NONE);
	return err ? err : add_control(s);
}

struct error *depends_on(struct depends *d, uint32_t number, struct dependence_vec *ret)
{
	return search(&(struct search){.d = d, .of = number, .found = ret});
}

struct error *depends_on_new(struct depends *d, uint32_t number, struct dependence_vec *ret)
{
	if (!d->seen)
		d->seen = calloc(place_count(d->regions->memory->code) + 1, sizeof *d->seen);
	if (!d->seen)
		return &error_no_memory;
	return search(&(struct search){.d = d, .of = number, .is_new = true, .found = ret});
}

struct error *depends_init(const struct regions *r, const struct slice *s, const bool *runs, struct depends *ret)
{
	const struct code *c = r->memory->code;
	struct depends d = {.regions = r, .slice = s, .runs = runs};
	struct error *err = controls_init(c, &d.controls);

	d.has_threads = jumps_has_threads(c);
	d.wanted = calloc(place_count(c) + 1, sizeof *d.wanted);
	d.is_waiting = calloc(place_count(c) + 1, sizeof *d.is_waiting);
	d.lands = calloc((size_t)c->function_count + 1, sizeof *d.lands);
	if (!err && (!d.wanted || !d.is_waiting || !d.lands))
		err = &error_no_memory;
	if (!err)
		err = jumps_find(r->memory, &d.landings, &d.jumps);
	if (!err)
		err = call_groups_find(r->memory, &d.groups);
	if (!err)
		err = effects_find(r, &d.landings, &d.effect_in_front);
	for (struct id_iterator i = id_set_begin(&d.landings); !err && id_set_next(&d.landings, &i);)
		d.lands[code_function_of(c, i.id)] = true;
	if (err)
		depends_deinit(&d);
	else
		*ret = d;
	return err;
}

void depends_deinit(struct depends *d)
{
	size_t places = d->regions ? place_count(d->regions->memory->code) : 0;

	for (size_t i = 0; d->wanted && i < places; i++)
		id_set_deinit(&d->wanted[i]);
	for (size_t i = 0; d->seen && i < places; i++)
		id_set_deinit(&d->seen[i]);
	if (d->regions)
		stores_destroy(d->stores, d->regions->sets.count);
	free(d->wanted);
	free(d->seen);
	free(d->is_waiting);
	free(d->lands);
	call_groups_deinit(&d->groups);
	free(d->effect_in_front);
	id_set_deinit(&d->passed);
	id_set_deinit(&d->changed);
	id_set_deinit(&d->rest);
	controls_deinit(&d->controls);
	id_set_deinit(&d->landings);
	id_set_deinit(&d->jumps);
	function_ids_deinit(&d->touched);
	function_ids_deinit(&d->waiting);
	*d = (struct depends){0};
}
