/*
 * cold.c - which call sites are written for speed and which for size.
 *
 * Sites are taken by how many instructions speed saves in the whole program for each byte that it takes, until the room that is given to speed is
 * used up; what hardly runs is cold in any case, and what takes no byte more is not. Cold sites call helpers (outline.c). For tests, the environment
 * variable WAYMARK_COLD makes cold what may be: "all" of it, or "pushes".
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "llvm/ir.h"
#include "instrument/contexts/program.h"

/* Bytes that a site takes more when it is written for speed, and instructions that it saves; of an addend on each side, by its size. */
enum {
	PUSH_BYTES = 70,
	PUSH_SAVES = 14,
	DEFER_BYTES = 35,
	DEFER_SAVES = 6,
	CHANGE_BYTES = 3,
	CHANGE_LONG_BYTES = 4,
	CHANGE_SAVES = 3,
	SHARED_BYTES = 5, /* a helper that adds a number knows it */
	SHARED_SAVES = 1,
};

/* Room for them: 6 % of the code (an instruction has some four bytes), and 4 KiB that no program misses. */
enum {
	LEAST_BYTES = 4096,
	INSTRUCTIONS_A_BYTE = 4,
};

/* Executions of a site, by the estimate, below which it is cold. A loop behind a few conditions of main still runs more often. */
static const double LEAST_RUNS = 1.0 / 32;

/* Uses of a change of the id from which on a helper of its own takes less code. */
enum {
	LEAST_USES = 4
};

static int by_change(const void *a, const void *b)
{
	const struct shared_change *x = a, *y = b;
	if (x->change != y->change)
		return x->change < y->change ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static bool may_be_cold(const struct site *site)
{
	if (!site->undo) /* a jump, for which no frame should be needed */
		return false;
	return site->action == SITE_PUSH || site->action == SITE_DEFER ||
	       (site->action == SITE_ADD && !site->restore_id && !site->restore_top);
}

static bool is_wanted_cold(const struct site *site)
{
	const char *wish = getenv("WAYMARK_COLD");
	return wish && (!strcmp(wish, "all") || (!strcmp(wish, "pushes") && site->action != SITE_ADD));
}

static uint64_t bytes_for_speed(LLVMModuleRef module)
{
	return LEAST_BYTES + ir_count_instructions(module) / INSTRUCTIONS_A_BYTE;
}

/*
 * Estimates differ from what runs by factors that grow with the number of loops and calls on the way, so a hundred times as many runs are taken for three
 * times as many. Measured on tcc, jq and sqlite3.
 */
static double trusted(double runs)
{
	return sqrt(sqrt(runs));
}

struct gain {
	unsigned bytes;
	unsigned instructions; /* of a run */
};

static void add_change(struct program *p, enum id_change change, uint64_t value, struct gain *gain)
{
	const bool is_shared = cold_find(p, change, value) != NULL;
	const bool is_short = change != ID_SET && value <= INT8_MAX && !p->is_shared;
	gain->bytes += is_short ? 0 : value <= INT32_MAX ? CHANGE_BYTES : CHANGE_LONG_BYTES;
	gain->instructions += CHANGE_SAVES;
	if (is_shared) {
		gain->bytes += SHARED_BYTES;
		gain->instructions -= SHARED_SAVES;
	}
}

/* As if no two edges were in one block (emit.c), and helpers for all that all could use. */
static struct gain gain_of(struct program *p, const struct site *site)
{
	const bool is_outer = p->functions.items[site->caller].is_outer;
	struct gain gain = {0, 0};
	if (site->action == SITE_PUSH)
		return (struct gain){PUSH_BYTES, PUSH_SAVES};
	if (site->action == SITE_DEFER)
		return (struct gain){DEFER_BYTES, DEFER_SAVES};
	add_change(p, is_outer ? ID_SET : ID_ADD, site->addend, &gain);
	add_change(p, is_outer ? ID_SET : ID_SUBTRACT, is_outer ? 0 : site->addend, &gain);
	return gain;
}

static void choose(struct program *p, struct weighed_site *candidates, size_t count)
{
	uint64_t room = bytes_for_speed(p->module);
	qsort(candidates, count, sizeof *candidates, program_compare_weighed);
	for (size_t i = 0; i < count; i++) {
		struct site *site = &p->sites.items[candidates[i].number];
		const uint64_t bytes = gain_of(p, site).bytes;
		site->is_cold = bytes > room;
		if (!site->is_cold)
			room -= bytes;
	}
}

static void list_change(struct shared_change *changes, size_t *count, enum id_change change, uint64_t value)
{
	if (value <= INT32_MAX) /* fits into an instruction */
		changes[(*count)++] = (struct shared_change){.change = change, .value = value, .uses = 1};
}

/* Before and after each cold edge, as if no two were in one block (emit.c). */
static size_t list_changes(const struct program *p, struct shared_change *changes)
{
	size_t count = 0;
	for (size_t i = 0; i < p->sites.count; i++) {
		const struct site *site = &p->sites.items[i];
		const bool is_outer = p->functions.items[site->caller].is_outer;
		if (!site->is_cold || site->action != SITE_ADD)
			continue;
		list_change(changes, &count, is_outer ? ID_SET : ID_ADD, site->addend);
		list_change(changes, &count, is_outer ? ID_SET : ID_SUBTRACT, is_outer ? 0 : site->addend);
	}
	return count;
}

/* Keeps one of each that are used often enough. */
static size_t keep_shared(struct shared_change *changes, size_t count)
{
	size_t kept = 0;
	qsort(changes, count, sizeof *changes, by_change);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && !by_change(&changes[i], &changes[next]);)
			next++;
		changes[kept] = changes[i];
		changes[kept].uses = (uint32_t)(next - i);
		if (changes[kept].uses >= LEAST_USES)
			kept++;
	}
	return kept;
}

struct error *cold_choose(struct program *p)
{
	struct weighed_site *candidates = arena_calloc(&p->arena, p->sites.count + 1, sizeof *candidates);
	p->changes = arena_calloc(&p->arena, 2 * p->sites.count + 1, sizeof *p->changes);
	if (!candidates || !p->changes)
		return &error_no_memory;
	size_t count = 0;
	for (size_t i = 0; i < p->sites.count; i++)
		p->sites.items[i].is_cold = may_be_cold(&p->sites.items[i]);
	p->change_count = keep_shared(p->changes, list_changes(p, p->changes));
	for (uint32_t i = 0; i < p->sites.count; i++) {
		struct site *site = &p->sites.items[i];
		const double runs = program_runs(p, site);
		if (!site->is_cold || is_wanted_cold(site))
			continue;
		const struct gain gain = gain_of(p, site);
		if (!gain.bytes)
			site->is_cold = false;
		else if (runs >= LEAST_RUNS)
			candidates[count++] = (struct weighed_site){
				.weight = trusted(runs) * gain.instructions / gain.bytes, .number = i};
	}
	choose(p, candidates, count);
	p->change_count = keep_shared(p->changes, list_changes(p, p->changes));
	return NULL;
}

struct shared_change *cold_find(struct program *p, enum id_change change, uint64_t value)
{
	const struct shared_change key = {.change = change, .value = value};
	return bsearch(&key, p->changes, p->change_count, sizeof *p->changes, by_change);
}
