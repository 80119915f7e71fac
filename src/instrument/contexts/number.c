/*
 * number.c - second phase: the call graph of the observable functions, how often its edges run; and, later, their encoding.
 *
 * Frequencies, best first: entry counts of an LLVM profile times block frequencies; else block frequencies carried
 * through the call graph from the roots (estimate.c).
 */
#include "instrument/contexts/program.h"

static bool has_profile(const struct program *p)
{
	uint64_t count;
	for (size_t i = 0; i < p->functions.count; i++)
		if (p->host->entry_count(p->host->state, p->functions.items[i].value, &count) && count)
			return true;
	return false;
}

static void read_profile(struct program *p)
{
	uint64_t count;
	for (size_t i = 0; i < p->functions.count; i++)
		if (p->host->entry_count(p->host->state, p->functions.items[i].value, &count))
			p->functions.items[i].entries = (double)count;
}

static uint64_t profile_weight(const struct program *p, const struct site *site)
{
	double weight = program_runs(p, site);
	return weight < 1e18 ? (uint64_t)weight : (uint64_t)1e18;
}

static struct error *add_nodes(struct program *p)
{
	for (size_t i = 0; i < p->functions.count; i++) {
		struct function *f = &p->functions.items[i];
		if (!f->is_observable || f->is_opaque)
			continue;
		struct error *err = callgraph_add_node(&p->graph, f->is_root, &f->node);
		if (err)
			return err;
	}
	return NULL;
}

static struct error *add_edges(struct program *p, bool profiled)
{
	for (uint32_t i = 0; i < p->sites.count; i++) {
		struct site *site = &p->sites.items[i];
		if (site->kind != META_SITE_CALL || p->functions.items[site->callee].node == NO_INDEX)
			continue;
		struct error *err = callgraph_add_edge(&p->graph, p->functions.items[site->caller].node,
						       p->functions.items[site->callee].node, i,
						       profiled ? profile_weight(p, site) : 0, &site->edge);
		if (err)
			return err;
	}
	return NULL;
}

/* No call is encoded into it: all there is is its own start. */
static bool has_start_alone(const struct callgraph *g, uint32_t node)
{
	return g->range_start[node + 1] - g->range_start[node] == 1;
}

static void find_outer(struct program *p)
{
	for (size_t i = 0; i < p->functions.count; i++) {
		struct function *f = &p->functions.items[i];
		f->is_outer = f->is_root && f->node != NO_INDEX && has_start_alone(&p->graph, f->node) && !f->is_placed;
	}
}

/* A push need not know what will run. */
static void make_foreign(const struct program *p, struct site *site)
{
	site->kind = META_SITE_FOREIGN;
	site->foreign = p->functions.items[site->callee].name;
	site->callee = NO_INDEX;
	site->is_replaceable = false;
}

/* Gives every edge's site what the encoding decided. */
static void apply_encoding(struct program *p)
{
	for (uint32_t e = 0; e < p->graph.edge_count; e++) {
		const struct callgraph_edge *edge = &p->graph.edges[e];
		struct site *site = &p->sites.items[edge->site];
		if (edge->kind == EDGE_ENCODED) {
			site->action = edge->addend ? SITE_ADD : SITE_NOTHING;
			site->addend = program_id(p, edge->addend);
			if (site->is_replaceable)
				p->functions.items[site->callee].is_replaceable = true;
			continue;
		}
		site->kind = edge->kind == EDGE_BACK ? META_SITE_BACK : META_SITE_CUT;
		site->action = SITE_PUSH;
		if (site->is_replaceable)
			make_foreign(p, site);
	}
	for (size_t i = 0; i < p->sites.count; i++) {
		struct site *site = &p->sites.items[i];
		if (site->edge != NO_INDEX || site->kind == META_SITE_CALL)
			continue;
		site->action = site->kind == META_SITE_CAPTURE ? SITE_CAPTURE : SITE_PUSH;
		if (site->kind == META_SITE_FOREIGN && !site->is_tail)
			site->action = SITE_DEFER;
	}
}

struct error *program_weigh(struct program *p)
{
	bool profiled = has_profile(p);
	callgraph_deinit(&p->graph);
	callgraph_init(&p->graph, NULL);
	struct error *err = add_nodes(p);
	if (profiled)
		read_profile(p);
	if (!err)
		err = add_edges(p, profiled);
	if (!err && !profiled)
		err = program_estimate(p);
	return err;
}

struct error *program_number(struct program *p)
{
	struct callgraph_options options = {.roots_set_id = true, .small_addends = true};
	struct error *err = callgraph_encode(&p->graph, &options, &p->graph_stats);
	if (!err)
		err = program_number_hybrid(p);
	if (!err) {
		find_outer(p);
		apply_encoding(p);
	}
	return err;
}
