/*
 * find_recordings.c - reads the first page of each .wmk in a directory: the header says when the process began. A name that an
 * earlier run has taken gets .1, .2 and so on, by the runtime.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number_text.h"
#include "base/plain_text.h"
#include "base/vec.h"
#include "cli/find_recordings.h"
#include "model/contexts/recording.h"

enum {
	NAMES_MAX = 10, /* printed one by one */
};

static const char suffix[] = ".wmk";

static bool is_since(const char *path, uint64_t since_ns, struct wmk_header *ret)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && /* to open a device can have effects */
	       recording_header(path, ret) && ret->start_realtime_ns >= since_ns;
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
static void print_check(const struct wmk_header *sum, FILE *f)
{
	fprintf(f,
		"waymark run: %" PRIu64 " of %" PRIu64 " %s with the stack; %" PRIu64 " not compared, %" PRIu64
		" without a context, %" PRIu64 " in the agent\n",
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

/* Of PLACE.N.wmk: the recording PLACE.wmk of an earlier run, malloc'd. NULL: there is none. */
static char *earlier_name(const char *path, uint64_t since_ns)
{
	struct wmk_header header;
	size_t len = stem_len(path);
	char *name = NULL;

	while (len && isdigit((unsigned char)path[len - 1]))
		len--;
	if (!len || len == stem_len(path) || path[len - 1] != '.')
		return NULL;
	if (asprintf(&name, "%.*s%s", (int)len - 1, path, suffix) < 0)
		return NULL;
	if (recording_header(name, &header) && header.start_realtime_ns < since_ns)
		return name;
	free(name);
	return NULL;
}

/* Whether a line says it. */
static bool print_name(const struct recordings_place *place, const char *path, bool has_room, FILE *f)
{
	char *earlier = earlier_name(path, place->since_ns);
	bool is_said = earlier || (has_room && !place->is_quiet);

	if (is_said) {
		fputs("waymark run: wrote ", f);
		plain_print(f, path);
		if (earlier) {
			fputs(": ", f);
			plain_print(f, earlier);
			fputs(" is of an earlier run", f);
		}
		putc('\n', f);
	}
	free(earlier);
	return is_said;
}

unsigned int recordings_print(const struct recordings_place *place, FILE *f)
{
	struct dirent **entries;
	const char *dir = place->dir;
	int count = scandir(dir, &entries, NULL, alphasort);
	unsigned int found = 0, said = 0;
	struct wmk_header header, sum = {0};

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *path;

		if ((place->is_any_name || stem_len(name)) &&
		    asprintf(&path, "%s%s%s", strcmp(dir, ".") ? dir : "", strcmp(dir, ".") ? "/" : "", name) >= 0) {
			if (is_since(path, place->since_ns, &header)) {
				found++;
				add_samples(&header, &sum);
				said += print_name(place, path, said < NAMES_MAX, f);
			}
			free(path);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (found > said && !place->is_quiet) {
		fprintf(f, "waymark run: wrote %u more %s in ", found - said, noun_of(found - said, "file", "files"));
		plain_print(f, dir);
		putc('\n', f);
	}
	if (place->is_checked)
		print_check(&sum, f);
	return found;
}

struct error *recordings_set_aside(const char *path, bool *is_moved)
{
	struct wmk_header header;
	struct stat st;
	char *aside;
	struct error *err = NULL;

	if (stat(path, &st) != 0 || S_ISCHR(st.st_mode)) /* WAYMARK_OUT=/dev/null records nothing */
		return NULL;
	if (!S_ISREG(st.st_mode) || (st.st_size && !recording_header(path, &header)))
		return error_create(ERROR_ARGUMENT, "%s: exists and is no recording; choose another name with -o",
				    path);
	if (asprintf(&aside, "%s.old", path) < 0)
		return &error_no_memory;
	if (rename(path, aside) != 0)
		err = error_os(errno, "%s: cannot be renamed to %s", path, aside);
	free(aside);
	*is_moved = !err;
	return err;
}
