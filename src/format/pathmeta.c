/*
 * pathmeta.c - bytes of `.debug_waymark_paths` to model, unit after unit. Every count is checked against the bytes that are
 * left before memory is asked for, every graph by numbering its paths, so that users of the model need no checks.
 *
 * A function that an earlier unit had (inline functions, templates: most of a C++ program) is found by its keys and passed over by its length.
 */
#include "format/pathmeta.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "core/paths/path_number.h"
#include "format/pathmeta_bytes.h"
#include "format/unitmeta.h"
#include "format/pathmeta_check.h"
#include "waymark/paths.h"

/* The fewest bytes that an element of each table takes. */
enum {
	FUNCTION_MIN_BYTES = 1 + 16 + 14 + 2 + 1 + 2,
	NODE_MIN_BYTES = 2,
	EDGE_MIN_BYTES = 2,
	LINE_MIN_BYTES = 2,
	TEST_MIN_BYTES = 10,
	HIDDEN_MIN_BYTES = 1,
	FIRM_MIN_BYTES = 1,
};

VEC_DECLARE(unit_vec, struct pathmeta_unit);
VEC_DECLARE(function_vec, struct pathmeta_function);

struct reader {
	struct unitmeta_reader in; /* the first member */
	struct unit_vec units;
	struct function_vec functions;
	struct hashmap known; /* keys of a function -> its index */
};

void pathmeta_init(struct pathmeta *m)
{
	*m = (struct pathmeta){0};
	arena_init(&m->arena);
}

void pathmeta_deinit(struct pathmeta *m)
{
	arena_deinit(&m->arena);
	*m = (struct pathmeta){0};
}

static struct error *check_numbering(const struct pathmeta_function *f)
{
	struct path_numbering n;
	struct arena scratch;
	struct error *err;

	arena_init(&scratch);
	err = path_number(&f->cfg, &scratch, &n);
	if (!err && n.path_count != f->path_count)
		err = error_create(ERROR_ARGUMENT, "%" PRIu64 " paths, its control flow has %" PRIu64, f->path_count,
				   n.path_count);
	arena_deinit(&scratch);
	return err;
}

static struct error *check_plan(const struct pathmeta_function *f)
{
	for (uint32_t i = 0; f->has_plan && i < f->planned_count; i++)
		if (f->planned[i] >= f->path_count || (i && f->planned[i] <= f->planned[i - 1]))
			return error_create(ERROR_ARGUMENT, "a plan with path %" PRIu64 " of %" PRIu64, f->planned[i],
					    f->path_count);
	return NULL;
}

struct error *pathmeta_check(const struct pathmeta_function *f)
{
	struct error *err;

	if (!f->link_name)
		return error_create(ERROR_ARGUMENT, "has no name");
	if (f->kind < WM1_PATHS_ARRAY || f->kind > WM1_PATHS_PLAN || f->bits > WM1_PATHS_MAX_BITS)
		return error_create(ERROR_ARGUMENT, "tables of kind %u with %u bits", f->kind, f->bits);
	if (!(f->flags & WM1_PATHS_LEFT) == f->cfg.may_be_left)
		return error_create(ERROR_ARGUMENT, "flags of another control flow");
	err = cfg_check(&f->cfg);
	if (!err)
		err = check_numbering(f);
	return err ? err : check_plan(f);
}

static struct error *read_line(struct reader *r, const struct pathmeta_line *before, struct pathmeta_line *l)
{
	struct cursor at = r->in.c;
	uint64_t step;
	struct error *err = cursor_uleb128(&r->in.c, &step);

	if (err)
		return err;
	*l = *before;
	err = unitmeta_read_line(&at, unzigzag(step >> LINE_SHIFT), before->line, &l->line);
	if (err)
		return err;
	l->is_branch_only = (step & LINE_BRANCH_ONLY) != 0;
	if (step & LINE_ELSEWHERE)
		err = unitmeta_read_text(&r->in, &l->function);
	if (!err && step & LINE_ELSEWHERE)
		err = unitmeta_read_text(&r->in, &l->file);
	if (!err)
		err = cursor_uleb32(&r->in.c, &l->column);
	return err;
}

static struct error *read_cases(struct reader *r, struct pathmeta_cases *c)
{
	const uint32_t most = 2 * (sizeof c->ranges / sizeof *c->ranges) + 1;
	struct cursor at = r->in.c;
	uint64_t step, len, before = 0;
	uint32_t count;
	struct error *err = section_small(&r->in.c, most, "twice the ranges of cases", &count);

