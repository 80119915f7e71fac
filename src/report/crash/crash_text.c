/*
 * crash_text.c - a crash for reading: each thread's stack, and below each traced frame its last paths, newest last, and which
 * calls or blocks of it had run. Repeats are folded: threads, iterations of a recursion, paths round a loop.
 *
 *      Thread 1 of 3 (4711), got the signal
 *      #0  find  tree.c:31:15
 *            path 2 of 3, ended; after a round of the loop
 *               29  while (n) {        -> true
 *               30  	if (n->key < k) -> false; back to line 29
 *            in progress; after a round of the loop
 *               29  while (n) {        -> true
 *               31  	n = n->left;    -> is here
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_text.h"
#include "base/text.h"
#include "object/demangle.h"
#include "model/crash/crash_steps.h"
#include "report/crash/crash_before_render.h"
#include "model/crash/crash_digest.h"
#include "model/crash/crash_fold.h"
#include "report/crash/crash_values_render.h"
#include "base/number_text.h"

enum {
	LIST_MAX = 12, /* calls or threads that are named in a list, unless all is wanted */
	LIST_INDENT = 10,
};

struct text {
	const struct crash_report *r;
	const struct crash *c;
	FILE *out;
};

static const char *bold(const struct text *t)
{
	return t->r->style.is_coloured ? "\033[1m" : "";
}

static const char *dim(const struct text *t)
{
	return t->r->style.is_coloured ? "\033[2m" : "";
}

static const char *plain(const struct text *t)
{
	return t->r->style.is_coloured ? "\033[0m" : "";
}

static void print_signal(const struct text *t, int number)
{
	const char *name = sigabbrev_np(number), *what = sigdescr_np(number);

	if (name)
		fprintf(t->out, "SIG%s (%s)", name, what ? what : name);
	else
		fprintf(t->out, "signal %d", number);
}

static void print_head(const struct text *t)
{
	const struct snapshot *s = t->c->stopped;

	fputs(bold(t), t->out);
	plain_print(t->out, s->main_module < s->module_count ? s->modules[s->main_module].path : "?");
	fprintf(t->out, "%s (process %d", plain(t), (int)s->pid);
	if (s->command) {
		fputs(": ", t->out);
		plain_print(t->out, s->command);
	}
	fputs(s->is_live  ? "): stopped while it ran"
	      : s->signal ? "): stopped by "
			  : "): written while it ran",
	      t->out);
	if (!s->is_live && s->signal)
		print_signal(t, s->signal);
	if (s->has_fault_address)
		fprintf(t->out, " at address 0x%" PRIx64, s->fault_address);
	fputs("\n", t->out);
	if (t->r->cause) {
		fputs("what happened: ", t->out);
		plain_print(t->out, t->r->cause);
		putc('\n', t->out);
	}
}

/* "2", "2 to 7", with what goes before; *group: a mark for the threads that are shown together. */
static void print_thread_numbers(const struct text *t, const uint32_t *groups, uint32_t group)
{
	bool is_next = false;

	for (uint32_t i = group, end; i < t->c->thread_count; i = end + 1) {
		for (end = i; end + 1 < t->c->thread_count && groups[end + 1] == groups[i]; end++)
			;
		if (groups[i] != group)
			continue;
		fprintf(t->out, "%s%" PRIu32, is_next ? ", " : " ", i + 1);
		if (end > i)
			fprintf(t->out, "%s%" PRIu32, end > i + 1 ? " to " : ", ", end + 1);
		is_next = true;
	}
}

