/*
 * path_listing.c - lays a path out in three columns: line, source, outcome. Straight-line code of more than a few lines is
 * shown by its ends; what is common to all indentation is taken away. Of the system's headers, which C++ inlines by the dozen,
 * only lines that decide something are shown; other inlined functions that decide nothing are one row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_text.h"
#include "base/text.h"
#include "object/demangle.h"
#include "report/paths/path_listing.h"
#include "model/paths/path_steps.h"

enum {
	RUN_MAX = 5,   /* lines without a branch that are shown whole */
	RUN_HEAD = 2,  /* of longer ones, so many at the beginning and one at the end */
	ROWS_MAX = 60, /* of a path, when not all of it is wanted: the beginning and the end */
	ROWS_TAIL = 15,
	LEFT = 12, /* columns before the source */
	SOURCE_MIN = 24,
	MISSING_MAX = 8,  /* source files */
	INLINED_MAX = 3,  /* functions named in a row */
	SOURCE_MAX = 100, /* before an outcome: wide windows do not tear them apart */
	NAME_MIN = 60,    /* columns of a name */
};

struct row {
	const struct path_step *step; /* NULL: a gap, or inlined code */
	size_t inlined;               /* steps[inlined_first] and on, that decided nothing */
	size_t inlined_first;
	size_t gap; /* lines left out */
	size_t gap_branches;
	char *text; /* source, tabs expanded, clean; NULL: not known */
	size_t columns;
	size_t indent;
};

struct listing {
	FILE *out;
	const char *name; /* of the function */
	const char *file; /* it is defined in */
	const struct path_style *style;
	const struct path_steps *s;
	struct arena arena;
	const struct path_step **steps; /* those that are shown, if the path is not too long */
	size_t step_count;
	struct row *rows;
	size_t row_count;
};

void path_listing_print_name(FILE *out, const char *name, const struct path_style *style)
{
	struct arena arena;
	const char *brief;

	arena_init(&arena);
	brief = style->is_full ? name : demangle_brief(&arena, name);
	plain_print(out, brief ? brief : name);
	arena_deinit(&arena);
}

void path_listing_render_missing(FILE *out, const char *mark, const struct path_style *style)
{
	size_t shown = 0, missing = 0;

	for (size_t i = 0; i < style->sources->files.count; i++) {
		const struct source_file *f = style->sources->files.items[i];

		if (!f->is_missed || (missing++ >= MISSING_MAX && !style->is_full))
			continue;
		fputs(mark, out);
		plain_print(out, f->why);
		fputs(": give the directory with --source-dir\n", out);
		shown++;
	}
	if (shown < missing)
		fprintf(out, "%sand %zu more source files (--full)\n", mark, missing - shown);
}

static void print_cut(FILE *out, const char *text, size_t limit, struct arena *arena)
{
	size_t len = strlen(text), head = limit / 3 * 2, tail = limit - head - 3;
	char *start;

	if (len <= limit || !(start = arena_strndup(arena, text, head))) {
		plain_print(out, text);
		return;
	}
	plain_print(out, start);
	fputs("...", out);
	text += len - tail;
	while ((*text & 0xc0) == 0x80)
		text++;
	plain_print(out, text);
}

void path_listing_render_function(FILE *out, const struct path_function *f, const struct path_style *style,
				  unsigned int column)
{
	size_t left = style->width > column + NAME_MIN ? style->width - column : NAME_MIN;
	struct arena arena;

	arena_init(&arena);
	fputs(style->is_coloured ? "\033[1m" : "", out);
	print_cut(out, f->name, style->is_full ? SIZE_MAX : left, &arena);
	fputs(style->is_coloured ? "\033[0m" : "", out);
	if (f->meta && f->meta->file) {
		const char *file = source_plain_name(f->meta->file, &arena);

		fprintf(out, "  %s", style->is_coloured ? "\033[2m" : "");
		plain_print(out, file ? file : f->meta->file);
		if (f->meta->line)
			fprintf(out, ":%" PRIu32, f->meta->line);
		fputs(style->is_coloured ? "\033[0m" : "", out);
	}
	arena_deinit(&arena);
}

