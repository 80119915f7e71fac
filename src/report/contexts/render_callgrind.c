/*
 * render_callgrind.c - the format of callgrind, which KCachegrind and callgrind_annotate read ("Callgrind Format Specification", Valgrind
 * manual): costs of functions by line, and of calls from a line to a function. All metrics that can be summed are events, the chosen one is
 * the first. A recording has no counts of calls: they are 0.
 *
 * A call's cost is that of all contexts with the call in them. A context of a recursion has it several times, and counts once.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "base/plain_text.h"
#include "report/contexts/renderer.h"

enum {
	BYTES_A_FRAME = 16,
};

/* Costs of a line of a function, or of a call there. */
struct cost {
	uint32_t function;
	uint32_t line;
	uint32_t callee;    /* function + 1; 0: the line itself */
	size_t last_row;    /* + 1, that was added */
	uint64_t *of_event; /* in the block of all */
};
VEC_DECLARE(cost_vec, struct cost);
VEC_DECLARE(value_block, uint64_t);

struct graph {
	const struct view *v;
	struct hashmap functions; /* by name and file */
	uint32_t *function_of;    /* by frame */
	uint32_t *metrics;        /* by event */
	uint32_t event_count;
	struct hashmap cost_map; /* by function and line, callee */
	struct cost_vec costs;
	struct value_block values; /* event_count for each cost */
};

static struct error *choose_events(struct graph *g)
{
	const struct profile *p = g->v->profile;

	g->metrics = calloc(p->metrics.count + 1, sizeof *g->metrics);
	if (!g->metrics)
		return &error_no_memory;
	if (g->v->has_metric)
		g->metrics[g->event_count++] = g->v->metric;
	for (uint32_t i = 0; i < p->metrics.count; i++)
		if (p->metrics.items[i].total && !p->metrics.items[i].is_maximum && i != g->v->metric)
			g->metrics[g->event_count++] = i;
	return NULL;
}

static struct error *find_functions(struct graph *g)
{
	const struct profile *p = g->v->profile;
	struct error *err = NULL;

	g->function_of = calloc(p->frames.count + 1, sizeof *g->function_of);
	if (!g->function_of)
		return &error_no_memory;
	for (size_t i = 0; i < p->frames.count && !err; i++) {
		const struct frame *f = &p->frames.items[i];
		struct key key = {{(uintptr_t)f->name, (uintptr_t)f->file, 0}};

		err = hashmap_add(&g->functions, &key, &g->function_of[i]);
	}
	return err;
}

static struct error *add_cost(struct graph *g, size_t row, uint32_t frame, uint32_t callee, const uint64_t *values)
{
	uint32_t function = g->function_of[frame], line = g->v->profile->frames.items[frame].line;
	struct key key = {{function, line, callee}};
	uint32_t number;
	struct error *err = hashmap_add(&g->cost_map, &key, &number);

	if (!err && number == g->costs.count) {
		err = cost_vec_append(&g->costs, (struct cost){.function = function, .line = line, .callee = callee});
		for (uint32_t i = 0; i < g->event_count && !err; i++)
			err = value_block_append(&g->values, 0);
	}
	if (err || g->costs.items[number].last_row == row + 1)
		return err;
	g->costs.items[number].last_row = row + 1;
	for (uint32_t i = 0; i < g->event_count; i++) {
		uint64_t *sum = &g->values.items[(size_t)number * g->event_count + i];

		if (__builtin_add_overflow(*sum, values[g->metrics[i]], sum))
			*sum = UINT64_MAX;
	}
	return NULL;
}

static struct error *add_row(struct graph *g, size_t row, uint64_t *values)
{
	const struct profile *p = g->v->profile;
	uint32_t node = g->v->rows[row].node, callee = 0;
	struct error *err = NULL;

	view_values(g->v, &g->v->rows[row], values);
	for (; node && !err; node = p->nodes.items[node].parent) {
		uint32_t frame = p->nodes.items[node].frame;

		err = add_cost(g, row, frame, callee, values);
		callee = g->function_of[frame] + 1;
	}
	return err;
}

