/*
 * crash_before_render.c - calls that have returned, newest first, and what ran in them: as far as it is sure to have run in each of them,
 * and apart from that what has run in such a function at some time in the run, and so may have.
 *
 *      Before this, newest first:
 *        #0 read: perhaps log:32, check:31 (3 times)
 *        #1 main: setup:12, open:11
 *      in these, each time: setup: clear:50, close:51; clear: free:60
 *      in these, maybe: check: log:80
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "object/demangle.h"
#include "model/crash/crash_steps.h"
#include "model/crash/crash_before.h"
#include "report/crash/crash_before_render.h"
#include "model/crash/crash_fold.h"
#include "report/html.h"

enum {
	CALLS_MAX = 12,   /* of a frame, unless all is wanted */
	INSIDE_MAX = 8,   /* functions that are looked into, unless all is wanted */
	INSIDE_CALLS = 8, /* of each */
	INSIDE_FULL_MAX = 100,
	INDENT = 10,
};

/* A list that is wrapped, for either format. */
struct writer {
	const struct crash_report *r;
	FILE *out;
	bool is_html;
	size_t column;
	size_t count; /* of what was written of the list */
};

static void write_text(struct writer *w, const char *text)
{
	if (w->is_html)
		html_text(w->out, text);
	else
		plain_print(w->out, text);
	w->column += strlen(text);
}

/* One more of the list; separator: before all but the first one. */
static void write_item(struct writer *w, const char *separator, const char *text)
{
	if (w->count++)
		write_text(w, separator);
	if (!w->is_html && w->column > INDENT && w->column + 2 + strlen(text) > w->r->style.width) {
		fprintf(w->out, "\n%*s", INDENT - 1, "");
		w->column = INDENT - 1;
	}
	write_text(w, " ");
	write_text(w, text);
}

/* ---- names ---- */

static const char *short_name(const struct writer *w, const char *name, struct arena *arena)
{
	const char *text = demangle(arena, name);

	return text && !w->r->style.is_full ? demangle_brief(arena, text) : text;
}

/* "name:12". */
static const char *call_text(const struct writer *w, const struct tracemeta_call *call, struct arena *arena)
{
	const char *name = call->callee                  ? short_name(w, call->callee, arena)
			   : call->kind == TRACEMETA_ASM ? "asm"
							 : "*pointer";

	return name && call->line ? arena_printf(arena, "%s:%" PRIu32, name, call->line) : name;
}

static const struct object_trace *trace_of(const struct crash *c, uint32_t function, uint32_t *ret_index)
{
	for (uint32_t i = 0; i < c->stopped->module_count; i++) {
		if (function >= c->first_function[i] && function < c->first_function[i + 1]) {
			*ret_index = function - c->first_function[i];
			return &c->images[i].trace;
		}
	}
	return NULL;
}

/* ---- calls of a frame ---- */

/* Calls of one place of the source, which are shown as one. */
struct alike {
	uint32_t times;
	bool is_known; /* a newer one is shown already */
	bool is_round;
};

static struct alike calls_like(const struct crash_frame *f, const struct crash_before *before, uint32_t index)
{
	const struct crash_before_call *call = &before->calls[index];
	struct alike a = {0};

	for (uint32_t i = 0; i < before->count; i++) {
		const struct crash_before_call *other = &before->calls[i];

		if (!crash_calls_alike(&f->meta->calls[other->call], &f->meta->calls[call->call]) ||
		    other->has_thrown != call->has_thrown)
			continue;
		a.is_known |= i < index;
		a.is_round |= other->is_round;
		a.times++;
	}
	return a;
}

/* "name:12 (3 times or more), which threw". The arena's; NULL when memory is short. */
static const char *returned_text(const struct writer *w, const struct tracemeta_call *meta, const struct alike *a,
				 bool has_thrown, struct arena *arena)
{
	const char *text = call_text(w, meta, arena);

	if (text && (a->times > 1 || a->is_round))
		text = arena_printf(arena, "%s (%" PRIu32 " time%s%s)", text, a->times, a->times == 1 ? "" : "s",
				    a->is_round ? " or more" : "");
	if (text && has_thrown)
		text = arena_printf(arena, "%s, which threw", text);
	return text;
}

