/*
 * crash_text.c - a crash for reading: each thread's stack, and below each traced frame its last paths, newest last, and which
 * calls or blocks of it had run.
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
#include <string.h>

#include "report/crash_renderer.h"

enum {
	LIST_MAX = 12, /* calls that are named in a line, unless all is wanted */
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
	const struct stopped *s = t->c->stopped;

	fputs(bold(t), t->out);
	path_show_text(t->out, s->main_module < s->module_count ? s->modules[s->main_module].path : "?");
	fprintf(t->out, "%s (process %d", plain(t), (int)s->pid);
	if (s->command) {
		fputs(": ", t->out);
		path_show_text(t->out, s->command);
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
}

static void print_thread_head(const struct text *t, uint32_t index)
{
	const struct stopped_thread *thread = t->c->threads[index].machine;

	fprintf(t->out, "\n%sThread %" PRIu32 " of %" PRIu32 "%s (%d", bold(t), index + 1, t->c->thread_count, plain(t),
		(int)thread->tid);
	if (thread->name) {
		fputs(": ", t->out);
		path_show_text(t->out, thread->name);
	}
	fputs(thread->is_first && thread->signal && t->c->thread_count > 1 ? "), got the signal\n" : ")\n", t->out);
}

static void print_place(const struct text *t, const struct crash_frame *f)
{
	struct arena arena;
	const char *file;

	if (!f->file)
		return;
	arena_init(&arena);
	file = path_show_plain_name(f->file, &arena);
	fprintf(t->out, "  %s", dim(t));
	path_show_text(t->out, file ? file : f->file);
	if (f->line)
		fprintf(t->out, ":%" PRIu32, f->line);
	if (f->line && f->column)
		fprintf(t->out, ":%" PRIu32, f->column);
	fputs(plain(t), t->out);
	arena_deinit(&arena);
}

static void print_frame_head(const struct text *t, uint32_t number, const struct crash_frame *f)
{
	const struct stopped *s = t->c->stopped;

	fprintf(t->out, "#%-3" PRIu32 " ", number);
	if (f->machine->is_trampoline) {
		fputs("<a signal came in>\n", t->out);
		return;
	}
	fputs(bold(t), t->out);
	if (f->name)
		path_show_text(t->out, f->name);
	else
		fprintf(t->out, "0x%" PRIx64, f->machine->pc);
	fputs(plain(t), t->out);
	print_place(t, f);
	if (!f->file && f->image < s->module_count) {
		fprintf(t->out, "  %sin ", dim(t));
		path_show_text(t->out, s->modules[f->image].path);
		fputs(plain(t), t->out);
	}
	if (f->is_inlined)
		fprintf(t->out, "  %sinlined into #%" PRIu32 "%s", dim(t), number + 1, plain(t));
	putc('\n', t->out);
}

/* ---- paths ---- */

static void print_path_head(const struct text *t, const struct crash_frame *f, uint32_t index)
{
	const struct crash_path *path = &f->paths[index];
	uint32_t complete = f->path_count - !f->paths[f->path_count - 1].is_complete;

	fprintf(t->out, "      %s", dim(t));
	if (!path->is_complete)
		fprintf(t->out, "%s", f->ended ? "then, in progress" : "in progress");
	else
		fprintf(t->out, "path %" PRIu64 " of %" PRIu64 "%s", f->ended - complete + index + 1, f->ended,
			path->is_current ? ", at its end" : "");
	if (path->follows_gap)
		fputs(" (came here by longjmp)", t->out);
	fputs(plain(t), t->out);
}

static struct error *print_paths(const struct text *t, const struct crash_thread *thread, const struct crash_frame *f)
{
	uint32_t limit = t->r->path_limit, first = limit && f->path_count > limit ? f->path_count - limit : 0;
	struct error *err = NULL;

	if (first)
		fprintf(t->out, "      %s%" PRIu32 " earlier %s kept (--paths=all)%s\n", dim(t), first,
			first == 1 ? "path is" : "paths are", plain(t));
	for (uint32_t i = first; i < f->path_count && !err; i++) {
		struct path_steps steps;

		err = crash_path_steps(t->c, thread, f, &f->paths[i], &steps);
		if (err)
			break;
		print_path_head(t, f, i);
		err = path_show_steps(t->out, f->name ? f->name : f->flow->link_name, f->flow->file, &steps,
				      &t->r->style);
		path_steps_deinit(&steps);
	}
	return err;
}