	if (err)
		return err;
	c->count = count / 2;
	c->has_more = count % 2;
	for (uint32_t i = 0; i < c->count; i++) {
		struct pathmeta_range *range = &c->ranges[i];

		err = cursor_uleb128(&r->in.c, &step);
		if (!err)
			err = cursor_uleb128(&r->in.c, &len);
		if (err)
			return err;
		range->first = (int64_t)(before + (uint64_t)unzigzag(step));
		range->last = (int64_t)((uint64_t)range->first + len);
		before = (uint64_t)range->last;
		if (range->last < range->first || (i && range->first <= range[-1].last))
			return cursor_error(&at, "cases that do not rise: the section is damaged");
	}
	return NULL;
}

static struct error *read_edge(struct reader *r, struct cfg_edge *e, struct pathmeta_outcome *o)
{
	struct cursor at = r->in.c;
	uint32_t how;
	uint64_t value;
	struct error *err = cursor_uleb32(&r->in.c, &e->to);

	if (!err)
		err = section_small(&r->in.c, EDGE_HOW_MAX, "an edge of kind", &how);
	if (err)
		return err;
	if ((how & EDGE_CUT_MASK) >= CFG_CUTS || how >> EDGE_OUTCOME_SHIFT >= PATHMETA_OUTCOMES)
		return cursor_error(&at, "an edge of kind %" PRIu32 ": the section is damaged", how);
	e->cut = (enum cfg_cut)(how & EDGE_CUT_MASK);
	e->is_fixed = (how & EDGE_FIXED) != 0;
	o->kind = (enum pathmeta_outcome_kind)(how >> EDGE_OUTCOME_SHIFT);
	if (o->kind == PATHMETA_CASE) {
		err = cursor_uleb128(&r->in.c, &value);
		if (!err)
			o->value = unzigzag(value);
	}
	if (!err && o->kind == PATHMETA_CASES) {
		struct pathmeta_cases *cases = arena_calloc(r->in.arena, 1, sizeof *cases);
		err = cases ? read_cases(r, cases) : &error_no_memory;
		o->cases = cases;
	}
	return err;
}

/* Node n's lines and out-edges, behind those of the nodes before it. */
static struct error *read_node(struct reader *r, struct pathmeta_function *f, uint32_t n, uint32_t line_count,
			       struct pathmeta_line *before)
{
	struct cfg *g = &f->cfg;
	struct cursor at = r->in.c;
	uint32_t edges, lines;
	struct error *err = cursor_uleb32(&r->in.c, &edges);

	if (!err)
		err = cursor_uleb32(&r->in.c, &lines);
	if (!err && (edges > g->edge_count - g->first_edge[n] || lines > line_count - f->first_line[n]))
		err = cursor_error(
			&at, "block %" PRIu32 " has more edges or lines than its function: the section is damaged", n);
	if (err)
		return err;
	g->first_edge[n + 1] = g->first_edge[n] + edges;
	f->first_line[n + 1] = f->first_line[n] + lines;
	for (uint32_t i = f->first_line[n]; i < f->first_line[n + 1] && !err; i++) {
		err = read_line(r, before, &f->lines[i]);
		*before = f->lines[i];
	}
	for (uint32_t i = g->first_edge[n]; i < g->first_edge[n + 1] && !err; i++) {
		g->edges[i].from = n;
		err = read_edge(r, &g->edges[i], &f->outcomes[i]);
	}
	return err;
}

static struct error *read_graph(struct reader *r, struct pathmeta_function *f)
{
	struct pathmeta_line before = {.file = f->file, .line = f->line};
	struct arena *arena = r->in.arena;
	struct cfg *g = &f->cfg;
	uint32_t line_count;
	struct error *err;

	err = section_count(&r->in.c, NODE_MIN_BYTES, "blocks", &g->node_count) ?:
	      section_count(&r->in.c, EDGE_MIN_BYTES, "edges", &g->edge_count) ?:
	      section_count(&r->in.c, LINE_MIN_BYTES, "lines", &line_count);
	if (err)
		return err;
	g->edges = arena_calloc(arena, g->edge_count, sizeof *g->edges);
	g->first_edge = arena_calloc(arena, (size_t)g->node_count + 1, sizeof *g->first_edge);
	f->outcomes = arena_calloc(arena, g->edge_count, sizeof *f->outcomes);
	f->first_line = arena_calloc(arena, (size_t)g->node_count + 1, sizeof *f->first_line);
	f->lines = arena_calloc(arena, line_count, sizeof *f->lines);
	if (!g->edges || !g->first_edge || !f->outcomes || !f->first_line || !f->lines)
		return &error_no_memory;
	for (uint32_t n = 0; n < g->node_count && !err; n++)
		err = read_node(r, f, n, line_count, &before);
	if (!err && (g->first_edge[g->node_count] != g->edge_count || f->first_line[g->node_count] != line_count))
		err = cursor_error(&r->in.c,
				   "a function has edges or lines that are in no block: the section is damaged");
	return err;
}

