/* path_json.c - the whole view of paths as one JSON object; docs/format.md describes every member. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json_writer.h"
#include "model/paths/path_folded.h"
#include "report/paths/path_renderer.h"
#include "model/paths/path_steps.h"
#include "model/base/profile_view.h"

static const char *bool_text(bool b)
{
	return b ? "true" : "false";
}

static void print_recordings(const struct path_profile *p, FILE *out)
{
	fputs("  \"files\": [", out);
	for (size_t i = 0; i < p->recordings.count; i++) {
		const struct path_recording *r = &p->recordings.items[i];

		json_print_member(out, i ? ",\n    {" : "\n    {", "path", r->path);
		json_print_member(out, ", ", "program", r->header.program);
		fprintf(out,
			", \"run\": \"%016" PRIx64 "\", \"pid\": %" PRIu32 ", \"closed\": %s, \"end\": \"%s\",\n     ",
			r->header.run, r->header.pid, bool_text(r->end == RECORDING_EXIT), recording_end_name(r->end));
		fprintf(out, "\"merged_runs\": %" PRIu64 ", \"tables\": %" PRIu64 ", \"single_counts\": %" PRIu64,
			r->header.merged_runs, r->table_count, r->single_count);
		fprintf(out,
			", \"dropped_tables\": %" PRIu64 ", \"dropped_paths\": %" PRIu64 ", \"drop_errno\": %" PRIu64
			", \"lost_children\": %" PRIu64 ", \"uncommitted\": %" PRIu64,
			r->header.dropped_path_tables, r->header.dropped_paths, r->header.drop_errno,
			r->header.lost_children, r->uncommitted);
		json_print_member(out, ", ", "truncated", r->truncated);
		putc('}', out);
	}
	fputs("\n  ],\n", out);
}

static void print_images(const struct path_profile *p, FILE *out)
{
	fputs("  \"images\": [", out);
	for (size_t i = 0; i < p->images.count; i++) {
		const struct path_image *image = p->images.items[i];
		char id[BUILD_ID_TEXT_MAX];

		json_print_member(out, i ? ",\n    {" : "\n    {", "path", image->path);
		json_print_member(out, ", ", "build_id",
				  image->build_id.len_bytes ? build_id_text(&image->build_id, id) : NULL);
		fprintf(out, ", \"metadata\": %s, \"counted\": %" PRIu64 ", \"unknown\": %" PRIu64,
			bool_text(image->has_meta), image->total, image->unknown);
		fputs(",\n     \"skipped\": [", out);
		for (uint32_t j = 0; j < image->meta.skipped_count; j++) {
			json_print_member(out, j ? ", {" : "{", "name", image->meta.skipped[j].name);
			json_print_member(out, ", ", "reason", image->meta.skipped[j].reason);
			putc('}', out);
		}
		fputs("]}", out);
	}
	fputs("\n  ],\n", out);
}

static void print_warnings(const struct path_profile *p, FILE *out)
{
	fputs("  \"warnings\": [", out);
	for (size_t i = 0; i < p->contexts.warnings.count; i++) {
		const struct profile_warning *w = &p->contexts.warnings.items[i];

		fprintf(out, "%s\n    {\"times\": %" PRIu64, i ? "," : "", w->count);
		json_print_member(out, ", ", "text", w->text);
		putc('}', out);
	}
	fprintf(out, "\n  ],\n  \"saturated_sums\": %" PRIu64 ",\n", p->saturated);
}

static void print_summary(const struct path_summary *s, FILE *out)
{
	fprintf(out,
		"  \"summary\": {\"counted\": %" PRIu64 ", \"functions\": %" PRIu64 ", \"functions_run\": %" PRIu64
		", \"functions_not_known\": %" PRIu64 ",\n    \"unknown_functions\": %" PRIu64
		", \"unknown_counted\": %" PRIu64,
		s->total, s->functions, s->functions_run, s->functions_unknown, s->unknown_functions, s->unknown_total);
	fprintf(out,
		", \"paths_run\": %" PRIu64 ", \"paths_possible\": %.17g,\n    \"blocks\": %" PRIu64
		", \"blocks_run\": %" PRIu64 ", \"edges\": %" PRIu64 ", \"edges_run\": %" PRIu64,
		s->paths_run, s->paths_possible, s->blocks, s->blocks_run, s->edges, s->edges_run);
	fprintf(out,
		", \"begun\": %" PRIu64 ", \"unfinished\": %" PRIu64 ",\n    \"arrays\": %" PRIu64
		", \"hashes\": %" PRIu64 ", \"plans\": %" PRIu64 ", \"split_functions\": %" PRIu64,
		s->activations, s->unfinished, s->kinds[WM1_PATHS_ARRAY], s->kinds[WM1_PATHS_HASH],
		s->kinds[WM1_PATHS_PLAN], s->split_functions);
	fprintf(out,
		", \"residual\": %" PRIu64 ", \"plan_functions\": %" PRIu64 ", \"alpha_functions\": %" PRIu64
		", \"alpha_median\": %.6g, \"alpha_most\": %.6g, \"skipped\": %" PRIu64,
		s->residual, s->plan_functions, s->alpha_functions, s->alpha_median, s->alpha_most, s->skipped);
	fprintf(out,
		",\n    \"final_functions\": %" PRIu64 ", \"selects\": %" PRIu64 ", \"switch_tables\": %" PRIu64 "},\n",
		s->choices.final_functions, s->choices.selects, s->choices.switch_tables);
}

static void print_blocks(const struct path_profile *p, const struct path_function *f, FILE *out)
{
	const struct pathmeta_function *m = f->meta;

	fputs(",\n     \"blocks\": [", out);
	for (uint32_t i = 0; i < m->cfg.node_count; i++) {
		fprintf(out, "%s\n       {\"count\": %" PRIu64 ", \"lines\": [", i ? "," : "", f->blocks[i]);
		for (uint32_t j = m->first_line[i]; j < m->first_line[i + 1]; j++) {
			const struct pathmeta_line *line = &m->lines[j];

			fprintf(out, "%s{\"line\": %" PRIu32 ", \"column\": %" PRIu32, j > m->first_line[i] ? ", " : "",
				line->line, line->column);
			if (line->file != m->file)
				json_print_member(out, ", ", "file", line->file);
			if (line->function)
				json_print_member(out, ", ", "function", line->function);
			if (line->is_branch_only)
				fputs(", \"branch_only\": true", out);
			fputs(path_folded_line(p, f, j) ? ", \"part\": true}" : "}", out);
		}
		fputs("]}", out);
	}
	fputs("]", out);
}

/* Pairs of the first and the last value. */
static void print_cases(const struct pathmeta_cases *cases, FILE *out)
{
	fputs(", \"values\": [", out);
	for (uint32_t i = 0; i < cases->count; i++)
		fprintf(out, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "", cases->ranges[i].first,
			cases->ranges[i].last);
	fprintf(out, "], \"more\": %s", cases->has_more ? "true" : "false");
}

