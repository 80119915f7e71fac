/*
 * crash_digest.c - the branches that decided, by walking back over the paths of a frame with the place that is to be explained:
 *
 *      entry -- a -- b -- c -- here       here can be avoided from b: b decided, and is explained next
 *                \    \-- d -- out        b can be avoided from a: a decided
 *                 \------------out
 *
 * The branches that can be avoided are found by searching back from the function's ends without going over the place.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/crash/crash_digest.h"

enum {
	DECISIONS_MAX = 64, /* of a frame */
};

VEC_DECLARE(decision_vec, struct crash_decision);

struct digest {
	const struct crash *c;
	const struct crash_thread *t;
	const struct crash_frame *f;
	const struct cfg *g;
	struct sources *sources;
	struct arena *arena;
	uint32_t *first_in; /* [node_count + 1]: in-edges of n are in[first_in[n]] ... */
	uint32_t *in;
	uint8_t *is_end;     /* [node]: END_* */
	uint8_t *can_return; /* [node] */
	uint8_t *avoids;     /* [node]: it can return without the target */
	uint8_t *avoids_so;  /* [node] that cannot return: the program can end without it */
	uint8_t *is_seen;    /* [node] */
	uint32_t *work;
	uint32_t target;
	uint8_t *is_endless; /* [node]: it can avoid the target by a loop */
	uint32_t *ways_left; /* [node] */
	bool counts_loops;
	bool is_forced; /* the branch before decided for one that had nothing left to decide */
	bool is_done;
	struct decision_vec found;
};

enum {
	END_NONE,
	END_RETURN,
	END_OTHER, /* the program ends there */
};

/* ---- ends, and what comes to them ---- */

static struct error *find_in_edges(struct digest *d)
{
	const struct cfg *g = d->g;

	d->first_in = arena_calloc(d->arena, (size_t)g->node_count + 2, sizeof *d->first_in);
	d->in = arena_calloc(d->arena, (size_t)g->edge_count + 1, sizeof *d->in);
	if (!d->first_in || !d->in)
		return &error_no_memory;
	for (uint32_t e = 0; e < g->edge_count; e++)
		d->first_in[g->edges[e].to + 2]++;
	for (uint32_t n = 2; n < g->node_count + 2; n++)
		d->first_in[n] += d->first_in[n - 1];
	for (uint32_t e = 0; e < g->edge_count; e++)
		d->in[d->first_in[g->edges[e].to + 1]++] = g->edges[e].from;
	return NULL;
}

/* Marks what comes to an end of that kind without going over `without`. */
static void search_back(struct digest *d, uint8_t end, uint32_t without, uint8_t *marks)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < d->g->node_count; n++) {
		marks[n] = n != without && d->is_end[n] == end;
		if (marks[n])
			d->work[count++] = n;
	}
	while (count) {
		uint32_t n = d->work[--count];

		for (uint32_t i = d->first_in[n]; i < d->first_in[n + 1]; i++) {
			uint32_t from = d->in[i];

			if (marks[from] || from == without)
				continue;
			marks[from] = true;
			d->work[count++] = from;
		}
	}
}

static bool is_left_by_call(const struct crash_frame *f, uint32_t node)
{
	for (uint32_t i = 0; i < f->meta->call_count; i++)
		if (f->meta->calls[i].node == node && f->meta->calls[i].no_return)
			return true;
	return false;
}

/* Where a function returns, and where the program ends. */
static void find_ends(struct digest *d)
{
	const struct cfg *g = d->g;

	for (uint32_t n = 0; n < g->node_count; n++)
		if (g->first_edge[n] == g->first_edge[n + 1])
			d->is_end[n] = is_left_by_call(d->f, n) ? END_OTHER : END_RETURN;
	search_back(d, END_RETURN, UINT32_MAX, d->can_return);
}

static struct error *init(struct digest *d)
{
	size_t nodes = d->g->node_count;
	struct error *err = find_in_edges(d);

