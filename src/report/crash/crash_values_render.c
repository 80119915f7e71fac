/* crash_values_render.c - values of frames, waits and exceptions of threads, as text, JSON and HTML. */
#include <inttypes.h>
#include <string.h>

#include "base/plain_text.h"
#include "report/crash/crash_values_render.h"
#include "report/html.h"
#include "base/json_writer.h"

enum {
	LIST_INDENT = 10,
	BRIEF_MAX = 72, /* bytes of a structure in a list, unless all is wanted */
};

static const char cut_end[] = ", ...}";

/* ---- text ---- */

/* How much of a structure's text is shown: whole members, which leave room for "...}". */
static size_t whole_members(const char *text)
{
	size_t kept = 0;
	uint32_t depth = 0;
	char quote = 0;

	for (size_t i = 0; text[i] && i + sizeof cut_end - 1 <= BRIEF_MAX; i++) {
		if (quote && text[i] == '\\' && text[i + 1])
			i++;
		else if (quote)
			quote = text[i] == quote ? 0 : quote;
		else if (text[i] == '"' || text[i] == '\'')
			quote = text[i];
		else if (text[i] == '{')
			depth++;
		else if (text[i] == '}')
			depth--;
		else if (text[i] == ',' && depth == 1)
			kept = i;
	}
	return kept;
}

/* Structures as a whole are long: the first members are shown, unless all is wanted. NULL: no memory. */
static const char *brief_text(const struct crash_report *r, const struct snapshot_value *v, struct arena *arena)
{
	size_t kept;

	if (r->style.is_full || *v->text != '{' || strlen(v->text) <= BRIEF_MAX)
		return v->text;
	kept = whole_members(v->text);
	return kept ? arena_printf(arena, "%.*s%s", (int)kept, v->text, cut_end) : "{...}";
}

static struct error *print_list(const struct crash_report *r, const char *what, const struct snapshot_value_vec *values,
				const char *equals, struct arena *arena, FILE *out)
{
	const char *dim = r->style.is_coloured ? "\033[2m" : "", *plain = r->style.is_coloured ? "\033[0m" : "";
	size_t column = 6 + strlen(what) + 1;

	if (values->count)
		fprintf(out, "      %s%s:%s", dim, what, plain);
	for (size_t i = 0; i < values->count; i++) {
		const struct snapshot_value *v = &values->items[i];
		const char *text = brief_text(r, v, arena);
		size_t len;

		if (!text)
			return &error_no_memory;
		len = strlen(v->name) + strlen(equals) + strlen(text);
		if (i) {
			putc(',', out);
			column++;
		}
		if (column > LIST_INDENT && column + 2 + len > r->style.width) {
			fprintf(out, "\n%*s", LIST_INDENT - 1, "");
			column = LIST_INDENT - 1;
		}
		putc(' ', out);
		plain_print(out, v->name);
		fputs(equals, out);
		plain_print(out, text);
		column += 1 + len;
	}
	if (values->count)
		putc('\n', out);
	return NULL;
}

/* Whether more than names is known: it is not for the C library's frames and the like. */
static bool is_any_known(const struct snapshot_value_vec *values)
{
	for (size_t i = 0; i < values->count; i++)
		if (values->items[i].is_known)
			return true;
	return false;
}

static struct error *frame_text(const struct crash_report *r, const struct crash_frame *f,
				const struct crash_frame_values *values, struct arena *arena, FILE *out)
{
	struct error *err = NULL;

	if (r->style.is_full || f->flow || is_any_known(&values->arguments))
		err = print_list(r, "arguments", &values->arguments, "=", arena, out);
	if (!err)
		err = print_list(r, "values", &values->values, " = ", arena, out);
	if (!err && values->fault) {
		fprintf(out, "      %sfault:%s ", r->style.is_coloured ? "\033[2m" : "",
			r->style.is_coloured ? "\033[0m" : "");
		plain_print(out, values->fault);
		putc('\n', out);
	}
	return err;
}

