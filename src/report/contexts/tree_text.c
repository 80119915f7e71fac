/* tree_text.c - a tree of calls for reading: a line for each function, those that it calls, or is called by, indented below it. */
#include <inttypes.h>
#include <string.h>

#include "base/plain_text.h"
#include "report/contexts/renderer.h"

enum {
	INDENT = 2,
};

static void print_heading(const struct view *v, const struct call_tree *t, FILE *out)
{
	const struct metric *m = &v->profile->metrics.items[v->metric];
	const struct pattern_vec *functions = t->options.functions;
	char number[METRIC_TEXT_MAX];

	if (functions->count) {
		fputs(t->options.is_up ? "\nCallers of " : "\nCallees of ", out);
		for (size_t i = 0; i < functions->count; i++) {
			fputs(i ? ", " : "", out);
			plain_print(out, functions->items[i].text);
		}
	} else {
		fputs(t->options.is_up ? "\nCallers, from the innermost function up,"
				       : "\nCalls, from the outermost function down,",
		      out);
	}
	fputs(" by ", out);
	plain_print(out, m->name);
	fprintf(out, "; percentages of %s", metric_number(m, m->total, number));
	if (m->unit == UNIT_BYTES)
		fputs(" bytes", out);
	metric_print_size(m, m->total, out);
	fputs(t->skips_allocators ? "; self is that of callers of malloc\n" : "\n", out);
	if (t->left_out)
		fprintf(out, "%" PRIu64 " %s less than %g %% (--min) %s left out\n", t->left_out,
			noun_of(t->left_out, "line with", "lines with"), t->options.min,
			noun_of(t->left_out, "is", "are"));
	if (t->is_cut)
		fprintf(out, "What is deeper than %d functions is left out\n", TREE_LEVELS_MAX);
	putc('\n', out);
}

static int width_of(const struct metric *m, const struct call_tree *t)
{
	char number[METRIC_TEXT_MAX];
	int width = (int)strlen("total");

	for (size_t i = 1; i < t->nodes.count; i++) {
		int len = (int)strlen(metric_number(m, t->nodes.items[i].total, number));

		width = len > width ? len : width;
	}
	return width;
}

static void print_node(const struct metric *m, const struct call_tree_node *node, int width, FILE *out)
{
	char number[METRIC_TEXT_MAX], percent[DIGITS_MAX];

	fprintf(out, "  %*s  %8s", width, metric_number(m, node->total, number),
		digits_percent(node->total, m->total, percent));
	fprintf(out, "  %*s  %8s  %*s", width, metric_number(m, node->self, number),
		digits_percent(node->self, m->total, percent), (int)(node->depth - 1) * INDENT, "");
	plain_print(out, node->frame->name);
	putc('\n', out);
}

/* Children come behind their parent, siblings in their order. */
static void print_nodes(const struct metric *m, const struct call_tree *t, FILE *out)
{
	const struct call_tree_node *nodes = t->nodes.items;
	int width = width_of(m, t);
	uint32_t n = nodes[0].first_child;

	fprintf(out, "  %*s            %*s            function\n", width, "total", width, "self");
	while (n) {
		print_node(m, &nodes[n], width, out);
		if (nodes[n].first_child) {
			n = nodes[n].first_child;
			continue;
		}
		while (n && !nodes[n].next_sibling)
			n = nodes[n].parent;
		n = nodes[n].next_sibling; /* of the root none */
	}
}

struct error *render_tree_text(const struct view *v, const struct call_tree *t, FILE *out)
{
	if (!text_print_head(v, out))
		return NULL;
	print_heading(v, t, out);
	print_nodes(&v->profile->metrics.items[v->metric], t, out);
	return NULL;
}
