/* slice_reason.c - how a line of source and the reason why it is in a slice are printed, and texts that are printed in parts as one string of JSON. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "report/html.h"
#include "report/slices/slice_render.h"

enum {
	TEXT_COLUMNS = 60, /* of source, before the reason */
};

static const struct {
	const char *name; /* in JSON */
	const char *text; /* in front of "line N" */
	const char *forward;
} reasons[] = {
	[SLICE_OUT] = {"out", "", ""},
	[SLICE_CRITERION] = {"criterion", "<- here", "<- here"},
	[SLICE_VALUE] = {"value", "used in ", "uses "},
	[SLICE_MEMORY] = {"memory", "stored, read in ", "reads what is stored by "},
	[SLICE_CONTROL] = {"control", "decides about ", "decided by "},
	[SLICE_CALL] = {"call", "calls ", "called by "},
	[SLICE_ARGUMENT] = {"argument", "argument of the call in ", "its argument is given by "},
	[SLICE_RETURN] = {"return", "returned to ", "returned by "},
	[SLICE_COMES_BACK] = {"comes_back", "may not return", "runs only behind "},
};

const char *slice_reason_name(enum slice_reason reason)
{
	return reasons[reason].name;
}

const char *slice_reason_text(enum slice_reason reason)
{
	return reasons[reason].text;
}

void slice_reason_print(const struct slice_report *r, enum slice_reason reason, const struct slice_line *line,
			const struct slice_line *of, FILE *out)
{
	const char *text = r->is_forward ? reasons[reason].forward : reasons[reason].text;

	if (reason == SLICE_CRITERION || (reason == SLICE_COMES_BACK && !r->is_forward)) {
		fputs(text, out);
	} else if (!of) {
		fputs(r->is_forward ? "in the same line" : "used in the same line", out);
	} else {
		fputs(text, out);
		if (of->file != line->file) {
			plain_print(out, of->file ? text_base_name(of->file) : "?");
			putc(':', out);
		} else {
			fputs("line ", out);
		}
		fprintf(out, "%" PRIu32, of->line);
	}
}

struct error *slice_source_print(const struct slice_report *r, const struct slice_line *line, FILE *out)
{
	CLEANUP(arena_deinit) struct arena scratch = {0};
	const struct source_file *file;
	const char *text = NULL;
	size_t width = 0;
	struct error *err = sources_get(r->sources, line->file, &file);

	if (!err)
		err = source_line(file, line->line, &scratch, &text);
	if (err)
		return err;
	text = plain_expand(text ? text : "", &scratch, &width);
	if (!text)
		return &error_no_memory;
	fprintf(out, "%7" PRIu32 "  %s%*s  ", line->line, text, width < TEXT_COLUMNS ? (int)(TEXT_COLUMNS - width) : 0,
		"");
	return NULL;
}

struct error *slice_source_below_print(const struct slice_report *r, const struct slice_line *line, const char **file,
				       FILE *out)
{
	if (line->file != *file) {
		fputs("    ", out);
		plain_print(out, line->file);
		putc('\n', out);
	}
	*file = line->file;
	return slice_source_print(r, line, out);
}

struct error *slice_quote_begin(struct slice_quote *q)
{
	return html_capture(&q->stream, &q->text, &q->size);
}

struct error *slice_quote_end(struct slice_quote *q, FILE *out)
{
	struct error *err = fclose(q->stream) != 0 ? &error_no_memory : NULL;

	if (!err)
		json_print_string(out, q->text);
	free(q->text);
	return err;
}

struct error *slice_reason_json(const struct slice_report *r, enum slice_reason reason, uint32_t line, uint32_t of,
				FILE *out)
{
	const struct slice_line *lines = r->lines->items;
	struct slice_quote quote;
	struct error *err = slice_quote_begin(&quote);

	if (err)
		return err;
	slice_reason_print(r, reason, &lines[line], of == SLICE_NO_LINE ? NULL : &lines[of], quote.stream);
	return slice_quote_end(&quote, out);
}
