/* overrun_render.c - the layer of writes out of bounds, as text and as JSON: what the core has of evidence, and stores that may have left their object. */
#include <inttypes.h>

#include "base/json_writer.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "report/slices/slice_render.h"

enum {
	SHOWN_MAX = 40,   /* lines, unless all are asked for */
	GUESSED_MAX = 10, /* without evidence */
};

static const char *const rank_names[] = {[SLICE_OVERRUN_EVIDENT] = "evidence",
					 [SLICE_OVERRUN_NEIGHBOUR] = "neighbour",
					 [SLICE_OVERRUN_SAME_MEMORY] = "same_memory",
					 [SLICE_OVERRUN_OTHER] = "other"};
static const char *const how_names[] = {
	[OVERRUN_CONSTANT] = "constant", [OVERRUN_UNBOUNDED] = "unbounded",  [OVERRUN_INDEX] = "index",
	[OVERRUN_LENGTH] = "length",     [OVERRUN_OUTSIDE] = "unknown_code", [OVERRUN_MISFIT] = "misfit"};
static const char *const evidence_names[] = {[CRASH_EVIDENCE_TEXT] = "text",
					     [CRASH_EVIDENCE_FILL] = "fill",
					     [CRASH_EVIDENCE_HEAP] = "heap",
					     [CRASH_EVIDENCE_CANARY] = "canary",
					     [CRASH_EVIDENCE_NEIGHBOUR] = "neighbour"};

static const char *const how_texts[] = {[OVERRUN_CONSTANT] = "a fixed part that is outside",
					[OVERRUN_UNBOUNDED] = "as much as it finds",
					[OVERRUN_INDEX] = "where a computed address leads",
					[OVERRUN_LENGTH] = "as much as a computed length says",
					[OVERRUN_OUTSIDE] = "it is given to code that is not known",
					[OVERRUN_MISFIT] = "a fixed part that is outside, if the pointer leads there"};

/* ---- evidence ---- */

static void print_object(const struct crash_object *o, const char *function, FILE *out)
{
	if (o->name) {
		plain_print(out, o->name);
		if (function) {
			fputs(" of ", out);
			plain_print(out, function);
		}
	} else if (o->kind == CRASH_OBJECT_FRAME) {
		fputs("the frame of ", out);
		plain_print(out, function ? function : "?");
	} else if (o->kind == CRASH_OBJECT_HEAP) {
		fprintf(out, "a block of the heap of %" PRIu64 " bytes", o->len_bytes);
	} else {
		fputs("a part of the stack that no call has any more", out);
	}
}

static void print_what(const struct crash_evidence *x, FILE *out)
{
	if (x->what)
		plain_print(out, x->what);
	else
		fprintf(out, "the word at 0x%" PRIx64, x->address);
	fprintf(out, ", which is 0x%" PRIx64 ",", x->value);
}

static void print_text(const struct crash_evidence *x, FILE *out)
{
	if (!x->text)
		return;
	fputs(": \"", out);
	plain_print(out, x->text);
	putc('"', out);
}

void slice_evidence_print(const struct slice_overruns *o, size_t number, FILE *out)
{
	const struct crash_evidence *x = &o->evidence.items[number];
	const char *function = o->frame_names[number];

	switch (x->kind) {
	case CRASH_EVIDENCE_TEXT:
	case CRASH_EVIDENCE_FILL:
		print_what(x, out);
		fputs(x->kind == CRASH_EVIDENCE_TEXT ? " goes on from a text that begins in "
						     : " goes on from a row of equal bytes that begins in ",
		      out);
		print_object(&x->from, function, out);
		print_text(x, out);
		break;
	case CRASH_EVIDENCE_HEAP:
		fputs("the size behind ", out);
		print_object(&x->from, function, out);
		fprintf(out, " was overwritten, it is 0x%" PRIx64, x->value);
		print_text(x, out);
		break;
	case CRASH_EVIDENCE_CANARY:
		fputs("the stack protector found ", out);
		print_object(&x->from, function, out);
		fputs(" overwritten", out);
		break;
	case CRASH_EVIDENCE_NEIGHBOUR:
		print_what(x, out);
		if (!x->from.kind || !text_equal(x->what, x->in.name)) {
			fputs(" is in ", out);
			print_object(&x->in, NULL, out);
			fputs(x->from.kind ? ", which" : "", out);
		}
		if (!x->from.kind)
			break;
		fputs(" lies behind ", out);
		print_object(&x->from, function, out);
		break;
	}
}

bool slice_overruns_has_evidence(const struct slice_overruns *o)
{
	for (size_t i = 0; i < o->evidence.count; i++)
		if (o->evidence.items[i].kind != CRASH_EVIDENCE_NEIGHBOUR)
			return true;
	return false;
}

