/*
 * find_recordings.c - reads the first page of each .wmk in a directory: the header names the run. A name that another run has
 * taken gets .1, .2 and so on, by the runtime.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number_text.h"
#include "base/plain_text.h"
#include "base/vec.h"
#include "cli/find_recordings.h"
#include "cli/message.h"
#include "model/base/recording.h"
#include "object/new_file.h"

enum {
	NAMES_MAX = 10, /* printed one by one */
};

static const char suffix[] = ".wmk";

/* The file was not written since then. */
static bool is_before(const struct stat *st, const struct timespec *then)
{
	return st->st_ctim.tv_sec != then->tv_sec ? st->st_ctim.tv_sec < then->tv_sec
						  : st->st_ctim.tv_nsec < then->tv_nsec;
}

/* Files of earlier runs are not opened, of which the directory may have thousands. */
static bool is_of_run(const struct recordings_place *place, const char *path, struct wmk_header *ret)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && /* to open a device can have effects */
	       !is_before(&st, &place->began) && recording_header(path, ret) && ret->session == place->session;
}

static void add_samples(const struct wmk_header *h, struct wmk_header *sum)
{
	sum->samples += h->samples;
	sum->samples_unknown += h->samples_unknown;
	sum->samples_in_agent += h->samples_in_agent;
	sum->samples_checked += h->samples_checked;
	sum->samples_agreed += h->samples_agreed;
	sum->samples_unchecked += h->samples_unchecked;
}

/* One line of all processes. */
static void print_check(const struct wmk_header *sum)
{
	message_warn("run",
		     "%" PRIu64 " of %" PRIu64 " compared %s with the stack (not compared: %" PRIu64
		     ", context unknown: %" PRIu64 ", tick in the agent itself: %" PRIu64 ")",
		     sum->samples_agreed, sum->samples_checked,
		     noun_of(sum->samples_checked, "sample agrees", "samples agree"), sum->samples_unchecked,
		     sum->samples_unknown, sum->samples_in_agent);
}

/* The length of PLACE.wmk without the .wmk, 0 when it has none. */
static size_t stem_len(const char *path)
{
	size_t len = strlen(path);

	return len > strlen(suffix) && !strcmp(path + len - strlen(suffix), suffix) ? len - strlen(suffix) : 0;
}

/* The name PLACE.wmk of another run's recording, for PLACE.N.wmk; malloc'd. NULL: there is none. */
static char *other_name(const struct recordings_place *place, const char *path, struct wmk_header *ret)
{
	size_t len = stem_len(path);
	char *name = NULL;

	while (len && isdigit((unsigned char)path[len - 1]))
		len--;
	if (!len || len == stem_len(path) || path[len - 1] != '.')
		return NULL;
	if (asprintf(&name, "%.*s%s", (int)len - 1, path, suffix) < 0)
		return NULL;
	if (recording_header(name, ret) && ret->session != place->session)
		return name;
	free(name);
	return NULL;
}

/* Whether a line says it. */
static bool print_name(const struct recordings_place *place, const char *path, bool has_room)
{
	struct wmk_header header;
	char *other = other_name(place, path, &header);
	bool is_said = other || (has_room && !place->is_quiet);

	if (other)
		message_warn("run", "wrote %s: %s is of %s run", path, other,
			     header.start_realtime_ns < place->since_ns ? "an earlier" : "another");
	else if (is_said)
		message_warn("run", "wrote %s", path);
	free(other);
	return is_said;
}

/* The recordings of a run. */
struct found {
	unsigned int count, said, incomplete;
	char *first_incomplete;
	uint64_t drop_errno; /* of that */
	struct wmk_header sum;
};

/* Without memory the file is only not in the summary. */
static void add_path(const char *path, struct recording_paths *paths)
{
	char *copy = strdup(path);
	struct error *err = copy ? recording_paths_append(paths, copy) : NULL;

	if (err)
		free(copy);
	error_destroy(err);
}

static void add_recording(const struct recordings_place *place, const char *path, void *data)
{
	struct found *found = data;
	struct wmk_header header;

	if (!is_of_run(place, path, &header))
		return;
	found->count++;
	if (place->written)
		add_path(path, place->written);
	add_samples(&header, &found->sum);
	found->said += print_name(place, path, found->said < NAMES_MAX);
	/* Processes report other failures of agents themselves (run_session.h). */
	if (header.agent == WMK_AGENT_NOT_BEGUN && found->said < NAMES_MAX && !place->is_quiet)
		message_warn("run", "%s has no contexts: the agent did not start: %s", path,
			     wmk_agent_text(header.agent));
	if (header.drop_errno && found->incomplete++ == 0) {
		found->first_incomplete = strdup(path);
		found->drop_errno = header.drop_errno;
	}
}

