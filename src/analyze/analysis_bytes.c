/* analysis_bytes.c - writes and reads analyses in one order, part after part (analysis_bytes.h). */
#include "analyze/analysis_bytes.h"

#include <stdlib.h>

#include "analyze/memory_build.h"

/* ---- hash ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	return slotmap_hash(hash, word);
}

uint64_t analysis_hash_of_code(const struct code *c)
{
	uint64_t hash = mix(c->function_count, c->argument_count);

	for (uint32_t b = 0; b < c->block_count; b++) {
		hash = mix(hash, c->blocks[b].function);
		for (uint32_t i = 0; i < c->blocks[b].successor_count; i++)
			hash = mix(hash, c->successors[c->blocks[b].first_successor + i]);
	}
	for (uint32_t i = 0; i < c->instruction_count; i++) {
		hash = mix(hash, (uint64_t)c->instructions[i].opcode << 32 | c->instructions[i].block);
		for (uint32_t k = 0; k < c->instructions[i].operand_count; k++)
			hash = mix(hash, c->operands[c->instructions[i].first_operand + k]);
	}
	return hash;
}

/* ---- values ---- */

/* Global variables by their order in the module. */
struct globals {
	struct hashmap numbers;
	LLVMValueRef *values; /* [numbers.count] */
};

static struct error *globals_find(const struct code *c, struct globals *ret)
{
	struct globals g = {0};
	struct error *err = NULL;
	uint32_t count = 0, number;

	for (LLVMValueRef v = LLVMGetFirstGlobal(c->module); v; v = LLVMGetNextGlobal(v))
		count++;
	g.values = calloc((size_t)count + 1, sizeof(*g.values));
	if (!g.values)
		return &error_no_memory;
	for (LLVMValueRef v = LLVMGetFirstGlobal(c->module); v && !err; v = LLVMGetNextGlobal(v)) {
		err = hashmap_add(&g.numbers, &(struct key){{(uintptr_t)v, 0, 0}}, &number);
		if (!err)
			g.values[number] = v;
	}
	if (err) {
		hashmap_deinit(&g.numbers);
		free(g.values);
	} else {
		*ret = g;
	}
	return err;
}

static void globals_deinit(struct globals *g)
{
	hashmap_deinit(&g->numbers);
	free(g->values);
}

enum value_kind {
	VALUE_NONE,
	VALUE_FUNCTION,
	VALUE_GLOBAL,
	VALUE_REGISTER, /* instruction or argument */
};

static void write_value(const struct code *c, const struct globals *g, LLVMValueRef value, struct buffer *ret)
{
	uint32_t number = CODE_NONE;
	enum value_kind kind = VALUE_NONE;

	if (value && LLVMIsAFunction(value)) {
		kind = VALUE_FUNCTION;
		number = code_function_number(c, value);
	} else if (value && hashmap_find(&g->numbers, &(struct key){{(uintptr_t)value, 0, 0}}, &number)) {
		kind = VALUE_GLOBAL;
	} else if (value) {
		kind = VALUE_REGISTER;
		number = code_number(c, value);
	}
	buffer_u8(ret, (uint8_t)kind);
	if (kind)
		buffer_uleb128(ret, number);
}

static LLVMValueRef register_at(const struct code *c, uint32_t number)
{
	const struct code_function *f;

	if (number < c->instruction_count)
		return c->instructions[number].value;
	f = &c->functions[c->argument_function[number - c->instruction_count]];
	return LLVMGetParam(f->value, number - f->first_argument);
}

/* A number below `end`. */
static struct error *read_below(struct cursor *bytes, uint64_t end, uint32_t *ret)
{
	uint32_t number;
	struct error *err = cursor_uleb32(bytes, &number);

	if (!err && number >= end)
		err = cursor_error(bytes, "%u is too large a number", number);
	if (!err)
		*ret = number;
	return err;
}

static struct error *read_value(struct cursor *bytes, const struct code *c, const struct globals *g, LLVMValueRef *ret)
{
	uint8_t kind;
	uint32_t number;
	struct error *err = cursor_u8(bytes, &kind);