	d->is_end = arena_calloc(d->arena, nodes, 1);
	d->can_return = arena_calloc(d->arena, nodes, 1);
	d->avoids = arena_calloc(d->arena, nodes, 1);
	d->avoids_so = arena_calloc(d->arena, nodes, 1);
	d->is_seen = arena_calloc(d->arena, nodes, 1);
	d->is_endless = arena_calloc(d->arena, nodes, 1);
	d->ways_left = arena_calloc(d->arena, nodes, sizeof *d->ways_left);
	d->work = arena_calloc(d->arena, nodes, sizeof *d->work);
	if (!err && (!d->is_end || !d->can_return || !d->avoids || !d->avoids_so || !d->is_seen || !d->is_endless ||
		     !d->ways_left || !d->work))
		err = &error_no_memory;
	if (!err)
		find_ends(d);
	return err;
}

/* Marks what can go round loops for ever, or return, without going over the target: takes away what cannot, from its ends back. */
static void find_endless(struct digest *d)
{
	const struct cfg *g = d->g;
	uint32_t count = 0;

	for (uint32_t n = 0; n < g->node_count; n++) {
		d->ways_left[n] = g->first_edge[n + 1] - g->first_edge[n];
		d->is_endless[n] = n != d->target && (d->ways_left[n] || d->is_end[n] == END_RETURN);
		if (!d->is_endless[n])
			d->work[count++] = n;
	}
	while (count) {
		uint32_t n = d->work[--count];

		for (uint32_t i = d->first_in[n]; i < d->first_in[n + 1]; i++) {
			uint32_t from = d->in[i];

			if (!d->is_endless[from] || --d->ways_left[from])
				continue;
			d->is_endless[from] = false;
			d->work[count++] = from;
		}
	}
}

/* Sets the node that is explained from now on. */
static void aim(struct digest *d, uint32_t node)
{
	d->target = node;
	find_endless(d);
	search_back(d, END_RETURN, node, d->avoids);
	search_back(d, END_OTHER, node, d->avoids_so);
}

static bool can_avoid(const struct digest *d, uint32_t node)
{
	bool counts_loops = d->counts_loops || !d->can_return[node];

	if (node == d->target)
		return false;
	return (d->can_return[node] ? d->avoids[node] : d->avoids_so[node]) || (counts_loops && d->is_endless[node]);
}

/* ---- going back ---- */

/* A path left the node by one of several ways, and not just by a call's return. */
static bool is_branch(const struct digest *d, const struct path_steps *s, uint32_t index)
{
	uint32_t node = s->nodes[index];
	uint32_t edge = index < s->path.edge_count ? s->path.edges[index] : s->path.end_edge;

	return d->g->first_edge[node + 1] - d->g->first_edge[node] > 1 &&
	       (edge == NO_EDGE || d->f->flow->outcomes[edge].kind != PATHMETA_NORMAL);
}

/* The value that a branch tests may have been computed in a preceding block; then that block is the place to explain. */
static uint32_t place_of_test(const struct digest *d, uint32_t node)
{
	const struct pathmeta_test *test = pathmeta_find_test(d->f->flow, node);

	return test && test->flags & PATHMETA_TEST_JOINED ? test->from : node;
}

static struct error *decide(struct digest *d, uint32_t path, const struct path_steps *s, uint32_t index)
{
	const struct path_node *node = &s->by_node[index];
	struct crash_decision decision = {.path = path, .node = s->nodes[index]};
	bool is_last = index + 1 == s->node_count;

	decision.step = s->steps.items[node->step];
	decision.step.outcome = arena_strdup(d->arena, node->outcome ? node->outcome : s->end);
	if (decision.step.outcome && decision.step.function)
		decision.step.function = arena_strdup(d->arena, decision.step.function);
	if (!decision.step.outcome || (s->steps.items[node->step].function && !decision.step.function))
		return &error_no_memory;
	if (node->outcome || is_last)
		return decision_vec_append(&d->found, decision);
	return NULL;
}