/* Prints the head of a group's first thread and of those like it. */
static void print_thread_head(const struct text *t, const uint32_t *groups, uint32_t group)
{
	const struct snapshot_thread *thread = t->c->threads[group].machine;
	uint32_t count = 0, shown = 0;

	for (uint32_t i = group; i < t->c->thread_count; i++)
		count += groups[i] == group;
	fprintf(t->out, "\n%sThread%s", bold(t), count > 1 ? "s" : "");
	print_thread_numbers(t, groups, group);
	fprintf(t->out, " of %" PRIu32 "%s (", t->c->thread_count, plain(t));
	for (uint32_t i = group; i < t->c->thread_count; i++) {
		if (groups[i] != group)
			continue;
		if (!t->r->style.is_full && shown == LIST_MAX) {
			fprintf(t->out, " and %" PRIu32 " more", count - shown);
			break;
		}
		fprintf(t->out, "%s%d", shown++ ? ", " : "", (int)t->c->threads[i].machine->tid);
		if (t->c->threads[i].machine->name) {
			fputs(": ", t->out);
			plain_print(t->out, t->c->threads[i].machine->name);
		}
	}
	fputs(thread->is_first && thread->signal && t->c->thread_count > 1 ? "), got the signal\n"
	      : count > 1                                                  ? "), all alike\n"
									   : ")\n",
	      t->out);
}

static void print_place(const struct text *t, const struct crash_frame *f)
{
	struct arena arena;
	const char *file;

	if (!f->file)
		return;
	arena_init(&arena);
	file = source_plain_name(f->file, &arena);
	fprintf(t->out, "  %s", dim(t));
	plain_print(t->out, file ? file : f->file);
	if (f->line)
		fprintf(t->out, ":%" PRIu32, f->line);
	if (f->line && f->column)
		fprintf(t->out, ":%" PRIu32, f->column);
	fputs(plain(t), t->out);
	arena_deinit(&arena);
}

static void print_frame_head(const struct text *t, uint32_t number, const struct crash_frame *f)
{
	const struct snapshot *s = t->c->stopped;

	fprintf(t->out, "#%-3" PRIu32 " ", number);
	if (f->machine->is_trampoline) {
		fputs("<a signal came in>\n", t->out);
		return;
	}
	fputs(bold(t), t->out);
	if (f->name)
		path_listing_print_name(t->out, f->name, &t->r->style);
	else
		fprintf(t->out, "0x%" PRIx64, f->machine->pc);
	fputs(plain(t), t->out);
	print_place(t, f);
	if (!f->file && f->image < s->module_count) {
		fprintf(t->out, "  %sin ", dim(t));
		plain_print(t->out, s->modules[f->image].path);
		fputs(plain(t), t->out);
	}
	if (f->is_inlined)
		fprintf(t->out, "  %sinlined into #%" PRIu32 "%s", dim(t), number + 1, plain(t));
	putc('\n', t->out);
}

/* ---- paths ---- */

/* Prints the head of paths that are shown together: the first one, and how many. */
static void print_path_head(const struct text *t, const struct crash_frame *f, uint32_t index, uint32_t count)
{
	const struct crash_path *path = &f->paths[index];

	fprintf(t->out, "      %s", dim(t));
	if (path->is_iterations)
		fputs("round of the loop, once or more", t->out);
	else if (!path->is_complete)
		fprintf(t->out, "%s", f->ended ? "then, in progress" : "in progress");
	else if (count > 1)
		fprintf(t->out, "paths %" PRIu64 " to %" PRIu64 " of %" PRIu64 ", all alike", path->ordinal,
			path->ordinal + count - 1, f->ended);
	else
		fprintf(t->out, "path %" PRIu64 " of %" PRIu64 "%s", path->ordinal, f->ended,
			path->is_current ? ", at its end" : "");
	if (path->follows_gap)
		fputs(" (came here by longjmp)", t->out);
	fputs(plain(t), t->out);
}

/* The first of the paths up to `last` that are all like it; each one itself when all is wanted. */
static uint32_t first_alike(const struct text *t, const struct crash_frame *f, uint32_t last)
{
	if (t->r->style.is_full)
		return last;
	while (last && crash_paths_alike(&f->paths[last - 1], &f->paths[last]))
		last--;
	return last;
}

/* Code without lines shows nothing. */
static bool has_lines(const struct path_steps *s)
{
	for (size_t i = 0; i < s->steps.count; i++)
		if (s->steps.items[i].line)
			return true;
	return false;
}

static struct error *print_paths(const struct text *t, const struct crash_thread *thread, const struct crash_frame *f)
{
	uint32_t limit = t->r->path_limit, first = f->path_count, end;
	struct error *err = NULL;