static struct error *take_text(struct listing *listing, struct row *row, const char *text)
{
	row->text = plain_expand(text, &listing->arena, &row->columns);
	if (!row->text)
		return &error_no_memory;
	row->indent = strspn(row->text, " ");
	return NULL;
}

static struct error *fill_text(struct listing *listing, struct row *row)
{
	const struct source_file *file;
	const char *text;
	struct error *err;

	if (!row->step->file)
		return NULL;
	err = sources_get(listing->style->sources, row->step->file, &file);
	if (!err)
		err = source_line(file, row->step->line, &listing->arena, &text);
	return err || !text ? err : take_text(listing, row, text);
}

/* Code without a line is no place. */
static bool is_other_place(const struct path_step *a, const struct path_step *b)
{
	return b->line && (!text_equal(a->file, b->file) || !text_equal(a->function, b->function));
}

static bool is_system(const char *file)
{
	return file && strncmp(file, "/usr/", 5) == 0;
}

bool path_listing_is_plumbing(const struct path_step *step, const char *file)
{
	return step->function && !step->outcome && is_system(step->file) && !is_system(file);
}

/* A line that goes on after such inlined code is one line again. */
static void choose_steps(struct listing *listing)
{
	const struct path_step *items = listing->s->steps.items;
	size_t count = listing->s->steps.count;

	for (size_t i = 0; i < count; i++) {
		const struct path_step *last = listing->step_count ? listing->steps[listing->step_count - 1] : NULL;

		if (!listing->style->is_full && i + 1 < count && path_listing_is_plumbing(&items[i], listing->file))
			continue;
		if (last && last != &items[i] - 1 && !last->outcome && !is_other_place(last, &items[i]) &&
		    last->line == items[i].line)
			listing->step_count--;
		listing->steps[listing->step_count++] = &items[i];
	}
}

/* How many steps from `at` on decide nothing and stay in one function. */
static size_t run_length(const struct listing *listing, size_t at)
{
	size_t end = at;

	while (end < listing->step_count && !listing->steps[end]->outcome &&
	       (end == at || !is_other_place(listing->steps[end], listing->steps[at])))
		end++;
	return end - at;
}

static void add_gap(struct listing *listing, size_t lines)
{
	listing->rows[listing->row_count++] = (struct row){.gap = lines};
}

static void add_row(struct listing *listing, size_t step)
{
	listing->rows[listing->row_count++] = (struct row){.step = listing->steps[step]};
}

/* How many steps from `at` on are inlined code that decides nothing, up to where another decides or the path ends. */
static size_t inlined_length(const struct listing *listing, size_t at)
{
	size_t end = at, last;

	while (end + 1 < listing->step_count && listing->steps[end]->function && !listing->steps[end]->outcome)
		end++;
	last = end;
	while (end > at && listing->steps[last]->function &&
	       !is_other_place(listing->steps[end - 1], listing->steps[last]))
		end--; /* of the function that decides, all is shown */
	return end - at;
}

static void choose_rows(struct listing *listing)
{
	for (size_t i = 0; i < listing->step_count;) {
		size_t run = listing->style->is_full ? 0 : inlined_length(listing, i);

		if (run) {
			listing->rows[listing->row_count++] = (struct row){.inlined = run, .inlined_first = i};
			i += run;
			continue;
		}
		run = run_length(listing, i);
		if (run <= RUN_MAX || listing->style->is_full) {
			add_row(listing, i++);
			for (; run > 1; run--)
				add_row(listing, i++);
			continue;
		}
		for (size_t j = 0; j < RUN_HEAD; j++)
			add_row(listing, i + j);
		add_gap(listing, run - RUN_HEAD - 1);
		add_row(listing, i + run - 1);
		i += run;
	}
}

