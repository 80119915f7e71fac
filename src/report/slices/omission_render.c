/* omission_render.c - the layer of omissions, as text and as JSON: branches that decided against what could have mattered. */
#include <inttypes.h>

#include "base/json_writer.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "report/slices/slice_render.h"

enum {
	SHOWN_MAX = 40, /* lines of text, unless all are asked for */
};

static const char *const kinds[] = {[OMISSION_VARIABLE] = "variable",
				    [OMISSION_BY_CALL] = "variable_by_call",
				    [OMISSION_ALLOCATED] = "allocated",
				    [OMISSION_VAGUE] = "libraries"};

/* "line 12", or "other.c:12" where the file is not that of `line`. */
static void print_place(const struct slice_report *r, uint32_t number, const struct slice_line *line, FILE *out)
{
	const struct slice_line *at = &r->lines->items[number];

	if (at->file != line->file) {
		plain_print(out, at->file ? text_base_name(at->file) : "?");
		fprintf(out, ":%" PRIu32, at->line);
	} else {
		fprintf(out, "line %" PRIu32, at->line);
	}
}

void slice_omission_print(const struct slice_report *r, const struct slice_omission *x, FILE *out)
{
	const struct slice_line *line = &r->lines->items[x->line];

	if (x->went != SLICE_NO_LINE && x->went != x->line && x->went != x->omitted) {
		fputs("-> ", out);
		print_place(r, x->went, line, out);
		fputs("; ", out);
	}
	print_place(r, x->omitted, line, out);
	if (x->reader == SLICE_NO_LINE) {
		fputs(" could have set what is read", out);
		return;
	}
	fputs(" could have set what ", out);
	print_place(r, x->reader, line, out);
	fputs(x->by == OMISSION_VAGUE ? " reads, of libraries" : " reads", out);
}

static struct error *print_items(const struct slice_report *r, uint32_t count, FILE *out)
{
	const char *file = NULL;
	struct error *err = NULL;

	for (uint32_t i = 0; i < count && !err; i++) {
		const struct slice_omission *x = &r->omissions->items.items[i];
		const struct slice_line *line = &r->lines->items[x->line];

		if (x->is_in && (!i || !r->omissions->items.items[i - 1].is_in)) {
			fputs("  in the slice, too:\n", out);
			file = NULL;
		}
		err = slice_source_below_print(r, line, &file, out);
		if (err)
			return err;
		slice_omission_print(r, x, out);
		putc('\n', out);
	}
	return err;
}

static void print_more(uint32_t count, const char *what, FILE *out)
{
	if (count)
		fprintf(out, "  and %" PRIu32 " %s (--explain shows all)\n", count, what);
}

struct error *slice_omissions_text(const struct slice_report *r, FILE *out)
{
	const struct slice_omissions *o = r->omissions;
	uint32_t count = (uint32_t)o->items.count, shown = o->count_new < SHOWN_MAX ? o->count_new : SHOWN_MAX;
	struct error *err;

	if (!o->is_known && !o->why)
		return NULL;
	fputs("\nBranches that decided against what could have mattered", out);
	if (!o->is_known) {
		fprintf(out, ": not known: %s\n", o->why);
		return NULL;
	}
	if (r->is_explained)
		shown = count;
	fputs(shown ? ", stores to variables first, and the nearest:\n" : ": none that is not in the slice\n", out);
	err = print_items(r, shown, out);
	if (err || r->is_explained)
		return err;
	print_more(o->count_new - shown, "more that are further away", out);
	print_more(o->count_vague, "by memory of libraries, which is not told apart", out);
	print_more(count - o->count_new - o->count_vague, "whose lines are in the slice, too", out);
	return NULL;
}

static void print_place_json(const struct slice_report *r, const char *name, uint32_t number, FILE *out)
{
	if (number == SLICE_NO_LINE) {
		fprintf(out, ", \"%s\": null", name);
		return;
	}
	fprintf(out, ", \"%s\": ", name);
	json_print_member(out, "{", "file", r->lines->items[number].file);
	fprintf(out, ", \"line\": %" PRIu32 "}", r->lines->items[number].line);
}

void slice_omissions_json(const struct slice_report *r, FILE *out)
{
	const struct slice_omissions *o = r->omissions;

	if (!o->is_known && !o->why)
		return;
	if (!o->is_known)
		json_print_member(out, ",\n ", "omissions_not_known", o->why);
	fputs(",\n \"omissions\": [", out);
	for (size_t i = 0; i < o->items.count; i++) {
		const struct slice_omission *x = &o->items.items[i];

		json_print_member(out, i ? ",\n  {" : "\n  {", "file", r->lines->items[x->line].file);
		fprintf(out, ", \"line\": %" PRIu32, r->lines->items[x->line].line);
		print_place_json(r, "went_to", x->went, out);
		print_place_json(r, "did_not_run", x->omitted, out);
		print_place_json(r, "read_by", x->reader, out);
		if (x->distance == SLICE_FAR)
			fputs(", \"distance\": null", out);
		else
			fprintf(out, ", \"distance\": %" PRIu32, x->distance);
		fprintf(out, ", \"of\": \"%s\", \"is_in_slice\": %s}", kinds[x->by], x->is_in ? "true" : "false");
	}
	putc(']', out);
}
