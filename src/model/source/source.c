/* source.c - maps source files, found by prefix or by the longest end of their name that is there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/order.h"
#include "model/source/source.h"

void sources_init(struct sources *s)
{
	*s = (struct sources){0};
	arena_init(&s->arena);
}

void sources_deinit(struct sources *s)
{
	for (size_t i = 0; i < s->files.count; i++) {
		file_unmap(&s->files.items[i]->file);
		free(s->files.items[i]->line_offs);
		source_text_pointer_vec_deinit(&s->files.items[i]->texts);
		free(*s->files.items[i]->is_inside);
	}
	source_file_vec_deinit(&s->files);
	source_place_vec_deinit(&s->places);
	arena_deinit(&s->arena);
}

struct error *sources_add_place(struct sources *s, const char *text)
{
	const char *equals = strchr(text, '=');
	struct source_place place = {0};
	struct stat st;

	place.to = arena_strdup(&s->arena, equals ? equals + 1 : text);
	if (equals)
		place.from = arena_strndup(&s->arena, text, (size_t)(equals - text));
	if (!place.to || (equals && !place.from))
		return &error_no_memory;
	if (stat(place.to, &st) != 0)
		return error_os(errno, "%s", place.to);
	if (!S_ISDIR(st.st_mode))
		return error_create(ERROR_ARGUMENT, "%s: is not a directory", place.to);
	return source_place_vec_append(&s->places, place);
}

static bool is_file(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The part of name behind the directory `from`; NULL if name is not in it. */
static const char *behind(const char *name, const char *from)
{
	size_t len = strlen(from);

	while (len && from[len - 1] == '/')
		len--;
	if (strncmp(name, from, len) != 0 || (name[len] != '/' && len))
		return NULL;
	return name + len + (name[len] == '/');
}

static const char *find_in_place(struct sources *s, const struct source_place *place, const char *name)
{
	const char *rest = place->from ? behind(name, place->from) : name;

	while (rest) {
		const char *path = arena_printf(&s->arena, "%s/%s", place->to, rest);
		const char *slash;

		if (is_file(path))
			return path;
		if (place->from)
			return NULL;
		slash = strchr(rest, '/');
		rest = slash ? slash + 1 : NULL;
	}
	return NULL;
}

static const char *find_file(struct sources *s, const char *name)
{
	for (size_t i = 0; i < s->places.count; i++) {
		const char *path = find_in_place(s, &s->places.items[i], name);

		if (path)
			return path;
	}
	return NULL;
}

static int compare_texts(const void *a, const void *b)
{
	const struct source_text *const *x = a, *const *y = b;

	return compare_u64((*x)->line, (*y)->line);
}

/* Finds the lines of the file that are known without it. */
static struct error *find_texts(const struct sources *s, struct source_file *f)
{
	struct error *err = NULL;

	for (size_t i = 0; s->texts && i < s->texts->count && !err; i++) {
		const struct source_text *t = &s->texts->items[i];

		if (strcmp(t->file, f->name) != 0)
			continue;
		f->changed_ns = t->changed_ns;
		err = source_text_pointer_vec_append(&f->texts, t);
	}
	if (f->texts.count)
		qsort(f->texts.items, f->texts.count, sizeof *f->texts.items, compare_texts);
	return err;
}

static struct error *find_lines(struct source_file *f)
{
	const char *bytes = (const char *)f->file.bytes;
	size_t len = f->file.len_bytes, count = 0, off = 0;

	for (size_t i = 0; i < len; i++)
		count += bytes[i] == '\n';
	count += len && bytes[len - 1] != '\n';
	if (count >= UINT32_MAX)
		return error_create(ERROR_FORMAT, "%s: too many lines", f->name);
	f->line_offs = calloc(count + 1, sizeof *f->line_offs);
	if (!f->line_offs)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++) {
		const char *end = memchr(bytes + off, '\n', len - off);

		f->line_offs[i] = off;
		off = end ? (size_t)(end - bytes) + 1 : len;
	}
	f->line_offs[count] = len;
	f->line_count = (uint32_t)count;
	return NULL;
}