static struct error *read_test(struct reader *r, const struct pathmeta_function *f, uint32_t least,
			       struct pathmeta_test *t)
{
	struct cursor at = r->in.c;
	uint32_t step, flags = 0, compare = 0;
	struct error *err;

	err = cursor_uleb32(&r->in.c, &step) ?:
	      section_small(&r->in.c, PATHMETA_TEST_FLAGS, "a test with flags", &flags) ?:
	      section_small(&r->in.c, PATHMETA_COMPARES - 1, "a test that compares as", &compare) ?:
	      unitmeta_read_text(&r->in, &t->at.function) ?:
	      unitmeta_read_text(&r->in, &t->at.file) ?:
	      cursor_uleb32(&r->in.c, &t->at.line) ?:
	      cursor_uleb32(&r->in.c, &t->at.column) ?:
	      unitmeta_read_text(&r->in, &t->name) ?:
	      cursor_uleb32(&r->in.c, &t->number) ?:
	      cursor_uleb32(&r->in.c, &t->count);
	t->from = UINT32_MAX;
	if (!err && flags & PATHMETA_TEST_JOINED)
		err = cursor_uleb32(&r->in.c, &t->from);
	if (err)
		return err;
	t->flags = (uint8_t)flags;
	t->compare = (uint8_t)compare;
	if (least >= f->cfg.node_count || step >= f->cfg.node_count - least ||
	    (flags & PATHMETA_TEST_JOINED && t->from >= f->cfg.node_count) || (t->number && t->number >= t->count))
		return cursor_error(&at, "a test of no block: the section is damaged");
	t->node = least + step;
	return NULL;
}

static struct error *read_tests(struct reader *r, struct pathmeta_function *f)
{
	struct error *err = section_count(&r->in.c, TEST_MIN_BYTES, "tests", &f->test_count);

	if (err)
		return err;
	f->tests = arena_calloc(r->in.arena, f->test_count, sizeof *f->tests);
	if (!f->tests)
		return &error_no_memory;
	for (uint32_t i = 0; i < f->test_count && !err; i++)
		err = read_test(r, f, i ? f->tests[i - 1].node + 1 : 0, &f->tests[i]);
	return err;
}

static struct error *read_hidden(struct reader *r, struct pathmeta_function *f)
{
	struct cursor at = r->in.c;
	struct error *err = section_count(&r->in.c, HIDDEN_MIN_BYTES, "hidden functions", &f->hidden_count);

	if (err)
		return err;
	f->hidden = arena_calloc(r->in.arena, f->hidden_count, sizeof *f->hidden);
	if (!f->hidden)
		return &error_no_memory;
	for (uint32_t i = 0; i < f->hidden_count && !err; i++) {
		err = unitmeta_read_text(&r->in, &f->hidden[i]);
		if (!err && !f->hidden[i])
			err = cursor_error(&at, "a hidden function without a name: the section is damaged");
	}
	return err;
}

static struct error *read_firm(struct reader *r, struct pathmeta_function *f)
{
	uint32_t before = 0;
	struct error *err = section_count(&r->in.c, FIRM_MIN_BYTES, "firm lines", &f->firm_count);

	if (err)
		return err;
	f->firm = arena_calloc(r->in.arena, f->firm_count, sizeof *f->firm);
	if (!f->firm)
		return &error_no_memory;
	for (uint32_t i = 0; i < f->firm_count && !err; i++) {
		struct cursor at = r->in.c;
		uint32_t step;

		err = cursor_uleb32(&r->in.c, &step);
		if (!err && (__builtin_add_overflow(before, step, &f->firm[i]) || (i && !step) ||
			     f->firm[i] >= f->first_line[f->cfg.node_count]))
			err = cursor_error(&at, "a firm line that is none: the section is damaged");
		before = err ? 0 : f->firm[i];
	}
	return err;
}

