/*
 * plan.c - reads plans: a profile as it is, or the lines of text that plan.h shows.
 */
#include "format/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "format/plan_model.h"
#include "format/wmk.h"

static const char first_line[] = "waymark-plan 1";

/* A plan's text at one of its lines. */
struct reader {
	struct plan *plan;
	const struct plan_files *files;
	const char *path;
	unsigned long line; /* from 1 */
};

static struct error *line_error(const struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static struct error *line_error(const struct reader *r, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return error_create(ERROR_FORMAT, "%s:%lu: %s", r->path, r->line, text);
}

static struct error *add_table(struct plan *plan, const struct wmk_file *w, const struct wmk_path_table *t)
{
	struct plan_count c = {.name_key = t->record.name_key, .cfg_key = t->record.cfg_key};
	struct error *err = NULL;

	for (uint32_t i = 0; i < t->record.entry_count && !err; i++)
		if (wmk_table_count(w, t, i, &c.number, &c.count))
			err = plan_count_vec_append(&plan->counts, c);
	return err;
}

/* Adds the counts but those that threads inherited at a fork, which the parent has counted. */
static struct error *add_counts(struct plan *plan, const struct wmk_file *w)
{
	struct wmk_walk tables = {0}, singles = {0};
	struct wmk_path_table table;
	struct wmk_path_count single;
	uint64_t number;
	struct error *err = NULL;

	while (!err && wmk_next_path_table(w, &tables, &table))
		if (!(table.record.flags & WMK_PATHS_INHERITED))
			err = add_table(plan, w, &table);
	while (!err && wmk_next_path_count(w, &singles, &single, &number)) {
		struct plan_count c = {single.name_key, single.cfg_key, number, single.count};

		if (single.count && !(single.flags & WMK_PATHS_INHERITED))
			err = plan_count_vec_append(&plan->counts, c);
	}
	return err;
}

static struct error *add_profile(struct plan *plan, const void *bytes, size_t len_bytes, const char *path)
{
	struct wmk_file w;
	struct error *err = wmk_read(bytes, len_bytes, path, &w);

	if (err)
		return err;
	if (w.whole_count[WMK_PATHS] + w.whole_count[WMK_PATH_COUNTS] == 0)
		err = error_create(ERROR_MISMATCH, "%s: counts no paths: build the program with --wm=paths and run it",
				   path);
	if (!err)
		err = add_counts(plan, &w);
	plan->has_profile = true;
	wmk_file_deinit(&w);
	return err;
}

/* Where the plan at from means by name: beside itself. */
static const char *beside(struct arena *arena, const char *from, const char *name)
{
	const char *slash = strrchr(from, '/');

	if (name[0] == '/' || !slash)
		return name;
	return arena_printf(arena, "%.*s/%s", (int)(slash - from), from, name);
}

static struct error *read_profile(struct reader *r, char *value)
{
	const char *path = beside(&r->plan->arena, r->path, value);
	const void *bytes;
	size_t len_bytes;
	struct error *err;

	if (!path)
		return &error_no_memory;
	err = r->files->open(r->files->state, path, &bytes, &len_bytes);
	if (!err)
		err = add_profile(r->plan, bytes, len_bytes, path);
	return err ? error_context(err, "%s:%lu", r->path, r->line) : NULL;
}

/* A number of decimal digits; NULL, or what stands behind them. */
static const char *read_number(const char *text, uint32_t *ret)
{
	uint64_t v = 0;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++) {
		v = v * 10 + (uint64_t)(*at - '0');
		if (v > UINT32_MAX)
			return NULL;
	}
	*ret = (uint32_t)v;
	return at == text ? NULL : at;
}

/* "99%", "99.95 %": at most four digits behind the point. */
static struct error *read_hot(struct reader *r, char *value)
{
	uint32_t whole = 0, part = 0, unit = PLAN_HOT_ALL / 100;
	const char *at = read_number(value, &whole);

	if (at && *at == '.')
		for (at++; *at >= '0' && *at <= '9' && unit > 1; at++) {
			unit /= 10;
			part += (uint32_t)(*at - '0') * unit;
		}
	while (at && *at == ' ')
		at++;
	if (!at || strcmp(at, "%") != 0 || whole > 100 || whole * (PLAN_HOT_ALL / 100) + part > PLAN_HOT_ALL ||
	    whole + part == 0)
		return line_error(r, "hot %s: must be a share above 0 %% and at most 100 %%, such as 99%%", value);
	if (r->plan->has_hot)
		return line_error(r, "hot is there twice");
	r->plan->has_hot = true;
	r->plan->hot = whole * (PLAN_HOT_ALL / 100) + part;
	return NULL;
}

static struct error *read_function(struct reader *r, char *value)
{
	return plan_glob_vec_append(&r->plan->globs, value);
}

static struct error *read_lines(struct reader *r, char *value)
{
	struct plan_line l = {.file = value};
	char *colon = strrchr(value, ':');
	const char *at = colon ? read_number(colon + 1, &l.first) : NULL;

