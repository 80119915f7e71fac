/*
 * locate.c - the order in which files are looked at, for metadata (find.c) and for what a stopped process has mapped (src/snapshot).
 */
#include "object/locate.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

static const char usual_debug_dir[] = "/usr/lib/debug";

static const char *system_debug_dir(void)
{
	const char *dir = getenv("WAYMARK_DEBUG_DIR");

	return dir && *dir ? dir : usual_debug_dir;
}

char **locate_debuginfo_path(void)
{
	static char *path;

	if (!path && asprintf(&path, ":.debug:%s", system_debug_dir()) < 0)
		path = NULL; /* elfutils has a default of its own */
	return &path;
}

void object_search_init(struct object_search *s)
{
	*s = (struct object_search){0};
}

void object_search_deinit(struct object_search *s)
{
	path_vec_free(&s->exes);
	path_vec_free(&s->debug_dirs);
}

struct error *object_search_add_exe(struct object_search *s, const char *path)
{
	return path_vec_add(&s->exes, path);
}

struct error *object_search_add_debug_dir(struct object_search *s, const char *path)
{
	return path_vec_add(&s->debug_dirs, path);
}

struct error *path_vec_add(struct path_vec *v, const char *path)
{
	char *copy = strdup(path);
	struct error *err = copy ? path_vec_append(v, copy) : &error_no_memory;

	if (err)
		free(copy);
	return err;
}

void path_vec_free(struct path_vec *v)
{
	for (size_t i = 0; i < v->count; i++)
		free(v->items[i]);
	path_vec_deinit(v);
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The path that the format makes, if there is a file. */
static __attribute__((format(printf, 2, 3))) bool try_existing(const struct locate *l, const char *format, ...)
{
	bool is_right = false;
	va_list args;
	char *path;
	int len;

	va_start(args, format);
	len = vasprintf(&path, format, args);
	va_end(args);
	if (len < 0)
		return false;
	if (is_file(path))
		is_right = l->try(l->state, path);
	free(path);
	return is_right;
}

/* ---- 1 ---- */

static bool is_object_file(const char *name)
{
	size_t len = strlen(name);

	return len > 2 && strcmp(name + len - 2, ".o") == 0;
}

static bool try_directory(const struct locate *l, const char *dir)
{
	struct dirent *entry;
	bool is_right = false;
	DIR *d;

	if (l->path && l->path[0] && try_existing(l, "%s/%s", dir, text_base_name(l->path)))
		return true;
	if (l->is_by_name)
		return false;
	d = opendir(dir);
	if (!d) {
		if (l->unreadable)
			l->unreadable(l->state, dir, errno);
		return false;
	}
	while (!is_right && (entry = readdir(d)) != NULL)
		if (entry->d_name[0] != '.' && !is_object_file(entry->d_name))
			is_right = try_existing(l, "%s/%s", dir, entry->d_name);
	closedir(d);
	return is_right;
}

static bool try_named(const struct locate *l, const char *path)
{
	if (l->wants_program && is_directory(path))
		return try_directory(l, path);
	if (l->is_by_name && strcmp(text_base_name(path), text_base_name(l->path)) != 0)
		return false;
	return l->try(l->state, path);
}

/* ---- 2 ---- */

static bool try_loaded(const struct locate *l)
{
	const struct locate_mapping *m = l->mapping;

	if (!l->path || !l->path[0])
		return false;
	if (l->try(l->state, l->path))
		return true;
	return m && (try_existing(l, "/proc/%d/root%s", (int)m->pid, l->path) ||
		     try_existing(l, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)m->pid, m->start, m->end));
}

/* ---- 3 ---- */

static bool try_beginning(const struct locate *l, const char *root, const char *text)
{
	const char *rest = text + 2;
	struct dirent *entry;
	bool is_right = false;
	char *dir;
	DIR *d;

	if (asprintf(&dir, "%s/.build-id/%.2s", root, text) < 0)
		return false;
	d = opendir(dir);
	while (d && !is_right && (entry = readdir(d)) != NULL)
		if (strncmp(entry->d_name, rest, strlen(rest)) == 0)
			is_right = try_existing(l, "%s/%s", dir, entry->d_name);
	if (d)
		closedir(d);
	free(dir);
	return is_right;
}

static bool try_build_id(const struct locate *l, const char *root)
{
	char text[BUILD_ID_TEXT_MAX];

	if (l->build_id.len_bytes < 2)
		return false;
	build_id_text(&l->build_id, text);
	if (l->is_partial)
		return try_beginning(l, root, text);
	return (l->wants_debug && try_existing(l, "%s/.build-id/%.2s/%s.debug", root, text, text + 2)) ||
	       (l->wants_program && try_existing(l, "%s/.build-id/%.2s/%s", root, text, text + 2));
}

bool locate_file(const struct locate *l)
{
	static const struct object_search nothing;
	const struct object_search *s = l->search ? l->search : &nothing;

	for (size_t i = 0; i < s->exes.count; i++)
		if (try_named(l, s->exes.items[i]))
			return true;
	if (try_loaded(l))
		return true;
	for (size_t i = 0; i < s->debug_dirs.count; i++)
		if (try_build_id(l, s->debug_dirs.items[i]))
			return true;
	return try_build_id(l, system_debug_dir());
}

/* ---- 4 ---- */

/* dir: that of the stripped file. Under a root its path is absolute. */
static bool try_link_in(const struct locate *l, const char *dir, const char *link)
{
	const struct object_search *s = l->search;

	if (try_existing(l, "%s/%s", dir, link) || try_existing(l, "%s/.debug/%s", dir, link))
		return true;
	for (size_t i = 0; s && i < s->debug_dirs.count; i++)
		if (try_existing(l, "%s/%s", s->debug_dirs.items[i], link) ||
		    (dir[0] == '/' && try_existing(l, "%s%s/%s", s->debug_dirs.items[i], dir, link)))
			return true;
	return dir[0] == '/' && try_existing(l, "%s%s/%s", system_debug_dir(), dir, link);
}

bool locate_debuglink(const struct locate *l, const char *path, const char *link)
{
	const char *slash = strrchr(path, '/');
	bool is_right;
	char *dir;

	if (strchr(link, '/')) /* a name; anything else is no debuglink */
		return false;
	dir = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
	is_right = dir && try_link_in(l, dir, link);
	free(dir);
	return is_right;
}

/* ---- 5 ---- */

bool locate_altlink(const struct locate *l, const char *link)
{
	const struct object_search *s = l->search;
	size_t len = strlen(usual_debug_dir);
	const char *rest = strncmp(link, usual_debug_dir, len) == 0 && link[len] == '/' ? link + len : link;

	for (size_t i = 0; s && link[0] == '/' && i < s->debug_dirs.count; i++)
		if (try_existing(l, "%s%s", s->debug_dirs.items[i], rest) ||
		    try_existing(l, "%s%s", s->debug_dirs.items[i], link))
			return true;
	return false;
}