	*ret = NULL;
	if (err || kind == VALUE_NONE)
		return err;
	if (kind == VALUE_FUNCTION) {
		err = read_below(bytes, c->function_count, &number);
		if (!err)
			*ret = c->functions[number].value;
	} else if (kind == VALUE_GLOBAL) {
		err = read_below(bytes, g->numbers.count, &number);
		if (!err)
			*ret = g->values[number];
	} else {
		err = read_below(bytes, (uint64_t)c->instruction_count + c->argument_count, &number);
		if (!err)
			*ret = register_at(c, number);
	}
	return err;
}

/* ---- sets and arrays ---- */

static void write_set(const struct id_set *set, struct buffer *ret)
{
	uint32_t last = 0;

	buffer_uleb128(ret, set->count);
	for (uint32_t i = 0; i < set->count; i++) {
		buffer_uleb128(ret, set->words[i].index - last);
		buffer_u64(ret, set->words[i].bits);
		last = set->words[i].index;
	}
}

static struct error *read_set(struct cursor *bytes, uint64_t end, struct id_set *ret)
{
	uint32_t count = 0, index = 0;
	struct error *err = read_below(bytes, end / 64 + 2, &count);

	for (uint32_t i = 0; i < count && !err; i++) {
		uint32_t more;
		uint64_t bits;

		err = cursor_uleb32(bytes, &more);
		if (!err)
			err = cursor_u64(bytes, &bits);
		if (err)
			return err;
		if ((i && !more) || !bits || (uint64_t)index + more > end / 64 ||
		    ((uint64_t)index + more) * 64 + 63 - (uint64_t)__builtin_clzll(bits) >= end)
			return cursor_error(bytes, "this is no set");
		index += more;
		err = id_set_append_word(ret, (struct id_word){index, bits});
	}
	return err;
}

static void write_sets(const struct id_set *sets, size_t count, struct buffer *ret)
{
	buffer_uleb128(ret, count);
	for (size_t i = 0; i < count; i++)
		write_set(&sets[i], ret);
}

static struct error *read_sets(struct cursor *bytes, uint64_t end, struct id_set_vec *ret)
{
	uint32_t count = 0;
	struct error *err = read_below(bytes, cursor_left(bytes), &count);

	for (uint32_t i = 0; i < count && !err; i++) {
		struct id_set set = {0};

		err = read_set(bytes, end, &set);
		if (!err)
			err = id_set_vec_append(ret, set);
		if (err)
			id_set_deinit(&set);
	}
	return err;
}

static void write_numbers(const uint32_t *numbers, uint32_t count, struct buffer *ret)
{
	for (uint32_t i = 0; i < count; i++)
		buffer_uleb128(ret, numbers[i]);
}

static struct error *read_numbers(struct cursor *bytes, uint32_t count, uint64_t end, uint32_t *ret)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < count && !err; i++)
		err = read_below(bytes, end, &ret[i]);
	return err;
}

static void write_bools(const bool *bools, uint32_t count, struct buffer *ret)
{
	for (uint32_t i = 0; i < count; i += 8) {
		uint8_t bits = 0;

		for (uint32_t k = i; k < count && k < i + 8; k++)
			bits |= (uint8_t)(bools[k] << (k - i));
		buffer_u8(ret, bits);
	}
}

static struct error *read_bools(struct cursor *bytes, uint32_t count, bool *ret)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < count && !err; i += 8) {
		uint8_t bits;

		err = cursor_u8(bytes, &bits);
		for (uint32_t k = i; !err && k < count && k < i + 8; k++)
			ret[k] = bits >> (k - i) & 1;
	}
	return err;
}

/* ---- objects and locations ---- */

static void write_objects(const struct memory *m, const struct globals *g, struct buffer *ret)
{
	buffer_uleb128(ret, m->objects.count);
	for (size_t i = 0; i < m->objects.count; i++) {
		const struct memory_object *o = &m->objects.items[i];

		buffer_u8(ret, (uint8_t)o->kind);
		write_value(m->code, g, o->value, ret);
		buffer_uleb128(ret, o->function);
		buffer_uleb128(ret, o->size_bytes);
	}
}

static struct error *read_object(struct cursor *bytes, const struct code *c, const struct globals *g,
				 struct memory_object *ret)
{
	uint8_t kind;
	struct error *err = cursor_u8(bytes, &kind);

