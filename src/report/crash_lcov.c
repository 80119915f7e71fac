/*
 * crash_lcov.c - activity in the form of lcov's .info files: what ran has the count 1, what cannot have run 0. What may have run
 * is left out, as if there were no code: neither count would be true of it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "report/crash_lines.h"
#include "report/crash_renderer.h"

static bool is_told(uint8_t state)
{
	return state == ACTIVITY_YES || state == ACTIVITY_NO;
}

/* One record a line: an end of line in a name would make two. */
static void print_word(FILE *out, const char *text)
{
	for (; *text; text++)
		putc(*text == '\n' || *text == '\r' ? '?' : *text, out);
}

static void print_functions(const struct crash_lines *l, const struct crash_line_file *file, FILE *out)
{
	const struct crash_line_function *functions = &l->functions.items[file->first_function];
	size_t found = 0, hit = 0;

	for (size_t i = 0; i < file->function_count; i++) {
		if (!is_told(functions[i].state))
			continue;
		fprintf(out, "FN:%" PRIu32 ",", functions[i].line);
		print_word(out, functions[i].flow->link_name);
		putc('\n', out);
	}
	for (size_t i = 0; i < file->function_count; i++) {
		if (!is_told(functions[i].state))
			continue;
		found++;
		hit += functions[i].state == ACTIVITY_YES;
		fprintf(out, "FNDA:%d,", functions[i].state == ACTIVITY_YES);
		print_word(out, functions[i].flow->link_name);
		putc('\n', out);
	}
	fprintf(out, "FNF:%zu\nFNH:%zu\n", found, hit);
}

struct error *crash_render_lcov(const struct crash_report *r, FILE *out)
{
	struct crash_lines l;
	struct error *err;

	if (!r->activity)
		return error_create(ERROR_FORMAT, "nothing of it was traced: there is no activity to show");
	err = crash_lines_create(r->crash, r->activity, &l);
	if (err)
		return err;
	fputs("TN:\n", out);
	for (size_t i = 0; i < l.files.count; i++) {
		const struct crash_line_file *file = &l.files.items[i];
		const struct crash_line *lines = file->line_count ? &l.lines.items[file->first_line] : NULL;

		fputs("SF:", out);
		print_word(out, file->name);
		putc('\n', out);
		if (file->function_count)
			print_functions(&l, file, out);
		for (size_t j = 0; j < file->line_count; j++)
			if (is_told(lines[j].state))
				fprintf(out, "DA:%" PRIu32 ",%d\n", lines[j].line, lines[j].state == ACTIVITY_YES);
		fprintf(out, "LF:%zu\nLH:%zu\nend_of_record\n", file->states[ACTIVITY_YES] + file->states[ACTIVITY_NO],
			file->states[ACTIVITY_YES]);
	}
	crash_lines_deinit(&l);
	return NULL;
}
