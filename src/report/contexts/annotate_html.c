/* annotate_html.c - annotated lines as one page without anything outside, the warmer a line, the more it has; html.css has its looks. */
#include <inttypes.h>

#include "report/contexts/annotate_renderer.h"
#include "report/contexts/renderer.h"
#include "report/embedded.h"
#include "report/html.h"

enum {
	HEATS = 8, /* classes h1 to h8 of html.css */
};

struct printer {
	const struct metric *metric;
	uint64_t most; /* self of a line */
	FILE *out;
};

static void print_number(const struct printer *p, uint64_t value)
{
	char number[METRIC_TEXT_MAX];

	fputs("<td class=\"c\">", p->out);
	if (value)
		html_text(p->out, metric_number(p->metric, value, number));
	fputs("</td>", p->out);
}

static void print_line(void *data, bool gap, uint32_t line, const struct annotated_line *numbers, const char *text)
{
	struct printer *p = data;
	char percent[DIGITS_MAX];

	if (gap)
		fputs("<tr class=\"gap\"><td colspan=\"5\">…</td></tr>\n", p->out);
	fputs("<tr", p->out);
	if (numbers && numbers->self)
		fprintf(p->out, " class=\"h%u\"",
			1 + (unsigned int)((double)numbers->self / (double)p->most * (HEATS - 1)));
	putc('>', p->out);
	print_number(p, numbers ? numbers->self : 0);
	fputs("<td class=\"c\">", p->out);
	if (numbers && numbers->self)
		html_text(p->out, digits_percent(numbers->self, p->metric->total, percent));
	fputs("</td>", p->out);
	print_number(p, numbers ? numbers->total : 0);
	if (line)
		fprintf(p->out, "<td class=\"n\">%" PRIu32 "</td><td class=\"s\">", line);
	else
		fputs("<td class=\"n\"></td><td class=\"s\">no line is known", p->out);
	html_text(p->out, text ? text : "");
	fputs("</td></tr>\n", p->out);
}

static struct error *print_file(const struct annotate_report *r, const struct annotated_file *file, struct printer *p)
{
	const char *why;
	struct error *err = annotate_missing(r, file, &why);

	if (err)
		return err;
	fputs("<h2>", p->out);
	html_text(p->out, file->name ? file->name : "Without a line");
	fputs("</h2>\n", p->out);
	if (why) {
		fputs("<p class=\"note\">Its text is not shown: ", p->out);
		html_text(p->out, why);
		fputs("</p>\n", p->out);
	}
	fputs("<table class=\"src\">\n<thead><tr><th class=\"r\">self</th><th></th><th class=\"r\">total</th><th class=\"r\">line</th>"
	      "<th></th></tr></thead>\n<tbody>\n",
	      p->out);
	err = annotate_each_line(r, file, print_line, p);
	fputs("</tbody></table>\n", p->out);
	return err;
}

struct error *annotate_render_html(const struct annotate_report *r, FILE *out)
{
	const struct annotation *a = r->annotation;
	const struct metric *m = &r->view->profile->metrics.items[r->view->metric];
	struct printer p = {.metric = m, .most = 1, .out = out};
	char number[METRIC_TEXT_MAX];
	struct error *err = NULL;

	for (size_t i = 0; i < a->line_count; i++)
		p.most = a->lines[i].self > p.most ? a->lines[i].self : p.most;
	html_print_start(out, r->view->producer);
	html_text(out, r->functions);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>", html_css);
	html_text(out, r->functions);
	fputs("</h1>\n<p>", out);
	html_text(out, m->name);
	fprintf(out, ": %s in it, ", metric_number(m, a->self, number));
	fprintf(out, "%s in it and what it calls, ", metric_number(m, a->total, number));
	fprintf(out, "of %s in all</p>\n", metric_number(m, m->total, number));
	for (size_t i = 0; i < a->file_count && !err; i++)
		err = print_file(r, &a->files[i], &p);
	fputs("</main>\n</body>\n</html>\n", out);
	return err;
}