	if (!err && kind > MEMORY_INNER)
		err = cursor_error(bytes, "there is no object of kind %u", kind);
	if (!err)
		err = read_value(bytes, c, g, &ret->value);
	if (!err)
		err = read_below(bytes, (uint64_t)c->function_count + 1, &ret->function);
	if (!err)
		err = cursor_uleb128(bytes, &ret->size_bytes);
	if (!err)
		ret->kind = (enum memory_object_kind)kind;
	return err;
}

static struct error *read_objects(struct cursor *bytes, const struct globals *g, struct memory *m)
{
	uint32_t count = 0, made;
	struct error *err = read_below(bytes, cursor_left(bytes), &count);

	for (uint32_t i = 0; i < count && !err; i++) {
		struct memory_object object = {0};

		err = read_object(bytes, m->code, g, &object);
		if (!err)
			err = memory_object_vec_append(&m->objects, object);
		if (!err)
			err = locations_add_object(pointers_locations(m->pointers), &made);
	}
	return err;
}

static void write_locations(const struct locations *l, struct buffer *ret)
{
	/* The solver's own objects that come last are in no list of the program's. */
	buffer_uleb128(ret, l->of_object.count);
	buffer_uleb128(ret, l->items.count);
	for (size_t i = 0; i < l->items.count; i++) {
		const struct location *x = &l->items.items[i];

		buffer_uleb128(ret, x->object);
		buffer_uleb128(ret, (uint32_t)x->first);
		buffer_uleb128(ret, x->stride);
		buffer_uleb128(ret, (uint32_t)x->end);
	}
}

static struct error *read_location(struct cursor *bytes, struct locations *l, uint32_t number)
{
	struct location x;
	uint32_t first, end, got;
	struct error *err = read_below(bytes, l->of_object.count, &x.object);

	if (!err)
		err = cursor_uleb32(bytes, &first);
	if (!err)
		err = cursor_uleb32(bytes, &x.stride);
	if (!err)
		err = cursor_uleb32(bytes, &end);
	if (err)
		return err;
	x.first = (int32_t)first;
	x.end = (int32_t)end;
	err = locations_restore(l, &x, &got);
	return err || got == number ? err : cursor_error(bytes, "a location is there twice");
}

static struct error *read_locations(struct cursor *bytes, struct memory *m)
{
	struct locations *l = pointers_locations(m->pointers);
	uint32_t objects, count, made;
	struct error *err = read_below(bytes, UINT32_MAX, &objects);

	if (!err)
		err = read_below(bytes, cursor_left(bytes), &count);
	if (!err && (objects < l->of_object.count || objects - l->of_object.count > cursor_left(bytes)))
		err = cursor_error(bytes, "objects are missing");
	while (!err && l->of_object.count < objects)
		err = locations_add_object(l, &made);
	for (uint32_t i = 0; !err && i < count; i++)
		err = read_location(bytes, l, i);
	return err;
}

/* ---- sets of values ---- */

static uint32_t set_of_node(const struct memory *m, uint32_t node)
{
	return node ? pointers_set_of(m->pointers, node - 1) + 1 : 0;
}

/* Constants by one instruction that uses them, and the operand: each once. */
static void write_constants(const struct memory *m, struct buffer *ret)
{
	const struct builder *b = m->builder;
	bool *is_there = calloc((size_t)b->constants.count + 1, sizeof *is_there);

	if (!is_there) {
		ret->failed = 1;
		return;
	}
	for (uint32_t i = 0; i < m->code->instruction_count; i++) {
		for (uint32_t k = 0; k < m->code->instructions[i].operand_count; k++) {
			struct key key = {{(uintptr_t)LLVMGetOperand(m->code->instructions[i].value, k), 0, 0}};
			uint32_t number;

			if (!hashmap_find(&b->constants, &key, &number) || is_there[number])
				continue;
			is_there[number] = true;
			buffer_uleb128(ret, (uint64_t)i + 1);
			buffer_uleb128(ret, k);
			buffer_uleb128(ret, pointers_set_of(m->pointers, b->nodes_of_constants.items[number]));
		}
	}
	buffer_uleb128(ret, 0);
	free(is_there);
}

static struct error *read_constants(struct cursor *bytes, struct memory *m)
{
	struct builder *b = m->builder;
	struct error *err = NULL;