	for (uint32_t shown = 0; first && (!limit || shown < limit); shown++)
		first = first_alike(t, f, first - 1);
	if (first)
		fprintf(t->out, "      %s%" PRIu32 " earlier %s kept (--paths=all)%s\n", dim(t), first,
			first == 1 ? "path is" : "paths are", plain(t));
	for (uint32_t i = first; i < f->path_count && !err; i = end) {
		struct path_steps steps;

		for (end = i + 1; end < f->path_count && first_alike(t, f, end) <= i; end++)
			;
		err = crash_path_steps(t->c, thread, f, &f->paths[i], t->r->style.sources, &steps);
		if (err)
			break;
		if (f->paths[i].is_iterations)
			steps.start = "enters"; /* its name says so */
		if (has_lines(&steps)) {
			print_path_head(t, f, i, end - i);
			err = path_listing_render_steps(t->out, f->name ? f->name : f->flow->link_name, f->flow->file,
							&steps, &t->r->style);
		}
		path_steps_deinit(&steps);
	}
	return err;
}

/* The branches that decided that control came here. */
static struct error *print_digest(const struct text *t, const struct crash_thread *thread, const struct crash_frame *f)
{
	struct crash_digest d;
	struct path_steps steps = {.start = "enters"};
	uint32_t count;
	struct error *err = crash_digest_create(t->c, thread, f, t->r->style.sources, &d);

	if (err)
		return err;
	count = t->r->style.is_full || d.count <= DIGEST_MAX ? d.count : DIGEST_MAX;
	for (uint32_t i = 0; i < count && !err; i++)
		err = path_step_vec_append(&steps.steps, d.items[i].step);
	if (!err && count) {
		fprintf(t->out, "      %sdecided by%s", dim(t), plain(t));
		err = path_listing_render_steps(t->out, f->name ? f->name : f->flow->link_name, f->flow->file, &steps,
						&t->r->style);
	}
	if (!err && count < d.count)
		fprintf(t->out, "          %sand %" PRIu32 " before these (--full)%s\n", dim(t), d.count - count,
			plain(t));
	path_step_vec_deinit(&steps.steps);
	crash_digest_deinit(&d);
	return err;
}

/* ---- coverage ---- */

/* Columns distinguish several calls of one function on a line. */
static bool needs_column(const struct crash_frame *f, const struct tracemeta_call *call)
{
	for (uint32_t i = 0; i < f->meta->call_count; i++) {
		struct tracemeta_call other = f->meta->calls[i];

		if (other.line != call->line || other.column == call->column || !text_equal(other.file, call->file))
			continue;
		other.column = call->column;
		if (crash_calls_alike(&other, call))
			return true;
	}
	return false;
}

/* "name:12". The arena's; NULL when memory is short. */
static const char *call_text(const struct text *t, const struct crash_frame *f, const struct tracemeta_call *call,
			     struct arena *arena)
{
	const char *name = call->callee                  ? demangle(arena, call->callee)
			   : call->kind == TRACEMETA_ASM ? "asm"
							 : "*pointer";

	if (name && call->callee && !t->r->style.is_full)
		name = demangle_brief(arena, name);
	if (!name || !call->line)
		return name;
	if (call->file && !text_equal(call->file, f->flow->file))
		name = arena_printf(arena, "%s:%s", name, text_base_name(call->file));
	if (name && !t->r->style.is_full && needs_column(f, call))
		return arena_printf(arena, "%s:%" PRIu32 ":%" PRIu32, name, call->line, call->column);
	return name ? arena_printf(arena, "%s:%" PRIu32, name, call->line) : NULL;
}

