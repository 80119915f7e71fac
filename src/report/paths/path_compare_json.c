/* path_compare_json.c - field against tests as one JSON object; docs/format.md describes every member. */
#include <inttypes.h>

#include "base/json_writer.h"
#include "report/paths/path_compare_renderer.h"
#include "model/paths/path_steps.h"
#include "model/base/profile_view.h"

static void print_side(const char *name, const struct path_profile *p, bool is_known, uint64_t total, uint64_t paths,
		       FILE *out)
{
	fprintf(out,
		"  \"%s\": {\"counted\": %" PRIu64 ", \"paths_run\": %" PRIu64 ", \"programs_found\": %s, \"files\": [",
		name, total, paths, is_known ? "true" : "false");
	for (size_t i = 0; i < p->recordings.count; i++) {
		if (i)
			fputs(", ", out);
		json_print_string(out, p->recordings.items[i].path);
	}
	fputs("],\n    \"warnings\": [", out);
	for (size_t i = 0; i < p->contexts.warnings.count; i++) {
		fprintf(out, "%s{\"times\": %" PRIu64, i ? ", " : "", p->contexts.warnings.items[i].count);
		json_print_member(out, ", ", "text", p->contexts.warnings.items[i].text);
		putc('}', out);
	}
	fputs("]},\n", out);
}

static void print_function(const struct path_function *f, FILE *out)
{
	json_print_member(out, "", "name", f->meta ? f->name : NULL);
	json_print_member(out, ", ", "link_name", f->meta ? f->link_name : NULL);
	json_print_member(out, ", ", "file", f->meta ? f->meta->file : NULL);
	fprintf(out, ", \"line\": %" PRIu32 ", \"name_key\": \"%016" PRIx64 "\", \"cfg_key\": \"%016" PRIx64 "\"",
		f->meta ? f->meta->line : 0, f->name_key, f->cfg_key);
}

static struct error *print_steps(const struct path_pair *pair, struct sources *sources, FILE *out)
{
	struct path_steps s;
	struct error *err;

	if (!pair->function->meta)
		return NULL;
	err = path_steps_create(pair->profile, pair->function, pair->number, sources, &s);
	if (err)
		return err;
	json_print_member(out, ",\n     ", "start", s.start);
	json_print_member(out, ", ", "end", s.end);
	fputs(", \"blocks\": [", out);
	for (uint32_t i = 0; i < s.node_count; i++)
		fprintf(out, "%s%" PRIu32, i ? ", " : "", s.nodes[i]);
	fputs("], \"lines\": [", out);
	for (size_t i = 0; i < s.steps.count; i++) {
		const struct path_step *step = &s.steps.items[i];

		fprintf(out, "%s{\"line\": %" PRIu32, i ? ", " : "", step->line);
		if (step->file != pair->function->meta->file)
			json_print_member(out, ", ", "file", step->file);
		if (step->function)
			json_print_member(out, ", ", "function", step->function);
		if (step->outcome)
			json_print_member(out, ", ", "outcome", step->outcome);
		putc('}', out);
	}
	putc(']', out);
	path_steps_deinit(&s);
	return NULL;
}

static struct error *print_contexts(const struct path_profile *p, const struct path_pair *pair, FILE *out)
{
	struct frame_vec frames = {0};
	struct error *err = NULL;
	bool is_next = false;

	fputs(", \"contexts\": [", out);
	for (size_t i = 0; i < p->residuals.count && !err; i++) {
		const struct path_residual *r = &p->residuals.items[i];
		const struct path_function *f = &p->functions.items[r->function];

		if (!r->node || r->number != pair->number || f->name_key != pair->function->name_key ||
		    f->cfg_key != pair->function->cfg_key)
			continue;
		frames.count = 0;
		err = view_frames(&p->contexts, r->node, &frames);
		fprintf(out, "%s{\"count\": %" PRIu64 ", \"frames\": [", is_next ? ", " : "", r->count);
		is_next = true;
		for (size_t j = 0; j < frames.count; j++) {
			json_print_member(out, j ? ", {" : "{", "name", frames.items[j].name);
			json_print_member(out, ", ", "file", frames.items[j].file);
			fprintf(out, ", \"line\": %" PRIu32 "}", frames.items[j].line);
		}
		fputs("]}", out);
	}
	putc(']', out);
	frame_vec_deinit(&frames);
	return err;
}