	while (!err) {
		uint32_t instruction, operand, set, number;

		err = read_below(bytes, (uint64_t)m->code->instruction_count + 1, &instruction);
		if (err || !instruction)
			break;
		err = read_below(bytes, m->code->instructions[instruction - 1].operand_count, &operand);
		if (!err)
			err = read_below(bytes, pointers_sets(m->pointers)->count, &set);
		if (!err) {
			LLVMValueRef value = LLVMGetOperand(m->code->instructions[instruction - 1].value, operand);

			err = hashmap_add(&b->constants, &(struct key){{(uintptr_t)value, 0, 0}}, &number);
		}
		if (!err && number != b->nodes_of_constants.count)
			err = cursor_error(bytes, "a constant is there twice");
		if (!err)
			err = function_ids_append(&b->nodes_of_constants, set);
	}
	return err;
}

static void write_nodes(const struct memory *m, struct buffer *ret)
{
	const struct builder *b = m->builder;

	for (uint32_t i = 0; i < m->code->instruction_count + m->code->argument_count; i++)
		buffer_uleb128(ret, set_of_node(m, b->nodes[i]));
	buffer_uleb128(ret, pointers_set_of(m->pointers, b->foreign));
	for (uint32_t i = 0; i < LIBRARY_STATES; i++)
		buffer_uleb128(ret, set_of_node(m, b->states[i].touched));
	buffer_u8(ret, m->is_coarse);
	write_constants(m, ret);
}

/* Nodes are their sets: pointers_restore. */
static struct error *read_nodes(struct cursor *bytes, struct memory *m)
{
	struct builder *b = m->builder;
	uint64_t sets = pointers_sets(m->pointers)->count;
	uint8_t is_coarse = 0;
	struct error *err =
		read_numbers(bytes, m->code->instruction_count + m->code->argument_count, sets + 1, b->nodes);

	if (!err)
		err = read_below(bytes, sets, &b->foreign);
	for (uint32_t i = 0; i < LIBRARY_STATES && !err; i++)
		err = read_below(bytes, sets + 1, &b->states[i].touched);
	if (!err)
		err = cursor_u8(bytes, &is_coarse);
	m->is_coarse = is_coarse != 0;
	return err ? err : read_constants(bytes, m);
}

/* ---- calls ---- */

static void write_calls(const struct memory *m, struct buffer *ret)
{
	const struct builder *b = m->builder;

	for (uint32_t i = 0; i < m->code->instruction_count; i++) {
		if (!m->callees[i].count)
			continue;
		buffer_uleb128(ret, (uint64_t)i + 1);
		buffer_uleb128(ret, m->callees[i].count);
		write_numbers(m->callees[i].items, (uint32_t)m->callees[i].count, ret);
	}
	buffer_uleb128(ret, 0);
	write_bools(m->calls_foreign, m->code->instruction_count, ret);
	write_bools(m->calls_library, m->code->instruction_count, ret);
	write_bools(b->is_called_from_outside, m->code->function_count, ret);
	write_bools(b->runs_at_end, m->code->function_count, ret);
}

static struct error *read_callees(struct cursor *bytes, struct memory *m, uint32_t call)
{
	uint32_t count = 0, function;
	struct error *err = read_below(bytes, (uint64_t)m->code->function_count + 1, &count);

	for (uint32_t i = 0; i < count && !err; i++) {
		err = read_below(bytes, m->code->function_count, &function);
		if (!err)
			err = function_ids_append(&m->callees[call], function);
		if (!err)
			err = id_set_add(&m->callers[function], call, NULL);
	}
	return err;
}

static struct error *read_calls(struct cursor *bytes, struct memory *m)
{
	struct builder *b = m->builder;
	struct error *err = NULL;
	uint32_t call;

	while (!err) {
		err = read_below(bytes, (uint64_t)m->code->instruction_count + 1, &call);
		if (err || !call)
			break;
		err = read_callees(bytes, m, call - 1);
	}
	if (!err)
		err = read_bools(bytes, m->code->instruction_count, m->calls_foreign);
	if (!err)
		err = read_bools(bytes, m->code->instruction_count, m->calls_library);
	if (!err)
		err = read_bools(bytes, m->code->function_count, b->is_called_from_outside);
	return err ? err : read_bools(bytes, m->code->function_count, b->runs_at_end);
}