static struct error *read_hiding(struct reader *r, struct pathmeta_function *f)
{
	uint32_t hiding = 0;
	struct error *err = section_small(&r->in.c, HIDING_MAX, "a function that hides as", &hiding);

	f->is_unseen = (hiding & HIDING_UNSEEN) != 0;
	f->is_optimized = (hiding & HIDING_OPTIMIZED) != 0;
	if (!err)
		err = read_hidden(r, f);
	return !err && f->is_optimized ? read_firm(r, f) : err;
}

/* Sums may wrap: pathmeta_check wants them to rise. */
static struct error *read_plan(struct reader *r, struct pathmeta_function *f)
{
	struct cursor at = r->in.c;
	uint32_t count;
	uint64_t step;
	struct error *err = cursor_uleb32(&r->in.c, &count);

	if (err || count == 0)
		return err;
	f->has_plan = true;
	f->planned_count = count - 1;
	if (f->planned_count > cursor_left(&r->in.c))
		return cursor_error(&at,
				    "%" PRIu32
				    " planned paths cannot fit in the %zu bytes left: the section is damaged",
				    f->planned_count, cursor_left(&r->in.c));
	f->planned = arena_calloc(r->in.arena, f->planned_count, sizeof *f->planned);
	if (!f->planned)
		return &error_no_memory;
	for (uint32_t i = 0; i < f->planned_count && !err; i++) {
		err = cursor_uleb128(&r->in.c, &step);
		if (!err)
			f->planned[i] = (i ? f->planned[i - 1] : 0) + step;
	}
	return err;
}

/* Reads the rest of the function, after the keys and path_count. */
static struct error *read_rest(struct reader *r, struct pathmeta_function *f)
{
	uint32_t kind = 0, bits = 0, flags = 0;
	struct error *err;

	err = unitmeta_read_text(&r->in, &f->link_name) ?:
	      unitmeta_read_text(&r->in, &f->name) ?:
	      unitmeta_read_text(&r->in, &f->file) ?:
	      cursor_uleb32(&r->in.c, &f->line) ?:
	      section_small(&r->in.c, UINT8_MAX, "tables of kind", &kind) ?:
	      section_small(&r->in.c, UINT8_MAX, "tables with bits", &bits) ?:
	      section_small(&r->in.c, UINT16_MAX, "a function with flags", &flags) ?:
	      cursor_uleb32(&r->in.c, &f->interesting) ?:
	      cursor_uleb128(&r->in.c, &f->interval) ?:
	      read_plan(r, f);
	if (err)
		return err;
	f->kind = (uint8_t)kind;
	f->bits = (uint8_t)bits;
	f->flags = (uint16_t)flags;
	f->cfg.may_be_left = flags & WM1_PATHS_LEFT;
	if (!f->name)
		f->name = f->link_name;
	err = read_graph(r, f) ?:
	      cursor_uleb32(&r->in.c, &f->selects) ?:
	      cursor_uleb32(&r->in.c, &f->switch_tables) ?:
	      read_tests(r, f);
	return err ? err : read_hiding(r, f);
}

/* One that is known is passed over; r->in.c ends behind the function either way. */
static struct error *read_body(struct reader *r, const struct cursor *at)
{
	struct pathmeta_function f = {.unit = r->in.unit};
	uint32_t number;
	struct error *err;

	err = cursor_u64(&r->in.c, &f.name_key) ?:
	      cursor_u64(&r->in.c, &f.cfg_key) ?:
	      cursor_uleb128(&r->in.c, &f.path_count) ?:
	      hashmap_add(&r->known, &(struct key){{f.name_key, f.cfg_key, 0}}, &number);
	if (err)
		return err;
	if (number < r->functions.count) {
		const struct pathmeta_function *known = &r->functions.items[number];

		if (known->path_count != f.path_count)
			return cursor_error(at,
					    "function %s has %" PRIu64 " paths in one unit, %" PRIu64
					    " in another: the section is damaged",
					    known->link_name, known->path_count, f.path_count);
		return cursor_seek(&r->in.c, r->in.c.len_bytes);
	}
	err = read_rest(r, &f);
	if (!err && cursor_left(&r->in.c))
		err = cursor_error(&r->in.c, "%zu bytes behind the end of a function: the section is damaged",
				   cursor_left(&r->in.c));
	if (err)
		return err;
	err = pathmeta_check(&f);
	if (err) {
		struct error *where = cursor_error(at, "function %s: %s: the section is damaged",
						   f.link_name ? f.link_name : "?", err->message);

		error_destroy(err);
		return where;
	}
	return function_vec_append(&r->functions, f);
}

