/* suppressions.c - reads both forms line by line; wildcards are matched without backtracking further than the last one. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/base/suppressions.h"
#include "object/file.h"

void suppressions_init(struct suppressions *s)
{
	*s = (struct suppressions){0};
	arena_init(&s->arena);
}

void suppressions_deinit(struct suppressions *s)
{
	suppression_line_vec_deinit(&s->lines);
	suppression_vec_deinit(&s->all);
	arena_deinit(&s->arena);
}

/* ---- reading ---- */

struct reader {
	struct suppressions *s;
	const char *at, *end;
	const char *name;
	size_t line; /* number of the one that was read last */
};

/* The next line that says something, without blanks around it; the arena's. *ret is NULL at the end. */
static struct error *next_line(struct reader *r, const char **ret)
{
	*ret = NULL;
	while (r->at < r->end && !*ret) {
		const char *start = r->at, *newline = memchr(start, '\n', (size_t)(r->end - start));
		const char *stop = newline ? newline : r->end;

		r->at = newline ? newline + 1 : r->end;
		r->line++;
		while (start < stop && isspace((unsigned char)*start))
			start++;
		while (stop > start && isspace((unsigned char)stop[-1]))
			stop--;
		if (start == stop || *start == '#')
			continue;
		*ret = arena_strndup(&r->s->arena, start, (size_t)(stop - start));
		if (!*ret)
			return &error_no_memory;
	}
	return NULL;
}

static struct error *wrong(const struct reader *r, const char *line)
{
	return error_create(ERROR_FORMAT, "%s:%zu: %s: no suppression of valgrind or LeakSanitizer", r->name, r->line,
			    line ? line : "it ends within one");
}

static struct error *add_line(struct suppressions *s, enum suppression_kind kind, const char *pattern)
{
	return suppression_line_vec_append(&s->lines, (struct suppression_line){kind, pattern});
}

/* leak:PATTERN: a part of a name, unless an end is given. */
static struct error *add_leak(struct suppressions *s, const char *pattern)
{
	size_t len = strlen(pattern);
	bool has_start = *pattern == '^', has_end = len && pattern[len - 1] == '$';
	const char *text = arena_printf(&s->arena, "%s%.*s%s", has_start ? "" : "*", (int)(len - has_start - has_end),
					pattern + has_start, has_end ? "" : "*");
	struct suppression all = {.first = s->lines.count, .count = 1};

	if (!text)
		return &error_no_memory;
	return add_line(s, SUPPRESS_ANYWHERE, text) ?: suppression_vec_append(&s->all, all);
}

/* A line of a stack; false: it is none. */
static bool parse_frame(const char *line, enum suppression_kind *ret_kind, const char **ret_pattern)
{
	static const struct {
		const char *prefix;
		enum suppression_kind kind;
	} kinds[] = {{"fun:", SUPPRESS_FUNCTION}, {"obj:", SUPPRESS_IMAGE}, {"src:", SUPPRESS_SOURCE}};

	*ret_pattern = "";
	*ret_kind = SUPPRESS_FRAMES;
	if (strcmp(line, "...") == 0)
		return true;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (!text_begins(line, kinds[i].prefix))
			continue;
		*ret_kind = kinds[i].kind;
		*ret_pattern = line + strlen(kinds[i].prefix);
		return true;
	}
	return false;
}

/* Memcheck:Leak, or a list of tools before the colon. */
static bool is_of_leaks(const char *line)
{
	const char *colon = strchr(line, ':');

	return colon && strcmp(colon, ":Leak") == 0;
}

/* Behind its brace, up to the closing one. */
static struct error *read_stack(struct reader *r)
{
	struct suppression all = {.first = r->s->lines.count};
	const char *line = NULL;
	bool is_leak;
	struct error *err = next_line(r, &line); /* its name */

	if (!err)
		err = next_line(r, &line);
	if (err || !line)
		return err ? err : wrong(r, NULL);
	is_leak = is_of_leaks(line);
	for (;;) {
		enum suppression_kind kind;
		const char *pattern;

		err = next_line(r, &line);
		if (err || !line)
			return err ? err : wrong(r, NULL);
		if (strcmp(line, "}") == 0)
			break;
		if (parse_frame(line, &kind, &pattern))
			err = add_line(r->s, kind, pattern);
		else if (is_leak && !text_begins(line, "match-leak-kinds:"))
			err = wrong(r, line);
		if (err)
			return err;
	}
	all.count = r->s->lines.count - all.first;
	if (is_leak && all.count)
		return suppression_vec_append(&r->s->all, all);
	r->s->lines.count = all.first;
	r->s->skipped++;
	return NULL;
}