uint32_t slice_overruns_shown(const struct slice_overruns *o)
{
	uint32_t count, max;

	if (!o || !o->is_known)
		return 0;
	count = o->counts[SLICE_OVERRUN_EVIDENT] ?: o->counts[SLICE_OVERRUN_NEIGHBOUR];
	max = o->counts[SLICE_OVERRUN_EVIDENT] ? SHOWN_MAX : GUESSED_MAX;
	return count < max ? count : max;
}

/* ---- lines ---- */

void slice_overrun_print(const struct slice_report *r, const struct slice_overrun *x, FILE *out)
{
	const struct slice_line *line = &r->lines->items[x->line], *at;

	fputs("writes ", out);
	if (x->name) {
		plain_print(out, x->name);
	} else if (x->allocation != SLICE_NO_LINE) {
		at = &r->lines->items[x->allocation];
		fputs("what ", out);
		if (at->file != line->file)
			plain_print(out, at->file ? text_base_name(at->file) : "?");
		fprintf(out, "%s%" PRIu32 " allocates", at->file != line->file ? ":" : "line ", at->line);
	} else {
		fputs("memory without a name", out);
	}
	fprintf(out, ": %s", how_texts[x->how]);
}

static struct error *print_items(const struct slice_report *r, uint32_t count, FILE *out)
{
	const char *file = NULL;
	struct error *err = NULL;

	for (uint32_t i = 0; i < count && !err; i++) {
		const struct slice_overrun *x = &r->overruns->items.items[i];

		if (i && x->rank != x[-1].rank) {
			fputs("  less likely:\n", out);
			file = NULL;
		}
		err = slice_source_below_print(r, &r->lines->items[x->line], &file, out);
		if (err)
			return err;
		slice_overrun_print(r, x, out);
		putc('\n', out);
	}
	return err;
}

static void print_more(uint32_t count, FILE *out)
{
	if (count)
		fprintf(out, "  and %" PRIu32 " line%s that write%s elsewhere (--explain shows all)\n", count,
			count == 1 ? "" : "s", count == 1 ? "s" : "");
}

struct error *slice_overruns_text(const struct slice_report *r, FILE *out)
{
	const struct slice_overruns *o = r->overruns;
	uint32_t count = (uint32_t)o->items.count, shown;
	struct error *err;

	if (!o->is_known)
		return NULL;
	shown = r->is_explained ? count : slice_overruns_shown(o);
	fputs("\nWrites that may have left their object: suspicions, no dependences\n", out);
	if (!slice_overruns_has_evidence(o))
		fputs(o->is_of_line ? "  (of a line, memory has no evidence)\n" : "  (memory has no evidence of one)\n",
		      out);
	for (size_t i = 0; i < o->evidence.count; i++) {
		fputs("  ", out);
		slice_evidence_print(o, i, out);
		putc('\n', out);
	}
	err = print_items(r, shown, out);
	if (!err)
		print_more(count - shown, out);
	return err;
}

/* ---- JSON ---- */

static struct error *print_evidence_json(const struct slice_overruns *o, FILE *out)
{
	struct error *err = NULL;

	fputs(",\n \"evidence\": [", out);
	for (size_t i = 0; i < o->evidence.count && !err; i++) {
		const struct crash_evidence *x = &o->evidence.items[i];
		struct slice_quote quote;

		fprintf(out, "%s\n  {\"kind\": \"%s\", \"text\": ", i ? "," : "", evidence_names[x->kind]);
		err = slice_quote_begin(&quote);
		if (err)
			break;
		slice_evidence_print(o, i, quote.stream);
		err = slice_quote_end(&quote, out);
		json_print_member(out, ", ", "overwritten", x->what);
		json_print_member(out, ", ", "from", x->from.name);
		json_print_member(out, ", ", "function", o->frame_names[i]);
		fprintf(out, ", \"address\": \"0x%" PRIx64 "\", \"value\": \"0x%" PRIx64 "\"}", x->address, x->value);
	}
	putc(']', out);
	return err;
}

struct error *slice_overruns_json(const struct slice_report *r, FILE *out)
{
	const struct slice_overruns *o = r->overruns;
	struct error *err;

	if (!o->is_known)
		return NULL;
	err = print_evidence_json(o, out);
	fputs(",\n \"overruns\": [", out);
	for (size_t i = 0; i < o->items.count && !err; i++) {
		const struct slice_overrun *x = &o->items.items[i];

		json_print_member(out, i ? ",\n  {" : "\n  {", "file", r->lines->items[x->line].file);
		fprintf(out, ", \"line\": %" PRIu32 ", \"by\": \"%s\", \"rank\": \"%s\"", r->lines->items[x->line].line,
			how_names[x->how], rank_names[x->rank]);
		json_print_member(out, ", ", "writes", x->name);
		if (x->allocation != SLICE_NO_LINE) {
			json_print_member(out, ", \"allocated\": {", "file", r->lines->items[x->allocation].file);
			fprintf(out, ", \"line\": %" PRIu32 "}", r->lines->items[x->allocation].line);
		}
		fprintf(out, ", \"is_in_slice\": %s}", x->is_in ? "true" : "false");
	}
	putc(']', out);
	return err;
}