/* Calls of one place of the source are one: the newest one, and how often. */
static struct error *write_returned(struct writer *w, const struct crash_frame *f, const struct crash_before *before,
				    struct arena *arena)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < before->count; i++) {
		const struct crash_before_call *call = &before->calls[i];
		const struct alike a = calls_like(f, before, i);
		const char *text;

		if (a.is_known)
			continue;
		if (shown++ == CALLS_MAX && !w->r->style.is_full) {
			write_item(w, ",", "...");
			return NULL;
		}
		text = returned_text(w, &f->meta->calls[call->call], &a, call->has_thrown, arena);
		if (!text)
			return &error_no_memory;
		write_item(w, ",", text);
	}
	return NULL;
}

static struct error *write_calls(struct writer *w, const struct crash_frame *f, const struct crash_before *before,
				 struct arena *arena)
{
	for (uint32_t i = 0; i < before->unsure_count; i++) {
		const char *text = call_text(w, &f->meta->calls[before->unsure[i]], arena);

		if (text)
			text = arena_printf(arena, "perhaps %s", text);
		if (!text)
			return &error_no_memory;
		write_item(w, ",", text);
	}
	return write_returned(w, f, before, arena);
}

/* ---- inside of these ---- */

struct inside {
	const struct crash_report *r;
	uint8_t *is_known;  /* [functions] bits: 1 in proven, 2 in possible */
	uint32_t *proven;   /* functions that ran and returned, newest first, then what they ran */
	uint32_t *possible; /* and may have */
	uint32_t proven_count, possible_count;
};

static uint32_t inside_max(const struct inside *in)
{
	return in->r->style.is_full ? INSIDE_FULL_MAX : INSIDE_MAX;
}

static void add_proven(struct inside *in, uint32_t function)
{
	if (function == UINT32_MAX || in->is_known[function] & 1)
		return;
	in->is_known[function] |= 1;
	in->proven[in->proven_count++] = function;
}

static void add_possible(struct inside *in, uint32_t function)
{
	if (function == UINT32_MAX || in->is_known[function])
		return;
	in->is_known[function] |= 2;
	in->possible[in->possible_count++] = function;
}

static struct error *inside_create(const struct crash_report *r, struct arena *arena, struct inside *ret)
{
	size_t count = (size_t)r->activity->program->function_count + 1;

	*ret = (struct inside){.r = r};
	ret->is_known = arena_calloc(arena, count, 1);
	ret->proven = arena_calloc(arena, count, sizeof *ret->proven);
	ret->possible = arena_calloc(arena, count, sizeof *ret->possible);
	return ret->is_known && ret->proven && ret->possible ? NULL : &error_no_memory;
}

static void add_callees(struct inside *in, const struct crash_frame *f, const struct crash_before *before)
{
	uint32_t function = crash_function_id(in->r->crash, f);

	for (uint32_t i = 0; i < before->count; i++)
		if (!before->calls[i].has_thrown)
			add_proven(in, crash_before_callee(in->r->activity, function, before->calls[i].call));
		else
			add_possible(in, crash_before_callee(in->r->activity, function, before->calls[i].call));
	for (uint32_t i = 0; i < before->unsure_count; i++)
		add_possible(in, crash_before_callee(in->r->activity, function, before->unsure[i]));
}

/* The call may have been made in some activation: nothing of the whole run says that it never was. */
static bool can_be_made(const struct inside *in, uint32_t function, const struct activity_call *call, uint32_t index)
{
	const uint8_t *used = in->r->crash->calls_used[function];

	return in->r->activity->nodes[function][call->node] != ACTIVITY_NO && (!used || used[index] != POINT_UNUSED);
}

/* "name: call:3, call:4" of those calls that wanted[] has. */
static struct error *write_inside(struct writer *w, const struct crash *c, uint32_t function, const uint8_t *wanted,
				  struct arena *arena)
{
	uint32_t index, shown = 0;
	const struct object_trace *trace = trace_of(c, function, &index);
	const struct tracemeta_function *meta = &trace->meta.functions[index];
	const char *name = short_name(w, trace->flows[index]->name, arena);

	for (uint32_t i = 0; i < meta->call_count && name; i++) {
		const char *text;
		bool is_repeat = false;

		if (!wanted[i] || meta->calls[i].kind == TRACEMETA_PURE)
			continue;
		for (uint32_t j = 0; j < i && !is_repeat; j++)
			is_repeat = wanted[j] && crash_calls_alike(&meta->calls[j], &meta->calls[i]);
		if (is_repeat)
			continue;
		if (shown == INSIDE_CALLS && !w->r->style.is_full) {
			write_item(w, ",", "...");
			break;
		}
		text = call_text(w, &meta->calls[i], arena);
		if (text && !shown++)
			text = arena_printf(arena, "%s: %s", name, text);
		if (!text)
			return &error_no_memory;
		write_item(w, shown == 1 ? ";" : ",", text);
	}
	return name ? NULL : &error_no_memory;
}

