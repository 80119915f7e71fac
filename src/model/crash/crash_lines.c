/*
 * crash_lines.c - collects (file, line, state) of every block's lines, sorts, and keeps the most certain of each line.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/order.h"
#include "model/source/source.h"
#include "model/crash/crash_lines.h"
#include "model/crash/crash_steps.h"

#define ALL_REACHED UINT32_MAX

struct collect {
	const struct crash *c;
	const struct activity_result *activity;
	struct crash_lines *l;
	uint32_t image; /* at work */
	uint32_t **
		not_reached; /* [function][node]: of the lines of a node where control is, the first one that was not reached;
				 NULL, ALL_REACHED: nothing is known of such */
};

const char *crash_state_name(uint8_t state)
{
	static const char *const names[] = {
		[ACTIVITY_NO] = "no",
		[ACTIVITY_MAYBE] = "maybe",
		[ACTIVITY_YES] = "yes",
		[CRASH_LINE_UNKNOWN] = "unknown",
	};

	return names[state];
}

struct error *crash_lines_file(struct crash_lines *l, const char *name, uint32_t *ret)
{
	struct key key = key_of_text(name);
	uint32_t spelled, file;
	const char *plain;
	struct error *err = hashmap_add(&l->spelled_map, &key, &spelled);

	if (err)
		return err;
	if (spelled < l->spelled.count) {
		*ret = l->spelled.items[spelled];
		return NULL;
	}
	plain = source_plain_name(name, &l->arena);
	if (!plain)
		return &error_no_memory;
	key = key_of_text(plain);
	err = hashmap_add(&l->file_map, &key, &file);
	if (!err && file == l->files.count)
		err = crash_line_file_vec_append(&l->files, (struct crash_line_file){.name = plain});
	if (!err)
		err = crash_file_number_vec_append(&l->spelled, file);
	if (!err)
		*ret = file;
	return err;
}

/* ---- where control is ---- */

static struct path_walk here(const struct crash *c, const struct crash_thread *t, const struct crash_frame *f)
{
	struct path_walk walk = crash_path_walk(c, t, f, NULL);

	walk.is_partial = true;
	return walk;
}

static struct error *note_frame(struct collect *k, const struct crash_thread *t, const struct crash_frame *f)
{
	uint32_t id = crash_function_id(k->c, f);
	struct path_walk walk = here(k->c, t, f);
	bool is_found;

	if (!k->not_reached[id]) {
		k->not_reached[id] = arena_alloc(&k->l->arena, f->flow->cfg.node_count * sizeof **k->not_reached);
		if (!k->not_reached[id])
			return &error_no_memory;
		memset(k->not_reached[id], 0xff, f->flow->cfg.node_count * sizeof **k->not_reached);
	}
	for (uint32_t i = 0; i < f->node_count; i++) {
		uint32_t node = f->nodes[i], reached = path_lines_reached(&walk, node, &is_found);

		if (reached < k->not_reached[id][node])
			k->not_reached[id][node] = reached;
	}
	return NULL;
}

/* Nodes of paths that have ended ran to their ends. */
static void note_complete(struct collect *k, const struct crash_frame *f, uint32_t *nodes)
{
	uint32_t *not_reached = k->not_reached[crash_function_id(k->c, f)];

	for (uint32_t i = 0; i < f->path_count; i++) {
		uint32_t count = crash_path_nodes(k->c, f, &f->paths[i], nodes);

		count -= count && f->paths[i].is_current;
		for (uint32_t n = 0; n < count; n++)
			not_reached[nodes[n]] = ALL_REACHED;
	}
}

static struct error *note_frames(struct collect *k)
{
	struct error *err = NULL;