static struct error *add_rows(struct graph *g)
{
	uint64_t *values = calloc(g->v->profile->metrics.count + 1, sizeof *values);
	struct error *err = values ? NULL : &error_no_memory;

	for (size_t i = 0; i < g->v->row_count && !err; i++)
		err = add_row(g, i, values);
	free(values);
	for (size_t i = 0; i < g->costs.count; i++)
		g->costs.items[i].of_event = g->values.items + i * g->event_count;
	return err;
}

static int compare_costs(const void *left, const void *right)
{
	const struct cost *a = left, *b = right;

	return compare_u64(a->function, b->function) ?: compare_u64(a->callee, b->callee) ?: compare_u64(a->line, b->line);
}

/* ---- text ---- */

static void print_events(const struct graph *g, FILE *out)
{
	fputs("events:", out);
	for (uint32_t i = 0; i < g->event_count; i++) {
		putc(' ', out);
		plain_print_word(out, g->v->profile->metrics.items[g->metrics[i]].name, ' ', '_');
	}
	putc('\n', out);
}

static void print_values(const struct graph *g, const uint64_t *values, FILE *out)
{
	for (uint32_t i = 0; i < g->event_count; i++)
		fprintf(out, " %" PRIu64, values[i]);
	putc('\n', out);
}

static void print_totals(const struct graph *g, FILE *out)
{
	const struct profile *p = g->v->profile;

	fputs("totals:", out);
	for (uint32_t i = 0; i < g->event_count; i++) {
		uint64_t sum = 0;

		for (size_t n = 0; n < g->v->row_count; n++)
			if (__builtin_add_overflow(sum, view_value(g->v, &g->v->rows[n], g->metrics[i]), &sum))
				sum = UINT64_MAX;
		fprintf(out, " %" PRIu64, p->metrics.items[g->metrics[i]].total ? sum : 0);
	}
	putc('\n', out);
}

static void print_function(const struct graph *g, uint32_t function, const char *file_word, const char *name_word,
			   FILE *out)
{
	const struct key *key = &g->functions.keys[function];
	const char *name = (const char *)(uintptr_t)key->words[0], *file = (const char *)(uintptr_t)key->words[1];

	fprintf(out, "%s=", file_word);
	plain_print(out, file ? file : "???");
	fprintf(out, "\n%s=", name_word);
	plain_print(out, name);
	putc('\n', out);
}

static void print_costs(const struct graph *g, FILE *out)
{
	uint32_t function = UINT32_MAX;

	for (size_t i = 0; i < g->costs.count; i++) {
		const struct cost *c = &g->costs.items[i];

		if (c->function != function) {
			putc('\n', out);
			print_function(g, c->function, "fl", "fn", out);
			function = c->function;
		}
		if (c->callee) {
			print_function(g, c->callee - 1, "cfi", "cfn", out);
			fputs("calls=0 0\n", out);
		}
		fprintf(out, "%" PRIu32, c->line);
		print_values(g, c->of_event, out);
	}
}

/* Each frame of each row is looked up, which costs more than the line that it may become. */
static struct error *check_size(const struct view *v)
{
	return view_check_size(v, view_depths(v) * BYTES_A_FRAME);
}

struct error *render_callgrind(const struct view *v, FILE *out)
{
	struct graph g = {.v = v};
	struct error *err = check_size(v) ?: choose_events(&g) ?: find_functions(&g) ?: add_rows(&g);

	if (!err) {
		if (g.costs.count)
			qsort(g.costs.items, g.costs.count, sizeof *g.costs.items, compare_costs);
		fprintf(out, "# callgrind format\nversion: 1\ncreator: %s\n", v->producer);
		if (v->profile->sources.count) {
			fputs("cmd: ", out);
			plain_print(out, v->profile->sources.items[0].header.program);
			putc('\n', out);
		}
		fputs("positions: line\n", out);
		print_events(&g, out);
		print_costs(&g, out);
		print_totals(&g, out);
	}
	cost_vec_deinit(&g.costs);
	value_block_deinit(&g.values);
	hashmap_deinit(&g.cost_map);
	hashmap_deinit(&g.functions);
	free(g.function_of);
	free(g.metrics);
	return err;
}
