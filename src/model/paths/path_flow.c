/*
 * path_flow.c - walks each counted path once and adds its count to what is on it. Counts of jumps, which no path goes over,
 * come from how many paths start at their targets (flow conservation at the cut). The entry's count is that of activations
 * begun, so that it has the unfinished ones too.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "model/paths/path_flow.h"

struct flow {
	struct path_profile *p;
	struct path_function *f;
	const struct cfg *g;
	uint64_t *starts; /* [start_count]: paths that begin there */
	uint64_t inherited_ended;
	struct path path;
};

static void add_to(struct flow *flow, uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum) || *sum == PATH_UNKNOWN) {
		flow->p->saturated++;
		*sum = PATH_UNKNOWN - 1;
	}
}

/* The activation ends with this path: at an exit, before a call whose returns begin new ones, or when one returned again. */
static bool ends_activation(const struct flow *flow)
{
	const struct cfg *g = flow->g;
	uint32_t node = flow->path.end_node;

	if (flow->path.is_left)
		return true;
	if (flow->path.end_edge != NO_EDGE)
		return false;
	return g->first_edge[node] == g->first_edge[node + 1] || g->edges[g->first_edge[node]].cut == CFG_CUT_TWICE;
}

static void add_entry(struct flow *flow, const struct path_entry *entry)
{
	struct path_function *f = flow->f;
	const struct path *path = &flow->path;

	path_regenerate(flow->g, &f->numbering, entry->number, &flow->path);
	if (ends_activation(flow)) {
		add_to(flow, &f->ended, entry->count);
		add_to(flow, &flow->inherited_ended, entry->inherited);
	}
	if (!entry->count)
		return;
	add_to(flow, &flow->starts[path->start], entry->count);
	add_to(flow, &f->blocks[f->numbering.starts[path->start]], entry->count);
	for (uint32_t i = 0; i < path->edge_count; i++) {
		add_to(flow, &f->edges[path->edges[i]], entry->count);
		add_to(flow, &f->blocks[flow->g->edges[path->edges[i]].to], entry->count);
	}
	if (path->end_edge != NO_EDGE)
		add_to(flow, &f->edges[path->end_edge], entry->count);
}

/* Paths that start at a node came over one of the cut edges to it; if only one of them is a jump, the rest is its count. */
static void resolve_jumps(struct flow *flow)
{
	const struct path_numbering *n = &flow->f->numbering;
	uint32_t *jumps = calloc(flow->g->node_count, sizeof *jumps); /* per node: jumps to it */
	uint64_t *rest = calloc(flow->g->node_count, sizeof *rest);

	for (uint32_t i = 0; jumps && rest && i < n->start_count; i++)
		rest[n->starts[i]] = flow->starts[i];
	for (uint32_t i = 0; jumps && rest && i < flow->g->edge_count; i++) {
		const struct cfg_edge *e = &flow->g->edges[i];
		uint64_t *count = &rest[e->to];

		if (cfg_edge_ends(e))
			*count -= *count < flow->f->edges[i] ? *count : flow->f->edges[i];
		else if (e->cut != CFG_KEPT)
			jumps[e->to]++;
	}
	for (uint32_t i = 0; i < flow->g->edge_count; i++) {
		const struct cfg_edge *e = &flow->g->edges[i];

		if (e->cut != CFG_CUT_JUMP && e->cut != CFG_CUT_TWICE)
			continue;
		flow->f->edges[i] = PATH_UNKNOWN;
		if (jumps && rest && (jumps[e->to] == 1 || !rest[e->to]))
			flow->f->edges[i] = rest[e->to];
	}
	free(jumps);
	free(rest);
}

static struct error *count_activations(struct flow *flow)
{
	struct path_function *f = flow->f;
	uint64_t open;

	if (f->is_at_entry) { /* counted when it begins, and nothing in it stops it */
		f->activations = f->total;
		f->ended = f->total;
		f->inherited = 0;
	} else {
		f->inherited -= f->inherited < flow->inherited_ended ? f->inherited : flow->inherited_ended;
	}
	f->calls = cfg_count_cuts(flow->g, CFG_CUT_TWICE) ? flow->starts[0] : f->activations;
	if (f->blocks[0] < f->calls) /* nothing leads back to the entry: it ran whenever the function was entered */
		f->blocks[0] = f->calls;
	open = f->activations;
	add_to(flow, &open, f->inherited);
	if (open < f->ended) {
		struct error *err;
		char *text = arena_printf(&flow->p->arena,
					  "%s: %" PRIu64 " activations ended, only %" PRIu64
					  " were begun: counts were lost or are damaged",
					  f->name, f->ended, open);

		err = text ? profile_warn(&flow->p->contexts, text) : &error_no_memory;
		f->unfinished = 0;
		return err;
	}
	f->unfinished = open - f->ended;
	return NULL;
}

struct error *path_flow_compute(struct path_profile *p, struct path_function *f)
{
	struct flow flow = {.p = p, .f = f, .g = &f->meta->cfg};
	struct error *err = path_number(flow.g, &p->arena, &f->numbering);

	if (err)
		return err;
	f->blocks = arena_calloc(&p->arena, flow.g->node_count, sizeof *f->blocks);
	f->edges = arena_calloc(&p->arena, (size_t)flow.g->edge_count + 1, sizeof *f->edges);
	flow.starts = calloc(f->numbering.start_count, sizeof *flow.starts);
	flow.path.edges = calloc(flow.g->node_count, sizeof *flow.path.edges);
	if (f->blocks && f->edges && flow.starts && flow.path.edges) {
		for (uint32_t i = 0; i < f->entry_count; i++)
			add_entry(&flow, &f->entries[i]);
		resolve_jumps(&flow);
		err = count_activations(&flow);
	} else {
		err = &error_no_memory;
	}
	free(flow.starts);
	free(flow.path.edges);
	return err;
}