/* "thread 1 waits for thread 2, which waits for thread 1". */
static void print_circle(const struct crash_values *v, uint32_t thread, FILE *out)
{
	uint32_t at = thread;

	fprintf(out, "; deadlock: thread %" PRIu32, thread + 1);
	do {
		at = v->waits[at].owner_thread;
		fprintf(out, " waits for thread %" PRIu32, at + 1);
		if (at != thread)
			fputs(", which", out);
	} while (at != thread);
}

static void print_wait(const struct crash_values *v, uint32_t thread, void (*print)(FILE *out, const char *text),
		       FILE *out)
{
	const struct crash_wait *w = &v->waits[thread];

	fprintf(out, "waits for %s", crash_wait_text(w->wait.kind));
	if (w->name) {
		putc(' ', out);
		print(out, w->name);
	}
	if (w->wait.kind != SNAPSHOT_WAIT_JOIN)
		fprintf(out, " at 0x%" PRIx64, w->wait.address);
	if (w->wait.is_free)
		fputs(", which nobody holds any more", out);
	if (w->wait.readers)
		fprintf(out, ", held by %" PRIu32 " reader%s", w->wait.readers, w->wait.readers == 1 ? "" : "s");
	if (w->wait.owner)
		fputs(w->wait.kind == SNAPSHOT_WAIT_JOIN ? ", " : ", held by ", out);
	if (w->wait.owner && w->owner_thread == thread)
		fputs("itself", out);
	else if (w->wait.owner && w->owner_thread != UINT32_MAX)
		fprintf(out, "thread %" PRIu32 " (%d)", w->owner_thread + 1, (int)w->wait.owner);
	else if (w->wait.owner)
		fprintf(out, "thread %d, which is not there any more", (int)w->wait.owner);
	if (w->is_deadlocked && w->owner_thread != thread)
		print_circle(v, thread, out);
	else if (w->is_deadlocked)
		fputs(": deadlock", out);
}

static void print_exception(const struct snapshot_exception *e, void (*print)(FILE *out, const char *text), FILE *out)
{
	fputs(e->is_fatal ? "was ended by an exception that nothing may catch: " : "handles an exception: ", out);
	print(out, e->type);
	if (!e->what)
		return;
	fputs(e->is_what ? ", what() is \"" : ", ", out);
	print(out, e->what);
	fputs(e->is_what ? "\"" : "", out);
}

static void wait_text(const struct crash_values *v, uint32_t thread, FILE *out)
{
	fputs("      ", out);
	print_wait(v, thread, plain_print, out);
	putc('\n', out);
}

static void exception_text(const struct snapshot_exception *e, FILE *out)
{
	fputs("      ", out);
	print_exception(e, plain_print, out);
	putc('\n', out);
}

const struct crash_values_format crash_values_text = {frame_text, wait_text, exception_text};

/* ---- JSON ---- */

static void print_values_json(const char *name, const struct snapshot_value_vec *values, FILE *out)
{
	fprintf(out, ",\n         \"%s\": [", name);
	for (size_t i = 0; i < values->count; i++) {
		const struct snapshot_value *v = &values->items[i];

		json_print_member(out, i ? ",\n           {" : "\n           {", "name", v->name);
		json_print_member(out, ", ", "type", v->type);
		json_print_member(out, ", ", "value", v->text);
		fprintf(out, ", \"known\": %s", v->is_known ? "true" : "false");
		if (v->is_known && v->has_number)
			fprintf(out, ", \"number\": \"0x%" PRIx64 "\"", v->number);
		if (v->has_address)
			fprintf(out, ", \"address\": \"0x%" PRIx64 "\"", v->address);
		fputs("}", out);
	}
	fputs("]", out);
}

static struct error *frame_json(const struct crash_report *r, const struct crash_frame *f,
				const struct crash_frame_values *values, struct arena *arena, FILE *out)
{
	(void)r, (void)f, (void)arena;
	if (values->arguments.count)
		print_values_json("arguments", &values->arguments, out);
	if (values->values.count)
		print_values_json("values", &values->values, out);
	if (values->fault)
		json_print_member(out, ", ", "fault", values->fault);
	return NULL;
}

