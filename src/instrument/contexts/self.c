/*
 * self.c - which calls of functions by themselves are in the history (waymark/abi.h), and with which codes.
 *
 * A code says which call it was only if no other function could have appended it. Between two pushes a context is a path of encoded edges, so
 * the functions that may stand on one path share their codes out; others may have the same ones, and so fewer bits:
 *
 *      parse --> block --> value --> block of text      parse, value: calls of themselves 0, 1 and 2: two bits
 *      main ---> walk                                   walk: one call of itself, 0: one bit
 *
 * Calls in a row, between which nothing asks for the context, append once and then change the code; none of them has code 0.
 *
 * All functions that are joined by such paths have codes of one length. With more calls than MOST the hottest have codes; the others push, as
 * do cold ones, jumps, and calls that the dynamic linker may bind to another function. With hybrid encoding (hybrid.c) all push: offsets of the
 * stack count from the last push, and such calls would be between.
 */
#include <stdlib.h>

#include "instrument/contexts/program.h"

enum {
	MOST = 31, /* calls that share codes: a push for want of room comes after five of 5 bits, after 31 of one */
};

/* Edges that the search for paths looks at, before all functions share their codes. */
static const uint64_t MOST_STEPS = 50000000;

struct sharing {
	struct program *p;
	struct weighed_site *candidates; /* hottest first */
	size_t count;
	uint32_t *leader; /* by node: of the functions that share, itself or the way to it */
	bool *has_call;   /* by node */
	uint32_t *sizes;  /* by leader: calls that have a code */
	uint32_t *starts; /* encoded edges by caller: callees[starts[n]] .. callees[starts[n + 1] - 1] */
	uint32_t *callees;
	uint32_t *seen; /* by node: the search that has come by */
	uint32_t *work;
	uint64_t steps;
};

static bool may_have_code(const struct site *site)
{
	return site->kind == META_SITE_BACK && site->caller == site->callee && site->action == SITE_PUSH &&
	       site->undo && !site->is_cold;
}

static uint32_t node_of(const struct sharing *s, size_t candidate)
{
	const struct program *p = s->p;
	return p->functions.items[p->sites.items[s->candidates[candidate].number].caller].node;
}

static uint32_t leader_of(const struct sharing *s, uint32_t node)
{
	while (s->leader[node] != node)
		node = s->leader[node] = s->leader[s->leader[node]];
	return node;
}

static void join(const struct sharing *s, uint32_t a, uint32_t b)
{
	a = leader_of(s, a);
	b = leader_of(s, b);
	s->leader[a > b ? a : b] = a > b ? b : a;
}

/* Joins the function with those that encoded edges lead to from it. */
static void join_below(struct sharing *s, uint32_t node)
{
	uint32_t count = 0;
	s->work[count++] = node;
	s->seen[node] = node + 1;
	while (count && s->steps < MOST_STEPS) {
		const uint32_t at = s->work[--count];
		for (uint32_t i = s->starts[at]; i < s->starts[at + 1]; i++, s->steps++) {
			const uint32_t callee = s->callees[i];
			if (s->seen[callee] == node + 1)
				continue;
			s->seen[callee] = node + 1;
			s->work[count++] = callee;
			if (s->has_call[callee])
				join(s, node, callee);
		}
	}
}

static void list_callees(struct sharing *s)
{
	const struct callgraph *g = &s->p->graph;
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].kind == EDGE_ENCODED)
			s->starts[g->edges[e].caller + 1]++;
	for (uint32_t n = 0; n < g->node_count; n++)
		s->starts[n + 1] += s->starts[n];
	for (uint32_t e = g->edge_count; e-- > 0;)
		if (g->edges[e].kind == EDGE_ENCODED)
			s->callees[s->starts[g->edges[e].caller]++] = g->edges[e].callee;
	for (uint32_t n = g->node_count; n > 0; n--)
		s->starts[n] = s->starts[n - 1];
	s->starts[0] = 0;
}