static struct error *print_calls(const struct text *t, const struct crash_frame *f, enum activity_point wanted,
				 const char *what)
{
	size_t column = 6 + strlen(what) + 1;
	uint32_t count = 0, shown = 0;
	struct error *err = NULL;
	struct arena arena;

	for (uint32_t i = 0; i < f->meta->call_count; i++)
		count += f->calls_used[i] == wanted && (t->r->style.is_full || !crash_call_is_repeat(f, i));
	if (!count)
		return NULL;
	arena_init(&arena);
	fprintf(t->out, "      %s%s:%s", dim(t), what, plain(t));
	for (uint32_t i = 0; i < f->meta->call_count; i++) {
		const char *text;

		if (f->calls_used[i] != wanted || (!t->r->style.is_full && crash_call_is_repeat(f, i)))
			continue;
		if (!t->r->style.is_full && shown == LIST_MAX) {
			fprintf(t->out, " and %" PRIu32 " more (--full)", count - shown);
			break;
		}
		text = call_text(t, f, &f->meta->calls[i], &arena);
		if (!text) {
			err = &error_no_memory;
			break;
		}
		fputs(shown ? "," : "", t->out);
		column += shown++ > 0;
		if (column > LIST_INDENT && column + 2 + strlen(text) > t->r->style.width) {
			fprintf(t->out, "\n%*s", LIST_INDENT - 1, "");
			column = LIST_INDENT - 1;
		}
		putc(' ', t->out);
		plain_print(t->out, text);
		column += 1 + strlen(text);
	}
	putc('\n', t->out);
	arena_deinit(&arena);
	return err;
}

static struct error *print_coverage(const struct text *t, const struct crash_frame *f)
{
	uint32_t count = 0;
	struct error *err = NULL;

	if (f->calls_used) {
		err = print_calls(t, f, POINT_USED, "made calls");
		if (!err)
			err = print_calls(t, f, POINT_UNUSED, "not made");
	}
	if (f->nodes_used) {
		for (uint32_t i = 0; i < f->flow->cfg.node_count; i++)
			count += f->nodes_used[i] == POINT_USED;
		fprintf(t->out, "      %sran %" PRIu32 " of its %" PRIu32 " %s%s\n", dim(t), count,
			f->flow->cfg.node_count, noun_of(f->flow->cfg.node_count, "block", "blocks"), plain(t));
	}
	return err;
}

/* "main;f (3 times);g": each function with a short name. */
static void print_context(const struct text *t, const char *context)
{
	static const char end[] = " times)";
	struct arena arena;

	arena_init(&arena);
	while (*context) {
		size_t len = strcspn(context, ";"), name = len;
		char *piece = arena_strndup(&arena, context, len);
		const char *times = "";

		if (!piece)
			break;
		if (len > sizeof end && strcmp(piece + len - (sizeof end - 1), end) == 0) {
			while (name && piece[name] != '(')
				name--;
			times = context + name - 1;
			piece[name - (name > 0)] = '\0';
		}
		path_listing_print_name(t->out, piece, &t->r->style);
		if (*times)
			plain_print_part(t->out, times, (size_t)(context + len - times));
		context += len;
		if (*context == ';')
			putc(*context++, t->out);
	}
	arena_deinit(&arena);
}

static struct error *print_frame(const struct text *t, const struct crash_thread *thread, uint32_t number)
{
	const struct crash_frame *f = &thread->frames[number];
	struct error *err = NULL;

	print_frame_head(t, number, f);
	if (f->context) {
		fprintf(t->out, "      %scontext%s ", dim(t), plain(t));
		print_context(t, f->context);
		putc('\n', t->out);
	}
	err = crash_values_frame(&crash_values_text, t->r, thread, f, t->out);
	if (f->trace == CRASH_TRACE_LOST) {
		fprintf(t->out, "      %sits path is lost: ", dim(t));
		plain_print(t->out, f->why);
		fprintf(t->out, "%s\n", plain(t));
	}
	if (!err && (f->trace == CRASH_TRACE_WHOLE || f->trace == CRASH_TRACE_LAST)) {
		err = print_digest(t, thread, f);
		if (!err)
			err = print_paths(t, thread, f);
	}
	if (!err && f->meta)
		err = print_coverage(t, f);
	return err;
}

