/* diff_json.c - a difference as one JSON object; docs/format.md describes every member. */
#include <inttypes.h>

#include "base/json_writer.h"
#include "report/contexts/diff_renderer.h"
#include "report/contexts/renderer.h"

static void print_pair(const char *name, const uint64_t values[DIFF_SIDES], FILE *out)
{
	fprintf(out, "\"%s\": [%" PRIu64 ", %" PRIu64 "]", name, values[DIFF_OLD], values[DIFF_NEW]);
}

static void print_files(const struct profile *p, const char *name, FILE *out)
{
	fprintf(out, ",\n  \"%s\": [", name);
	for (size_t i = 0; i < p->sources.count; i++) {
		fputs(i ? ", " : "", out);
		json_print_string(out, p->sources.items[i].path);
	}
	putc(']', out);
}

static void print_functions(const struct diff_report *r, FILE *out)
{
	size_t count = diff_functions_shown(r);

	fprintf(out, ",\n  \"changed_functions\": %zu,\n  \"functions\": [", r->diff->function_count);
	for (size_t i = 0; i < count; i++) {
		const struct diff_function *f = &r->diff->functions[i];

		json_print_member(out, i ? ",\n    {" : "\n    {", "name", f->name);
		json_print_member(out, ", ", "old_name", f->old_name);
		json_print_member(out, ", ", "old_file", f->file[DIFF_OLD]);
		json_print_member(out, ", ", "new_file", f->file[DIFF_NEW]);
		fprintf(out, ", \"is_moved\": %s", f->is_moved ? "true" : "false");
		json_print_member(out, ", ", "moved_from", f->moved[DIFF_OLD]);
		json_print_member(out, ", ", "moved_to", f->moved[DIFF_NEW]);
		fputs(", ", out);
		print_pair("self", f->self, out);
		fputs(", ", out);
		print_pair("total", f->total, out);
		putc('}', out);
	}
	fputs("\n  ]", out);
}

static void print_renames(const struct diff_report *r, FILE *out)
{
	fputs(",\n  \"renamed\": [", out);
	for (size_t i = 0; i < r->diff->renames.count; i++) {
		const struct diff_rename *rename = &r->diff->renames.items[i];

		json_print_member(out, i ? ",\n    {" : "\n    {", "old", rename->names[DIFF_OLD]);
		json_print_member(out, ", ", "new", rename->names[DIFF_NEW]);
		putc('}', out);
	}
	fputs("]", out);
}

/* null, or where the frame calls the next one: a line, 0 on the side that does not have it. */
static void print_site(const struct diff_site *s, FILE *out)
{
	if (!s) {
		fputs("null", out);
		return;
	}
	json_print_member(out, "{", "file", s->file[s->file[DIFF_NEW] ? DIFF_NEW : DIFF_OLD]);
	fprintf(out, ", \"lines\": [%" PRIu32 ", %" PRIu32 "]}", s->line[DIFF_OLD], s->line[DIFF_NEW]);
}

/* Outermost first, as the names are. nodes: scratch of as many. */
static void print_sites(const struct profile_diff *d, uint32_t node, uint32_t *nodes, size_t count, FILE *out)
{
	for (size_t i = count; i-- > 0; node = d->both.nodes.items[node].parent)
		nodes[i] = node;
	fputs("], \"sites\": [", out);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", out);
		print_site(diff_site_of(d, nodes[i]), out);
	}
}

static struct error *print_contexts(const struct diff_report *r, FILE *out)
{
	size_t count = diff_contexts_shown(r);
	struct frame_vec frames = {0};
	struct diff_number_vec nodes = {0};
	struct error *err = NULL;

	fprintf(out, ",\n  \"changed_contexts\": %zu,\n  \"contexts\": [", r->diff->context_count);
	for (size_t i = 0; i < count && !err; i++) {
		err = view_frames(&r->diff->both, r->diff->contexts[i].node, &frames)
			      ?: diff_number_vec_reserve(&nodes, frames.count);
		fprintf(out, "%s\n    {\"functions\": [", i ? "," : "");
		for (size_t j = 0; j < frames.count && !err; j++) {
			fputs(j ? ", " : "", out);
			json_print_string(out, frames.items[j].name);
		}
		if (!err)
			print_sites(r->diff, r->diff->contexts[i].node, nodes.items, frames.count, out);
		fputs("], ", out);
		print_pair("value", r->diff->contexts[i].value, out);
		putc('}', out);
	}
	frame_vec_deinit(&frames);
	diff_number_vec_deinit(&nodes);
	fputs("\n  ]\n}\n", out);
	return err;
}

struct error *diff_render_json(const struct diff_report *r, FILE *out)
{
	const struct view *old = r->views[DIFF_OLD];
	const struct metric *m = &old->profile->metrics.items[old->metric];

	fputs("{\n  \"format\": \"waymark-diff\",\n  \"version\": 1", out);
	json_print_member(out, ",\n  ", "producer", old->producer);
	json_print_member(out, ",\n  ", "metric", m->name);
	json_print_member(out, ",\n  ", "unit", metric_unit_name(m->unit));
	print_files(old->profile, "old_files", out);
	print_files(r->views[DIFF_NEW]->profile, "new_files", out);
	fputs(",\n  ", out);
	print_pair("total", r->diff->total, out);
	print_functions(r, out);
	print_renames(r, out);
	return print_contexts(r, out);
}