static struct error *read_function(struct reader *r)
{
	struct cursor whole = r->in.c, at;
	uint32_t bytes;
	struct error *err = section_count(&whole, 1, "bytes of a function", &bytes);

	if (err)
		return err;
	at = r->in.c;
	r->in.c = whole;
	r->in.c.len_bytes = whole.off + bytes; /* nothing of it lies behind */
	err = read_body(r, &at);
	r->in.c.len_bytes = whole.len_bytes;
	return err;
}

static struct error *read_unit(struct unitmeta_reader *in, uint64_t key)
{
	struct reader *r = (struct reader *)in;
	struct pathmeta_unit u = {0};
	uint32_t stage = 0, functions = 0;
	struct error *err = unitmeta_read_origin(in, &u.producer, &u.name)
				    ?: section_small(&in->c, PATHMETA_STAGES - 1, "stage", &stage);

	(void)key;
	if (err)
		return err;
	u.stage = (enum pathmeta_stage)stage;
	err = unit_vec_append(&r->units, u) ?: section_count(&in->c, FUNCTION_MIN_BYTES, "functions", &functions);
	for (uint32_t i = 0; i < functions && !err; i++)
		err = read_function(r);
	return err ? err : unitmeta_read_skipped(in);
}

static int compare_functions(const void *a, const void *b)
{
	const struct pathmeta_function *f = a, *g = b;

	return compare_u64(f->name_key, g->name_key) ?: compare_u64(f->cfg_key, g->cfg_key);
}

/* Moves what was read into the model; the arena then owns it. */
static struct error *keep_all(const struct reader *r, struct pathmeta *m)
{
	m->units = arena_copy(&m->arena, r->units.items, r->units.count, sizeof *m->units);
	m->functions = arena_copy(&m->arena, r->functions.items, r->functions.count, sizeof *m->functions);
	m->skipped = arena_copy(&m->arena, r->in.skipped.items, r->in.skipped.count, sizeof *m->skipped);
	if (!m->units || !m->functions || !m->skipped)
		return &error_no_memory;
	m->unit_count = (uint32_t)r->units.count;
	m->function_count = (uint32_t)r->functions.count;
	m->skipped_count = (uint32_t)r->in.skipped.count;
	qsort(m->functions, m->function_count, sizeof *m->functions, compare_functions);
	return NULL;
}

struct error *pathmeta_read(const void *bytes, size_t len_bytes, const char *name, struct pathmeta *m)
{
	struct pathmeta parsed;
	struct reader r = {.in.arena = &parsed.arena};
	struct error *err;

	pathmeta_init(&parsed);
	err = unitmeta_read(bytes, len_bytes, name, &PATHMETA_KIND, &r.in, read_unit);
	if (!err)
		err = keep_all(&r, &parsed);
	unit_vec_deinit(&r.units);
	function_vec_deinit(&r.functions);
	skipped_vec_deinit(&r.in.skipped);
	hashmap_deinit(&r.known);
	if (err) {
		pathmeta_deinit(&parsed);
		return err;
	}
	pathmeta_deinit(m);
	*m = parsed;
	return NULL;
}

const struct pathmeta_function *pathmeta_find(const struct pathmeta *m, uint64_t name_key, uint64_t cfg_key)
{
	struct pathmeta_function key = {.name_key = name_key, .cfg_key = cfg_key};

	return m->function_count ? bsearch(&key, m->functions, m->function_count, sizeof key, compare_functions) : NULL;
}

static int compare_indices(const void *a, const void *b)
{
	return compare_u64(*(const uint32_t *)a, *(const uint32_t *)b);
}

bool pathmeta_is_whole(const struct pathmeta_function *f, uint32_t line)
{
	return !f->is_optimized ||
	       (f->firm_count && bsearch(&line, f->firm, f->firm_count, sizeof line, compare_indices));
}

static int compare_tests(const void *a, const void *b)
{
	const struct pathmeta_test *x = a, *y = b;

	return compare_u64(x->node, y->node);
}

const struct pathmeta_test *pathmeta_find_test(const struct pathmeta_function *f, uint32_t node)
{
	struct pathmeta_test key = {.node = node};

	return f->test_count ? bsearch(&key, f->tests, f->test_count, sizeof key, compare_tests) : NULL;
}
