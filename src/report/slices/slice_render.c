/* slice_render.c - a slice line by line, each with its reason. */
#include "report/slices/slice_render.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/plain_text.h"
#include "base/text.h"

static double percent(uint32_t part, uint32_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static struct error *print_line(const struct slice_report *r, const struct slice_line *line, FILE *out)
{
	struct error *err = slice_source_print(r, line, out);

	if (err)
		return err;
	slice_reason_print(r, line->reason, line, line->of == SLICE_NO_LINE ? NULL : &r->lines->items[line->of], out);
	putc('\n', out);
	return NULL;
}

static struct error *print_line_below(const struct slice_report *r, const struct slice_line *line, const char **file,
				      FILE *out)
{
	if (line->file != *file) {
		*file = line->file;
		putc('\n', out);
		plain_print(out, *file);
		putc('\n', out);
	}
	return print_line(r, line, out);
}

static struct error *print_lines(const struct slice_report *r, FILE *out)
{
	const char *file = NULL;
	struct error *err = NULL;

	for (uint32_t i = 0; r->order && i < r->order->count && !err; i++)
		err = print_line_below(r, &r->lines->items[r->order->lines[i]], &file, out);
	for (uint32_t i = 0; !r->order && i < r->lines->count && !err; i++)
		if (r->lines->items[i].is_in)
			err = print_line_below(r, &r->lines->items[i], &file, out);
	return err;
}

static struct error *print_chain(const struct slice_report *r, FILE *out)
{
	const struct slice_link_vec *links = &r->chain->links;
	const char *file = NULL;
	struct error *err = NULL;

	if (r->chain->is_cut)
		fputs("\nThe shortest chain was not found within its limit of steps.\n", out);
	if (links->count)
		fputs("\nThe shortest chain back to a line that no other one explains:\n", out);
	for (size_t i = 0; i < links->count && !err; i++) {
		const struct slice_line *line = &r->lines->items[links->items[i].line];

		err = slice_source_below_print(r, line, &file, out);
		if (err)
			break;
		slice_reason_print(r, links->items[i].reason, line,
				   i ? &r->lines->items[links->items[i - 1].line] : NULL, out);
		putc('\n', out);
	}
	return err;
}

static void print_unknown(const struct slice_lines *l, FILE *out)
{
	fprintf(out, "\nFunctions that are not known, and so may do anything to what they can reach:%s\n",
		l->unknown_count ? "" : " none");
	for (uint32_t i = 0; i < l->unknown_count; i++) {
		fprintf(out, "%7" PRIu32 " call%s  ", l->unknown[i].calls, l->unknown[i].calls == 1 ? " " : "s");
		plain_print(out, l->unknown[i].name ? l->unknown[i].name : "through a pointer, or assembly");
		putc('\n', out);
	}
}

static void print_ran(const struct profile_ran_count *c, FILE *out)
{
	fprintf(out, "  of what ran: all may have run of %" PRIu32 " of %" PRIu32 " functions", c->unknown + c->part,
		c->functions);
	if (c->part)
		fprintf(out, " (%" PRIu32 " did not end, or are counted in part)", c->part);
	putc('\n', out);
}

struct error *slice_render_text(const struct slice_report *r, FILE *out)
{
	struct error *err = NULL;

	fputs(r->is_forward ? "What a change can reach of " : "What can have decided ", out);
	plain_print(out, r->criterion);
	fprintf(out,
		": %" PRIu32 " of %" PRIu32 " lines with code (%.0f %%), %" PRIu32 " of %" PRIu32 " instructions\n",
		r->lines->count_in, r->lines->count, percent(r->lines->count_in, r->lines->count),
		r->lines->instructions_in, r->lines->instructions);
	if (r->sizes)
		slice_sizes_text(r->sizes, out);
	if (r->coarse)
		fprintf(out, "  or fewer: a coarser analysis, since %s (--memory, --work)\n", r->coarse);
	if (r->ran)
		print_ran(r->ran, out);
	if (r->chain)
		err = print_chain(r, out);
	if (!err)
		err = print_lines(r, out);
	if (!err && r->omissions)
		err = slice_omissions_text(r, out);
	if (!err && r->overruns)
		err = slice_overruns_text(r, out);
	if (!err && r->is_explained)
		print_unknown(r->lines, out);
	return err;
}

static void print_chain_json(const struct slice_report *r, FILE *out)
{
	fputs(",\n \"chain\": [", out);
	for (size_t i = 0; r->chain && i < r->chain->links.count; i++) {
		const struct slice_link *link = &r->chain->links.items[i];

		json_print_member(out, i ? ",\n  {" : "\n  {", "file", r->lines->items[link->line].file);
		fprintf(out, ", \"line\": %" PRIu32 ", \"why\": \"%s\"}", r->lines->items[link->line].line,
			slice_reason_name(link->reason));
	}
	fputs("]", out);
}

struct error *slice_render_json(const struct slice_report *r, FILE *out)
{
	const char *file = NULL;
	struct error *err = NULL;

	fputs("{\"format\": \"waymark-slice\", \"version\": 1", out);
	json_print_member(out, ", ", "producer", r->producer);
	json_print_member(out, ",\n ", "program", r->program);
	json_print_member(out, ", ", "criterion", r->criterion);
	json_print_member(out, ", ", "direction", r->is_forward ? "forward" : "backward");
	if (r->sizes)
		slice_sizes_json(r->sizes, out);
	if (r->coarse)
		json_print_member(out, ",\n ", "coarse", r->coarse);
	if (r->ran)
		fprintf(out,
			",\n \"ran\": {\"functions\": %" PRIu32 ", \"unknown\": %" PRIu32 ", \"in_part\": %" PRIu32 "}",
			r->ran->functions, r->ran->unknown, r->ran->part);
	fprintf(out,
		",\n \"lines\": %" PRIu32 ", \"lines_with_code\": %" PRIu32 ", \"instructions\": %" PRIu32
		", \"instructions_with_code\": %" PRIu32,
		r->lines->count_in, r->lines->count, r->lines->instructions_in, r->lines->instructions);
	print_chain_json(r, out);
	if (r->omissions)
		slice_omissions_json(r, out);
	if (r->overruns)
		err = slice_overruns_json(r, out);
	fputs(",\n \"files\": [", out);
	for (uint32_t i = 0; i < r->lines->count; i++) {
		const struct slice_line *line = &r->lines->items[i];
		const struct slice_line *of = line->of == SLICE_NO_LINE ? NULL : &r->lines->items[line->of];

		if (!line->is_in)
			continue;
		if (line->file != file) {
			json_print_member(out, file ? "]},\n  {" : "\n  {", "file", line->file);
			fputs(", \"lines\": [", out);
		}
		fprintf(out, "%s\n   {\"line\": %" PRIu32 ", \"why\": \"%s\"", line->file != file ? "" : ",",
			line->line, slice_reason_name(line->reason));
		if (of) {
			fprintf(out, ", \"of_line\": %" PRIu32, of->line);
			if (of->file != line->file)
				json_print_member(out, ", ", "of_file", of->file);
		}
		if (r->order)
			fprintf(out, ", \"place\": %" PRIu32, r->order->places[i]);
		putc('}', out);
		file = line->file;
	}
	fputs(file ? "]}],\n \"unknown_functions\": [" : "],\n \"unknown_functions\": [", out);
	for (uint32_t i = 0; i < r->lines->unknown_count; i++) {
		json_print_member(out, i ? ", {" : "{", "name", r->lines->unknown[i].name);
		fprintf(out, ", \"calls\": %" PRIu32 "}", r->lines->unknown[i].calls);
	}
	fputs("]}\n", out);
	return err;
}
