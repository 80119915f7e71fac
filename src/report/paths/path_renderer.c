/* path_renderer.c - the table of formats of paths, and the notes that text formats share. */
#include <inttypes.h>

#include "base/number_text.h"
#include "base/plain_text.h"
#include "model/contexts/profile_notes.h"
#include "report/paths/path_renderer.h"

static const struct path_renderer renderers[] = {
	{{"text", "a summary and the hottest paths as source lines, for reading"}, ".txt", 10, true, path_render_text},
	{{"json", "everything, for programs; docs/format.md describes it"}, ".json", 0, true, path_render_json},
	{{"lcov", "line, function and branch counts, for genhtml and the like"},
	 ".lcov .info",
	 0,
	 false,
	 path_render_lcov},
	{{"cobertura", "the same as XML of Cobertura, for GitLab, Jenkins and the like"},
	 ".xml",
	 0,
	 false,
	 path_render_cobertura},
	{{"html", "one page: annotated source, the hottest paths of each function"},
	 ".html",
	 10,
	 true,
	 path_render_html},
	{.format = {0}},
};

const struct word_table path_formats = {renderers, sizeof *renderers};

void path_optimized_print(const struct path_summary *s, const char *what, const char *before, FILE *out)
{
	char a[DIGITS_MAX];

	if (s->optimized || s->functions_unknown)
		fprintf(out, "%soptimized code (%s %s): what was inlined and folded is not counted, so %s\n", before,
			digits_grouped(s->optimized, a), s->optimized == 1 ? "function" : "functions", what);
}

static void print_recording_notes(const struct path_recording *r, const char *before, FILE *out)
{
	if (!r->table_count && !r->single_count) {
		fputs(before, out);
		plain_print(out, r->path);
		fputs(": no paths were recorded in it\n", out);
	}
	notes_print_count(before, r->path, r->header.dropped_path_tables,
			  "table of path counts had no room: its counts are lost",
			  "tables of path counts had no room: their counts are lost", out);
	notes_print_count(before, r->path, r->header.dropped_paths, "count of a single path found no room and is lost",
			  "counts of single paths found no room and are lost", out);
	if (r->header.dropped_path_tables || r->header.dropped_paths)
		notes_print_drop(before, r->path, r->header.drop_errno, out);
	notes_print_count(
		before, r->path, r->header.lost_children,
		"forked child could not create a recording (for example after setuid or chroot): its counts are missing",
		"forked children could not create a recording (for example after setuid or chroot): their counts are missing",
		out);
	notes_print_count(before, r->path, r->uncommitted, "record was not finished when the process ended",
			  "records were not finished when the process ended", out);
	if (r->truncated)
		notes_print_line(before, r->truncated, out);
}

void path_notes_print(const struct path_profile *p, const char *before, FILE *out)
{
	for (size_t i = 0; i < p->recordings.count; i++)
		print_recording_notes(&p->recordings.items[i], before, out);
	for (size_t i = 0; i < p->contexts.warnings.count; i++) {
		const struct profile_warning *w = &p->contexts.warnings.items[i];

		fputs(before, out);
		plain_print(out, w->text);
		if (w->count > 1)
			fprintf(out, " (%" PRIu64 " times)", w->count);
		putc('\n', out);
	}
	if (p->saturated)
		fprintf(out, "%s%" PRIu64 " %s at the largest number\n", before, p->saturated,
			noun_of(p->saturated, "sum did not fit 64 bits: it stays",
				"sums did not fit 64 bits: they stay"));
}
