/* lucce_paper.c - Algorithm 1 and De as they stand in the paper. See lucce_paper.h. */
#include "lucce_paper.h"

#include <stdlib.h>
#include <string.h>

void paper_init(struct paper *p)
{
	*p = (struct paper){.capacity = 64};
	p->graphs = calloc(p->capacity, sizeof(*p->graphs));
	if (!p->graphs)
		abort();
	p->graphs[0].count[0] = 1;
}

void paper_deinit(struct paper *p)
{
	free(p->graphs);
}

/* A new version, so far like the last one. */
static struct paper_graph *change(struct paper *p)
{
	if (p->version + 1 == p->capacity) {
		p->capacity *= 2;
		p->graphs = realloc(p->graphs, p->capacity * sizeof(*p->graphs));
		if (!p->graphs)
			abort();
	}
	p->graphs[p->version + 1] = p->graphs[p->version];
	return &p->graphs[++p->version];
}

/* The sum of numCC over the edges into `callee` before edge `end`, in g. */
static uint64_t sum(struct paper *p, const struct paper_graph *g, uint8_t callee, uint32_t end)
{
	uint64_t total = 0;

	for (uint32_t e = 0; e < end; e++)
		if (p->edges[e].callee == callee && __builtin_add_overflow(total, g->count[p->edges[e].caller], &total))
			p->is_outgrown = true;
	if (total > INT64_MAX)
		p->is_outgrown = true;
	return total;
}

static uint32_t find_or_add(struct paper *p, uint8_t caller, uint8_t callee, uint32_t site)
{
	uint32_t count = p->graphs[p->version].edge_count;

	for (uint32_t e = 0; e < count; e++)
		if (p->edges[e].caller == caller && p->edges[e].callee == callee && p->edges[e].site == site)
			return e;
	if (count == PAPER_EDGES)
		abort();
	p->edges[count].caller = caller;
	p->edges[count].callee = callee;
	p->edges[count].site = site;
	change(p)->edge_count++;
	return count;
}

struct paper_id paper_update(struct paper *p, uint8_t caller, uint8_t callee, uint32_t site, struct paper_id id)
{
	uint64_t count;
	uint32_t edge;

	if (p->graphs[p->version].entered[caller] != id.version)
		change(p)->entered[caller] = id.version;
	edge = find_or_add(p, caller, callee, site);
	count = sum(p, &p->graphs[p->version], callee, p->graphs[p->version].edge_count);
	if (p->graphs[p->version].count[callee] != count)
		change(p)->count[callee] = count;
	return (struct paper_id){id.number + sum(p, &p->graphs[p->version], callee, edge), p->version};
}

/* prev(node, number, version), and its av: the last of the edges with the greatest av that does not exceed the number. */
static bool prev(const struct paper *p, uint8_t node, struct paper_id id, uint32_t *edge, uint64_t *addend)
{
	const struct paper_graph *g = &p->graphs[id.version];
	uint64_t total = 0;
	bool is_found = false;

	for (uint32_t e = 0; e < g->edge_count && total <= id.number; e++) {
		if (p->edges[e].callee != node)
			continue;
		*edge = e;
		*addend = total;
		is_found = true;
		total += g->count[p->edges[e].caller];
	}
	return is_found;
}

bool paper_decode(const struct paper *p, uint8_t node, struct paper_id id, uint32_t edges[PAPER_CALLS],
		  uint32_t *ret_count)
{
	uint32_t count = 0, edge = 0;
	uint64_t addend = 0;

	while (node) {
		if (count == PAPER_CALLS || !prev(p, node, id, &edge, &addend))
			return false;
		edges[count++] = edge;
		node = p->edges[edge].caller;
		id = (struct paper_id){id.number - addend, p->graphs[id.version].entered[node]};
	}
	for (uint32_t i = 0; i < count / 2; i++) {
		edge = edges[i];
		edges[i] = edges[count - 1 - i];
		edges[count - 1 - i] = edge;
	}
	*ret_count = count;
	return !id.number && !id.version;
}
