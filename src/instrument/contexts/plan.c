/*
 * plan.c - third phase: what code each call site needs, decided without touching the module.
 *
 * Tail calls. A call that the compiler may turn into a jump keeps its place before the return: nothing can be undone after
 * it, so the function comes back with another id (it *clobbers*) and its callers, all of which are known, put back absolute
 * values. Callers of a root are not all known (qsort does not restore anything), so a root undoes after the call, which
 * makes it an ordinary one; only a musttail call there stays, pushed, and its callee cleans up (scan.c).
 */
#include "core/contexts/scc.h"
#include "instrument/contexts/program.h"

/* Tail call that stays one: the caller of this function cleans up. */
static bool stays_tail(const struct program *p, const struct site *site)
{
	return site->is_tail && (site->is_must_tail || !p->functions.items[site->caller].is_root);
}

/* May be a jump: to a known function, or to some root. */
static bool jumps(const struct program *p, const struct site *site)
{
	return site->is_tail && (stays_tail(p, site) || site->action == SITE_NOTHING);
}

/* Functions, and behind them a node for whatever a pointer leads to: any root. */
static struct error *add_jumps(const struct program *p, struct callgraph *g)
{
	const uint32_t any_root = (uint32_t)p->functions.count;
	struct error *err = NULL;
	uint32_t ignored;
	for (uint32_t i = 0; i <= any_root && !err; i++)
		err = callgraph_add_node(g, false, &ignored);
	for (uint32_t i = 0; i < any_root && !err; i++)
		if (p->functions.items[i].is_root)
			err = callgraph_add_edge(g, any_root, i, 0, 0, &ignored);
	for (uint32_t i = 0; i < p->sites.count && !err; i++) {
		const struct site *site = &p->sites.items[i];
		if (jumps(p, site))
			err = callgraph_add_edge(g, site->caller, site->callee == NO_INDEX ? any_root : site->callee, i,
						 0, &ignored);
	}
	return err;
}

static void drop_tails(struct program *p, const struct scc *circles)
{
	for (size_t i = 0; i < p->sites.count; i++) {
		struct site *site = &p->sites.items[i];
		const uint32_t callee = site->callee == NO_INDEX ? (uint32_t)p->functions.count : site->callee;
		if (site->action == SITE_PUSH && !site->is_must_tail &&
		    circles->component[site->caller] != circles->component[callee])
			site->is_tail = false;
	}
}

/*
 * A tail call that pushes can be part of a loop of tail calls, which must not eat the stack, only if jumps lead back to it. Elsewhere a frame
 * is cheaper than a push that stays and callers that clean up.
 */
static struct error *drop_harmless_tails(struct program *p)
{
	struct callgraph jumps;
	struct adjacency out = {0};
	struct scc circles = {0};
	callgraph_init(&jumps, NULL);
	struct error *err = add_jumps(p, &jumps);
	if (!err)
		err = adjacency_by_caller(&jumps, &out);
	if (!err)
		err = scc_find(&jumps, &out, &circles);
	if (!err)
		drop_tails(p, &circles);
	scc_deinit(&circles);
	adjacency_deinit(&out);
	callgraph_deinit(&jumps);
	return err;
}

/* Finds what the callee may leave behind. */
static void callee_clobbers(const struct program *p, const struct site *site, bool *id, bool *top)
{
	*id = *top = false;
	if (site->callee == NO_INDEX)
		return;
	*id = p->functions.items[site->callee].clobbers_id;
	*top = p->functions.items[site->callee].clobbers_top;
}

/* Clobbering spreads from callee to caller along tail calls; repeats until nothing changes (chains are short). */
static void find_clobbering(struct program *p)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < p->sites.count; i++) {
			const struct site *site = &p->sites.items[i];
			struct function *f = &p->functions.items[site->caller];
			if (!stays_tail(p, site) || f->is_root)
				continue;
			bool id, top;
			callee_clobbers(p, site, &id, &top);
			bool new_id = f->clobbers_id || id || site->action != SITE_NOTHING;
			bool new_top = f->clobbers_top || top || site->action == SITE_PUSH;
			changed |= new_id != f->clobbers_id || new_top != f->clobbers_top;
			f->clobbers_id = new_id;
			f->clobbers_top = new_top;
		}
	}
}

static void plan_site(struct program *p, struct site *site)
{
	bool is_call = site->action != SITE_CAPTURE;
	if (!is_call || stays_tail(p, site))
		return;
	bool id, top;
	callee_clobbers(p, site, &id, &top);
	site->restore_id = id;
	site->restore_top = top;
	site->undo = site->action != SITE_NOTHING || id || top;
}

struct error *program_plan(struct program *p)
{
	struct error *err = drop_harmless_tails(p);
	if (err)
		return err;
	find_clobbering(p);
	late_find(p);
	pointed_weigh(p);
	for (size_t i = 0; i < p->sites.count; i++) {
		struct site *site = &p->sites.items[i];
		if (site->kind == META_SITE_INDIRECT && !site->is_tail &&
		    (pointed_hardly_pushes(p, LLVMGetCalledFunctionType(site->call)) ||
		     passed_hardly_pushes(p, site->call)))
			site->action = SITE_DEFER;
		plan_site(p, site);
		if (site->action == SITE_NOTHING && !site->undo)
			p->calls.no_code++;
	}
	err = cold_choose(p);
	return err ? err : self_choose(p);
}
