/* regions.c - what instructions touch, from the points-to sets of the pointers that they access memory by (regions.h). */
#include "analyze/regions.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/library.h"
#include "base/text.h"
#include "llvm/ir.h"

enum {
	INSTRUCTIONS_TOLD = 16384, /* each so many are a step that is told */
	ANY_BYTES = INT32_MAX / 2, /* of a string, a stream, a copy of unknown length */
};

/* What was stored to a location, and what that changes. */
struct written {
	struct region region;
	struct id_set changes;
	bool is_known;
};
VEC_DECLARE(written_vec, struct written);

/* What is asked of an instruction: first all that is read, then what is changed. */
enum pass {
	PASS_READS,
	PASS_CHANGES
};

struct builder {
	struct regions *r;
	const struct memory *m;
	const bool *runs;
	struct function_ids *of_object; /* [object] regions */
	struct function_ids *passed;    /* [function] objects that a call of it fills */
	struct written_vec written;
	struct slotmap written_map;
	struct hashmap accesses; /* set of locations, bytes and pass -> set_of_access */
	struct function_ids set_of_access;
	struct id_set foreign_reads, foreign_changes;
	uint64_t *bits; /* scratch, a bit for each region; NULL until all of them are known */
};

static const struct location *location_of(const struct memory *m, uint32_t location)
{
	return &pointers_locations(m->pointers)->items.items[location];
}

/* Takes the set, and leaves an empty one. */
static struct error *intern(struct regions *r, struct id_set *set, uint32_t *ret)
{
	return id_sets_intern(&r->sets, &r->set_map, set, ret);
}

/* ---- regions ---- */

static uint64_t hash_of_region(const struct region *x)
{
	return slotmap_hash(x->location, x->len_bytes);
}

static uint64_t hash_of_regions(const void *keys, uint32_t number)
{
	return hash_of_region(&((const struct region *)keys)[number]);
}

static bool is_same_region(const void *keys, uint32_t number, const void *key)
{
	const struct region *a = &((const struct region *)keys)[number], *b = key;

	return a->location == b->location && a->len_bytes == b->len_bytes;
}

static struct error *add_region(struct builder *b, uint32_t location, uint32_t len_bytes, uint32_t *ret)
{
	struct region x = {location, len_bytes};
	struct error *err = slotmap_reserve(&b->r->map, hash_of_regions, b->r->items.items);
	uint32_t *slot;

	if (err)
		return err;
	slot = slotmap_find(&b->r->map, hash_of_region(&x), is_same_region, b->r->items.items, &x);
	if (!*slot) {
		err = region_vec_append(&b->r->items, x);
		if (err)
			return err;
		*slot = ++b->r->map.count;
		if (location != CODE_NONE)
			err = function_ids_append(&b->of_object[location_of(b->m, location)->object], *slot - 1);
	}
	*ret = *slot - 1;
	return err;
}

/*
 * The coarser analysis has one place an object, whose accesses meet whatever their lengths: they are one region. Not in the finer one, which is
 * asked for the lengths, too (omissions.h).
 */
static uint32_t length_at(const struct builder *b, uint32_t len_bytes)
{
	return b->m->is_coarse && len_bytes ? ANY_BYTES : len_bytes;
}

static struct error *read_all(struct builder *b, const struct id_set *locations, uint32_t len_bytes,
			      struct id_set *reads)
{
	struct error *err = NULL;
	uint32_t region;

	for (struct id_iterator i = id_set_begin(locations); !err && id_set_next(locations, &i);) {
		err = add_region(b, i.id, length_at(b, len_bytes), &region);
		if (!err)
			err = id_set_add(reads, region, NULL);
	}
	return err;
}

static uint64_t hash_of_written(const void *keys, uint32_t number)
{
	return hash_of_region(&((const struct written *)keys)[number].region);
}

static bool is_same_written(const void *keys, uint32_t number, const void *key)
{
	return is_same_region(&((const struct written *)keys)[number].region, 0, key);
}

/* The regions that a store there can change. All regions are known by now. */
static struct error *changes_of(struct builder *b, const struct region *x, const struct id_set **ret)
{
	struct error *err = slotmap_reserve(&b->written_map, hash_of_written, b->written.items);
	const struct location *at = location_of(b->m, x->location);
	const struct function_ids *others = &b->of_object[at->object];
	struct written *w;
	uint32_t *slot;

