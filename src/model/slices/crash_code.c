/* crash_code.c - finds the function of the metadata for each function of the bitcode, and takes what ran from one to the other (crash_code.h). */
#include "model/slices/crash_code.h"

#include <string.h>

#define NONE UINT32_MAX

/* Functions of the metadata by name: in their unit, and in all units. */
struct names {
	const struct crash_code *m;
	struct hashmap map;
	uint32_t *first; /* [map.count] index in meta.functions */
	uint32_t *count;
};

static const struct object_trace *trace_of(const struct crash_code *m)
{
	return &m->crash->images[m->image].trace;
}

const struct pathmeta_function *crash_code_flow(const struct crash_code *m, uint32_t function)
{
	return trace_of(m)->flows[m->of_code[function] - m->crash->first_function[m->image]];
}

uint32_t crash_code_function(const struct crash_code *m, const struct crash_frame *f)
{
	return f->meta && f->image == m->image ? m->of_crash[crash_function_id(m->crash, f)] : CODE_NONE;
}

static struct key key_in(const char *name, uint32_t unit)
{
	struct key key = key_of_text(name);

	key.words[1] = (uint64_t)unit + 1;
	return key;
}

static struct error *add_name(struct names *n, const struct key *key, uint32_t function)
{
	uint32_t number, before = n->map.count;
	struct error *err = hashmap_add(&n->map, key, &number);

	if (err)
		return err;
	if (number == before)
		n->first[number] = function;
	n->count[number]++;
	return NULL;
}

static struct error *add_names(struct names *n)
{
	const struct object_trace *t = trace_of(n->m);
	struct error *err = NULL;

	for (uint32_t i = 0; i < t->meta.function_count && !err; i++) {
		struct key key = key_in(t->flows[i]->link_name, t->meta.functions[i].unit);

		err = add_name(n, &key, i);
		key = key_in(t->flows[i]->link_name, NONE);
		if (!err)
			err = add_name(n, &key, i);
	}
	return err;
}

/* The only function of that name there; NONE: none, or several. */
static uint32_t find_name(const struct names *n, const char *name, uint32_t unit)
{
	struct key key = key_in(name, unit);
	uint32_t number;

	return hashmap_find(&n->map, &key, &number) && n->count[number] == 1 ? n->first[number] : NONE;
}

static struct error *pair(struct crash_code *m, const struct names *n, bool has_same_units, uint32_t function,
			  struct arena *scratch)
{
	uint32_t unit, found;
	const char *name = code_origin(m->code, function, &unit);
	struct error *err;

	if (!name)
		return NULL;
	found = has_same_units ? find_name(n, name, unit) : NONE;
	if (found == NONE)
		found = find_name(n, name, NONE);
	if (found == NONE)
		return NULL;
	err = ran_number(m->code, function, &trace_of(m)->flows[found]->cfg, scratch, &m->nodes[function],
			 &m->fits[function]);
	if (err)
		return err;
	found += m->crash->first_function[m->image];
	m->of_code[function] = found;
	m->of_crash[found] = function;
	return NULL;
}

static struct error *pair_all(struct crash_code *m, struct names *n, struct arena *scratch, size_t unit_count)
{
	bool has_same_units = unit_count == trace_of(m)->meta.unit_count;
	struct error *err = add_names(n);

	for (uint32_t i = 0; i < m->code->function_count && !err; i++) {
		if (!m->code->functions[i].block_count)
			continue;
		err = pair(m, n, has_same_units, i, scratch);
		m->unknown_count += m->of_code[i] == NONE || !m->fits[i];
	}
	return err;
}

static struct error *create(struct crash_code *m)
{
	size_t total = m->crash->first_function[m->crash->stopped->module_count], functions = m->code->function_count;
	size_t names = 2 * (size_t)trace_of(m)->meta.function_count + 1;
	struct arena scratch = {0};
	struct names n = {.m = m,
			  .first = arena_calloc(&scratch, names, sizeof *n.first),
			  .count = arena_calloc(&scratch, names, sizeof *n.count)};
	struct error *err = NULL;

	m->of_code = arena_calloc(&m->arena, functions + 1, sizeof *m->of_code);
	m->of_crash = arena_calloc(&m->arena, total + 1, sizeof *m->of_crash);
	m->nodes = arena_calloc(&m->arena, functions + 1, sizeof *m->nodes);
	m->fits = arena_calloc(&m->arena, functions + 1, sizeof *m->fits);
	if (!n.first || !n.count || !m->of_code || !m->of_crash || !m->nodes || !m->fits)
		err = &error_no_memory;
	if (!err) {
		memset(m->of_code, 0xff, functions * sizeof *m->of_code);
		memset(m->of_crash, 0xff, total * sizeof *m->of_crash);
		err = pair_all(m, &n, &m->arena, m->code->unit_count);
	}
	hashmap_deinit(&n.map);
	arena_deinit(&scratch);
	return err;
}

struct error *crash_code_create(const struct crash *crash, const struct code *code, struct crash_code *ret)
{
	struct crash_code m = {.crash = crash, .code = code, .image = crash->stopped->main_module};
	struct error *err;

	if (m.image >= crash->stopped->module_count || !crash->images[m.image].is_traced)
		return error_create(ERROR_NOT_FOUND, "the program was not built with --wm=trace");
	err = create(&m);
	if (err)
		crash_code_deinit(&m);
	else
		*ret = m;
	return err;
}

void crash_code_deinit(struct crash_code *m)
{
	arena_deinit(&m->arena);
	*m = (struct crash_code){0};
}

struct error *crash_code_ran(const struct crash_code *m, const struct activity_result *r, struct ran *ret)
{
	struct error *err = ran_init(m->code, ret);

	for (uint32_t i = 0; i < m->code->function_count && !err; i++) {
		const struct code_function *f = &m->code->functions[i];
		uint32_t other = m->of_code[i];

		if (other == NONE)
			continue;
		if (m->fits[i])
			ran_tell_all(ret, &m->nodes[i], &crash_code_flow(m, i)->cfg, r->nodes[other], r->edges[other]);
		else if (r->nodes[other][0] == ACTIVITY_NO)
			memset(&ret->runs[f->first_block], false, f->block_count);
	}
	return err;
}