/* The middle of a very long path is dropped, too. */
static void cut_middle(struct listing *listing)
{
	size_t first = ROWS_MAX - ROWS_TAIL, last = listing->row_count - ROWS_TAIL;
	struct row gap = {0};

	if (listing->style->is_full || listing->row_count <= ROWS_MAX)
		return;
	for (size_t i = first; i < last; i++) {
		gap.gap += listing->rows[i].step ? 1 : listing->rows[i].gap + listing->rows[i].inlined;
		gap.gap_branches += listing->rows[i].step && listing->rows[i].step->outcome;
	}
	listing->rows[first] = gap;
	memmove(&listing->rows[first + 1], &listing->rows[last], ROWS_TAIL * sizeof *listing->rows);
	listing->row_count = first + 1 + ROWS_TAIL;
}

static const char *colour(const struct listing *listing, const char *code)
{
	return listing->style->is_coloured ? code : "";
}

static void print_outcome(const struct listing *listing, const char *outcome, const char *more)
{
	const char *code = "\033[36m";

	if (outcome && strcmp(outcome, "true") == 0)
		code = "\033[32m";
	else if (outcome && strcmp(outcome, "false") == 0)
		code = "\033[33m";
	fprintf(listing->out, "%s-> ", colour(listing, code));
	plain_print(listing->out, outcome ? outcome : "");
	fputs(outcome && more ? "; " : "", listing->out);
	plain_print(listing->out, more ? more : "");
	fputs(colour(listing, "\033[0m"), listing->out);
}

/* Prints `columns` columns of text from `indent` on, with "..." for what does not fit. */
static size_t print_source(const struct listing *listing, const struct row *row, size_t indent, size_t columns)
{
	const char *text = row->text + indent;
	size_t all = row->columns - indent, shown = all > columns ? columns - 3 : all;

	for (size_t i = 0; i < shown; i++) {
		putc(*text++, listing->out);
		while ((*text & 0xc0) == 0x80)
			putc(*text++, listing->out);
	}
	if (shown < all)
		fputs("...", listing->out);
	return shown < all ? columns : all;
}

static void print_gap(const struct listing *listing, const struct row *row)
{
	fprintf(listing->out, "         %s...  %zu more %s", colour(listing, "\033[2m"), row->gap,
		row->gap == 1 ? "line" : "lines");
	if (row->gap_branches)
		fprintf(listing->out, " with %zu %s (--full)", row->gap_branches,
			row->gap_branches == 1 ? "branch" : "branches");
	fprintf(listing->out, "%s\n", colour(listing, "\033[0m"));
}

/* "in open (file.h:12), close (file.h:20..24) and 2 more" */
static void print_inlined(struct listing *listing, const struct row *row)
{
	size_t shown = 0, places = 0;

	fprintf(listing->out, "         %sin ", colour(listing, "\033[2m"));
	for (size_t i = 0, end; i < row->inlined; i = end) {
		const struct path_step *const *steps = &listing->steps[row->inlined_first];
		const char *brief = demangle_brief(&listing->arena, steps[i]->function);

		for (end = i + 1; end < row->inlined && !is_other_place(steps[i], steps[end]);)
			end++;
		if (places++ >= INLINED_MAX)
			continue;
		fputs(shown++ ? ", " : "", listing->out);
		plain_print(listing->out, brief ? brief : steps[i]->function);
		fputs(" (", listing->out);
		plain_print(listing->out, steps[i]->file ? text_base_name(steps[i]->file) : "?");
		fprintf(listing->out, ":%" PRIu32, steps[i]->line);
		if (steps[end - 1]->line > steps[i]->line)
			fprintf(listing->out, "..%" PRIu32, steps[end - 1]->line);
		putc(')', listing->out);
	}
	if (places > shown)
		fprintf(listing->out, " and %zu more", places - shown);
	fprintf(listing->out, "%s\n", colour(listing, "\033[0m"));
}