struct error *suppressions_parse(struct suppressions *s, const char *text, size_t len_bytes, const char *name)
{
	struct reader r = {.s = s, .at = text, .end = text + len_bytes, .name = name};
	static const char leak[] = "leak:";

	for (;;) {
		const char *line;
		struct error *err = next_line(&r, &line);

		if (!err && !line)
			return NULL;
		if (!err && strcmp(line, "{") == 0)
			err = read_stack(&r);
		else if (!err && text_begins(line, leak) && line[strlen(leak)])
			err = add_leak(s, line + strlen(leak));
		else if (!err)
			err = wrong(&r, line);
		if (err)
			return err;
	}
}

struct error *suppressions_read(struct suppressions *s, const char *path)
{
	struct mapped_file file;
	struct error *err = file_map(path, &file);

	if (err)
		return err;
	err = suppressions_parse(s, (const char *)file.bytes, file.len_bytes, path);
	file_unmap(&file);
	return err;
}

/* ---- matching ---- */

/* The whole text: * is any number of characters, ? is one. */
static bool matches(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL; /* behind the last *, and where it ends for now */

	if (!text)
		return false;
	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool frame_matches(const struct frame *f, const struct suppression_line *line)
{
	switch (line->kind) {
	case SUPPRESS_FUNCTION:
		return matches(line->pattern, f->link_name) || matches(line->pattern, f->name);
	case SUPPRESS_IMAGE:
		return matches(line->pattern, f->image);
	case SUPPRESS_SOURCE:
		return matches(line->pattern, f->file) || (f->file && matches(line->pattern, text_base_name(f->file)));
	case SUPPRESS_ANYWHERE:
		return matches(line->pattern, f->link_name) || matches(line->pattern, f->name) ||
		       matches(line->pattern, f->file) || matches(line->pattern, f->image);
	case SUPPRESS_FRAMES:
		break;
	}
	return false;
}

/* The innermost frames against the lines; what is outside of them may be anything. */
static bool stack_matches(const struct profile *p, uint32_t node, const struct suppression_line *lines, size_t count)
{
	size_t i = 0, dots = SIZE_MAX; /* behind the last line of three dots */
	uint32_t from = node;          /* where it ends for now */

	while (i < count) {
		if (lines[i].kind == SUPPRESS_FRAMES) {
			dots = ++i;
			from = node;
		} else if (node && frame_matches(&p->frames.items[p->nodes.items[node].frame], &lines[i])) {
			node = p->nodes.items[node].parent;
			i++;
		} else if (dots != SIZE_MAX && from) {
			i = dots;
			node = from = p->nodes.items[from].parent;
		} else {
			return false;
		}
	}
	return true;
}

static bool is_anywhere(const struct suppressions *s, const struct frame *f)
{
	for (size_t i = 0; i < s->lines.count; i++)
		if (s->lines.items[i].kind == SUPPRESS_ANYWHERE && frame_matches(f, &s->lines.items[i]))
			return true;
	return false;
}

static bool is_by_stack(const struct suppressions *s, const struct profile *p, uint32_t node)
{
	for (size_t i = 0; i < s->all.count; i++) {
		const struct suppression_line *lines = &s->lines.items[s->all.items[i].first];

		if (lines->kind != SUPPRESS_ANYWHERE && stack_matches(p, node, lines, s->all.items[i].count))
			return true;
	}
	return false;
}

struct error *suppressions_mark(const struct suppressions *s, const struct profile *p, const bool *wanted, bool **ret)
{
	bool *frames = calloc(p->frames.count + 1, sizeof *frames);
	bool *inside = calloc(p->nodes.count, sizeof *inside); /* of a frame that is suppressed anywhere */
	bool *marks = calloc(p->nodes.count, sizeof *marks);
	bool has_memory = frames && inside && marks;

	for (size_t i = 0; i < p->frames.count && has_memory; i++)
		frames[i] = is_anywhere(s, &p->frames.items[i]);
	for (uint32_t n = 1; n < p->nodes.count && has_memory; n++) {
		inside[n] = inside[p->nodes.items[n].parent] || frames[p->nodes.items[n].frame];
		marks[n] = wanted[n] && (inside[n] || is_by_stack(s, p, n));
	}
	free(frames);
	free(inside);
	if (has_memory)
		*ret = marks;
	else
		free(marks);
	return has_memory ? NULL : &error_no_memory;
}