/* ---- regions ---- */

static void write_regions(const struct regions *r, struct buffer *ret)
{
	const struct code *c = r->memory->code;

	buffer_uleb128(ret, r->items.count);
	/* The first one, REGION_CONTROL, has no location. */
	for (size_t i = 1; i < r->items.count; i++) {
		buffer_uleb128(ret, r->items.items[i].location);
		buffer_uleb128(ret, r->items.items[i].len_bytes);
	}
	write_sets(r->sets.items, r->sets.count, ret);
	write_numbers(r->reads, c->instruction_count, ret);
	write_numbers(r->changes, c->instruction_count, ret);
	write_numbers(r->overwrites, c->instruction_count, ret);
	write_numbers(r->passes, c->instruction_count, ret);
}

static struct error *read_items(struct cursor *bytes, struct regions *r)
{
	uint32_t count = 0;
	struct region region = {CODE_NONE, 0};
	struct error *err = read_below(bytes, cursor_left(bytes), &count);

	if (!err && !count)
		err = cursor_error(bytes, "there are no regions");
	for (uint32_t i = 0; i < count && !err; i++) {
		if (i)
			err = read_below(bytes, pointers_locations(r->memory->pointers)->items.count, &region.location);
		if (!err && i)
			err = cursor_uleb32(bytes, &region.len_bytes);
		if (!err)
			err = region_vec_append(&r->items, region);
	}
	return err;
}

static struct error *read_regions(struct cursor *bytes, struct regions *r)
{
	const struct code *c = r->memory->code;
	uint32_t **arrays[] = {&r->reads, &r->changes, &r->overwrites, &r->passes};
	struct error *err = read_items(bytes, r);

	if (!err)
		err = read_sets(bytes, r->items.count, &r->sets);
	if (!err && !r->sets.count)
		err = cursor_error(bytes, "there are no sets");
	for (int i = 0; i < 4 && !err; i++) {
		*arrays[i] = calloc((size_t)c->instruction_count + 1, sizeof **arrays[i]);
		err = *arrays[i] ? read_numbers(bytes, c->instruction_count, r->sets.count, *arrays[i])
				 : &error_no_memory;
	}
	return err ? err : regions_sum(r);
}

/* ---- the whole ---- */

void analysis_write(const struct memory *m, const struct regions *r, struct buffer *ret)
{
	const struct id_set_vec *sets = pointers_sets(m->pointers);
	struct globals globals;
	struct error *err = globals_find(m->code, &globals);

	if (err) {
		error_destroy(err);
		ret->failed = 1;
		return;
	}
	write_objects(m, &globals, ret);
	write_locations(pointers_locations(m->pointers), ret);
	write_sets(sets->items, sets->count, ret);
	write_nodes(m, ret);
	write_calls(m, ret);
	write_regions(r, ret);
	globals_deinit(&globals);
}

static struct error *read_memory(struct cursor *bytes, struct memory *m)
{
	struct globals globals;
	struct id_set_vec sets = {0};
	struct error *err = globals_find(m->code, &globals);

	if (err)
		return err;
	err = read_objects(bytes, &globals, m);
	globals_deinit(&globals);
	if (!err)
		err = read_locations(bytes, m);
	if (!err)
		err = read_sets(bytes, pointers_locations(m->pointers)->items.count, &sets);
	if (!err)
		err = pointers_restore(m->pointers, &sets);
	for (size_t i = 0; i < sets.count; i++)
		id_set_deinit(&sets.items[i]);
	id_set_vec_deinit(&sets);
	if (!err)
		err = read_nodes(bytes, m);
	return err ? err : read_calls(bytes, m);
}

struct error *analysis_read(struct cursor *bytes, const struct code *c, struct memory *ret_memory,
			    struct regions *ret_regions)
{
	struct error *err = memory_open(c, NULL, ret_memory);

	*ret_regions = (struct regions){.memory = ret_memory};
	if (!err)
		err = read_memory(bytes, ret_memory);
	if (!err)
		err = read_regions(bytes, ret_regions);
	if (!err && cursor_left(bytes))
		err = cursor_error(bytes, "there are bytes behind the end");
	if (err) {
		regions_deinit(ret_regions);
		memory_deinit(ret_memory);
	}
	return err;
}