	if (err)
		return err;
	slot = slotmap_find(&b->written_map, hash_of_region(x), is_same_written, b->written.items, x);
	if (*slot) {
		*ret = &b->written.items[*slot - 1].changes;
		return NULL;
	}
	err = written_vec_append(&b->written, (struct written){.region = *x});
	if (err)
		return err;
	*slot = ++b->written_map.count;
	w = &b->written.items[*slot - 1];
	for (size_t i = 0; i < others->count && !err; i++) {
		const struct region *other = &b->r->items.items[others->items[i]];

		if (locations_meet(at, x->len_bytes, location_of(b->m, other->location), other->len_bytes))
			err = id_set_add(&w->changes, others->items[i], NULL);
	}
	*ret = &w->changes;
	return err;
}

static struct error *open_bits(struct builder *b)
{
	b->bits = calloc(b->r->items.count / 64 + 1, sizeof *b->bits);
	return b->bits ? NULL : &error_no_memory;
}

static struct error *change_all(struct builder *b, const struct id_set *locations, uint32_t len_bytes,
				struct id_set *changes)
{
	struct id_set found = {0};
	struct error *err = b->bits ? NULL : open_bits(b);

	for (struct id_iterator i = id_set_begin(locations); !err && id_set_next(locations, &i);) {
		const struct id_set *those;

		err = changes_of(b, &(struct region){i.id, length_at(b, len_bytes)}, &those);
		if (!err)
			id_set_add_to_bits(those, b->bits);
	}
	if (!err)
		err = id_set_take_bits(b->bits, (uint32_t)(b->r->items.count / 64) + 1, &found);
	if (!err)
		err = id_set_add_all(changes, &found, NULL, NULL);
	id_set_deinit(&found);
	return err;
}

/* *ret: in r->sets, the regions that an access of so many bytes there reads or changes. Many pointers have one set of locations; NULL: none. */
static struct error *access_any(struct builder *b, const struct id_set *locations, uint32_t len_bytes, enum pass pass,
				uint32_t *ret)
{
	struct key key = {{(uintptr_t)locations, length_at(b, len_bytes), pass}};
	uint32_t number, before = b->accesses.count;
	struct id_set set = {0};
	struct error *err;

	*ret = 0;
	if (!locations)
		return NULL;
	err = hashmap_add(&b->accesses, &key, &number);
	if (!err && number == before) {
		err = pass == PASS_READS ? read_all(b, locations, len_bytes, &set)
					 : change_all(b, locations, len_bytes, &set);
		if (!err)
			err = intern(b->r, &set, ret);
		if (!err)
			err = function_ids_append(&b->set_of_access, *ret);
		id_set_deinit(&set);
	}
	if (!err)
		*ret = b->set_of_access.items[number];
	return err;
}

static struct error *access(struct builder *b, LLVMValueRef pointer, uint32_t len_bytes, enum pass pass, uint32_t *ret)
{
	return access_any(b, pointer ? memory_of(b->m, pointer) : NULL, len_bytes, pass, ret);
}

static struct error *add_access_any(struct builder *b, const struct id_set *locations, uint32_t len_bytes,
				    enum pass pass, struct id_set *regions)
{
	uint32_t number;
	struct error *err = access_any(b, locations, len_bytes, pass, &number);

	return err ? err : id_set_add_all(regions, region_set(b->r, number), NULL, NULL);
}

static struct error *add_access(struct builder *b, LLVMValueRef pointer, uint32_t len_bytes, enum pass pass,
				struct id_set *regions)
{
	return add_access_any(b, pointer ? memory_of(b->m, pointer) : NULL, len_bytes, pass, regions);
}

/* One place of memory at a time: a global, or a variable of a function that is there once. */
static bool is_single(const struct builder *b, uint32_t object)
{
	const struct memory_object *o = &b->m->objects.items[object];

	if (o->kind == MEMORY_FRAME) {
		uint32_t block = code_block_number(b->m->code, LLVMGetInstructionParent(o->value));

		return !b->r->is_recursive[o->function] && block == b->m->code->functions[o->function].first_block;
	}
	return o->kind == MEMORY_VARIABLE;
}