	for (uint32_t t = 0; t < k->c->thread_count && !err; t++) {
		const struct crash_thread *thread = &k->c->threads[t];

		for (uint32_t i = 0; i < thread->frame_count && !err; i++)
			if (thread->frames[i].flow)
				err = note_frame(k, thread, &thread->frames[i]);
	}
	for (uint32_t t = 0; t < k->c->thread_count && !err; t++) {
		const struct crash_thread *thread = &k->c->threads[t];

		for (uint32_t i = 0; i < thread->frame_count && !err; i++) {
			const struct crash_frame *f = &thread->frames[i];
			uint32_t *nodes;

			if (f->trace != CRASH_TRACE_WHOLE && f->trace != CRASH_TRACE_LAST)
				continue;
			nodes = calloc((size_t)f->flow->cfg.node_count + 1, sizeof *nodes);
			if (!nodes)
				return &error_no_memory;
			note_complete(k, f, nodes);
			free(nodes);
		}
	}
	return err;
}

/* ---- calls that may not have come back ---- */

static bool is_named(const char *name, const char *const *names)
{
	for (; name && *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/* Whether any call may be left by longjmp: something of the traced code can be jumped to. */
static bool has_jumps(const struct crash *c)
{
	static const char *const names[] = {"setjmp",  "_setjmp",  "__sigsetjmp", "sigsetjmp",     "__builtin_setjmp",
					    "longjmp", "_longjmp", "siglongjmp",  "__longjmp_chk", NULL};

	for (uint32_t i = 0; i < c->stopped->module_count; i++) {
		const struct tracemeta *m = &c->images[i].trace.meta;

		for (uint32_t f = 0; f < m->function_count; f++)
			for (uint32_t call = 0; call < m->functions[f].call_count; call++)
				if (is_named(m->functions[f].calls[call].callee, names))
					return true;
	}
	return false;
}

/* What ran of a function over the whole run, or of one activation of it. */
struct ran {
	const struct pathmeta_function *flow;
	const struct tracemeta_function *meta;
	const uint8_t *edges; /* enum activity_state */
	const uint8_t *used;  /* enum activity_point, of calls; NULL: not known */
	bool has_jumps;
};

static bool is_left_sometimes(const struct ran *r, uint32_t node)
{
	for (uint32_t e = r->flow->cfg.first_edge[node]; e < r->flow->cfg.first_edge[node + 1]; e++)
		if (r->edges[e] == ACTIVITY_YES)
			return true;
	return false;
}

/* The first of a node's lines behind a call. */
static uint32_t line_behind(const struct pathmeta_function *flow, const struct tracemeta_call *call)
{
	for (uint32_t i = flow->first_line[call->node]; i < flow->first_line[call->node + 1]; i++) {
		const struct pathmeta_line *line = &flow->lines[i];

		if (line->line == call->line && line->column == call->column &&
		    (line->function == call->function ||
		     (line->function && call->function && strcmp(line->function, call->function) == 0)))
			return i + 1;
	}
	return flow->first_line[call->node];
}

/*
 * sure_end[node]: of the lines of a node that ran those before it ran; those behind a call only if the call came back: control has
 * gone on from the node, or a later call of it was made, or nothing can leave the call.
 */
static void find_sure_ends(const struct ran *r, uint32_t *sure_end)
{
	uint32_t made = UINT32_MAX; /* node of a later call that was made */

	for (uint32_t node = 0; node < r->flow->cfg.node_count; node++)
		sure_end[node] = r->flow->first_line[node + 1];
	for (uint32_t i = r->meta->call_count; i-- > 0;) {
		const struct tracemeta_call *call = &r->meta->calls[i];
		bool can_leave = call->may_leave || (r->has_jumps && call->kind != TRACEMETA_PURE);

		if (made != call->node && can_leave && !is_left_sometimes(r, call->node)) {
			uint32_t behind = line_behind(r->flow, call);

			if (behind < sure_end[call->node])
				sure_end[call->node] = behind;
		}
		if (r->used && r->used[i] == POINT_USED)
			made = call->node;
	}
}

/* ---- lines ---- */

/* No block of the line can have run, but a copy of it that was folded may have. */
static bool may_be_unseen(const struct collect *k, uint32_t id, uint32_t index)
{
	uint32_t image = k->image;
	const struct pathmeta_function *flow = k->c->images[image].trace.flows[id - k->c->first_function[image]];
	const struct pathmeta_line *line = &flow->lines[index];
	const char *function = line->function ? line->function : flow->name;

	if (k->activity->functions[id] != ACTIVITY_NO && !pathmeta_is_whole(flow, index))
		return true;
	return hidden_has(&k->l->hidden, function) ||
	       crash_hidden_line(k->c, k->activity->functions, image, function, line);
}

static uint8_t state_of(const struct collect *k, uint32_t id, uint32_t node, uint32_t line, const uint32_t *sure_end)
{
	uint8_t state = k->activity ? k->activity->nodes[id][node] : CRASH_LINE_UNKNOWN;

	if (state == ACTIVITY_NO && may_be_unseen(k, id, line))
		state = ACTIVITY_MAYBE;
	if (state == ACTIVITY_YES &&
	    ((k->not_reached[id] && line >= k->not_reached[id][node]) || line >= sure_end[node]))
		state = ACTIVITY_MAYBE;
	return state;
}

static struct error *add_line(struct collect *k, const char *file, uint32_t line, uint8_t state)
{
	struct crash_line piece = {.line = line, .state = state};
	struct error *err;

	if (!file || !line)
		return NULL;
	err = crash_lines_file(k->l, file, &piece.file);
	return err ? err : crash_line_vec_append(&k->l->lines, piece);
}

/* The lines of its nodes; sure_end: of each node, the first line that is not sure to have run with it. */
static struct error *add_lines(struct collect *k, uint32_t id, const struct pathmeta_function *flow,
			       const uint32_t *sure_end)
{
	struct error *err = NULL;

	for (uint32_t node = 0; node < flow->cfg.node_count; node++)
		for (uint32_t i = flow->first_line[node]; i < flow->first_line[node + 1] && !err; i++)
			err = add_line(k, flow->lines[i].file, flow->lines[i].line, state_of(k, id, node, i, sure_end));
	return err;
}

static struct error *add_function(struct collect *k, uint32_t id, const struct pathmeta_function *flow,
				  const struct tracemeta_function *meta)
{
	struct crash_line_function function = {.file = UINT32_MAX, .line = flow->line, .id = id, .flow = flow};
	CLEANUP(arena_deinit) struct arena scratch = {0};
	uint32_t *sure_end = arena_calloc(&scratch, (size_t)flow->cfg.node_count + 1, sizeof *sure_end);
	struct ran ran = {flow, meta, k->activity ? k->activity->edges[id] : NULL, k->c->calls_used[id],
			  k->l->has_jumps};
	struct error *err = NULL;

	if (!sure_end)
		return &error_no_memory;
	if (k->activity)
		find_sure_ends(&ran, sure_end);
	if (flow->file && flow->line)
		err = crash_lines_file(k->l, flow->file, &function.file);
	if (err)
		return err;
	for (uint32_t node = 0; node < flow->cfg.node_count; node++) {
		if (k->activity && k->not_reached[id] && is_left_sometimes(&ran, node))
			k->not_reached[id][node] = ALL_REACHED;
		function.blocks[k->activity ? k->activity->nodes[id][node] : CRASH_LINE_UNKNOWN]++;
	}
	err = add_lines(k, id, flow, sure_end);
	if (err)
		return err;
	function.state = k->activity ? k->activity->functions[id] : CRASH_LINE_UNKNOWN;
	return crash_line_function_vec_append(&k->l->functions, function);
}

static int compare_lines(const void *a, const void *b)
{
	const struct crash_line *x = a, *y = b;

	return compare_u64(x->file, y->file) ?: compare_u64(x->line, y->line) ?:
	       compare_u64(y->state, x->state); /* the most certain first */
}

static void fold_lines(struct crash_lines *l)
{
	size_t count = 0;

	if (l->lines.count)
		qsort(l->lines.items, l->lines.count, sizeof *l->lines.items, compare_lines);
	for (size_t i = 0; i < l->lines.count; i++) {
		const struct crash_line *line = &l->lines.items[i];
		struct crash_line_file *file = &l->files.items[line->file];

		if (count && l->lines.items[count - 1].file == line->file &&
		    l->lines.items[count - 1].line == line->line)
			continue;
		if (!file->line_count++)
			file->first_line = count;
		file->states[line->state]++;
		l->lines.items[count++] = *line;
	}
	l->lines.count = count;
}

void crash_lines_own_ends(const struct crash_lines *l, const struct crash *c, uint32_t thread, uint32_t frame,
			  const uint8_t *edges, uint32_t *ret)
{
	const struct crash_frame *f = &c->threads[thread].frames[frame];
	const struct path_walk walk = here(c, &c->threads[thread], f);
	const struct ran ran = {f->flow, f->meta, edges, f->calls_used, l->has_jumps};

	find_sure_ends(&ran, ret);
	for (uint32_t i = 0; i < f->node_count; i++) {
		uint32_t node = f->nodes[i], reached;
		bool is_found;

		if (is_left_sometimes(&ran, node))
			continue;
		reached = path_lines_reached(&walk, node, &is_found);
		if (reached < ret[node])
			ret[node] = reached;
	}
}

/* ---- functions ---- */

static int compare_places(const struct crash_line_function *x, const struct crash_line_function *y)
{
	return compare_u64(x->file, y->file) ?: compare_u64(x->line, y->line) ?: strcmp(x->flow->link_name, y->flow->link_name);
}

static int compare_functions(const void *a, const void *b)
{
	const struct crash_line_function *x = a, *y = b;

	return compare_places(x, y) ?: compare_u64(y->state, x->state) ?:
	       compare_u64(y->blocks[ACTIVITY_YES], x->blocks[ACTIVITY_YES]) ?: compare_u64(x->id, y->id);
}

static void fold_functions(struct crash_lines *l)
{
	size_t count = 0;

	if (l->functions.count)
		qsort(l->functions.items, l->functions.count, sizeof *l->functions.items, compare_functions);
	for (size_t i = 0; i < l->functions.count; i++) {
		const struct crash_line_function *f = &l->functions.items[i];

		if (f->file != UINT32_MAX && count && compare_places(&l->functions.items[count - 1], f) == 0)
			continue;
		l->functions.items[count] = *f;
		if (f->file != UINT32_MAX) {
			if (!l->files.items[f->file].function_count++)
				l->files.items[f->file].first_function = count;
			l->placed_functions = count + 1;
		}
		count++;
	}
	l->functions.count = count;
}

struct error *crash_lines_create(const struct crash *c, const struct activity_result *activity, struct crash_lines *ret)
{
	struct collect k = {.c = c, .activity = activity, .l = ret};
	uint32_t total = c->first_function[c->stopped->module_count];
	struct error *err;

	*ret = (struct crash_lines){.has_jumps = has_jumps(c)};
	arena_init(&ret->arena);
	k.not_reached = arena_calloc(&ret->arena, (size_t)total + 1, sizeof *k.not_reached);
	err = k.not_reached ? note_frames(&k) : &error_no_memory;
	if (!err && activity)
		err = crash_hidden_find(c, activity->functions, &ret->hidden);
	for (k.image = 0; k.image < c->stopped->module_count; k.image++) {
		const uint32_t i = k.image;

		for (uint32_t id = c->first_function[i]; id < c->first_function[i + 1] && !err; id++)
			err = add_function(&k, id, c->images[i].trace.flows[id - c->first_function[i]],
					   &c->images[i].trace.meta.functions[id - c->first_function[i]]);
	}
	if (err) {
		crash_lines_deinit(ret);
		return err;
	}
	fold_lines(ret);
	fold_functions(ret);
	return NULL;
}

void crash_lines_deinit(struct crash_lines *l)
{
	hidden_deinit(&l->hidden);
	hashmap_deinit(&l->spelled_map);
	crash_file_number_vec_deinit(&l->spelled);
	hashmap_deinit(&l->file_map);
	crash_line_file_vec_deinit(&l->files);
	crash_line_vec_deinit(&l->lines);
	crash_line_function_vec_deinit(&l->functions);
	arena_deinit(&l->arena);
}

const struct crash_line *crash_lines_find(const struct crash_lines *l, uint32_t file, uint32_t line)
{
	const struct crash_line_file *f = &l->files.items[file];
	const struct crash_line *lines = f->line_count ? &l->lines.items[f->first_line] : NULL;
	size_t below = COUNT_BELOW(lines, f->line_count, line, line);

	return below < f->line_count && lines[below].line == line ? &lines[below] : NULL;
}
