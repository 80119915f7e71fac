/*
 * test_pointers_random.c - core/pointers against random programs that are run: each pointer that a variable has, at any time and in any
 * order of the statements, is in the analysis's answer. test_pointers_random COUNT SEED
 *
 * Memory is run byte by byte: each byte knows the pointer that it is part of. A load takes the pointer of one of the bytes that it reads, as
 * code does that copies pointers in parts. The coarser analysis is made of every program, too, and its answer is asked after pointers_shrink.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/pointers/pointers.h"
#include "seeds.h"

enum {
	VARIABLES = 7,
	OBJECTS = 4,
	OBJECT_BYTES = 96,
	FUNCTIONS = 2, /* objects behind the others: what calls lead to */
	STATEMENTS_MAX = 24,
	RUN_STEPS = 600,
	TRACES = 6,
};

enum kind {
	ADDRESS,
	COPY,
	STEP,
	LOAD,
	STORE,
	TRANSFER,
	CALL,
	KINDS
};

struct statement {
	enum kind kind;
	uint32_t a, b; /* variables; a is written or led through */
	uint32_t object;
	int32_t offset;
	uint32_t len_bytes;
	struct pointer_step step;
};

struct pointer { /* object UINT32_MAX: none */
	uint32_t object;
	int32_t offset;
};

struct program {
	struct statement statements[STATEMENTS_MAX];
	uint32_t count;
	struct pointers *p;
	uint32_t nodes[VARIABLES];
};

static struct statement random_statement(uint64_t *seed)
{
	static const uint32_t sizes[] = {8, 8, 8, 4, 1, 2};
	static const uint32_t strides[] = {1, 4, 8, 8, 12, 16, 24};
	struct statement s = {.kind = (enum kind)(random_below(seed, KINDS)),
			      .a = random_below(seed, VARIABLES),
			      .b = random_below(seed, VARIABLES),
			      .object = random_below(seed, OBJECTS + FUNCTIONS),
			      .offset = (int32_t)random_below(seed, OBJECT_BYTES / 4) * 4,
			      .len_bytes = sizes[random_below(seed, 6)]};

	if (s.object >= OBJECTS)
		s.offset = 0;
	if (s.kind == TRANSFER)
		s.len_bytes = random_below(seed, 4) ? 8 * (1 + random_below(seed, 6)) : POINTERS_ALL_BYTES;
	if (s.kind != STEP)
		return s;
	switch (random_below(seed, 3)) {
	case 0:
		s.step.offset = ((int32_t)random_below(seed, 13) - 6) * 4;
		break;
	case 1:
		s.step.stride = strides[random_below(seed, 7)];
		break;
	default:
		s.step.stride = strides[random_below(seed, 7)];
		s.step.span = s.step.stride * (2 + random_below(seed, 3));
		s.step.offset = (int32_t)random_below(seed, 3) * 8;
	}
	return s;
}

/* A call of a function of number k copies its argument, b, to variable k. */
static struct error *called(void *data, uint32_t call, uint32_t location)
{
	struct program *program = data;
	struct location at = pointers_locations(program->p)->items.items[location];

	if (at.object < OBJECTS)
		return NULL;
	return pointers_copy(program->p, program->nodes[program->statements[call].b],
			     program->nodes[at.object - OBJECTS]);
}

static struct error *state(struct program *program, uint32_t number)
{
	const struct statement *s = &program->statements[number];
	uint32_t a = program->nodes[s->a], b = program->nodes[s->b], location;
	struct error *err;

	switch (s->kind) {
	case ADDRESS:
		err = locations_get(pointers_locations(program->p),
				    &(struct location){.object = s->object, .first = s->offset}, &location);
		return err ? err : pointers_address(program->p, a, location);
	case COPY:
		return pointers_copy(program->p, b, a);
	case STEP:
		return pointers_step(program->p, b, a, &s->step);
	case LOAD:
		return pointers_load(program->p, b, a, s->len_bytes);
	case STORE:
		return pointers_store(program->p, b, a, s->len_bytes);
	case TRANSFER:
		return pointers_transfer(program->p, a, b, s->len_bytes);
	default:
		return pointers_call(program->p, a, number);
	}
}