/* A store through this pointer is to one known place. */
static struct error *overwrite_by(struct builder *b, LLVMValueRef pointer, uint32_t len_bytes,
				  struct id_set *overwrites)
{
	const struct id_set *locations = memory_of(b->m, pointer);
	struct id_iterator only;
	const struct location *at;
	const struct function_ids *others;
	struct error *err = NULL;

	if (!locations || locations->count != 1 || id_set_size(locations) != 1)
		return NULL;
	only = id_set_begin(locations);
	id_set_next(locations, &only);
	at = location_of(b->m, only.id);
	if (at->stride || !is_single(b, at->object))
		return NULL;
	others = &b->of_object[at->object];
	for (size_t i = 0; i < others->count && !err; i++) {
		const struct region *other = &b->r->items.items[others->items[i]];
		const struct location *there = location_of(b->m, other->location);

		if (!there->stride && there->first >= at->first &&
		    (int64_t)there->first + other->len_bytes <= (int64_t)at->first + len_bytes)
			err = id_set_add(overwrites, others->items[i], NULL);
	}
	return err;
}

/* ---- instructions ---- */

struct touched {
	struct id_set set, overwritten;
};

static uint32_t length_of(LLVMValueRef call, unsigned argument)
{
	LLVMValueRef length = LLVMGetNumArgOperands(call) > argument ? LLVMGetOperand(call, argument) : NULL;

	if (!length || !LLVMIsAConstantInt(length) || LLVMConstIntGetZExtValue(length) > ANY_BYTES)
		return ANY_BYTES;
	return (uint32_t)LLVMConstIntGetZExtValue(length);
}

static struct error *touch_argument(struct builder *b, LLVMValueRef call, uint32_t number, uint32_t len_bytes,
				    enum pass pass, struct touched *ret)
{
	LLVMValueRef pointer = number < LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, number) : NULL;

	return add_access(b, pointer, len_bytes, pass, &ret->set);
}

/* All of an object. */
static struct error *change_object(struct builder *b, uint32_t object, struct id_set *changes)
{
	struct location everywhere = {.object = object, .stride = 1, .end = LOCATION_NO_END};
	struct id_set all = {0};
	uint32_t location;
	struct error *err = locations_get(pointers_locations(b->m->pointers), &everywhere, &location);

	if (!err)
		err = id_set_add(&all, location, NULL);
	if (!err)
		err = change_all(b, &all, ANY_BYTES, changes);
	id_set_deinit(&all);
	return err;
}

static struct error *touch_state(struct builder *b, enum library_state state, enum pass pass, struct id_set *regions)
{
	return add_access_any(b, memory_of_state(b->m, state), ANY_BYTES, pass, regions);
}

/* Code outside that is not known may use all states of the library. */
static struct error *touch_states(struct builder *b, enum pass pass, struct id_set *regions)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < LIBRARY_STATES && !err; i++)
		err = touch_state(b, i, pass, regions);
	return err;
}

/* The call gives a new object its contents: zeros, or a copy of something. Who reads them has a pointer that the call made, so that the call is in a
 * slice anyway; this names it as where the value comes from. */
static struct error *change_new(struct builder *b, LLVMValueRef call, struct touched *ret)
{
	struct error *err = NULL;

	for (size_t i = 0; i < b->m->objects.count && !err; i++)
		if (b->m->objects.items[i].kind == MEMORY_HEAP && b->m->objects.items[i].value == call)
			err = change_object(b, (uint32_t)i, &ret->set);
	return err;
}