/* [call]: each activation made it that has returned; of a function that is not proven none. */
static struct error *calls_each_time(const struct inside *in, uint32_t function, bool is_proven, struct arena *arena,
				     uint8_t **ret)
{
	*ret = arena_calloc(arena, (size_t)in->r->activity->program->functions[function].call_count + 1, 1);
	if (!*ret)
		return &error_no_memory;
	return is_proven ? crash_before_each_time(in->r->activity, function, *ret) : NULL;
}

/* Writes the calls that each of the proven functions made, and what these lead to. */
static struct error *write_proven(struct writer *w, struct inside *in, struct arena *arena)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < in->proven_count && i < inside_max(in) && !err; i++) {
		uint32_t function = in->proven[i];
		const struct activity_function *f = &in->r->activity->program->functions[function];
		uint8_t *made;

		err = calls_each_time(in, function, true, arena, &made);
		for (uint32_t k = 0; k < f->call_count && f->calls && !err; k++)
			if (made[k])
				add_proven(in, crash_before_callee(in->r->activity, function, k));
		if (!err)
			err = write_inside(w, in->r->crash, function, made, arena);
	}
	return err;
}

/* Writes their calls that are not made each time, and all calls of functions that may have run. */
static struct error *write_possible(struct writer *w, struct inside *in, struct arena *arena)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < in->proven_count + in->possible_count && i < inside_max(in) && !err; i++) {
		bool is_proven = i < in->proven_count;
		uint32_t function = is_proven ? in->proven[i] : in->possible[i - in->proven_count];
		const struct activity_function *f = &in->r->activity->program->functions[function];
		uint8_t *made;

		err = calls_each_time(in, function, is_proven, arena, &made);
		for (uint32_t k = 0; k < f->call_count && f->calls && !err; k++) {
			made[k] = !made[k] && can_be_made(in, function, &f->calls[k], k);
			if (made[k])
				add_possible(in, crash_before_callee(in->r->activity, function, k));
		}
		if (!err)
			err = write_inside(w, in->r->crash, function, made, arena);
	}
	return err;
}

static void print_head(const struct crash_report *r, const char *head, FILE *out)
{
	fprintf(out, "      %s%s%s", r->style.is_coloured ? "\033[2m" : "", head,
		r->style.is_coloured ? "\033[0m" : "");
}

/* Writes a paragraph only if there is something in it. */
static struct error *write_paragraph(const struct crash_report *r, bool is_html, const char *head, struct inside *in,
				     struct error *(*write)(struct writer *w, struct inside *in, struct arena *arena),
				     struct arena *arena, FILE *out)
{
	struct writer w = {.r = r, .is_html = is_html};
	char *text = NULL;
	size_t size = 0;
	struct error *err = html_capture(&w.out, &text, &size);

	if (err)
		return err;
	w.column = 6 + strlen(head);
	err = write(&w, in, arena);
	if (fclose(w.out) != 0 && !err)
		err = &error_no_memory;
	if (!err && w.count && is_html)
		fprintf(out, "<p class=\"dim\">%s%s</p>\n", head, text);
	if (!err && w.count && !is_html) {
		print_head(r, head, out);
		fprintf(out, "%s\n", text);
	}
	free(text);
	return err;
}

static struct error *write_both(const struct crash_report *r, bool is_html, struct inside *in, struct arena *arena,
				FILE *out)
{
	struct error *err = write_paragraph(r, is_html, "in these, each time:", in, write_proven, arena, out);

	return err ? err : write_paragraph(r, is_html, "in these, maybe:", in, write_possible, arena, out);
}

/* ---- text ---- */

static struct error *print_frame(const struct crash_report *r, const struct crash_thread *t, uint32_t number,
				 struct inside *in, struct arena *arena, bool *is_next, FILE *out)
{
	const struct crash_frame *f = &t->frames[number];
	struct writer w = {.r = r, .out = out};
	struct crash_before before;
	const char *name;
	struct error *err = crash_before_of(r->crash, f, arena, &before);