	l.last = l.first;
	if (at && *at == '-')
		at = read_number(at + 1, &l.last);
	if (!at || *at || colon == value || l.first == 0 || l.last < l.first)
		return line_error(r, "line %s: must be FILE:12 or FILE:12-20", value);
	*colon = '\0';
	while (strncmp(l.file, "./", 2) == 0)
		l.file += 2;
	return plan_line_vec_append(&r->plan->lines, l);
}

static const struct {
	const char *word;
	struct error *(*read)(struct reader *r, char *value);
} words[] = {
	{"profile", read_profile},
	{"hot", read_hot},
	{"function", read_function},
	{"line", read_lines},
};

/* A line without blanks at its ends and without comment. */
static struct error *read_words(struct reader *r, char *text)
{
	size_t len = strcspn(text, " \t");
	char *value = text + len + strspn(text + len, " \t");

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strlen(words[i].word) != len || memcmp(words[i].word, text, len) != 0)
			continue;
		if (!*value)
			return line_error(r, "%s is followed by nothing", words[i].word);
		return words[i].read(r, value);
	}
	return line_error(r, "unknown word %.*s: there are profile, hot, function and line", (int)(len > 40 ? 40 : len),
			  text);
}

/* A copy of the text without comment and without blanks at its ends. `#` begins a comment at the start or behind a blank. */
static char *clean(struct arena *arena, const char *text, size_t len)
{
	char *line;

	for (size_t i = 0; i < len; i++)
		if (text[i] == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t'))
			len = i;
	while (len && strchr(" \t\r", text[len - 1]) && text[len - 1])
		len--;
	line = arena_strndup(arena, text, len);
	return line ? line + strspn(line, " \t") : NULL;
}

static struct error *read_text(struct reader *r, const char *text, size_t len_bytes)
{
	bool has_begun = false;
	struct error *err = NULL;

	for (size_t off = 0; off < len_bytes && !err;) {
		const char *end = memchr(text + off, '\n', len_bytes - off);
		size_t len = end ? (size_t)(end - text) - off : len_bytes - off;
		char *line = clean(&r->plan->arena, text + off, len);

		r->line++;
		if (!line)
			return &error_no_memory;
		if (memchr(text + off, 0, len))
			err = line_error(r, "a NUL byte: the plan is damaged");
		else if (*line && has_begun)
			err = read_words(r, line);
		else if (*line && strcmp(line, first_line) != 0)
			return error_create(ERROR_FORMAT, "%s: is no plan: a .wmk file, or text that begins with `%s`",
					    r->path, first_line);
		has_begun |= *line != '\0';
		off += len + 1;
	}
	if (!err && !has_begun)
		err = error_create(ERROR_FORMAT, "%s: is empty, no plan", r->path);
	return err;
}

static struct error *check_plan(const struct plan *plan, const char *path)
{
	if (plan->has_hot && !plan->has_profile)
		return error_create(ERROR_FORMAT, "%s: hot needs a profile to go by: add a line `profile FILE.wmk`",
				    path);
	if (!plan->has_profile && !plan->globs.count && !plan->lines.count)
		return error_create(ERROR_FORMAT, "%s: chooses no paths: add a line with profile, function or line",
				    path);
	return NULL;
}

static int compare_counts(const void *a, const void *b)
{
	const struct plan_count *i = a, *j = b;

	return compare_u64(i->name_key, j->name_key) ?: compare_u64(i->cfg_key, j->cfg_key) ?: compare_u64(i->number, j->number);
}

/* Threads, processes and profiles have counted the same paths: adds them up. */
static void add_up(struct plan_count_vec *v)
{
	size_t kept = 0;

	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, compare_counts);
	for (size_t i = 0; i < v->count; i++) {
		struct plan_count *last = kept ? &v->items[kept - 1] : NULL;

		if (!last || compare_counts(last, &v->items[i]) != 0)
			v->items[kept++] = v->items[i];
		else if (__builtin_add_overflow(last->count, v->items[i].count, &last->count))
			last->count = UINT64_MAX;
	}
	v->count = kept;
}

struct error *plan_create(const char *path, const struct plan_files *files, struct plan **ret)
{
	struct plan *plan = calloc(1, sizeof *plan);
	struct reader r = {.plan = plan, .files = files, .path = path};
	const void *bytes;
	size_t len_bytes;
	struct error *err;

	if (!plan)
		return &error_no_memory;
	arena_init(&plan->arena);
	err = files->open(files->state, path, &bytes, &len_bytes);
	if (!err && len_bytes && *(const uint8_t *)bytes == (uint8_t)WMK_MAGIC[0])
		err = add_profile(plan, bytes, len_bytes, path);
	else if (!err)
		err = read_text(&r, bytes, len_bytes);
	if (!err)
		err = check_plan(plan, path);
	if (err) {
		plan_destroy(plan);
		return err;
	}
	add_up(&plan->counts);
	*ret = plan;
	return NULL;
}

void plan_destroy(struct plan *plan)
{
	if (!plan)
		return;
	plan_count_vec_deinit(&plan->counts);
	plan_glob_vec_deinit(&plan->globs);
	plan_line_vec_deinit(&plan->lines);
	arena_deinit(&plan->arena);
	free(plan);
}
