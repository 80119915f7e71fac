/* path_choices.c - adds up the choices that paths do not distinguish, and describes them. */
#include "model/paths/path_choices.h"

#include "base/number_text.h"

void path_choices_add(struct path_choices *c, const struct path_profile *p, const struct path_function *f)
{
	c->functions++;
	if (!f->meta) {
		c->unknown_functions++;
		return;
	}
	c->final_functions += path_function_unit(p, f)->stage == PATHMETA_FINAL;
	c->selects += f->meta->selects;
	c->switch_tables += f->meta->switch_tables;
}

static void print_count(uint64_t count, const char *one, const char *many, FILE *out)
{
	char number[DIGITS_MAX];

	fprintf(out, "%s %s", digits_grouped(count, number), count == 1 ? one : many);
}

void path_choices_print_counts(uint64_t selects, uint64_t switch_tables, FILE *out)
{
	if (!selects && !switch_tables)
		fputs("no select", out);
	if (selects)
		print_count(selects, "select", "selects", out);
	if (selects && switch_tables)
		fputs(", ", out);
	if (switch_tables)
		print_count(switch_tables, "switch table", "switch tables", out);
}

void path_choices_print(const struct path_choices *c, const char *between, FILE *out)
{
	const char *before = "";

	if (c->final_functions) {
		fputs("source paths that differ only in branches which the optimizer replaced (", out);
		path_choices_print_counts(c->selects, c->switch_tables, out);
		fprintf(out, "),%smerged or dropped (how many is not known): they are one path at --wm-stage=final",
			between);
		before = ";";
	} else if (c->selects || c->switch_tables) {
		fprintf(out, "paths that differ only in a value selected without a branch:%s", between);
		path_choices_print_counts(c->selects, c->switch_tables, out);
		before = ";";
	}
	if (c->unknown_functions) {
		fprintf(out, "%s%s", before, *before ? between : "");
		print_count(c->unknown_functions, "function", "functions", out);
		fputs(" without metadata: at which stage they were counted is not known", out);
	}
}