	if (err || (!before.count && !before.unsure_count))
		return err;
	name = short_name(&w, f->name ? f->name : f->flow->name, arena);
	if (!name)
		return &error_no_memory;
	if (!*is_next) {
		print_head(r, "before this, newest first:", out);
		putc('\n', out);
	}
	*is_next = true;
	fprintf(out, "        #%" PRIu32 " ", number);
	w.column = 10;
	write_text(&w, name);
	write_text(&w, ":");
	err = write_calls(&w, f, &before, arena);
	if (!before.is_whole)
		write_item(&w, ",", "and older ones that are not kept");
	putc('\n', out);
	add_callees(in, f, &before);
	return err;
}

struct error *crash_before_text(const struct crash_report *r, const struct crash_thread *t, FILE *out)
{
	struct inside in;
	struct arena arena;
	struct crash_rows rows;
	bool is_next = false;
	struct error *err;

	if (!r->activity)
		return NULL;
	arena_init(&arena);
	err = crash_rows_of(t, r->frame_limit, !r->frame_limit, &arena, &rows);
	if (!err)
		err = inside_create(r, &arena, &in);
	for (uint32_t i = 0; !err && i < rows.count; i++)
		if (rows.items[i].count == 1)
			err = print_frame(r, t, rows.items[i].frame, &in, &arena, &is_next, out);
	if (!err && is_next)
		err = write_both(r, false, &in, &arena, out);
	arena_deinit(&arena);
	return err;
}

/* ---- JSON ---- */

static void write_returned_json(const struct crash_before *before, FILE *out)
{
	fputs(",\n         \"returned\": [", out);
	for (uint32_t i = 0; i < before->count; i++)
		fprintf(out, "%s{\"call\": %" PRIu32 "%s%s}", i ? ", " : "", before->calls[i].call,
			before->calls[i].is_round ? ", \"round\": true" : "",
			before->calls[i].has_thrown ? ", \"threw\": true" : "");
	fprintf(out, "], \"returned_whole\": %s", before->is_whole ? "true" : "false");
	for (uint32_t i = 0; i < before->unsure_count; i++)
		fprintf(out, "%s%" PRIu32, i ? ", " : ", \"returned_unsure\": [", before->unsure[i]);
	fputs(before->unsure_count ? "]" : "", out);
}

struct error *crash_before_json(const struct crash_report *r, const struct crash_frame *f, FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct crash_before before;
	struct error *err;

	if (!r->activity)
		return NULL;
	err = crash_before_of(r->crash, f, &arena, &before);
	if (err)
		return err;
	if (before.count || before.is_whole || before.unsure_count)
		write_returned_json(&before, out);
	return NULL;
}

struct error *crash_before_function_json(const struct crash_report *r, uint32_t function, FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	const struct activity_function *f;
	uint8_t *made;
	bool is_next = false;
	struct error *err;

	if (!r->activity)
		return NULL;
	f = &r->activity->program->functions[function];
	if (!f->calls || !f->call_count)
		return NULL;
	made = arena_calloc(&arena, f->call_count, 1);
	if (!made)
		return &error_no_memory;
	err = crash_before_each_time(r->activity, function, made);
	if (err)
		return err;
	for (uint32_t i = 0; i < f->call_count; i++) {
		if (!made[i])
			continue;
		fprintf(out, "%s%" PRIu32, is_next ? ", " : ", \"calls_each_time\": [", i);
		is_next = true;
	}
	fputs(is_next ? "]" : "", out);
	return NULL;
}

/* ---- HTML ---- */

struct error *crash_before_html(const struct crash_report *r, const struct crash_frame *f, FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct writer w = {.r = r, .out = out, .is_html = true};
	struct crash_before before;
	struct inside in;
	struct error *err;

	if (!r->activity)
		return NULL;
	err = crash_before_of(r->crash, f, &arena, &before);
	if (err || (!before.count && !before.unsure_count))
		return err;
	fputs("<h3>Before this <small>calls that have returned, newest first</small></h3>\n<p>", out);
	err = write_calls(&w, f, &before, &arena);
	fputs(before.is_whole ? "</p>\n" : ", and older ones that are not kept</p>\n", out);
	if (err)
		return err;
	err = inside_create(r, &arena, &in);
	if (err)
		return err;
	add_callees(&in, f, &before);
	return write_both(r, true, &in, &arena, out);
}