static struct error *touch_library(struct builder *b, LLVMValueRef call, const struct library_function *f,
				   LLVMValueRef callee, enum pass pass, struct touched *ret)
{
	unsigned named = LLVMCountParams(callee), given = LLVMGetNumArgOperands(call);
	struct error *err = NULL;

	for (uint32_t i = 0; i < f->count && !err; i++) {
		const struct library_effect *e = &f->effects[i];
		bool is_read = e->kind == LIBRARY_READS, is_write = e->kind == LIBRARY_WRITES;

		if (e->kind == LIBRARY_COPIES) {
			is_read = pass == PASS_READS;
			err = touch_argument(b, call, is_read ? e->b : e->a, length_of(call, 2), pass, ret);
		} else if (e->kind == LIBRARY_NEW) {
			err = pass == PASS_CHANGES ? change_new(b, call, ret) : NULL;
		} else if (e->kind == LIBRARY_PUTS_NEW || e->kind == LIBRARY_POINTS) {
			if (pass == PASS_CHANGES && e->kind == LIBRARY_PUTS_NEW)
				err = change_new(b, call, ret);
			if (pass == PASS_CHANGES && !err)
				err = touch_argument(b, call, e->a, sizeof(uint64_t), pass, ret);
		} else if (e->kind == LIBRARY_GETS || e->kind == LIBRARY_SETS) {
			if ((e->kind == LIBRARY_GETS) == (pass == PASS_READS))
				err = touch_state(b, e->a, pass, &ret->set);
		} else if (e->kind == LIBRARY_LISTS) {
			if (pass == PASS_READS)
				err = add_access_any(b, memory_of_list(b->m, code_number(b->m->code, call)), ANY_BYTES,
						     pass, &ret->set);
		} else if (e->kind == LIBRARY_LEADS) {
			err = add_access(b, call, ANY_BYTES, pass, &ret->set);
		} else if (is_read == (pass == PASS_READS) && (is_read || is_write)) {
			unsigned first = e->a == LIBRARY_VARIABLE ? named : e->a,
				 end = e->a == LIBRARY_VARIABLE ? given : first + 1;

			for (unsigned k = first; k < end && !err; k++)
				err = touch_argument(b, call, k, length_of(call, e->b), pass, ret);
		}
	}
	if (pass == PASS_CHANGES && !err && f->may_not_return)
		err = id_set_add(&ret->set, REGION_CONTROL, NULL);
	return err;
}

static struct error *touch_intrinsic(struct builder *b, LLVMValueRef call, const char *name, enum pass pass,
				     struct touched *ret)
{
	bool is_copy = text_begins(name, "llvm.memcpy") || text_begins(name, "llvm.memmove");

	if (is_copy || text_begins(name, "llvm.memset")) {
		struct error *err = NULL;

		if (pass == PASS_READS)
			return is_copy ? touch_argument(b, call, 1, length_of(call, 2), pass, ret) : NULL;
		err = touch_argument(b, call, 0, length_of(call, 2), pass, ret);
		if (!err && length_of(call, 2) != ANY_BYTES)
			err = overwrite_by(b, LLVMGetOperand(call, 0), length_of(call, 2), &ret->overwritten);
		return err;
	}
	if (text_begins(name, "llvm.va_start"))
		return pass == PASS_CHANGES ? touch_argument(b, call, 0, 24, pass, ret) : NULL;
	if (text_begins(name, "llvm.va_copy"))
		return touch_argument(b, call, pass == PASS_READS, 24, pass, ret);
	return NULL;
}

static struct error *touch_foreign(struct builder *b, enum pass pass, struct touched *ret)
{
	return id_set_add_all(&ret->set, pass == PASS_READS ? &b->foreign_reads : &b->foreign_changes, NULL, NULL);
}

/* What is passed by value is read by the call. */
static struct error *read_copied(struct builder *b, LLVMValueRef call, struct touched *ret)
{
	unsigned kind = ir_attribute_kind("byval");
	struct error *err = NULL;

	for (unsigned i = 0; i < LLVMGetNumArgOperands(call) && !err; i++) {
		LLVMAttributeRef attribute = LLVMGetCallSiteEnumAttribute(call, i + 1, kind);

		if (attribute)
			err = touch_argument(b, call, i,
					     memory_access_bytes(b->m, LLVMGetTypeAttributeValue(attribute)),
					     PASS_READS, ret);
	}
	return err;
}

/* Of code outside of the module; what functions of the module do is theirs. */
static struct error *touch_call(struct builder *b, uint32_t number, enum pass pass, struct touched *ret)
{
	LLVMValueRef call = b->m->code->instructions[number].value, callee = code_callee(call);
	struct library_function f;
	struct error *err = NULL;

