/*
 * options.c - reads the options of a virtual machine where it says them itself, else in its command line and environment.
 *
 * What it says itself (perf_data.h) is right whatever file an option came from.
 */
#include "snapshot/hotspot/options.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "snapshot/hotspot/perf_data.h"

#define PERF_DATA "hsperfdata_"
#define CAPABILITIES "sun.rt.jvmCapabilities" /* a character each; the first one is 1 where it can be attached to */

enum {
	PERF_DATA_BYTES = 1 << 20, /* they are of 32 KB */
	NAME_BYTES = 32,
};

static const char disables[] = "-XX:+DisableAttachMechanism", enables[] = "-XX:-DisableAttachMechanism";
static const char *const variables[] = {"JAVA_TOOL_OPTIONS=", "JDK_JAVA_OPTIONS=", "_JAVA_OPTIONS="};

/* ---- its command line and environment ---- */

/* Of texts that a zero byte ends, each handed to `each`. */
static void read_texts(pid_t pid, const char *file, void (*each)(const char *text, bool *state), bool *state)
{
	char path[64], *text = NULL;
	size_t capacity = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	f = fopen(path, "re");
	while (f && getdelim(&text, &capacity, '\0', f) > 0)
		each(text, state);
	free(text);
	if (f)
		fclose(f);
}

/* The last one of an option counts. */
static void look_at_word(const char *text, bool *is_disabled)
{
	if (strcmp(text, disables) == 0 || strcmp(text, enables) == 0)
		*is_disabled = strcmp(text, disables) == 0;
}

static void look_at_variable(const char *text, bool *is_disabled)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (strncmp(text, variables[i], strlen(variables[i])) == 0 && strstr(text, disables))
			*is_disabled = true;
}

/* ---- what it says itself ---- */

/* The number of the process is that of the file. -1: there is none that the process's user has made. */
static int open_perf_data(const struct hotspot *h, int parent, const char *dir)
{
	char name[NAME_BYTES];
	struct stat st;
	int own = openat(parent, dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), ret = -1;

	snprintf(name, sizeof name, "%u", (unsigned int)h->number);
	if (own >= 0 && fstat(own, &st) == 0 && st.st_uid == h->user)
		ret = openat(own, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (own >= 0)
		close(own);
	if (ret < 0 || (fstat(ret, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == h->user))
		return ret;
	close(ret);
	return -1;
}

/* A user's directory for each name that the user is known by. */
static int find_perf_data(const struct hotspot *h)
{
	int parent = hotspot_open_there(h, "/tmp", O_RDONLY | O_DIRECTORY), ret = -1;
	DIR *dir = parent < 0 ? NULL : fdopendir(parent);
	const struct dirent *entry;

	while (dir && ret < 0 && (entry = readdir(dir)))
		if (strncmp(entry->d_name, PERF_DATA, strlen(PERF_DATA)) == 0)
			ret = open_perf_data(h, parent, entry->d_name);
	if (dir)
		closedir(dir);
	else if (parent >= 0)
		close(parent);
	return ret;
}

/* '0' or '1'; 0: it says nothing. */
static char can_attach(const struct hotspot *h)
{
	int fd = find_perf_data(h);
	char *bytes = fd < 0 ? NULL : malloc(PERF_DATA_BYTES), ret = 0;
	ssize_t len = bytes ? read(fd, bytes, PERF_DATA_BYTES) : -1;

	if (len >= 0)
		error_destroy(perf_data_first(bytes, (size_t)len, CAPABILITIES, &ret));
	free(bytes);
	if (fd >= 0)
		close(fd);
	return ret;
}

static bool is_switched_off(const struct hotspot *h)
{
	char said = can_attach(h);
	bool ret = said == '0';

	if (said)
		return ret;
	read_texts(h->pid, "environ", look_at_variable, &ret);
	read_texts(h->pid, "cmdline", look_at_word, &ret);
	return ret;
}

struct error *hotspot_check_options(const struct hotspot *h)
{
	if (!h->handles_sigquit)
		return error_create(
			ERROR_ARGUMENT,
			"process %d: its virtual machine does not handle SIGQUIT, by which it is asked to listen: it is starting, or "
			"was started with -Xrs and -XX:+DisableAttachMechanism",
			(int)h->pid);
	if (is_switched_off(h))
		return error_create(ERROR_ARGUMENT,
				    "process %d: its virtual machine was started with %s, which forbids to attach",
				    (int)h->pid, disables);
	return NULL;
}