static void print_incomplete(const struct found *found)
{
	char more[32] = "";

	if (found->incomplete > 1)
		snprintf(more, sizeof more, " and %u more are", found->incomplete - 1);
	message_warn("run", "%s%s not complete: %s", found->first_incomplete ? found->first_incomplete : "a recording",
		     *more ? more : " is", wmk_drop_text(found->drop_errno));
}

/* Visits each file of the directory whose name a recording may have, by name. */
static void visit_files(const struct recordings_place *place,
			void (*visit)(const struct recordings_place *place, const char *path, void *data), void *data)
{
	struct dirent **entries;
	const char *dir = place->dir;
	const char *before = strcmp(dir, ".") ? dir : "",
		   *slash = *before && before[strlen(before) - 1] != '/' ? "/" : "";
	int count = scandir(dir, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *path;

		/* Another run may have set ours aside. */
		if ((place->is_any_name || strstr(name, suffix)) &&
		    asprintf(&path, "%s%s%s", before, slash, name) >= 0) {
			visit(place, path, data);
			free(path);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

unsigned int recordings_print(const struct recordings_place *place)
{
	const char *dir = place->dir;
	struct found found = {0};

	visit_files(place, add_recording, &found);
	if (found.count > found.said && !place->is_quiet)
		message_warn("run", "wrote %u more %s in %s", found.count - found.said,
			     noun_of(found.count - found.said, "file", "files"), dir);
	if (found.incomplete && !place->is_quiet)
		print_incomplete(&found);
	if (place->is_checked)
		print_check(&found.sum);
	free(found.first_incomplete);
	return found.count;
}

struct finding {
	struct recording_paths *paths;
	struct error *err;
};

static void add_if_of_run(const struct recordings_place *place, const char *path, void *data)
{
	struct finding *finding = data;
	struct wmk_header header;
	char *copy;

	if (finding->err || !is_of_run(place, path, &header))
		return;
	copy = strdup(path);
	finding->err = copy ? recording_paths_append(finding->paths, copy) : &error_no_memory;
	if (finding->err)
		free(copy);
}

struct error *recordings_find(const struct recordings_place *place, struct recording_paths *ret)
{
	struct finding finding = {.paths = ret};

	visit_files(place, add_if_of_run, &finding);
	return finding.err;
}

/* ---- setting aside ---- */

/* By its process, or by the run that is still to name it. */
static bool is_in_use(const char *path, const struct wmk_header *header)
{
	return recording_end(path, header) == RECORDING_RUNS ||
	       (header->session_pid && (kill((pid_t)header->session_pid, 0) == 0 || errno == EPERM));
}

/* Checks that the file may be renamed or replaced: there is none, it is empty, or a recording that is not in use; and it is this user's. */
static struct error *check_recording(const char *path, struct stat *st, bool *is_used)
{
	struct wmk_header header = {0};

	*is_used = false;
	st->st_ino = 0;
	if (lstat(path, st) != 0)
		return NULL;
	if (!S_ISREG(st->st_mode) || (st->st_size && !recording_header(path, &header)))
		return error_create(ERROR_ARGUMENT, "%s: exists and is no recording; choose another name with -o",
				    path);
	*is_used = st->st_size && is_in_use(path, &header);
	return new_file_check_owner(path);
}

/*
 * By a name that nobody else knows, so that it is the file that was looked at: another run may have renamed that meanwhile, and its process
 * have made one of the same name.
 */
static struct error *move_known(const char *path, const struct stat *known, const char *aside, bool *is_moved)
{
	struct new_file place; /* its temporary file is what path becomes */
	struct error *err = new_file_open(aside, &place);
	struct stat st;

	if (err)
		return err;
	close(place.fd);
	if (rename(path, place.temp) != 0)
		return new_file_end(&place, error_os(errno, "%s: cannot be renamed to %s", path, aside));
	*is_moved = lstat(place.temp, &st) == 0 && st.st_dev == known->st_dev && st.st_ino == known->st_ino;
	if (*is_moved)
		return new_file_end(&place, NULL);
	if (renameat2(AT_FDCWD, place.temp, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return new_file_end(&place, error_create(ERROR_ARGUMENT, "%s: another run writes it now", path));
	err = error_os(errno, "%s: another run writes it now, and its recording is at %s", path, place.temp);
	free(place.path);
	free(place.temp);
	return err;
}

struct error *recordings_set_aside(const char *path, bool *is_moved)
{
	bool is_used = false, is_aside_used = false;
	struct stat st, aside_st;
	char *aside;
	struct error *err;

	*is_moved = false;
	if (stat(path, &st) != 0 || S_ISCHR(st.st_mode)) /* WAYMARK_OUT=/dev/null records nothing */
		return NULL;
	if (asprintf(&aside, "%s.old", path) < 0)
		return &error_no_memory;
	err = check_recording(path, &st, &is_used);
	if (!err && st.st_ino && !is_used)
		err = check_recording(aside, &aside_st, &is_aside_used);
	if (!err && st.st_ino && !is_used && !is_aside_used)
		err = move_known(path, &st, aside, is_moved);
	free(aside);
	return err;
}
