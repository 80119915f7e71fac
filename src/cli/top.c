/*
 * top.c - `waymark top`: the functions and contexts of a process that is recorded, or of recordings, while they grow. A recording is found
 * by its process, which has it mapped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/live_options.h"
#include "cli/live_view.h"
#include "cli/message.h"
#include "model/base/recording.h"

struct request {
	struct live_options options;
	uint32_t pid; /* 0: recordings are named */
	char *path;   /* of its recording */
	char **operands;
};

/* A line of /proc/PID/maps of a recording: shared and writable. The path behind the fields, or NULL. */
static char *shared_path(char *line)
{
	char flags[8];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	return sscanf(line, "%*s %7s %*s %*s %*s %n", flags, &at) == 1 && flags[1] == 'w' && flags[3] == 's' &&
			       line[at] == '/'
		       ? line + at
		       : NULL;
}

/* As it is here: the process may have another root. malloc'd; NULL: it is no recording of the process. */
static char *recording_at(uint32_t pid, const char *path)
{
	struct wmk_header header;
	struct stat st;
	char *ret;

	if (asprintf(&ret, "/proc/%" PRIu32 "/root%s", pid, path) < 0)
		return NULL;
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && recording_header(path, &header) && header.pid == pid) {
		free(ret);
		return strdup(path);
	}
	/* In a container its own number is another one. */
	if (stat(ret, &st) == 0 && S_ISREG(st.st_mode) && recording_header(ret, &header))
		return ret;
	free(ret);
	return NULL;
}

static struct error *find_recording(uint32_t pid, char **ret)
{
	char path[64], *line = NULL, *shared;
	size_t capacity = 0;
	FILE *maps;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return error_os(errno, "process %" PRIu32, pid);
	while (!*ret && getline(&line, &capacity, maps) > 0)
		if ((shared = shared_path(line)) != NULL)
			*ret = recording_at(pid, shared);
	free(line);
	fclose(maps);
	return *ret ? NULL
		    : error_create(ERROR_NOT_FOUND,
				   "process %" PRIu32 " has no recording: `waymark attach %" PRIu32 "` begins one", pid,
				   pid);
}

static struct error *find_paths(void *data, struct recording_paths *ret)
{
	const struct request *r = data;
	char *path;
	struct error *err;

	if (!r->path)
		return recording_operands("top", r->operands, ret);
	path = strdup(r->path);
	err = path ? recording_paths_append(ret, path) : &error_no_memory;
	if (err)
		free(path);
	return err;
}

static bool runs(const char *path)
{
	struct wmk_header header;

	return recording_header(path, &header) && recording_end(path, &header) == RECORDING_RUNS;
}

static bool has_ended(void *data)
{
	struct recording_paths paths = {0};
	bool ret = true;
	struct error *err = find_paths(data, &paths);

	for (size_t i = 0; i < paths.count; i++)
		ret &= !runs(paths.items[i]);
	recording_paths_free(&paths);
	error_destroy(err);
	return ret;
}

static const struct option_row option_rows[] = {
	OPTIONS_OF(live_option_rows, struct request, options),
	OPTION_HELP,
	OPTIONS_END,
};

static bool is_number(const char *text, uint32_t *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*ret = (uint32_t)n;
	return *text >= '0' && *text <= '9' && !*end && n && n <= INT32_MAX && access(text, F_OK) != 0;
}

static int show(struct request *r)
{
	struct live_source source = {.title = r->operands[0] ? r->operands[0] : "the newest recording",
				     .data = r,
				     .find = find_paths,
				     .has_ended = has_ended};
	struct error *err = r->pid ? find_recording(r->pid, &r->path) : NULL;

	if (r->path)
		source.title = r->path;
	if (!err)
		err = live_view("top", &r->options, &source);
	return message_error("top", err);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {.options = LIVE_OPTIONS_DEFAULT};
	int status = options_parse(command, &r, argc, argv);

	if (status != OPTIONS_PARSED)
		return status;
	r.operands = argv + optind;
	if (argc - optind == 1 && !is_number(argv[optind], &r.pid))
		r.pid = 0;
	status = show(&r);
	free(r.path);
	return status;
}

const struct command command_top = {
	.name = "top",
	.summary = "watch the functions and contexts of a process while it is recorded",
	.usage = "Usage: waymark top [OPTIONS] [PID|FILE.wmk|DIRECTORY]...\n"
		 "\n"
		 "Shows the functions and contexts of recordings that grow, anew each second, until\n"
		 "their processes end: of a process that `waymark run` or `waymark attach` records,\n"
		 "or of files, without an operand of the newest run in the working directory.\n",
	.options = option_rows,
	.operands = {{"pid", COMPLETE_PROCESS, NULL, true}},
	.run = run,
};
