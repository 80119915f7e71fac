/* path_steps.c - regenerates the path of a number and joins it with lines and outcomes of the metadata. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "object/demangle.h"
#include "model/paths/path_outcome.h"
#include "model/paths/path_steps.h"

enum {
	AHEAD_MAX = 16, /* blocks without lines that are looked through */
};

const struct pathmeta_line *path_node_place(const struct pathmeta_function *f, uint32_t node)
{
	for (int i = 0; i < AHEAD_MAX; i++) {
		for (uint32_t l = f->first_line[node]; l < f->first_line[node + 1]; l++)
			if (f->lines[l].line && !f->lines[l].is_branch_only)
				return &f->lines[l];
		if (f->cfg.first_edge[node + 1] - f->cfg.first_edge[node] != 1)
			return NULL;
		node = f->cfg.edges[f->cfg.first_edge[node]].to;
	}
	return NULL;
}

static bool is_same_place(const struct path_step *step, const struct pathmeta_line *line)
{
	return text_equal(step->file, line->file) && step->line == line->line && !step->function == !line->function;
}

static struct error *add_line(struct path_steps *s, const struct pathmeta_line *line, const char **last_function)
{
	struct path_step step = {.file = line->file, .line = line->line};
	bool is_same_function = text_equal(*last_function, line->function);

	if (line->line == 0 || line->is_branch_only)
		return NULL; /* code of the compiler's; the branch's outcome goes to the line of what it tests */
	if (s->steps.count && is_same_function && is_same_place(&s->steps.items[s->steps.count - 1], line))
		return NULL;
	if (line->function && is_same_function && s->steps.count) {
		step.function = s->steps.items[s->steps.count - 1].function; /* users compare pointers */
	} else if (line->function) {
		step.function = demangle(&s->arena, line->function);
		if (!step.function)
			return &error_no_memory;
	}
	*last_function = line->function;
	return path_step_vec_append(&s->steps, step);
}

static struct error *add_outcome(struct path_steps *s, const char *text)
{
	struct path_step *step;

	if (!text)
		return NULL;
	if (!s->steps.count) {
		struct error *err = path_step_vec_append(&s->steps, (struct path_step){0});

		if (err)
			return err;
	}
	step = &s->steps.items[s->steps.count - 1];
	step->outcome = step->outcome ? arena_printf(&s->arena, "%s, %s", step->outcome, text) : text;
	return step->outcome ? NULL : &error_no_memory;
}

/* How well a line of the last node is where control is: 0 not at all. */
static int stop_rank(const struct path_walk *w, const struct pathmeta_line *line)
{
	if (line->line != w->stop_line || !text_equal(line->function, w->stop_function))
		return 0;
	return line->column == w->stop_column ? 2 : 1;
}

uint32_t path_lines_reached(const struct path_walk *w, uint32_t node, bool *ret)
{
	uint32_t first = w->flow->first_line[node], end = w->flow->first_line[node + 1], found = end;
	int best = 0;

	*ret = true;
	if (!w->is_partial)
		return end;
	for (uint32_t l = first; w->stop_line && l < end; l++) {
		int rank = stop_rank(w, &w->flow->lines[l]);

		if (rank > best) {
			best = rank;
			found = l + 1;
		}
	}
	*ret = best > 0;
	return best > 0 ? found : first;
}

/* Control is at a line that its node does not have, or at none: which of the node's lines were reached is not known. */
static struct error *add_stop(const struct path_walk *w, struct path_steps *s, const char **last_function)
{
	const struct pathmeta_line line = {
		.function = w->stop_function,
		.file = w->stop_file ? w->stop_file : w->flow->file,
		.line = w->stop_line,
	};

	if (!w->stop_line)
		return path_step_vec_append(&s->steps, (struct path_step){0});
	return add_line(s, &line, last_function);
}

/* Adds the decision of the branch behind node i of the path to the last step. */
static struct error *add_decision(const struct path_walk *w, uint32_t i, uint32_t edge, struct path_steps *s)
{
	struct path_decision branch = {.walk = w, .nodes = s->nodes, .path = &s->path, .index = i, .edge = edge};
	const char *outcome;
	struct error *err;

	if (s->steps.count)
		branch.step = &s->steps.items[s->steps.count - 1];
	err = path_outcome(&branch, &s->arena, &outcome, &s->by_node[i].is_forced);
	if (err)
		return err;
	err = add_outcome(s, outcome);
	if (err)
		return err;
	s->by_node[i].outcome = outcome;
	if (s->steps.count)
		s->by_node[i].step = (uint32_t)s->steps.count - 1; /* an outcome without a line got one */
	return NULL;
}

