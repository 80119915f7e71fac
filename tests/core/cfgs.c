/*
 * cfgs.c - control-flow graphs by hand and at random. Deterministic; running out of memory ends the test.
 */
#include "cfgs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

VEC_DECLARE(edges, struct cfg_edge);

static void *must(void *block)
{
	if (!block) {
		fprintf(stderr, "cfgs: out of memory\n");
		exit(1);
	}
	return block;
}

static void add_edge(struct edges *list, uint32_t from, uint32_t to, double frequency)
{
	struct cfg_edge edge = {.from = from, .to = to, .frequency = frequency};

	if (edges_append(list, edge))
		must(NULL);
}

/* Groups the edges by `from`, keeping their order otherwise. Takes the list. */
static struct cfg finish(struct arena *arena, uint32_t node_count, struct edges *list)
{
	struct cfg g = {.node_count = node_count, .edge_count = (uint32_t)list->count};
	uint32_t sum = 0;

	g.edges = must(arena_calloc(arena, list->count + 1, sizeof(*g.edges)));
	g.first_edge = must(arena_calloc(arena, (size_t)node_count + 1, sizeof(*g.first_edge)));
	for (size_t e = 0; e < list->count; e++)
		g.first_edge[list->items[e].from]++;
	for (uint32_t n = 0; n <= node_count; n++)
		g.first_edge[n] = sum += n < node_count ? g.first_edge[n] : 0;
	for (size_t e = list->count; e-- > 0;)
		g.edges[--g.first_edge[list->items[e].from]] = list->items[e];
	edges_deinit(list);
	return g;
}

struct cfg cfg_from_text(struct arena *arena, const char *text)
{
	static const char kinds[] = "-~/!*@=";
	struct edges list = {0};
	uint32_t node_count = 1;

	while (*text) {
		char *end;
		uint32_t from = (uint32_t)strtoul(text, &end, 10), to;
		const char *kind = strchr(kinds, *end);

		if (!*end || !kind)
			must(NULL);
		to = (uint32_t)strtoul(end + 1, &end, 10);
		add_edge(&list, from, to, 1);
		list.items[list.count - 1].is_fixed = *kind == '=';
		list.items[list.count - 1].cut = *kind == '=' ? CFG_KEPT : (enum cfg_cut)(kind - kinds);
		if (from >= node_count)
			node_count = from + 1;
		if (to >= node_count)
			node_count = to + 1;
		text = end + strspn(end, " ");
	}
	return finish(arena, node_count, &list);
}

struct cfg cfg_copy(struct arena *arena, const struct cfg *g)
{
	struct cfg copy = *g;

	copy.edges = must(arena_calloc(arena, (size_t)g->edge_count + 1, sizeof(*g->edges)));
	copy.first_edge = must(arena_calloc(arena, (size_t)g->node_count + 1, sizeof(*g->first_edge)));
	memcpy(copy.edges, g->edges, g->edge_count * sizeof(*g->edges));
	memcpy(copy.first_edge, g->first_edge, ((size_t)g->node_count + 1) * sizeof(*g->first_edge));
	return copy;
}

struct cfg cfg_diamonds(struct arena *arena, uint32_t count, uint32_t sides)
{
	struct edges list = {0};

	for (uint32_t i = 0; i < count; i++) {
		uint32_t top = i * (sides + 1), bottom = top + sides + 1;

		for (uint32_t k = 1; k <= sides; k++) {
			add_edge(&list, top, top + k, 1.0 / sides);
			add_edge(&list, top + k, bottom, 1.0 / sides);
		}
	}
	return finish(arena, count * (sides + 1) + 1, &list);
}

/* ---- random ---- */

static double random_frequency(struct rng *r)
{
	return (double)(UINT64_C(1) << rng_below(r, 20)) * (double)rng_below(r, 100);
}

/* Each node but the entry has an edge from an earlier one; the rest of the edges are anywhere. */
static struct cfg generate_line(struct arena *arena, struct rng *r, enum cfg_shape shape, uint32_t node_count)
{
	uint32_t near = 1 + (uint32_t)rng_below(r, node_count), more = (uint32_t)rng_below(r, node_count + 1);
	struct edges list = {0};

	for (uint32_t n = 1; n < node_count; n++)
		add_edge(&list, n - 1 - (uint32_t)rng_below(r, n < near ? n : near), n, random_frequency(r));
	for (uint32_t i = 0; node_count > 1 && i < more; i++) {
		uint32_t from = (uint32_t)rng_below(r, node_count), to = 1 + (uint32_t)rng_below(r, node_count - 1);

		if (shape == CFG_DAG && from == to)
			continue;
		if (shape == CFG_DAG && from > to) {
			uint32_t swap = from;

			from = to;
			to = swap;
		}
		add_edge(&list, from, to, random_frequency(r));
	}
	return finish(arena, node_count, &list);
}

/* A program under construction: what is generated comes after `at`. */
struct program {
	struct rng *r;
	struct edges list;
	uint32_t node_count;
	uint32_t budget;
};

