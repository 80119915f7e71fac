/* tree_json.c - a tree of calls as one JSON object, its functions in one list; docs/format.md describes every member. */
#include <inttypes.h>

#include "base/json_writer.h"
#include "report/contexts/renderer.h"

static const char *tree_name(const struct call_tree *t)
{
	if (t->options.functions->count)
		return t->options.is_up ? "callers" : "callees";
	return t->options.is_up ? "inverted" : "tree";
}

static void print_node(const struct call_tree_node *node, FILE *out)
{
	fputs("\n    {\"parent\": ", out);
	if (node->parent)
		fprintf(out, "%" PRIu32, node->parent - 1);
	else
		fputs("null", out);
	json_print_member(out, ", ", "name", node->frame->name);
	fprintf(out, ", \"self\": %" PRIu64 ", \"total\": %" PRIu64 "}", node->self, node->total);
}

struct error *render_tree_json(const struct view *v, const struct call_tree *t, FILE *out)
{
	const struct metric *m = &v->profile->metrics.items[v->metric];

	fputs("{\n  \"format\": \"waymark-tree\",\n  \"version\": 1,\n  \"producer\": ", out);
	json_print_string(out, v->producer);
	json_print_member(out, ",\n  ", "tree", tree_name(t));
	json_print_member(out, ",\n  ", "metric", m->name);
	json_print_member(out, ",\n  ", "unit", metric_unit_name(m->unit));
	fprintf(out,
		",\n  \"total\": %" PRIu64 ",\n  \"min_percent\": %g,\n  \"left_out\": %" PRIu64
		",\n  \"is_cut\": %s,\n  \"nodes\": [",
		m->total, t->options.min, t->left_out, t->is_cut ? "true" : "false");
	for (size_t i = 1; i < t->nodes.count; i++) {
		fputs(i > 1 ? "," : "", out);
		print_node(&t->nodes.items[i], out);
	}
	fputs("\n  ]\n}\n", out);
	return NULL;
}