static struct error *print_pairs(const struct path_comparison *c, const char *name, const struct path_pair_vec *v,
				 struct sources *sources, FILE *out)
{
	static const char *const news[] = {[PATH_NOVEL_PATH] = "path",
					   [PATH_NOVEL_FUNCTION] = "function",
					   [PATH_NOVEL_BODY] = "function body",
					   [PATH_NOVEL_UNTESTED] = "not in the tested programs"};
	struct error *err = NULL;

	fprintf(out, "  \"%s\": [", name);
	for (size_t i = 0; i < v->count && (!c->top || i < c->top) && !err; i++) {
		const struct path_pair *pair = &v->items[i];

		fputs(i ? ",\n    {" : "\n    {", out);
		print_function(pair->function, out);
		fprintf(out,
			",\n     \"number\": %" PRIu64 ", \"possible\": %" PRIu64 ", \"tested\": %" PRIu64
			", \"field\": %" PRIu64,
			pair->number, pair->function->path_count, pair->tested, pair->field);
		if (!pair->tested)
			json_print_member(out, ", ", "new", news[pair->news]);
		err = print_steps(pair, sources, out);
		if (!err)
			err = print_contexts(c->field, pair, out);
		putc('}', out);
	}
	fputs("\n  ],\n", out);
	return err;
}

static void print_choices(const struct path_comparison *c, FILE *out)
{
	static const char *const verdicts[] = {
		[PATH_VERDICT_COVERED] = "covered", [PATH_VERDICT_NEW] = "new", [PATH_VERDICT_UNKNOWN] = "unknown"};
	const struct path_choices *n = &c->choices;

	fprintf(out,
		"  \"verdict\": \"%s\", \"final_functions\": %" PRIu64 ", \"unknown_functions\": %" PRIu64
		", \"selects\": %" PRIu64 ", \"switch_tables\": %" PRIu64 ", \"lossy_files\": %" PRIu64 ",\n",
		verdicts[path_comparison_verdict(c)], n->final_functions, n->unknown_functions, n->selects,
		n->switch_tables, c->lost);
	fputs("  \"not_told_apart\": [", out);
	for (size_t i = 0; i < c->blurs.count && (!c->top || i < c->top); i++) {
		const struct path_function *f = c->blurs.items[i].function;

		fputs(i ? ",\n    {" : "\n    {", out);
		print_function(f, out);
		fprintf(out, ", \"selects\": %" PRIu32 ", \"switch_tables\": %" PRIu32 "}", f->meta->selects,
			f->meta->switch_tables);
	}
	fputs("\n  ],\n", out);
}

static void print_changes(const struct path_comparison *c, FILE *out)
{
	fputs("  \"changed\": [", out);
	for (size_t i = 0; i < c->changes.count && (!c->top || i < c->top); i++) {
		const struct path_change *change = &c->changes.items[i];

		fputs(i ? ",\n    {" : "\n    {", out);
		print_function(change->field, out);
		fprintf(out, ", \"tested_cfg_key\": \"%016" PRIx64 "\", \"field\": %" PRIu64 "}",
			change->tested->cfg_key, change->count);
	}
	fputs("\n  ]\n", out);
}

struct error *path_compare_json(const struct path_comparison *c, const struct path_style *style, FILE *out)
{
	struct sources *sources = style->sources;
	struct error *err;

	fputs("{\n  \"format\": \"waymark-residual\",\n  \"version\": 1,\n", out);
	json_print_member(out, "  ", "producer", c->producer);
	fputs(",\n", out);
	print_side("tested", c->tested, c->is_tested_known, c->tested_total, c->tested_paths, out);
	print_side("field", c->field, c->is_field_known, c->field_total, c->field_paths, out);
	fprintf(out,
		"  \"new_paths\": %zu, \"new_counted\": %" PRIu64 ", \"cold_paths\": %zu, \"changed_functions\": %zu"
		", \"changed_counted\": %" PRIu64 ", \"hot_percent\": %.6g,\n",
		c->news.count, c->news_total, c->cold.count, c->changes.count, c->changes_total, c->hot);
	print_choices(c, out);
	err = print_pairs(c, "new", &c->news, sources, out);
	if (!err)
		err = print_pairs(c, "cold", &c->cold, sources, out);
	print_changes(c, out);
	fputs("}\n", out);
	return err;
}
