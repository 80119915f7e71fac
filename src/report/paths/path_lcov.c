/*
 * path_lcov.c - counts in the form of lcov's .info files, as geninfo and llvm-cov export write them. Names of functions are
 * link names: genhtml demangles. Of what may have run uncounted (path_folded.h) the form can say neither that it is not known nor
 * "at least": a 0 that is not known to be one is left out, as if there were no code, and another count stays, since that it ran
 * is true.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/plain_text.h"
#include "model/paths/path_coverage.h"
#include "report/paths/path_renderer.h"

static void print_functions(const struct path_lines *l, const struct path_line_file *file, FILE *out)
{
	const struct path_line_function *functions = &l->functions.items[file->first_function];

	for (size_t i = 0; i < file->function_count; i++) {
		if (!path_count_is_known(functions[i].calls, functions[i].is_part))
			continue;
		fprintf(out, "FN:%" PRIu32 ",", functions[i].line);
		plain_print(out, functions[i].function->link_name);
		putc('\n', out);
	}
	for (size_t i = 0; i < file->function_count; i++) {
		if (!path_count_is_known(functions[i].calls, functions[i].is_part))
			continue;
		fprintf(out, "FNDA:%" PRIu64 ",", functions[i].calls);
		plain_print(out, functions[i].function->link_name);
		putc('\n', out);
	}
	fprintf(out, "FNF:%zu\nFNH:%zu\n", file->functions_known, file->functions_hit);
}

static void print_branches(const struct path_lines *l, const struct path_line_file *file, FILE *out)
{
	const struct path_branch *branches = &l->branches.items[file->first_branch];

	for (size_t i = 0; i < file->branch_count; i++) {
		const struct path_branch *b = &branches[i];

		if (!path_count_is_known(b->count, b->is_part))
			continue;
		fprintf(out, "BRDA:%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",", b->line, b->block, b->way);
		if (b->reached)
			fprintf(out, "%" PRIu64 "\n", b->count);
		else
			fputs("-\n", out);
	}
	fprintf(out, "BRF:%zu\nBRH:%zu\n", file->branches_known, file->branches_hit);
}

struct error *path_render_lcov(const struct path_report *r, FILE *out)
{
	struct path_lines l;
	struct error *err = path_lines_create(r->view, &l);

	if (err)
		return err;
	fputs("TN:\n", out);
	for (size_t i = 0; i < l.files.count; i++) {
		const struct path_line_file *file = &l.files.items[i];
		const struct path_line *lines = file->line_count ? &l.lines.items[file->first_line] : NULL;

		fputs("SF:", out);
		plain_print(out, file->name);
		putc('\n', out);
		print_functions(&l, file, out);
		print_branches(&l, file, out);
		for (size_t j = 0; j < file->line_count; j++)
			if (path_count_is_known(lines[j].count, lines[j].is_part))
				fprintf(out, "DA:%" PRIu32 ",%" PRIu64 "\n", lines[j].line, lines[j].count);
		fprintf(out, "LF:%zu\nLH:%zu\nend_of_record\n", file->lines_known, file->lines_hit);
	}
	path_lines_deinit(&l);
	return NULL;
}