static uint32_t new_node(struct program *p)
{
	return p->node_count++;
}

/* A statement that begins in `at`; returns the node after it. depth bounds the recursion. */
static uint32_t statement(struct program *p, uint32_t at, double frequency, unsigned int depth)
{
	uint64_t kind = depth ? rng_below(p->r, 8) : 0;
	uint32_t after, sides;

	if (p->node_count >= p->budget)
		kind = 0;
	switch (kind) {
	case 0:
	case 1: /* two statements, or a block */
		if (depth && kind)
			return statement(p, statement(p, at, frequency, depth - 1), frequency, depth - 1);
		after = new_node(p);
		add_edge(&p->list, at, after, frequency);
		return after;
	case 2:
	case 3:
	case 4:
	case 5: { /* if, with or without else; the side may leave the function */
		double taken = frequency * (double)(1 + rng_below(p->r, 9)) / 10;
		uint32_t side = new_node(p), end;

		add_edge(&p->list, at, side, taken);
		end = statement(p, side, taken, depth - 1);
		if (kind == 2) {
			uint32_t other = new_node(p);

			add_edge(&p->list, at, other, frequency - taken);
			other = statement(p, other, frequency - taken, depth - 1);
			after = new_node(p);
			add_edge(&p->list, other, after, frequency - taken);
		} else {
			after = new_node(p);
			add_edge(&p->list, at, after, frequency - taken);
		}
		if (rng_below(p->r, 6))
			add_edge(&p->list, end, after, taken);
		return after;
	}
	case 6: { /* loop */
		uint32_t header = new_node(p), body = new_node(p), end;

		after = new_node(p);
		add_edge(&p->list, at, header, frequency);
		add_edge(&p->list, header, body, frequency * 8);
		add_edge(&p->list, header, after, frequency);
		end = statement(p, body, frequency * 8, depth - 1);
		add_edge(&p->list, end, header, frequency * 8);
		return after;
	}
	default: /* switch, some cases sharing a block */
		sides = 2 + (uint32_t)rng_below(p->r, 6);
		after = new_node(p);
		for (uint32_t i = 0; i < sides; i++) {
			uint32_t side = new_node(p), end;

			add_edge(&p->list, at, side, frequency / sides);
			if (!rng_below(p->r, 4))
				add_edge(&p->list, at, side, frequency / sides);
			end = statement(p, side, frequency / sides, depth - 1);
			add_edge(&p->list, end, after, frequency / sides);
		}
		return after;
	}
}

static struct cfg generate_program(struct arena *arena, struct rng *r, uint32_t node_count)
{
	struct program p = {.r = r, .budget = node_count};
	uint32_t at = new_node(&p);

	while (p.node_count < node_count)
		at = statement(&p, at, 1, 6);
	return finish(arena, p.node_count, &p.list);
}

static struct cfg generate_switches(struct arena *arena, struct rng *r, uint32_t node_count)
{
	struct edges list = {0};

	for (uint32_t n = 0; n + 1 < node_count; n++) {
		uint64_t count = 1 + rng_below(r, 12);

		for (uint64_t i = 0; i < count; i++)
			add_edge(&list, n, n + 1 + (uint32_t)(i && n + 2 < node_count ? rng_below(r, 2) : 0),
				 random_frequency(r));
	}
	return finish(arena, node_count, &list);
}

static void add_extras(struct rng *r, unsigned int extras, struct cfg *g)
{
	for (uint32_t n = 0; n < g->node_count; n++) {
		uint32_t first = g->first_edge[n], end = g->first_edge[n + 1];

		if (extras & CFG_FIXED && !rng_below(r, 4) && first < end)
			g->edges[end - 1].is_fixed = true;
		if (extras & CFG_JUMPS && !rng_below(r, 8))
			for (uint32_t e = first; e < end; e++)
				g->edges[e].cut = end - first == 1 ? CFG_CUT_TWICE : CFG_CUT_JUMP;
	}
}

struct cfg cfg_generate(struct arena *arena, struct rng *r, enum cfg_shape shape, unsigned int extras,
			uint32_t node_count)
{
	struct cfg g;

	if (shape == CFG_PROGRAM)
		g = generate_program(arena, r, node_count);
	else if (shape == CFG_SWITCHES)
		g = generate_switches(arena, r, node_count);
	else
		g = generate_line(arena, r, shape, node_count);
	add_extras(r, extras, &g);
	return g;
}

struct cfg cfg_generate_any(struct arena *arena, struct rng *r, unsigned int extras, uint32_t node_max)
{
	enum cfg_shape shape = (enum cfg_shape)rng_below(r, CFG_SHAPES);
	unsigned int some = (unsigned int)rng_below(r, extras + 1);
	struct cfg g = cfg_generate(arena, r, shape, some, 1 + (uint32_t)rng_below(r, node_max));

	if (cfg_cut_cycles(&g))
		must(NULL);
	return g;
}