/* Where the path goes into inlined code, or comes out of it. */
static void print_place(struct listing *listing, const struct path_step *step)
{
	const char *name = step->function ? step->function : listing->name;
	const char *brief = listing->style->is_full ? name : demangle_brief(&listing->arena, name);

	fprintf(listing->out, "         %sin ", colour(listing, "\033[2m"));
	plain_print(listing->out, brief ? brief : name);
	if (step->file) {
		fputs(" (", listing->out);
		plain_print(listing->out, text_base_name(step->file));
		putc(')', listing->out);
	}
	fprintf(listing->out, "%s\n", colour(listing, "\033[0m"));
}

/* Where the source's columns are on the screen. */
struct layout {
	size_t indent;  /* of all lines: left out */
	size_t widest;  /* of the lines with an outcome */
	size_t columns; /* that a line with an outcome may have */
};

static size_t least_indent(const struct listing *listing)
{
	size_t indent = SIZE_MAX;

	for (size_t i = 0; i < listing->row_count; i++)
		if (listing->rows[i].text && listing->rows[i].columns && listing->rows[i].indent < indent)
			indent = listing->rows[i].indent;
	return indent == SIZE_MAX ? 0 : indent;
}

static bool has_source(const struct row *r, const struct layout *l)
{
	return r->text && r->columns > l->indent;
}

static struct layout lay_out(const struct listing *listing)
{
	struct layout l = {.indent = least_indent(listing), .widest = SOURCE_MIN, .columns = SOURCE_MIN};

	if (listing->style->width > LEFT + 2 * SOURCE_MIN)
		l.columns = listing->style->width - LEFT - SOURCE_MIN;
	for (size_t i = 0; i < listing->row_count; i++) {
		const struct row *r = &listing->rows[i];

		if (has_source(r, &l) && r->columns - l.indent > l.widest &&
		    (r->step->outcome || i + 1 == listing->row_count))
			l.widest = r->columns - l.indent;
	}
	if (l.widest > l.columns)
		l.widest = l.columns;
	if (l.widest > SOURCE_MAX)
		l.widest = SOURCE_MAX;
	return l;
}

/* end: how the path ends, in its last row; else NULL. */
static void print_line(struct listing *listing, const struct row *r, const struct layout *l, const char *end)
{
	bool has_outcome = r->step->outcome || end;
	size_t column = 0;

	if (r->step->line)
		fprintf(listing->out, "    %s%8" PRIu32 "%s", colour(listing, "\033[2m"), r->step->line,
			colour(listing, "\033[0m"));
	else
		fprintf(listing->out, "    %8s", "-");
	if (has_outcome || has_source(r, l))
		fputs("  ", listing->out);
	if (has_source(r, l))
		column = print_source(listing, r, l->indent, has_outcome ? l->widest : l->columns + SOURCE_MIN - 4);
	if (has_outcome) {
		fprintf(listing->out, "%*s", (int)(l->widest - column + 2), "");
		print_outcome(listing, r->step->outcome, end);
	}
	putc('\n', listing->out);
}

static void print_rows(struct listing *listing)
{
	const struct layout layout = lay_out(listing);
	const struct path_step *before = NULL;

	for (size_t i = 0; i < listing->row_count; i++) {
		const struct row *r = &listing->rows[i];

		if (!r->step && r->inlined) {
			print_inlined(listing, r);
		} else if (!r->step) {
			print_gap(listing, r);
		} else {
			if (before ? is_other_place(before, r->step) : r->step->function != NULL)
				print_place(listing, r->step);
			print_line(listing, r, &layout, i + 1 == listing->row_count ? listing->s->end : NULL);
			before = r->step;
		}
	}
}

/* The last of the lines from `first` on that follow each other closely and decide nothing. */
static size_t compact_run(const struct path_steps *s, size_t first)
{
	const struct path_step *steps = s->steps.items;
	size_t last = first;

	while (!steps[last].outcome && last + 1 < s->steps.count && !steps[last + 1].outcome &&
	       !is_other_place(&steps[last], &steps[last + 1]) && steps[last + 1].line > steps[last].line &&
	       steps[last + 1].line - steps[last].line <= 2)
		last++;
	return last;
}