	if (callee && LLVMGetIntrinsicID(callee))
		return touch_intrinsic(b, call, LLVMGetValueName(callee), pass, ret);
	if (pass == PASS_READS)
		err = read_copied(b, call, ret);
	if (!err && b->m->calls_foreign[number])
		err = touch_foreign(b, pass, ret);
	if (!err && b->m->calls_foreign[number] && pass == PASS_CHANGES)
		err = id_set_add(&ret->set, REGION_CONTROL, NULL);
	if (!err && callee && LLVMIsDeclaration(callee) && library_find(LLVMGetValueName(callee), &f))
		err = touch_library(b, call, &f, callee, pass, ret);
	/* Libraries' functions through a pointer. */
	if (!err && !callee) {
		const struct id_set *targets = memory_of(b->m, LLVMGetCalledValue(call));

		for (struct id_iterator i = targets ? id_set_begin(targets) : (struct id_iterator){0};
		     targets && !err && id_set_next(targets, &i);) {
			const struct memory_object *o = &b->m->objects.items[location_of(b->m, i.id)->object];

			if (o->kind == MEMORY_FUNCTION && LLVMIsDeclaration(o->value) &&
			    library_find(LLVMGetValueName(o->value), &f))
				err = touch_library(b, call, &f, o->value, pass, ret);
		}
	}
	return err;
}

/* t: scratch, empty before and behind. */
static struct error *touch(struct builder *b, uint32_t number, enum pass pass, struct touched *t)
{
	const struct code_instruction *i = &b->m->code->instructions[number];
	struct error *err;
	uint32_t bytes;

	switch (i->opcode) {
	case LLVMLoad:
		if (pass == PASS_READS)
			return access(b, LLVMGetOperand(i->value, 0), memory_access_bytes(b->m, LLVMTypeOf(i->value)),
				      pass, &b->r->reads[number]);
		return NULL;
	case LLVMStore:
		if (pass == PASS_READS)
			return NULL;
		bytes = memory_access_bytes(b->m, LLVMTypeOf(LLVMGetOperand(i->value, 0)));
		err = access(b, LLVMGetOperand(i->value, 1), bytes, pass, &b->r->changes[number]);
		if (!err)
			err = overwrite_by(b, LLVMGetOperand(i->value, 1), bytes, &t->overwritten);
		return err ? err : intern(b->r, &t->overwritten, &b->r->overwrites[number]);
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		bytes = memory_access_bytes(b->m, LLVMTypeOf(LLVMGetOperand(i->value, 1)));
		return access(b, LLVMGetOperand(i->value, 0), bytes, pass,
			      pass == PASS_READS ? &b->r->reads[number] : &b->r->changes[number]);
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr:
		err = touch_call(b, number, pass, t);
		if (!err)
			err = intern(b->r, &t->set, pass == PASS_READS ? &b->r->reads[number] : &b->r->changes[number]);
		return err ? err : intern(b->r, &t->overwritten, &b->r->overwrites[number]);
	default:
		return NULL;
	}
}

static struct error *touch_all(struct builder *b, enum pass pass)
{
	struct touched t = {0};
	struct error *err = NULL;

	for (uint32_t i = 0; i < b->m->code->instruction_count && !err; i++) {
		if (!(i % INSTRUCTIONS_TOLD))
			watch_tell(b->m->code->watch, "what instructions touch", i);
		if (!b->runs || b->runs[b->m->code->instructions[i].block])
			err = touch(b, i, pass, &t);
	}
	id_set_deinit(&t.set);
	id_set_deinit(&t.overwritten);
	return err;
}

/* ---- what calls pass in memory ---- */

static struct error *list_passed(struct builder *b)
{
	struct error *err = NULL;

	for (size_t i = 0; i < b->m->objects.count && !err; i++) {
		const struct memory_object *o = &b->m->objects.items[i];

		if (o->kind == MEMORY_VARIADIC || o->kind == MEMORY_BYVAL)
			err = function_ids_append(&b->passed[o->function], (uint32_t)i);
	}
	return err;
}

static struct error *pass_all(struct builder *b)
{
	struct id_set passed = {0};
	struct error *err = list_passed(b);

	for (uint32_t i = 0; i < b->m->code->instruction_count && !err; i++) {
		const struct function_ids *callees = &b->m->callees[i];

		for (size_t k = 0; k < callees->count && !err; k++) {
			const struct function_ids *objects = &b->passed[callees->items[k]];

			for (size_t o = 0; o < objects->count && !err; o++)
				err = change_object(b, objects->items[o], &passed);
		}
		if (!err)
			err = intern(b->r, &passed, &b->r->passes[i]);
	}
	id_set_deinit(&passed);
	return err;
}

/* ---- functions ---- */

/* What a function can change is what its instructions and those that they call can. */
static struct error *sum_changes(struct regions *r)
{
	const struct code *c = r->memory->code;
	uint32_t *added = calloc(r->sets.count + 1, sizeof *added); /* [set] 1 + the function that has it already */
	struct error *err = NULL;

