/* recording_operands.c - finds recordings in directories. It reads the first page of each file whose name ends in .wmk. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/message.h"
#include "cli/recording_operands.h"
#include "model/base/recording.h"

struct candidate {
	char *path;
	struct wmk_header header;
};
VEC_DECLARE(candidate_vec, struct candidate);

static void candidates_free(struct candidate_vec *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		free(candidates->items[i].path);
	candidate_vec_deinit(candidates);
}

void recording_paths_free(struct recording_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i]);
	recording_paths_deinit(paths);
}

static bool has_suffix(const char *name)
{
	static const char suffix[] = ".wmk";
	size_t len = strlen(name);

	return len > strlen(suffix) && strcmp(name + len - strlen(suffix), suffix) == 0;
}

/* What else there is is not opened: to open a device can have effects. */
static bool is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Whether the file is a candidate; its header. command: says that it is none; NULL: nobody. */
static bool is_candidate(const char *command, const char *path, struct wmk_header *ret)
{
	if (!is_regular(path))
		return false;
	if (recording_header(path, ret))
		return true;
	if (command)
		message_warn(command, "%s is left out: it is no recording of this version", path);
	return false;
}

/* Takes path. */
static struct error *add_candidate(const char *command, struct candidate_vec *candidates, char *path)
{
	struct error *err = path ? candidate_vec_reserve(candidates, candidates->count + 1) : &error_no_memory;

	if (!err && is_candidate(command, path, &candidates->items[candidates->count].header))
		candidates->items[candidates->count++].path = path;
	else
		free(path);
	return err;
}

/* The name of a file of a directory; those of the working directory stand alone. malloc'd. */
static char *path_in(const char *dir, const char *name)
{
	char *path;

	if (strcmp(dir, ".") == 0)
		return strdup(name);
	return asprintf(&path, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", name) < 0 ? NULL : path;
}

static struct error *find_candidates(const char *command, const char *dir, struct candidate_vec *ret)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, NULL, alphasort);
	struct error *err = NULL;

	if (count < 0)
		return error_os(errno, "%s: cannot be read", dir);
	for (int i = 0; i < count; i++) {
		if (!err && has_suffix(entries[i]->d_name))
			err = add_candidate(command, ret, path_in(dir, entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	return err;
}

static struct error *take_path(struct candidate *candidate, struct recording_paths *ret)
{
	struct error *err = recording_paths_append(ret, candidate->path);

	if (!err)
		candidate->path = NULL;
	return err;
}

/* All of them, or those of the run of `newest`. */
static struct error *take_paths(struct candidate_vec *candidates, const struct candidate *newest,
				struct recording_paths *ret)
{
	struct error *err = NULL;

	for (size_t i = 0; i < candidates->count && !err; i++) {
		struct candidate *candidate = &candidates->items[i];

		if (!newest || candidate == newest ||
		    (newest->header.session && candidate->header.session == newest->header.session))
			err = take_path(candidate, ret);
	}
	return err;
}

static const struct candidate *newest_of(const struct candidate_vec *candidates)
{
	const struct candidate *newest = NULL;

	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *candidate = &candidates->items[i];

		if (!newest || candidate->header.start_realtime_ns > newest->header.start_realtime_ns)
			newest = candidate;
	}
	return newest;
}

static struct error *add_directory(const char *command, const char *dir, struct recording_paths *ret)
{
	struct candidate_vec candidates = {0};
	struct error *err = find_candidates(command, dir, &candidates);

	if (!err && !candidates.count)
		err = error_create(ERROR_NOT_FOUND, "%s: no recording (*.wmk) is in this directory", dir);
	if (!err)
		err = take_paths(&candidates, NULL, ret);
	candidates_free(&candidates);
	return err;
}

static struct error *add_newest(struct recording_paths *ret)
{
	struct candidate_vec candidates = {0};
	struct error *err = find_candidates(NULL, ".", &candidates);

	if (!err && !candidates.count)
		err = error_create(ERROR_NOT_FOUND,
				   "a .wmk file is needed: the working directory has no recording of this version");
	if (!err)
		err = take_paths(&candidates, newest_of(&candidates), ret);
	candidates_free(&candidates);
	return err;
}

static struct error *add_operand(const char *command, const char *operand, struct recording_paths *ret)
{
	struct stat st;
	char *copy;
	struct error *err;

	if (stat(operand, &st) == 0 && S_ISDIR(st.st_mode))
		return add_directory(command, operand, ret);
	copy = strdup(operand);
	err = copy ? recording_paths_append(ret, copy) : &error_no_memory;
	if (err)
		free(copy);
	return err;
}

struct error *recording_operands(const char *command, char *const *operands, struct recording_paths *ret)
{
	struct error *err = NULL;

	if (!*operands)
		return add_newest(ret);
	for (; *operands && !err; operands++)
		err = add_operand(command, *operands, ret);
	return err;
}
