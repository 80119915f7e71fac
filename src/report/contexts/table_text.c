/* table_text.c - a table for reading: a line for each row, columns as wide as their longest number. */
#include <inttypes.h>
#include <string.h>

#include "base/plain_text.h"
#include "report/contexts/renderer.h"

static const char *order_name(enum table_order order)
{
	static const char *const names[] = {
		[TABLE_BY_SELF] = "self", [TABLE_BY_TOTAL] = "total", [TABLE_BY_NAME] = "name"};

	return names[order];
}

/* What the percentages are of. */
static void print_heading(const struct view *v, const struct table *t, FILE *out)
{
	const struct metric *m = &v->profile->metrics.items[v->metric];
	char number[METRIC_TEXT_MAX];

	fprintf(out, "\n%s by %s ", t->kind->heading, order_name(t->order));
	plain_print(out, m->name);
	fprintf(out, ": %zu", t->row_count);
	if (t->row_count < t->all_rows)
		fprintf(out, " of %zu", t->all_rows);
	if (v->is_filtered)
		fputs(", in contexts of the chosen functions", out);
	fprintf(out, "; percentages of %s", metric_number(m, m->total, number));
	if (m->unit == UNIT_BYTES)
		fputs(" bytes", out);
	metric_print_size(m, m->total, out);
	fputs(t->skips_allocators ? "; self is that of callers of malloc\n\n" : "\n\n", out);
}

static int width_of(const struct view *v, const struct table *t)
{
	const struct metric *m = &v->profile->metrics.items[v->metric];
	char number[METRIC_TEXT_MAX];
	int width = (int)strlen("total");

	for (size_t i = 0; i < t->row_count; i++) {
		int len = (int)strlen(metric_number(m, t->rows[i].total, number));

		width = len > width ? len : width;
	}
	return width;
}

static void print_name(const struct table *t, const struct table_row *row, FILE *out)
{
	const struct frame *f = row->frame;

	if (t->kind->key == KEY_LINE && f->file && f->line) {
		plain_print(out, f->file);
		fprintf(out, ":%" PRIu32 " ", f->line);
	}
	plain_print(out, row->name);
}

void table_print(const struct view *v, const struct table *t, FILE *out)
{
	const struct metric *m = &v->profile->metrics.items[v->metric];
	int width = width_of(v, t);
	char number[METRIC_TEXT_MAX], percent[DIGITS_MAX];

	print_heading(v, t, out);
	fprintf(out, "  %*s            %*s            %s\n", width, "self", width, "total", t->kind->column);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct table_row *row = &t->rows[i];

		fprintf(out, "  %*s  %8s", width, metric_number(m, row->self, number),
			digits_percent(row->self, m->total, percent));
		fprintf(out, "  %*s  %8s  ", width, metric_number(m, row->total, number),
			digits_percent(row->total, m->total, percent));
		print_name(t, row, out);
		putc('\n', out);
	}
}

struct error *render_table_text(const struct view *v, const struct table *t, FILE *out)
{
	if (text_print_head(v, out))
		table_print(v, t, out);
	return NULL;
}