	r->function_changes = calloc(c->function_count + 1, sizeof *r->function_changes);
	if (!added || !r->function_changes)
		err = &error_no_memory;
	for (uint32_t i = 0; i < c->instruction_count && !err; i++) {
		uint32_t function = code_function_of(c, i), set = r->changes[i];

		if (added[set] == function + 1)
			continue;
		added[set] = function + 1;
		err = id_set_add_all(&r->function_changes[function], region_set(r, set), NULL, NULL);
	}
	free(added);
	return err ? err : call_order_sum(&r->calls, r->memory, r->function_changes);
}

static struct error *order_calls(struct regions *r)
{
	struct error *err = call_order_find(r->memory, &r->calls);

	r->is_recursive = r->calls.is_recursive;
	return err;
}

struct error *regions_sum(struct regions *r)
{
	struct error *err = order_calls(r);

	return err ? err : sum_changes(r);
}

static struct error *allocate(struct builder *b)
{
	const struct code *c = b->m->code;
	struct regions *r = b->r;

	r->reads = calloc(c->instruction_count + 1, sizeof *r->reads);
	r->changes = calloc(c->instruction_count + 1, sizeof *r->changes);
	r->overwrites = calloc(c->instruction_count + 1, sizeof *r->overwrites);
	r->passes = calloc(c->instruction_count + 1, sizeof *r->passes);
	b->of_object = calloc(b->m->objects.count + 1, sizeof *b->of_object);
	b->passed = calloc(c->function_count + 1, sizeof *b->passed);
	return r->reads && r->changes && r->overwrites && r->passes && b->passed && b->of_object ? NULL
												 : &error_no_memory;
}

static void builder_deinit(struct builder *b)
{
	for (size_t i = 0; b->of_object && i < b->m->objects.count; i++)
		function_ids_deinit(&b->of_object[i]);
	for (size_t i = 0; i < b->written.count; i++)
		id_set_deinit(&b->written.items[i].changes);
	for (uint32_t i = 0; b->passed && i < b->m->code->function_count; i++)
		function_ids_deinit(&b->passed[i]);
	free(b->of_object);
	free(b->passed);
	written_vec_deinit(&b->written);
	slotmap_deinit(&b->written_map);
	hashmap_deinit(&b->accesses);
	function_ids_deinit(&b->set_of_access);
	id_set_deinit(&b->foreign_reads);
	id_set_deinit(&b->foreign_changes);
	free(b->bits);
}

struct error *regions_find(const struct memory *m, const bool *runs, struct regions *ret)
{
	struct builder b = {.r = ret, .m = m, .runs = runs};
	struct id_set nothing = {0};
	uint32_t number;
	struct error *err;

	*ret = (struct regions){.memory = m};
	err = allocate(&b);
	if (!err)
		err = intern(ret, &nothing, &number);
	if (!err)
		err = add_region(&b, CODE_NONE, 0, &number);
	if (!err)
		err = order_calls(ret);
	if (!err)
		err = read_all(&b, memory_foreign(m), ANY_BYTES, &b.foreign_reads);
	if (!err)
		err = touch_states(&b, PASS_READS, &b.foreign_reads);
	if (!err)
		err = touch_all(&b, PASS_READS);
	if (!err)
		err = change_all(&b, memory_foreign(m), ANY_BYTES, &b.foreign_changes);
	if (!err)
		err = touch_states(&b, PASS_CHANGES, &b.foreign_changes);
	if (!err)
		err = touch_all(&b, PASS_CHANGES);
	if (!err)
		err = pass_all(&b);
	if (!err)
		err = sum_changes(ret);
	builder_deinit(&b);
	if (err)
		regions_deinit(ret);
	return err;
}

void regions_deinit(struct regions *r)
{
	for (uint32_t i = 0; r->function_changes && i < r->memory->code->function_count; i++)
		id_set_deinit(&r->function_changes[i]);
	free(r->reads);
	free(r->changes);
	free(r->overwrites);
	free(r->passes);
	free(r->function_changes);
	call_order_deinit(&r->calls);
	region_vec_deinit(&r->items);
	slotmap_deinit(&r->map);
	id_sets_deinit(&r->sets, &r->set_map);
	*r = (struct regions){0};
}
