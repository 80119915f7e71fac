/*
 * cold.c - which call sites are written for speed and which for size.
 *
 * Sites are taken by how often they run in the whole program, the most frequent first, until the room that is given to speed is used
 * up; what hardly runs is cold in any case. Cold sites call helpers (outline.c). For tests, the environment variable WAYMARK_COLD makes
 * cold what may be: "all" of it, or "pushes".
 */
#include <stdlib.h>
#include <string.h>

#include "llvm/ir.h"
#include "instrument/contexts/program.h"

/* Bytes that a site takes more when it is written for speed. */
enum {
	PUSH_BYTES = 70,
	DEFER_BYTES = 35,
	EDGE_BYTES = 12,
};

/* Room for them: 5 % of the code (an instruction has some four bytes), and 4 KiB that no program misses. */
enum {
	LEAST_BYTES = 4096,
	INSTRUCTIONS_A_BYTE = 5,
};

/* Executions of a site, by the estimate, below which it is cold. A loop behind a few conditions of main still runs more often. */
static const double LEAST_RUNS = 1.0 / 32;

/* The weight of a push against an edge: it is in front of a call that costs far more. Measured on Lua and sqlite3. */
static const double PUSH_WEIGHT = 0.1;

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

static uint64_t bytes_of(const struct site *site)
{
	if (site->action == SITE_ADD)
		return EDGE_BYTES;
	return site->action == SITE_PUSH ? PUSH_BYTES : DEFER_BYTES;
}

static void choose(struct program *p, struct weighed_site *candidates, size_t count)
{
	uint64_t room = bytes_for_speed(p->module);
	qsort(candidates, count, sizeof *candidates, program_compare_weighed);
	for (size_t i = 0; i < count; i++) {
		struct site *site = &p->sites.items[candidates[i].number];
		const uint64_t bytes = bytes_of(site);
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
	for (uint32_t i = 0; i < p->sites.count; i++) {
		struct site *site = &p->sites.items[i];
		const double runs = program_runs(p, site);
		site->is_cold = may_be_cold(site);
		if (site->is_cold && runs >= LEAST_RUNS && !is_wanted_cold(site))
			candidates[count++] = (struct weighed_site){
				.weight = site->action == SITE_ADD ? runs : runs * PUSH_WEIGHT, .number = i};
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