static struct error *analyse(struct program *program, bool is_coarse, struct pointers_limit limit)
{
	struct error *err = pointers_create(called, program, &program->p);
	uint32_t object;

	if (!err && is_coarse)
		pointers_be_coarse(program->p);
	for (uint32_t i = 0; i < OBJECTS + FUNCTIONS && !err; i++)
		err = locations_add_object(pointers_locations(program->p), &object);
	for (uint32_t i = 0; i < VARIABLES && !err; i++)
		err = pointers_add_node(program->p, &program->nodes[i]);
	for (uint32_t i = 0; i < program->count && !err; i++)
		err = state(program, i);
	if (!err)
		err = pointers_solve(program->p, limit);
	return err ? err : pointers_shrink(program->p);
}

/* ---- running it ---- */

struct machine {
	struct pointer variables[VARIABLES];
	struct pointer bytes[OBJECTS][OBJECT_BYTES];
};

static const struct pointer none = {UINT32_MAX, 0};

/* len_bytes of memory, all of them in an object. */
static bool is_inside(struct pointer p, uint32_t len_bytes)
{
	return p.object < OBJECTS && p.offset >= 0 && p.offset + (int64_t)len_bytes <= OBJECT_BYTES;
}

static void step_pointer(struct pointer *p, const struct pointer_step *step, uint64_t *seed)
{
	int64_t times = 0;

	if (step->stride && step->span)
		times = random_below(seed, step->span / step->stride);
	else if (step->stride)
		times = (int64_t)random_below(seed, 9) - 4;
	p->offset += (int32_t)(step->offset + times * step->stride);
	/* C has no pointers outside of an object, but for one past its end. */
	if (p->offset < 0 || p->offset > OBJECT_BYTES)
		*p = none;
}

static void run_statement(struct machine *m, const struct statement *s, uint64_t *seed)
{
	struct pointer *a = &m->variables[s->a], b = m->variables[s->b];
	uint32_t len_bytes = s->len_bytes;

	switch (s->kind) {
	case ADDRESS:
		*a = (struct pointer){s->object, s->offset};
		break;
	case COPY:
		*a = b;
		break;
	case STEP:
		if (b.object == UINT32_MAX)
			break;
		*a = b;
		step_pointer(a, &s->step, seed);
		break;
	case LOAD:
		if (is_inside(b, len_bytes))
			*a = m->bytes[b.object][b.offset + (int32_t)random_below(seed, len_bytes)];
		break;
	case STORE:
		if (is_inside(*a, len_bytes))
			for (uint32_t i = 0; i < len_bytes; i++)
				m->bytes[a->object][a->offset + (int32_t)i] = b;
		break;
	case TRANSFER:
		if (len_bytes == POINTERS_ALL_BYTES)
			len_bytes = 1 + random_below(seed, OBJECT_BYTES);
		if (is_inside(*a, len_bytes) && is_inside(b, len_bytes))
			memmove(&m->bytes[a->object][a->offset], &m->bytes[b.object][b.offset], len_bytes * sizeof b);
		break;
	default:
		if (a->object != UINT32_MAX && a->object >= OBJECTS && !a->offset)
			m->variables[a->object - OBJECTS] = b;
	}
}

static bool has(const struct program *program, uint32_t variable, struct pointer p)
{
	const struct locations *l = pointers_locations(program->p);
	const struct id_set *set = pointers_of(program->p, program->nodes[variable]);
	struct location exact = {.object = p.object, .first = p.offset, .end = p.offset};

	for (struct id_iterator i = id_set_begin(set); id_set_next(set, &i);)
		if (locations_meet(&l->items.items[i.id], 1, &exact, 1))
			return true;
	return false;
}