static void print_edges(const struct path_function *f, FILE *out)
{
	static const char *const cuts[CFG_CUTS] = {
		[CFG_KEPT] = NULL,       [CFG_CUT_BACK] = "back",   [CFG_CUT_SPLIT] = "split",
		[CFG_CUT_JUMP] = "jump", [CFG_CUT_TWICE] = "twice", [CFG_CUT_ITERATION] = "round"};
	static const char *const outcomes[PATHMETA_OUTCOMES] = {
		[PATHMETA_PLAIN] = NULL,      [PATHMETA_TRUE] = "true",       [PATHMETA_FALSE] = "false",
		[PATHMETA_CASE] = "case",     [PATHMETA_DEFAULT] = "default", [PATHMETA_NORMAL] = "normal",
		[PATHMETA_UNWIND] = "throws", [PATHMETA_JUMP] = "jump",       [PATHMETA_CASES] = "cases"};
	const struct pathmeta_function *m = f->meta;

	fputs(",\n     \"edges\": [", out);
	for (uint32_t i = 0; i < m->cfg.edge_count; i++) {
		const struct cfg_edge *e = &m->cfg.edges[i];

		fprintf(out, "%s\n       {\"from\": %" PRIu32 ", \"to\": %" PRIu32, i ? "," : "", e->from, e->to);
		if (f->edges[i] == PATH_UNKNOWN)
			fputs(", \"count\": null", out);
		else
			fprintf(out, ", \"count\": %" PRIu64, f->edges[i]);
		json_print_member(out, ", ", "cut", cuts[e->cut]);
		json_print_member(out, ", ", "outcome", outcomes[m->outcomes[i].kind]);
		if (m->outcomes[i].kind == PATHMETA_CASE)
			fprintf(out, ", \"value\": %" PRId64, m->outcomes[i].value);
		if (m->outcomes[i].kind == PATHMETA_CASES)
			print_cases(m->outcomes[i].cases, out);
		putc('}', out);
	}
	fputs("]", out);
}