/* An optimizer copies branches: of a loop, one in front of it and one behind each round. */
static bool is_copy_of_known(const struct digest *d, uint32_t node)
{
	const struct pathmeta_test *t = pathmeta_find_test(d->f->flow, node);

	if (!t || !t->at.line || t->flags & PATHMETA_TEST_AS_WRITTEN)
		return false;
	for (size_t i = 0; i < d->found.count; i++) {
		const struct pathmeta_test *known = pathmeta_find_test(d->f->flow, d->found.items[i].node);

		if (known && known->at.line == t->at.line && known->at.column == t->at.column &&
		    text_equal(known->at.file, t->at.file) && text_equal(known->name, t->name))
			return true;
	}
	return false;
}

/* The node at `index` of a path, from which the path goes on. */
static struct error *look_at(struct digest *d, uint32_t path, const struct path_steps *s, uint32_t index)
{
	uint32_t node = s->nodes[index];
	bool is_known = d->is_seen[node] || is_copy_of_known(d, node), has_decided = d->is_forced || can_avoid(d, node);
	struct error *err = NULL;

	if (!is_branch(d, s, index) || !has_decided || s->by_node[index].step == UINT32_MAX)
		return NULL;
	d->is_forced = s->by_node[index].is_forced;
	if (d->is_forced) /* what it tests was known before it: the branch before it decided */
		return NULL;
	d->is_seen[node] = true;
	if (!is_known)
		err = decide(d, path, s, index);
	if (!err)
		aim(d, place_of_test(d, node));
	d->is_done = d->found.count == DECISIONS_MAX;
	return err;
}

static struct error *look_at_path(struct digest *d, uint32_t path)
{
	bool is_last = path + 1 == d->f->path_count;
	struct path_steps s;
	struct error *err = crash_path_steps(d->c, d->t, d->f, &d->f->paths[path], d->sources, &s);

	if (err)
		return err;
	for (uint32_t i = s.node_count - is_last; i-- > 0 && !err && !d->is_done;)
		err = look_at(d, path, &s, i);
	path_steps_deinit(&s);
	d->is_done |= d->f->paths[path].follows_gap; /* longjmp: not by branches */
	return err;
}

static struct error *find(struct digest *d)
{
	uint32_t nodes_max = d->g->node_count;
	uint32_t *nodes = arena_calloc(d->arena, (size_t)nodes_max + 1, sizeof *nodes);
	uint32_t count;
	struct error *err = nodes ? init(d) : &error_no_memory;

	if (err)
		return err;
	count = crash_path_nodes(d->c, d->f, &d->f->paths[d->f->path_count - 1], nodes);
	d->counts_loops = true;
	aim(d, nodes[count - 1]);
	err = look_at_path(d, d->f->path_count - 1);
	d->counts_loops = false;
	aim(d, d->target);
	for (uint32_t i = d->f->path_count - 1; i-- > 0 && !err && !d->is_done;)
		err = look_at_path(d, i);
	return err;
}

struct error *crash_digest_create(const struct crash *c, const struct crash_thread *t, const struct crash_frame *f,
				  struct sources *sources, struct crash_digest *ret)
{
	struct crash_digest digest = {0};
	struct digest d = {.c = c, .t = t, .f = f, .sources = sources, .arena = &digest.arena};
	struct error *err = NULL;

	arena_init(&digest.arena);
	if (f->path_count && (f->trace == CRASH_TRACE_WHOLE || f->trace == CRASH_TRACE_LAST)) {
		d.g = &f->flow->cfg;
		err = find(&d);
	}
	if (!err && d.found.count) {
		digest.items = arena_copy(&digest.arena, d.found.items, d.found.count, sizeof *digest.items);
		digest.count = (uint32_t)d.found.count;
		err = digest.items ? NULL : &error_no_memory;
	}
	decision_vec_deinit(&d.found);
	if (err)
		crash_digest_deinit(&digest);
	else
		*ret = digest;
	return err;
}

void crash_digest_deinit(struct crash_digest *d)
{
	arena_deinit(&d->arena);
}