static void share(struct sharing *s)
{
	list_callees(s);
	for (uint32_t n = 0; n < s->p->graph.node_count; n++)
		s->leader[n] = n;
	for (size_t i = 0; i < s->count; i++)
		s->has_call[node_of(s, i)] = true;
	for (size_t i = 0; i < s->count; i++)
		if (s->seen[node_of(s, i)] != node_of(s, i) + 1)
			join_below(s, node_of(s, i));
	for (size_t i = 1; i < s->count && s->steps >= MOST_STEPS; i++)
		join(s, node_of(s, 0), node_of(s, i));
}

/* The hottest of those that share. */
static void take(struct sharing *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct site *site = &s->p->sites.items[s->candidates[i].number];
		uint32_t *size = &s->sizes[leader_of(s, node_of(s, i))];
		if (*size == MOST)
			continue;
		(*size)++;
		site->kind = META_SITE_SELF_CALL;
		site->action = SITE_SELF;
	}
}

/* Nothing between the two looks at the history or at the id, or puts them back. */
static bool comes_next(const struct site *site, const struct site *next)
{
	return site->action == SITE_SELF && next->action == SITE_SELF && site->block == next->block &&
	       !next->is_landed && !LLVMIsAInvokeInst(site->call) && !site->restore_id && !site->restore_top &&
	       !next->restore_id && !next->restore_top;
}

static void find_rows(const struct program *p)
{
	for (size_t i = 0; i + 1 < p->sites.count; i++) {
		struct site *site = &p->sites.items[i];
		if (comes_next(site, &site[1]))
			site->has_next = site[1].is_next = true;
	}
}

/* 0 is for a call that no other follows. */
static void give_codes(struct sharing *s)
{
	uint32_t *next = s->work, *first = s->seen;
	for (uint32_t n = 0; n < s->p->graph.node_count; n++)
		next[n] = first[n] = 0;
	for (size_t i = 0; i < s->count; i++) {
		struct site *site = &s->p->sites.items[s->candidates[i].number];
		const uint32_t leader = leader_of(s, node_of(s, i));
		if (site->action != SITE_SELF)
			continue;
		if (site->has_next || site->is_next || first[leader])
			site->code = ++next[leader];
		else
			first[leader] = 1;
	}
	for (size_t i = 0; i < s->count; i++) {
		struct site *site = &s->p->sites.items[s->candidates[i].number];
		const uint32_t most = next[leader_of(s, node_of(s, i))];
		if (site->action == SITE_SELF)
			site->code_bits = most ? 32 - (uint32_t)__builtin_clz(most) : 1;
	}
}

struct error *self_choose(struct program *p)
{
	const size_t nodes = (size_t)p->graph.node_count + 2;
	struct sharing s = {
		.p = p,
		.candidates = arena_calloc(&p->arena, p->sites.count + 1, sizeof *s.candidates),
		.leader = arena_calloc(&p->arena, nodes, sizeof *s.leader),
		.has_call = arena_calloc(&p->arena, nodes, sizeof *s.has_call),
		.sizes = arena_calloc(&p->arena, nodes, sizeof *s.sizes),
		.starts = arena_calloc(&p->arena, nodes, sizeof *s.starts),
		.callees = arena_calloc(&p->arena, (size_t)p->graph.edge_count + 1, sizeof *s.callees),
		.seen = arena_calloc(&p->arena, nodes, sizeof *s.seen),
		.work = arena_calloc(&p->arena, nodes, sizeof *s.work),
	};
	if (!s.candidates || !s.leader || !s.has_call || !s.sizes || !s.starts || !s.callees || !s.seen || !s.work)
		return &error_no_memory;
	for (uint32_t i = 0; i < p->sites.count && !p->is_hybrid; i++) {
		const struct site *site = &p->sites.items[i];
		if (may_have_code(site))
			s.candidates[s.count++] = (struct weighed_site){program_runs(p, site), i};
	}
	if (s.count) {
		qsort(s.candidates, s.count, sizeof *s.candidates, program_compare_weighed);
		share(&s);
		take(&s);
		find_rows(p);
		give_codes(&s);
	}
	return NULL;
}