static void run(const struct program *program, uint64_t *seed)
{
	struct machine *m = malloc(sizeof *m);

	CHECK(m);
	if (!m)
		return;
	for (uint32_t i = 0; i < VARIABLES; i++)
		m->variables[i] = none;
	for (uint32_t i = 0; i < OBJECTS; i++)
		for (uint32_t k = 0; k < OBJECT_BYTES; k++)
			m->bytes[i][k] = none;
	for (uint32_t step = 0; step < RUN_STEPS; step++) {
		run_statement(m, &program->statements[random_below(seed, program->count)], seed);
		for (uint32_t i = 0; i < VARIABLES; i++)
			if (m->variables[i].object != UINT32_MAX && !has(program, i, m->variables[i])) {
				fprintf(stderr, "variable %u has %u+%d, which the analysis does not\n", i,
					m->variables[i].object, m->variables[i].offset);
				CHECK(false);
				step = RUN_STEPS;
				break;
			}
	}
	free(m);
}

static uint64_t locations_in_all[2]; /* by the finer analysis, the coarser one */

static void print_program(const struct program *program)
{
	static const char *const names[] = {"address", "copy", "step", "load", "store", "transfer", "call"};

	for (uint32_t i = 0; i < program->count; i++) {
		const struct statement *s = &program->statements[i];

		fprintf(stderr, "  %s v%u v%u", names[s->kind], s->a, s->b);
		if (s->kind == ADDRESS)
			fprintf(stderr, " object %u+%d", s->object, s->offset);
		else if (s->kind == STEP)
			fprintf(stderr, " %+lld, stride %u, span %u", (long long)s->step.offset, s->step.stride,
				s->step.span);
		else
			fprintf(stderr, " %u bytes", s->len_bytes);
		fprintf(stderr, "\n");
	}
}

/* One step is too few for any program, and what was stated can be freed. */
static void check_limit(struct program *program)
{
	struct error *err = analyse(program, false, (struct pointers_limit){.steps = 1});

	CHECK(err && err->code == ERROR_OVERFLOW);
	error_destroy(err);
	pointers_destroy(program->p);
}

static uint32_t probe(uint64_t first_seed)
{
	uint64_t seed = first_seed;
	struct program program = {.count = 4 + random_below(&seed, STATEMENTS_MAX - 4)};

	for (uint32_t i = 0; i < program.count; i++)
		program.statements[i] = random_statement(&seed);
	for (uint32_t i = 0; i < 4; i++)
		program.statements[i].kind = ADDRESS;
	for (int is_coarse = 0; is_coarse < 2; is_coarse++) {
		CHECK_OK(analyse(&program, is_coarse, (struct pointers_limit){0}));
		for (uint32_t i = 0; i < TRACES; i++)
			run(&program, &seed);
		if (check_failures)
			print_program(&program);
		for (uint32_t i = 0; i < VARIABLES; i++)
			locations_in_all[is_coarse] += id_set_size(pointers_of(program.p, program.nodes[i]));
		pointers_destroy(program.p);
	}
	check_limit(&program);
	return program.count;
}

/* Most sets of an analysis have a word or two: room beyond that would be most of their memory. */
static void check_room(void)
{
	struct id_set set = {0};

	for (uint32_t i = 0; i < 1000; i++) {
		CHECK_OK(id_set_add(&set, 64 * i, NULL));
		CHECK(set.count == i + 1 && set.capacity <= 2 * set.count);
	}
	id_set_deinit(&set);
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 2000, 1);

	check_room();

	seeds_run(&seeds, probe);
	/* An answer of everything would be safe, too. */
	for (int is_coarse = 0; is_coarse < 2; is_coarse++)
		printf("%.2f locations a variable%s\n",
		       (double)locations_in_all[is_coarse] / (double)seeds.count / (double)VARIABLES,
		       is_coarse ? ", coarsely" : "");
	return check_status();
}