static void print_fold(const struct text *t, const struct crash_thread *thread, const struct crash_row *row)
{
	char digits[DIGITS_MAX];

	if (!row->period) {
		fprintf(t->out, "...  %s more %s (--frames=all)\n", digits_grouped(row->count, digits),
			noun_of(row->count, "frame", "frames"));
		return;
	}
	fprintf(t->out, "...  %s more %s of ", digits_grouped(row->count / row->period, digits),
		noun_of(row->count / row->period, "round", "rounds"));
	for (uint32_t i = row->period; i-- > 0;) {
		const struct crash_frame *f = &thread->frames[row->frame + i];

		path_listing_print_name(t->out, f->name ? f->name : "code without a name", &t->r->style);
		fputs(i ? ", " : "", t->out);
	}
	fprintf(t->out, " (#%" PRIu32 " to #%" PRIu32 "; --frames=all)\n", row->frame, row->frame + row->count - 1);
}

static struct error *print_thread(const struct text *t, uint32_t index)
{
	const struct crash_thread *thread = &t->c->threads[index];
	struct crash_rows rows;
	struct arena arena;
	struct error *err;

	arena_init(&arena);
	err = crash_rows_of(thread, t->r->frame_limit, !t->r->frame_limit, &arena, &rows);
	for (uint32_t i = 0; !err && i < rows.count; i++) {
		if (rows.items[i].count > 1)
			print_fold(t, thread, &rows.items[i]);
		else
			err = print_frame(t, thread, rows.items[i].frame);
	}
	if (!err)
		err = crash_before_text(t->r, thread, t->out);
	if (thread->machine->cut) {
		fputs("     the stack goes on, but cannot be followed: ", t->out);
		plain_print(t->out, thread->machine->cut);
		putc('\n', t->out);
	}
	arena_deinit(&arena);
	return err;
}

/* groups[thread]: the first thread that it is like, itself when all is wanted. */
static void find_groups(const struct text *t, uint32_t *groups)
{
	for (uint32_t i = 0; i < t->c->thread_count; i++) {
		uint32_t j = 0;

		while (j < i && (groups[j] != j || t->r->style.is_full ||
				 !crash_threads_alike(&t->c->threads[j], &t->c->threads[i]) ||
				 (t->r->values && !crash_values_alike(t->r->values, j, i))))
			j++;
		groups[i] = j;
	}
}

static struct error *print_threads(const struct text *t)
{
	uint32_t *groups = calloc(t->c->thread_count + 1, sizeof *groups);
	struct error *err = groups ? NULL : &error_no_memory;

	if (!err)
		find_groups(t, groups);
	for (uint32_t i = 0; !err && i < t->c->thread_count; i++) {
		if (groups[i] != i)
			continue;
		print_thread_head(t, groups, i);
		crash_values_thread(&crash_values_text, t->r, i, t->out);
		err = print_thread(t, i);
	}
	free(groups);
	return err;
}

/* Its paths could be chosen, and are not. */
static bool is_off(const struct crash_frame *f)
{
	if (!f->meta || !f->meta->is_tunable || (f->variant && f->variant->scheme & WM1_SCHEME_PATHS))
		return false;
	for (uint32_t i = 0; i < f->meta->variant_count; i++)
		if (f->meta->variants[i].scheme & WM1_SCHEME_PATHS)
			return true;
	return false;
}

static void print_hint(const struct text *t)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < t->c->thread_count; i++)
		for (uint32_t j = 0; j < t->c->threads[i].frame_count; j++)
			count += is_off(&t->c->threads[i].frames[j]);
	if (count)
		fprintf(t->out,
			"\nPaths were off in %" PRIu32
			" %s: waymark tune PROGRAM --from CORE turns them on for the next run.\n",
			count, count == 1 ? "frame" : "frames");
}

struct error *crash_render_text(const struct crash_report *r, FILE *out)
{
	struct text t = {.r = r, .c = r->crash, .out = out};
	struct error *err;

	print_head(&t);
	err = print_threads(&t);
	if (!err)
		print_hint(&t);
	if (!err && r->has_functions)
		err = crash_functions_print(r, out);
	if (!err && (t.c->note_count || sources_are_missing(r->style.sources)))
		putc('\n', out);
	for (uint32_t i = 0; i < t.c->note_count && !err; i++) {
		fputs("note: ", out);
		plain_print(out, t.c->notes[i]);
		putc('\n', out);
	}
	if (!err)
		path_listing_render_missing(out, "note: ", &r->style);
	return err;
}