static struct error *add_node(const struct path_walk *w, uint32_t i, struct path_steps *s, const char **last_function)
{
	const struct pathmeta_function *m = w->flow;
	uint32_t node = s->nodes[i];
	uint32_t edge = i < s->path.edge_count ? s->path.edges[i] : s->path.end_edge;
	bool is_last = i + 1 == s->node_count;
	bool is_found = true;
	uint32_t end = is_last ? path_lines_reached(w, node, &is_found) : m->first_line[node + 1];
	struct error *err = NULL;

	for (uint32_t l = m->first_line[node]; l < end && !err; l++)
		err = add_line(s, &m->lines[l], last_function);
	if (!is_found && !err)
		err = add_stop(w, s, last_function);
	if (err)
		return err;
	s->by_node[i].step = s->steps.count ? (uint32_t)s->steps.count - 1 : UINT32_MAX;
	return edge == NO_EDGE || (is_last && w->is_partial) ? NULL : add_decision(w, i, edge, s);
}

static struct error *add_nodes(const struct path_walk *w, struct path_steps *s)
{
	const char *last_function = NULL;
	struct error *err = NULL;

	for (uint32_t i = 0; i < s->node_count && !err; i++)
		err = add_node(w, i, s, &last_function);
	return err;
}

static const char *start_text(const struct path_walk *w)
{
	const struct cfg *g = &w->flow->cfg;
	uint32_t node = w->numbering->starts[w->path->start];
	unsigned int cuts = cfg_cuts_to(g, node);

	if (node == 0)
		return "enters";
	if (cuts == 1u << CFG_CUT_BACK || w->numbering->start_iterations[w->path->start] != NO_EDGE)
		return "after a round of the loop";
	if (cuts & 1u << CFG_CUT_ITERATION)
		return "comes to a loop";
	if (cuts == 1u << CFG_CUT_TWICE)
		return "after a call that may return twice";
	if (cuts == 1u << CFG_CUT_JUMP)
		return "after a jump";
	return "continues where another path was cut";
}

static const char *end_text(const struct pathmeta_function *f, const struct path *path, struct arena *arena)
{
	const struct cfg *g = &f->cfg;
	uint32_t first = g->first_edge[path->end_node];

	if (path->is_left)
		return "left here: a call that returns twice returned again";
	if (path->end_edge != NO_EDGE) {
		enum cfg_cut cut = g->edges[path->end_edge].cut;

		if (cut == CFG_CUT_BACK || cut == CFG_CUT_ITERATION)
			return path_way(f, path->end_edge, "back to", "back to the loop's start", arena);
		if (cfg_cuts_to(g, g->edges[path->end_edge].to) & 1u << CFG_CUT_ITERATION)
			return path_way(f, path->end_edge, "into the loop at", "into a loop", arena);
		return path_way(f, path->end_edge, "cut, goes on at", "cut, goes on", arena);
	}
	if (first == g->first_edge[path->end_node + 1])
		return "leaves";
	return g->edges[first].cut == CFG_CUT_TWICE ? "up to a call that may return twice" : "jumps";
}

struct error *path_steps_walk(const struct path_walk *w, struct path_steps *ret)
{
	struct path_steps s = {.path = *w->path};
	struct error *err = &error_no_memory;

	arena_init(&s.arena);
	s.path.edges = arena_copy(&s.arena, w->path->edges, w->path->edge_count, sizeof *s.path.edges);
	s.nodes = arena_calloc(&s.arena, (size_t)w->path->edge_count + 1, sizeof *s.nodes);
	s.by_node = arena_calloc(&s.arena, (size_t)w->path->edge_count + 1, sizeof *s.by_node);
	if (s.path.edges && s.nodes && s.by_node) {
		s.node_count = path_nodes(&w->flow->cfg, w->numbering, w->path, s.nodes);
		err = add_nodes(w, &s);
	}
	if (!err) {
		s.start = start_text(w);
		s.end = !w->is_partial ? end_text(w->flow, &s.path, &s.arena)
			: w->stop_line ? "is here"
				       : "is here, in code without a line";
		err = s.end ? NULL : &error_no_memory;
	}
	if (err)
		path_steps_deinit(&s);
	else
		*ret = s;
	return err;
}

struct error *path_steps_create(const struct path_profile *p, const struct path_function *f, uint64_t number,
				struct sources *sources, struct path_steps *ret)
{
	struct path path = {.edges = calloc(f->meta->cfg.node_count, sizeof *path.edges)};
	struct path_walk walk = {
		.flow = f->meta,
		.numbering = &f->numbering,
		.stage = path_function_unit(p, f)->stage,
		.sources = sources,
		.path = &path,
	};
	struct error *err;

	if (!path.edges)
		return &error_no_memory;
	path_regenerate(&f->meta->cfg, &f->numbering, number, &path);
	err = path_steps_walk(&walk, ret);
	free(path.edges);
	return err;
}

void path_steps_deinit(struct path_steps *s)
{
	path_step_vec_deinit(&s->steps);
	arena_deinit(&s->arena);
}