static const char *end_name(const struct cfg *g, const struct path *path)
{
	uint32_t first = g->first_edge[path->end_node];

	if (path->is_left)
		return "left";
	if (path->end_edge != NO_EDGE)
		return g->edges[path->end_edge].cut == CFG_CUT_BACK ? "back" : "split";
	if (first == g->first_edge[path->end_node + 1])
		return "exit";
	return g->edges[first].cut == CFG_CUT_TWICE ? "twice" : "jump";
}

static struct error *print_path(const struct path_report *r, const struct path_function *f,
				const struct path_entry *entry, FILE *out)
{
	struct path_steps s;
	struct error *err;

	fprintf(out, "{\"number\": %" PRIu64 ", \"count\": %" PRIu64, entry->number, entry->count);
	if (!f->meta) {
		fputs("}", out);
		return NULL;
	}
	err = path_steps_create(r->view->profile, f, entry->number, r->style.sources, &s);
	if (err)
		return err;
	fputs(", \"blocks\": [", out);
	for (uint32_t i = 0; i < s.node_count; i++)
		fprintf(out, "%s%" PRIu32, i ? ", " : "", s.nodes[i]);
	fputs("], \"edges\": [", out);
	for (uint32_t i = 0; i < s.path.edge_count; i++)
		fprintf(out, "%s%" PRIu32, i ? ", " : "", s.path.edges[i]);
	fprintf(out, "], \"end\": \"%s\"", end_name(&f->meta->cfg, &s.path));
	if (s.path.end_edge != NO_EDGE)
		fprintf(out, ", \"end_edge\": %" PRIu32, s.path.end_edge);
	putc('}', out);
	path_steps_deinit(&s);
	return NULL;
}

/* The rows of the view that are this function's. rows is sorted by count over all functions: marks say which are shown. */
static struct error *print_paths(const struct path_report *r, const struct path_function *f, const uint8_t *is_shown,
				 FILE *out)
{
	const struct path_profile *p = r->view->profile;
	struct error *err = NULL;
	bool is_next = false;

	fputs(",\n     \"paths\": [", out);
	for (uint32_t i = 0; i < f->entry_count && !err; i++) {
		const struct path_entry *entry = &f->entries[i];

		if (!is_shown[entry - p->entries.items])
			continue;
		fputs(is_next ? ",\n       " : "\n       ", out);
		is_next = true;
		err = print_path(r, f, entry, out);
	}
	fputs("]", out);
	return err;
}

static void print_function_numbers(const struct path_function *f, FILE *out)
{
	static const char *const kinds[] = {
		[WM1_PATHS_ARRAY] = "array", [WM1_PATHS_HASH] = "hash", [WM1_PATHS_PLAN] = "plan"};

	fprintf(out,
		", \"image\": %" PRIu32 ", \"name_key\": \"%016" PRIx64 "\", \"cfg_key\": \"%016" PRIx64
		"\",\n     \"possible\": %" PRIu64 ", \"paths_run\": %" PRIu32 ", \"counted\": %" PRIu64,
		f->image, f->name_key, f->cfg_key, f->path_count, f->run_count, f->total);
	fprintf(out,
		", \"kind\": \"%s\", \"tables\": %" PRIu32 ", \"begun\": %" PRIu64 ", \"inherited\": %" PRIu64
		", \"ended\": %" PRIu64,
		f->kind >= WM1_PATHS_ARRAY && f->kind <= WM1_PATHS_PLAN ? kinds[f->kind] : "?", f->table_count,
		f->activations, f->inherited, f->ended);
	fprintf(out,
		", \"unfinished\": %" PRIu64 ", \"entered\": %" PRIu64 ", \"residual\": %" PRIu64
		", \"splits\": %" PRIu32,
		f->unfinished, f->calls, f->residual, path_splits(f));
	if (f->meta)
		fprintf(out, ", \"part\": %s, \"selects\": %" PRIu32 ", \"switch_tables\": %" PRIu32,
			bool_text(f->is_part), f->meta->selects, f->meta->switch_tables);
	if (path_alpha(f) > 0)
		fprintf(out, ", \"interesting\": %" PRIu32 ", \"interval\": %" PRIu64 ", \"alpha\": %.6g",
			f->meta->interesting, f->meta->interval, path_alpha(f));
	else if (f->meta && f->meta->has_plan)
		fprintf(out, ", \"interesting\": %" PRIu32, f->meta->planned_count);
}