static void wait_json(const struct crash_values *v, uint32_t thread, FILE *out)
{
	static const char *const kinds[SNAPSHOT_WAIT_KINDS] = {
		[SNAPSHOT_WAIT_MUTEX] = "mutex",     [SNAPSHOT_WAIT_CONDITION] = "condition",
		[SNAPSHOT_WAIT_RWLOCK] = "rwlock",   [SNAPSHOT_WAIT_SEMAPHORE] = "semaphore",
		[SNAPSHOT_WAIT_BARRIER] = "barrier", [SNAPSHOT_WAIT_JOIN] = "join",
		[SNAPSHOT_WAIT_FUTEX] = "futex",
	};
	const struct crash_wait *w = &v->waits[thread];

	json_print_member(out, ",\n     \"waits\": {", "for", kinds[w->wait.kind]);
	fprintf(out, ", \"address\": \"0x%" PRIx64 "\"", w->wait.address);
	if (w->name)
		json_print_member(out, ", ", "name", w->name);
	if (w->wait.owner)
		fprintf(out, ", \"owner\": %d", (int)w->wait.owner);
	if (w->wait.readers)
		fprintf(out, ", \"readers\": %" PRIu32, w->wait.readers);
	if (w->wait.is_free)
		fputs(", \"free\": true", out);
	fprintf(out, ", \"deadlock\": %s}", w->is_deadlocked ? "true" : "false");
}

static void exception_json(const struct snapshot_exception *e, FILE *out)
{
	json_print_member(out, ",\n     \"exception\": {", "type", e->type);
	if (e->what)
		json_print_member(out, ", ", e->is_what ? "what" : "value", e->what);
	fprintf(out, ", \"fatal\": %s}", e->is_fatal ? "true" : "false");
}

const struct crash_values_format crash_values_json = {frame_json, wait_json, exception_json};

/* ---- HTML ---- */

static void print_values_html(const char *what, const struct snapshot_value_vec *values, FILE *out)
{
	if (!values->count)
		return;
	fprintf(out, "<h3>%s</h3>\n<table class=\"values\">\n", what);
	for (size_t i = 0; i < values->count; i++) {
		const struct snapshot_value *v = &values->items[i];

		fputs("<tr><td title=\"", out);
		html_text(out, v->type ? v->type : "");
		fputs("\">", out);
		html_text(out, v->name);
		fprintf(out, "</td><td%s>", v->is_known ? "" : " class=\"dim\"");
		html_text(out, v->text);
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
}

static struct error *frame_html(const struct crash_report *r, const struct crash_frame *f,
				const struct crash_frame_values *values, struct arena *arena, FILE *out)
{
	(void)r, (void)f, (void)arena;
	if (values->fault) {
		fputs("<p class=\"fault\">", out);
		html_text(out, values->fault);
		fputs("</p>\n", out);
	}
	print_values_html("Arguments", &values->arguments, out);
	print_values_html("Values on its line", &values->values, out);
	return NULL;
}

static void wait_html(const struct crash_values *v, uint32_t thread, FILE *out)
{
	fputs("<p class=\"dim\">", out);
	print_wait(v, thread, html_text, out);
	fputs("</p>\n", out);
}

static void exception_html(const struct snapshot_exception *e, FILE *out)
{
	fputs("<p class=\"dim\">", out);
	print_exception(e, html_text, out);
	fputs("</p>\n", out);
}

const struct crash_values_format crash_values_html = {frame_html, wait_html, exception_html};

/* ---- all of them ---- */

struct error *crash_values_frame(const struct crash_values_format *format, const struct crash_report *r,
				 const struct crash_thread *t, const struct crash_frame *f, FILE *out)
{
	struct crash_frame_values values;
	struct arena arena;
	struct error *err;

	if (!r->values)
		return NULL;
	arena_init(&arena);
	err = crash_values_of(r->values, t, f, &arena, &values);
	if (!err) {
		err = format->frame(r, f, &values, &arena, out);
		crash_frame_values_deinit(&values);
	}
	arena_deinit(&arena);
	return err;
}

void crash_values_thread(const struct crash_values_format *format, const struct crash_report *r, uint32_t thread,
			 FILE *out)
{
	if (r->values && r->values->waits[thread].wait.kind != SNAPSHOT_WAIT_NONE)
		format->wait(r->values, thread, out);
	if (r->values && r->values->exceptions[thread].type)
		format->exception(&r->values->exceptions[thread], out);
}