/* "12", "12..14", "12 -> true", "util.h:12". The arena's; NULL when memory is short. */
static const char *compact_text(struct listing *listing, size_t first, size_t last)
{
	const struct path_step *step = &listing->s->steps.items[first];
	const struct path_step *end = &listing->s->steps.items[last];
	const char *home = listing->file;
	bool is_away = step->file && home && strcmp(step->file, home) != 0;
	const char *place = is_away ? text_base_name(step->file) : "";

	if (!step->line)
		return arena_printf(&listing->arena, "-%s%s", step->outcome ? " -> " : "",
				    step->outcome ? step->outcome : "");
	if (last > first)
		return arena_printf(&listing->arena, "%s%s%" PRIu32 "..%" PRIu32, place, is_away ? ":" : "", step->line,
				    end->line);
	return arena_printf(&listing->arena, "%s%s%" PRIu32 "%s%s", place, is_away ? ":" : "", step->line,
			    step->outcome ? " -> " : "", step->outcome ? step->outcome : "");
}

/* Numbers of lines and outcomes as running text. */
static struct error *print_compact(struct listing *listing)
{
	const struct path_steps *s = listing->s;
	size_t column = 0;

	for (size_t i = 0; i < s->steps.count;) {
		size_t last = compact_run(s, i);
		const char *text = compact_text(listing, i, last);

		if (!text)
			return &error_no_memory;
		if (column && column + strlen(text) + 2 > listing->style->width) {
			putc('\n', listing->out);
			column = 0;
		}
		fputs(column ? " " : "        ", listing->out);
		plain_print(listing->out, text);
		fputs(last + 1 < s->steps.count ? "," : "", listing->out);
		column += (column ? 1 : 8) + strlen(text) + 1;
		i = last + 1;
	}
	if (s->end) {
		fprintf(listing->out, "%s-> ", column ? " " : "        ");
		plain_print(listing->out, s->end);
	}
	putc('\n', listing->out);
	return NULL;
}

static struct error *render_steps(struct listing *listing)
{
	bool has_text = false;
	struct error *err = NULL;

	listing->rows = arena_calloc(&listing->arena, listing->s->steps.count * 2 + 1, sizeof *listing->rows);
	listing->steps = arena_calloc(&listing->arena, listing->s->steps.count + 1, sizeof *listing->steps);
	if (!listing->rows || !listing->steps)
		return &error_no_memory;
	choose_steps(listing);
	choose_rows(listing);
	cut_middle(listing);
	for (size_t i = 0; i < listing->row_count && !err; i++) {
		if (listing->rows[i].step)
			err = fill_text(listing, &listing->rows[i]);
		has_text |= listing->rows[i].text != NULL;
	}
	if (err)
		return err;
	if (!has_text)
		return print_compact(listing);
	print_rows(listing);
	return NULL;
}

struct error *path_listing_render_steps(FILE *out, const char *name, const char *file, const struct path_steps *s,
					const struct path_style *style)
{
	struct listing listing = {.out = out, .name = name, .file = file, .style = style, .s = s};
	struct error *err;

	if (strcmp(s->start, "enters") != 0)
		fprintf(out, "; %s", s->start);
	putc('\n', out);
	arena_init(&listing.arena);
	err = render_steps(&listing);
	arena_deinit(&listing.arena);
	return err;
}

struct error *path_listing_render(FILE *out, const struct path_profile *p, const struct path_function *f,
				  uint64_t number, const struct path_style *style)
{
	struct path_steps s;
	struct error *err = path_steps_create(p, f, number, style->sources, &s);

	if (err)
		return err;
	err = path_listing_render_steps(out, f->name, f->meta->file, &s, style);
	path_steps_deinit(&s);
	return err;
}