static struct error *print_function(const struct path_report *r, const struct path_function *f, const uint8_t *is_shown,
				    FILE *out)
{
	fputs("\n    {", out);
	json_print_member(out, "", "name", f->meta ? f->name : NULL);
	json_print_member(out, ", ", "link_name", f->meta ? f->link_name : NULL);
	json_print_member(out, ", ", "file", f->meta ? f->meta->file : NULL);
	fprintf(out, ", \"line\": %" PRIu32, f->meta ? f->meta->line : 0);
	if (f->meta) {
		const struct pathmeta_unit *unit = path_function_unit(r->view->profile, f);

		json_print_member(out, ", ", "unit", unit->name);
		json_print_member(out, ", ", "stage", unit->stage == PATHMETA_SOURCE ? "source" : "final");
	}
	print_function_numbers(f, out);
	if (f->meta) {
		print_blocks(r->view->profile, f, out);
		print_edges(f, out);
	}
	struct error *err = print_paths(r, f, is_shown, out);
	putc('}', out);
	return err;
}

static struct error *print_functions(const struct path_report *r, FILE *out)
{
	const struct path_view *v = r->view;
	uint8_t *is_shown = calloc(v->profile->entries.count + 1, 1);
	struct error *err = is_shown ? NULL : &error_no_memory;

	for (size_t i = 0; i < v->row_count && !err; i++)
		is_shown[v->rows[i].entry - v->profile->entries.items] = 1;
	fprintf(out, "  \"matching_paths\": %zu,\n  \"functions\": [", v->matching_rows);
	for (size_t i = 0; i < v->function_count && !err; i++) {
		if (i)
			putc(',', out);
		err = print_function(r, v->functions[i], is_shown, out);
	}
	fputs("\n  ],\n", out);
	free(is_shown);
	return err;
}

static bool is_in_view(const struct path_view *v, const struct path_function *f)
{
	if (!v->is_filtered)
		return true;
	for (size_t i = 0; i < v->function_count; i++)
		if (v->functions[i] == f)
			return true;
	return false;
}

static struct error *print_residuals(const struct path_view *v, FILE *out)
{
	const struct path_profile *p = v->profile;
	struct frame_vec frames = {0};
	struct error *err = NULL;
	bool is_next = false;

	fputs("  \"residuals\": [", out);
	for (size_t i = 0; i < p->residuals.count && !err; i++) {
		const struct path_residual *r = &p->residuals.items[i];
		const struct path_function *f = &p->functions.items[r->function];

		if (!is_in_view(v, f))
			continue;
		fprintf(out,
			"%s\n    {\"image\": %" PRIu32 ", \"name_key\": \"%016" PRIx64 "\", \"cfg_key\": \"%016" PRIx64
			"\", \"number\": %" PRIu64 ", \"count\": %" PRIu64 ", \"context\": ",
			is_next ? "," : "", f->image, f->name_key, f->cfg_key, r->number, r->count);
		is_next = true;
		frames.count = 0;
		if (r->node)
			err = view_frames(&p->contexts, r->node, &frames);
		fputs(r->node ? "[" : "null", out);
		for (size_t j = 0; j < frames.count; j++) {
			json_print_member(out, j ? ", {" : "{", "name", frames.items[j].name);
			json_print_member(out, ", ", "file", frames.items[j].file);
			fprintf(out, ", \"line\": %" PRIu32 "}", frames.items[j].line);
		}
		fputs(r->node ? "]}" : "}", out);
	}
	fputs("\n  ]\n", out);
	frame_vec_deinit(&frames);
	return err;
}

struct error *path_render_json(const struct path_report *r, FILE *out)
{
	const struct path_view *v = r->view;
	struct error *err;

	fputs("{\n  \"format\": \"waymark-paths\",\n  \"version\": 1,\n", out);
	json_print_member(out, "  ", "producer", v->producer);
	fputs(",\n", out);
	print_recordings(v->profile, out);
	print_images(v->profile, out);
	print_warnings(v->profile, out);
	print_summary(&v->summary, out);
	err = print_functions(r, out);
	if (!err)
		err = print_residuals(v, out);
	fputs("}\n", out);
	return err;
}
