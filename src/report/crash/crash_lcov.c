/*
 * crash_lcov.c - activity in the form of lcov's .info files: what ran has the count 1, what cannot have run 0. What may have run
 * is left out, as if there were no code: neither count would be true of it. The same of the ways of branches; those of a branch that
 * control never came to have no count ("-").
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/plain_text.h"
#include "model/crash/crash_branches.h"
#include "report/crash/crash_renderer.h"

static bool is_known(uint8_t state)
{
	return state == ACTIVITY_YES || state == ACTIVITY_NO;
}

static void print_functions(const struct crash_lines *l, const struct crash_line_file *file, FILE *out)
{
	const struct crash_line_function *functions = &l->functions.items[file->first_function];
	size_t found = 0, hit = 0;

	for (size_t i = 0; i < file->function_count; i++) {
		if (!is_known(functions[i].state))
			continue;
		fprintf(out, "FN:%" PRIu32 ",", functions[i].line);
		plain_print(out, functions[i].flow->link_name);
		putc('\n', out);
	}
	for (size_t i = 0; i < file->function_count; i++) {
		if (!is_known(functions[i].state))
			continue;
		found++;
		hit += functions[i].state == ACTIVITY_YES;
		fprintf(out, "FNDA:%d,", functions[i].state == ACTIVITY_YES);
		plain_print(out, functions[i].flow->link_name);
		putc('\n', out);
	}
	fprintf(out, "FNF:%zu\nFNH:%zu\n", found, hit);
}

/* Those of lines that are shown, so that lines and branches agree. */
static void print_branches(const struct crash_lines *l, const struct crash_branch *branches, size_t count, FILE *out)
{
	static const char *const counts[] = {
		[CRASH_WAY_TAKEN] = "1", [CRASH_WAY_NOT_TAKEN] = "0", [CRASH_WAY_NOT_COME] = "-"};
	size_t found = 0, hit = 0;

	for (size_t i = 0; i < count; i++) {
		const struct crash_branch *b = &branches[i];
		const struct crash_line *line = crash_lines_find(l, b->file, b->line);

		if (b->state == CRASH_WAY_UNKNOWN || !line || !is_known(line->state))
			continue;
		found++;
		hit += b->state == CRASH_WAY_TAKEN;
		fprintf(out, "BRDA:%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%s\n", b->line, b->block, b->way,
			counts[b->state]);
	}
	if (found)
		fprintf(out, "BRF:%zu\nBRH:%zu\n", found, hit);
}

static void print_file(const struct crash_lines *l, uint32_t index, const struct crash_branch *branches, size_t count,
		       FILE *out)
{
	const struct crash_line_file *file = &l->files.items[index];
	const struct crash_line *lines = file->line_count ? &l->lines.items[file->first_line] : NULL;

	fputs("SF:", out);
	plain_print(out, file->name);
	putc('\n', out);
	if (file->function_count)
		print_functions(l, file, out);
	print_branches(l, branches, count, out);
	for (size_t j = 0; j < file->line_count; j++)
		if (is_known(lines[j].state))
			fprintf(out, "DA:%" PRIu32 ",%d\n", lines[j].line, lines[j].state == ACTIVITY_YES);
	fprintf(out, "LF:%zu\nLH:%zu\nend_of_record\n", file->states[ACTIVITY_YES] + file->states[ACTIVITY_NO],
		file->states[ACTIVITY_YES]);
}

struct error *crash_render_lcov(const struct crash_report *r, FILE *out)
{
	struct crash_branch_vec branches = {0};
	size_t branch = 0;
	struct crash_lines l;
	struct error *err;

	if (!r->activity)
		return error_create(ERROR_FORMAT, "nothing of it was traced: there is no activity to show");
	err = crash_lines_create(r->crash, r->activity, &l);
	if (err)
		return err;
	err = crash_branches_find(r->crash, r->activity, &l, &branches);
	if (!err)
		fputs("TN:\n", out);
	for (uint32_t i = 0; i < l.files.count && !err; i++) {
		const size_t first = branch;

		while (branch < branches.count && branches.items[branch].file == i)
			branch++;
		print_file(&l, i, branches.count ? &branches.items[first] : NULL, branch - first, out);
	}
	crash_branch_vec_deinit(&branches);
	crash_lines_deinit(&l);
	return err;
}
