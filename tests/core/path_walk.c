/*
 * path_walk.c - runs all paths of a graph: a depth-first walk that carries the register along.
 */
#include "path_walk.h"

#include <stdio.h>
#include <stdlib.h>

struct walker {
	const struct cfg *g;
	const struct path_numbering *n;
	const struct placement *p;
	path_walk_ended *ended;
	void *data;
	struct path path; /* where it is */
	const char *wrong;
};

struct machine {
	bool has_register;
	uint64_t r;
};

static void run_op(struct walker *w, struct machine *m, struct place_op op)
{
	if (op.kind == PLACE_SET)
		*m = (struct machine){true, op.value};
	if (op.kind == PLACE_ADD) {
		if (!m->has_register)
			w->wrong = "adds to a register without a value";
		if (!op.value)
			w->wrong = "adds 0";
		m->r += op.value;
	}
}

static void end_path(struct walker *w, struct machine m, struct place_end end)
{
	if (end.adds_register && !m.has_register)
		w->wrong = "counts a register without a value";
	w->ended(w->data, &w->path, end.value + (end.adds_register ? m.r : 0));
}

static void walk_from(struct walker *w, uint32_t node, struct machine m)
{
	const struct cfg *g = w->g;

	/* A register may hold a value that is no more needed, but one that is needed must. */
	if (w->p->has_register[node] && !m.has_register)
		w->wrong = "enters a node without the register it has there";
	if (!w->p->has_register[node])
		m.has_register = false;
	w->path.end_node = node;
	w->path.end_edge = NO_EDGE;
	if (cfg_node_ends(g, node))
		end_path(w, m, w->p->node_ends[node]);
	for (uint32_t e = g->first_edge[node]; !cfg_node_ends(g, node) && e < g->first_edge[node + 1]; e++) {
		struct machine next = m;

		if (cfg_edge_ends(&g->edges[e])) {
			w->path.end_node = node;
			w->path.end_edge = e;
			end_path(w, m, w->p->edge_ends[e]);
			continue;
		}
		run_op(w, &next, w->p->edges[e]);
		w->path.edges[w->path.edge_count++] = e;
		walk_from(w, g->edges[e].to, next);
		w->path.edge_count--;
	}
	if (!g->may_be_left)
		return;
	w->path.end_node = node;
	w->path.end_edge = NO_EDGE;
	w->path.is_left = true;
	end_path(w, m, w->p->lefts[node]);
	w->path.is_left = false;
}

const char *path_walk_all(const struct cfg *g, const struct path_numbering *n, const struct placement *p,
			  path_walk_ended *ended, void *data)
{
	struct walker w = {.g = g, .n = n, .p = p, .ended = ended, .data = data, .wrong = ""};

	w.path.edges = malloc(g->node_count * sizeof(uint32_t));
	if (!w.path.edges)
		return "out of memory";
	for (uint32_t i = 0; i < n->start_count; i++) {
		struct machine m = {0};

		w.path.start = i;
		run_op(&w, &m, p->starts[i]);
		walk_from(&w, n->starts[i], m);
	}
	free(w.path.edges);
	return w.wrong;
}
