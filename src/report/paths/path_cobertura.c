/*
 * path_cobertura.c - counts in the form of Cobertura (coverage-04.dtd), which GitLab, Jenkins and Azure show beside changes: a package a
 * directory, a class a source file. As in path_lcov.c, what is not known to be 0 is left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/paths/path_coverage.h"
#include "report/html.h"
#include "report/paths/path_renderer.h"

/* Lines and branches of some files: hit, of those that are known. */
struct counts {
	size_t lines, lines_hit;
	size_t branches, branches_hit;
};

static void count_file(struct counts *c, const struct path_line_file *f)
{
	c->lines += f->lines_known;
	c->lines_hit += f->lines_hit;
	c->branches += f->branches_known;
	c->branches_hit += f->branches_hit;
}

static void print_rate(const char *name, size_t hit, size_t all, FILE *out)
{
	fprintf(out, " %s=\"%.4f\"", name, all ? (double)hit / (double)all : 1);
}

static void print_rates(const struct counts *c, FILE *out)
{
	print_rate("line-rate", c->lines_hit, c->lines, out);
	print_rate("branch-rate", c->branches_hit, c->branches, out);
	fputs(" complexity=\"0\"", out);
}

static size_t directory_len(const char *name)
{
	return (size_t)(html_base_name(name) - name);
}

static bool is_same_directory(const char *a, const char *b)
{
	size_t len = directory_len(a);

	return len == directory_len(b) && strncmp(a, b, len) == 0;
}

static void print_methods(const struct path_lines *l, const struct path_line_file *file, FILE *out)
{
	const struct path_line_function *functions = &l->functions.items[file->first_function];

	fputs("     <methods>\n", out);
	for (size_t i = 0; i < file->function_count; i++) {
		const struct path_line_function *f = &functions[i];

		if (!path_count_is_known(f->calls, f->is_part))
			continue;
		fputs("      <method name=\"", out);
		html_text(out, f->function->link_name);
		fprintf(out,
			"\" signature=\"\" line-rate=\"%d\" branch-rate=\"1\" complexity=\"0\"><lines>"
			"<line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\"/></lines></method>\n",
			f->calls > 0, f->line, f->calls);
	}
	fputs("     </methods>\n", out);
}

/* The branches of one line, of which *at is the first; goes behind them. */
static void print_line(const struct path_line *line, const struct path_branch *branches, size_t count, size_t *at,
		       FILE *out)
{
	size_t ways = 0, taken = 0;

	for (; *at < count && branches[*at].line <= line->line; (*at)++) {
		const struct path_branch *b = &branches[*at];

		if (b->line < line->line || !path_count_is_known(b->count, b->is_part))
			continue;
		ways++;
		taken += b->count > 0;
	}
	if (!path_count_is_known(line->count, line->is_part))
		return;
	fprintf(out, "      <line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\"", line->line, line->count);
	if (ways)
		fprintf(out, " branch=\"true\" condition-coverage=\"%zu%% (%zu/%zu)\"", taken * 100 / ways, taken,
			ways);
	fputs("/>\n", out);
}

static void print_class(const struct path_lines *l, const struct path_line_file *file, FILE *out)
{
	struct counts c = {0};
	size_t branch = 0;

	count_file(&c, file);
	fputs("    <class name=\"", out);
	html_text(out, html_base_name(file->name));
	fputs("\" filename=\"", out);
	html_text(out, file->name);
	putc('"', out);
	print_rates(&c, out);
	fputs(">\n", out);
	print_methods(l, file, out);
	fputs("     <lines>\n", out);
	for (size_t i = 0; i < file->line_count; i++)
		print_line(&l->lines.items[file->first_line + i], l->branches.items + file->first_branch,
			   file->branch_count, &branch, out);
	fputs("     </lines>\n    </class>\n", out);
}

/* Files are by name, so those of a directory are together but for its subdirectories, which come between. */
static void print_package(const struct path_lines *l, size_t first, size_t end, FILE *out)
{
	const char *name = l->files.items[first].name;
	size_t len = directory_len(name);
	struct counts c = {0};

	for (size_t i = first; i < end; i++)
		count_file(&c, &l->files.items[i]);
	fputs("  <package name=\"", out);
	html_part(out, len ? name : ".", len > 1 ? len - 1 : 1);
	putc('"', out);
	print_rates(&c, out);
	fputs("><classes>\n", out);
	for (size_t i = first; i < end; i++)
		print_class(l, &l->files.items[i], out);
	fputs("  </classes></package>\n", out);
}

static uint64_t first_start_ms(const struct path_profile *p)
{
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; i < p->recordings.count; i++)
		if (p->recordings.items[i].header.start_realtime_ns < first_ns)
			first_ns = p->recordings.items[i].header.start_realtime_ns;
	return p->recordings.count ? first_ns / 1000000 : 0;
}

struct error *path_render_cobertura(const struct path_report *r, FILE *out)
{
	struct path_lines l;
	struct counts all = {0};
	struct error *err = path_lines_create(r->view, &l);

	if (err)
		return err;
	for (size_t i = 0; i < l.files.count; i++)
		count_file(&all, &l.files.items[i]);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n<coverage",
	      out);
	print_rates(&all, out);
	fprintf(out, " lines-covered=\"%zu\" lines-valid=\"%zu\" branches-covered=\"%zu\" branches-valid=\"%zu\"",
		all.lines_hit, all.lines, all.branches_hit, all.branches);
	fprintf(out,
		" version=\"waymark\" timestamp=\"%" PRIu64
		"\">\n <sources><source>.</source></sources>\n <packages>\n",
		first_start_ms(r->view->profile));
	for (size_t i = 0, first = 0; i < l.files.count; first = i) {
		while (i < l.files.count && is_same_directory(l.files.items[i].name, l.files.items[first].name))
			i++;
		print_package(&l, first, i, out);
	}
	fputs(" </packages>\n</coverage>\n", out);
	path_lines_deinit(&l);
	return NULL;
}
