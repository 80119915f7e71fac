/* annotate_text.c - annotated lines for reading: self, total, number and text of each. */
#include <inttypes.h>
#include <string.h>

#include "base/plain_text.h"
#include "report/contexts/annotate_renderer.h"
#include "report/contexts/renderer.h"

struct printer {
	const struct metric *metric;
	int width;
	struct arena arena; /* of expanded lines */
	bool is_short;      /* memory was */
	FILE *out;
};

static void print_numbers(const struct printer *p, const struct annotated_line *numbers)
{
	char number[METRIC_TEXT_MAX], percent[DIGITS_MAX];

	if (!numbers) {
		fprintf(p->out, "  %*s  %8s  %*s", p->width, "", "", p->width, "");
		return;
	}
	fprintf(p->out, "  %*s  %8s", p->width, numbers->self ? metric_number(p->metric, numbers->self, number) : "",
		numbers->self ? digits_percent(numbers->self, p->metric->total, percent) : "");
	fprintf(p->out, "  %*s", p->width, metric_number(p->metric, numbers->total, number));
}

static void print_line(void *data, bool gap, uint32_t line, const struct annotated_line *numbers, const char *text)
{
	struct printer *p = data;
	const char *plain = NULL;
	size_t columns;

	if (gap)
		fprintf(p->out, "  %*s            %*s     ...\n", p->width, "", p->width, "");
	print_numbers(p, numbers);
	if (text) {
		plain = plain_expand(text, &p->arena, &columns);
		p->is_short |= !plain;
	}
	fprintf(p->out, line ? "  %6" PRIu32 "%s%s\n" : "  (no line is known)\n", line, plain && *plain ? "  " : "",
		plain ? plain : "");
}

static struct error *print_file(const struct annotate_report *r, const struct annotated_file *file, struct printer *p)
{
	const char *why;
	struct error *err = annotate_missing(r, file, &why);

	if (err)
		return err;
	putc('\n', p->out);
	plain_print(p->out, file->name ? file->name : "without a line");
	if (why) {
		fputs(": its text is not shown: ", p->out);
		plain_print(p->out, why);
	}
	fprintf(p->out, "\n  %*s            %*s    line\n", p->width, "self", p->width, "total");
	err = annotate_each_line(r, file, print_line, p);
	return !err && p->is_short ? &error_no_memory : err;
}

static int width_of(const struct metric *m, const struct annotation *a)
{
	char number[METRIC_TEXT_MAX];
	int width = (int)strlen("total");

	for (size_t i = 0; i < a->line_count; i++) {
		int len = (int)strlen(metric_number(m, a->lines[i].total, number));

		width = len > width ? len : width;
	}
	return width;
}

struct error *annotate_render_text(const struct annotate_report *r, FILE *out)
{
	const struct metric *m = &r->view->profile->metrics.items[r->view->metric];
	struct printer p = {.metric = m, .width = width_of(m, r->annotation), .out = out};
	char self[METRIC_TEXT_MAX], total[METRIC_TEXT_MAX], all[METRIC_TEXT_MAX];
	char self_percent[DIGITS_MAX], total_percent[DIGITS_MAX];
	struct error *err = NULL;

	plain_print(out, r->functions);
	fputs(": ", out);
	plain_print(out, m->name);
	fprintf(out, " %s (%s) in it, %s (%s) in it and what it calls", metric_number(m, r->annotation->self, self),
		digits_percent(r->annotation->self, m->total, self_percent),
		metric_number(m, r->annotation->total, total),
		digits_percent(r->annotation->total, m->total, total_percent));
	fprintf(out, "; percentages of %s\n", metric_number(m, m->total, all));
	arena_init(&p.arena);
	for (size_t i = 0; i < r->annotation->file_count && !err; i++)
		err = print_file(r, &r->annotation->files[i], &p);
	arena_deinit(&p.arena);
	return err;
}