/* ---- coverage ---- */

static void print_call(const struct text *t, const struct tracemeta_call *call)
{
	path_show_text(t->out, call->callee ? call->callee : call->kind == TRACEMETA_ASM ? "asm" : "*pointer");
	if (call->line)
		fprintf(t->out, ":%" PRIu32, call->line);
}

static void print_calls(const struct text *t, const struct crash_frame *f, enum activity_point wanted, const char *what)
{
	uint32_t count = 0, shown = 0;

	for (uint32_t i = 0; i < f->meta->call_count; i++)
		count += f->calls_used[i] == wanted;
	if (!count)
		return;
	fprintf(t->out, "      %s%s:%s", dim(t), what, plain(t));
	for (uint32_t i = 0; i < f->meta->call_count; i++) {
		if (f->calls_used[i] != wanted)
			continue;
		if (!t->r->style.is_full && shown == LIST_MAX) {
			fprintf(t->out, " and %" PRIu32 " more (--full)", count - shown);
			break;
		}
		fputs(shown++ ? ", " : " ", t->out);
		print_call(t, &f->meta->calls[i]);
	}
	putc('\n', t->out);
}

static void print_coverage(const struct text *t, const struct crash_frame *f)
{
	uint32_t count = 0;

	if (f->calls_used) {
		print_calls(t, f, POINT_USED, "made calls");
		print_calls(t, f, POINT_UNUSED, "not made");
	}
	if (f->nodes_used) {
		for (uint32_t i = 0; i < f->flow->cfg.node_count; i++)
			count += f->nodes_used[i] == POINT_USED;
		fprintf(t->out, "      %sran %" PRIu32 " of its %" PRIu32 " blocks%s\n", dim(t), count,
			f->flow->cfg.node_count, plain(t));
	}
}

static struct error *print_frame(const struct text *t, const struct crash_thread *thread, uint32_t number)
{
	const struct crash_frame *f = &thread->frames[number];
	struct error *err = NULL;

	print_frame_head(t, number, f);
	if (f->context) {
		fprintf(t->out, "      %scontext%s ", dim(t), plain(t));
		path_show_text(t->out, f->context);
		putc('\n', t->out);
	}
	if (f->trace == CRASH_TRACE_LOST)
		fprintf(t->out, "      %sits path is lost: %s%s\n", dim(t), f->why, plain(t));
	if (f->trace == CRASH_TRACE_WHOLE || f->trace == CRASH_TRACE_LAST)
		err = print_paths(t, thread, f);
	if (!err && f->meta)
		print_coverage(t, f);
	return err;
}

static struct error *print_thread(const struct text *t, uint32_t index)
{
	const struct crash_thread *thread = &t->c->threads[index];
	uint32_t from, to;
	struct error *err = NULL;

	print_thread_head(t, index);
	crash_frames_left_out(t->r, thread->frame_count, &from, &to);
	for (uint32_t i = 0; i < thread->frame_count && !err; i++) {
		if (i == from) {
			fprintf(t->out, "...  %" PRIu32 " more frames (--frames=all)\n", to - from);
			i = to;
			if (i == thread->frame_count)
				break;
		}
		err = print_frame(t, thread, i);
	}
	if (thread->machine->cut) {
		fputs("     the stack goes on, but cannot be followed: ", t->out);
		path_show_text(t->out, thread->machine->cut);
		putc('\n', t->out);
	}
	return err;
}

struct error *crash_render_text(const struct crash_report *r, FILE *out)
{
	struct text t = {.r = r, .c = r->crash, .out = out};
	struct error *err = NULL;

	print_head(&t);
	for (uint32_t i = 0; i < t.c->thread_count && !err; i++)
		err = print_thread(&t, i);
	if (!err && r->has_functions)
		err = crash_functions_print(r, out);
	for (uint32_t i = 0; i < t.c->note_count && !err; i++) {
		fputs(i ? "note: " : "\nnote: ", out);
		path_show_text(out, t.c->notes[i]);
		putc('\n', out);
	}
	return err;
}