static struct error *load(struct sources *s, struct source_file *f)
{
	const char *path = find_file(s, f->name);
	struct stat st;
	struct error *err = path ? NULL : find_texts(s, f);

	if (err)
		return err;
	if (f->texts.count) {
		f->path = f->name;
		return NULL;
	}
	path = path ?: f->name;
	err = file_map(path, &f->file);
	if (!err)
		err = find_lines(f);
	if (err) {
		f->why = arena_strdup(&s->arena, err->message);
		error_destroy(err);
		return f->why ? NULL : &error_no_memory;
	}
	f->path = path;
	if (stat(path, &st) == 0)
		f->changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	return NULL;
}

static struct error *find_or_load(struct sources *s, const char *name, struct source_file **ret)
{
	struct source_file *f;
	struct error *err;

	for (size_t i = s->files.count; i-- > 0;) {
		if (strcmp(s->files.items[i]->name, name) == 0) {
			*ret = s->files.items[i];
			return NULL;
		}
	}
	f = arena_alloc(&s->arena, sizeof *f);
	if (!f)
		return &error_no_memory;
	f->name = arena_strdup(&s->arena, name);
	f->is_inside = arena_alloc(&s->arena, sizeof *f->is_inside);
	err = f->name && f->is_inside ? source_file_vec_append(&s->files, f) : &error_no_memory;
	if (!err)
		err = load(s, f);
	if (!err)
		*ret = f;
	return err;
}

struct error *sources_get(struct sources *s, const char *name, const struct source_file **ret)
{
	struct source_file *f;
	struct error *err = find_or_load(s, name, &f);

	if (err)
		return err;
	f->is_missed = !f->path;
	*ret = f;
	return NULL;
}

struct error *sources_try(struct sources *s, const char *name, const struct source_file **ret)
{
	struct source_file *f;
	struct error *err = find_or_load(s, name, &f);

	if (!err)
		*ret = f;
	return err;
}

bool sources_are_missing(const struct sources *s)
{
	for (size_t i = 0; i < s->files.count; i++)
		if (s->files.items[i]->is_missed)
			return true;
	return false;
}

/* The known text of a line; NULL: none is. */
static const char *find_text(const struct source_file *f, uint32_t line)
{
	size_t low = 0, high = f->texts.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct source_text *t = f->texts.items[middle];

		if (t->line == line)
			return t->text;
		if (t->line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

struct error *source_line(const struct source_file *f, uint32_t line, struct arena *arena, const char **ret)
{
	const char *text;
	size_t len;
	char *copy;

	*ret = find_text(f, line);
	if (*ret)
		return NULL;
	if (!f->path || line == 0 || line > f->line_count)
		return NULL;
	text = (const char *)f->file.bytes + f->line_offs[line - 1];
	len = f->line_offs[line] - f->line_offs[line - 1];
	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	copy = arena_alloc(arena, len + 1);
	if (!copy)
		return &error_no_memory;
	for (size_t i = 0; i < len; i++)
		copy[i] = text[i] ? text[i] : ' ';
	copy[len] = '\0';
	*ret = copy;
	return NULL;
}

const char *source_plain_name(const char *name, struct arena *arena)
{
	char *plain = arena_strdup(arena, name);
	char *found;

	while (plain && (found = strstr(plain, "/../")) != NULL) {
		char *from = found;

		while (from > plain && from[-1] != '/')
			from--;
		if (from == found || from == plain || (found - from == 2 && memcmp(from, "..", 2) == 0))
			break; /* nothing before it to take away */
		memmove(from, found + 4, strlen(found + 4) + 1);
	}
	while (plain && (found = strstr(plain, "/./")) != NULL)
		memmove(found, found + 2, strlen(found + 2) + 1);
	return plain;
}
