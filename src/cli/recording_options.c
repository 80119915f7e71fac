/* recording_options.c - options about recordings that `waymark run` and `waymark attach` share. */
#include "cli/recording_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/find_recordings.h"
#include "cli/message.h"
#include "waymark/agent.h"

static struct error *check_size(const char *what, const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (digits && (!text[digits] || (strchr("kKmMgG", text[digits]) && !text[digits + 1])))
		return NULL;
	return error_create(ERROR_ARGUMENT, "%s%s: a number of bytes is needed, with K, M or G behind it if wanted",
			    what, text);
}

struct error *recording_limit_check(const char *text)
{
	return check_size("--limit ", text);
}

struct error *recording_recent_check(const char *text)
{
	return check_size("--recent ", text);
}

struct error *recording_label_add(const char *text)
{
	static const char key_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	const char *before = getenv("WAYMARK_LABELS");
	size_t key_len = strspn(text, key_chars);
	struct error *err = NULL;
	char *lines;

	if (!key_len || text[key_len] != '=' || !text[key_len + 1] || strchr(text, '\n'))
		return error_create(ERROR_ARGUMENT,
				    "--label %s: KEY=VALUE is needed, with letters, digits, dots, - and _ in the key",
				    text);
	if (asprintf(&lines, "%s%s%s", text, before && *before ? "\n" : "", before ? before : "") < 0)
		return &error_no_memory;
	if (setenv("WAYMARK_LABELS", lines, 1) != 0)
		err = &error_no_memory;
	free(lines);
	return err;
}

struct error *recording_environment_check(void)
{
	const char *limit = getenv("WAYMARK_LIMIT"), *agent = getenv("WAYMARK_AGENT");
	const char *unknown = agent ? wm1_agent_option_unknown(agent) : NULL;

	if (unknown)
		return error_create(ERROR_ARGUMENT, "WAYMARK_AGENT=%s: unknown option %.*s; known are %s", agent,
				    (int)strcspn(unknown, ","), unknown, wm1_agent_options_known());
	return limit && *limit ? check_size("WAYMARK_LIMIT=", limit) : NULL;
}

/* Appends text with each '%' doubled, for a pattern. */
static void append_literal(struct buffer *b, const char *text)
{
	for (; *text; text++) {
		if (*text == '%')
			buffer_u8(b, '%');
		buffer_u8(b, (uint8_t)*text);
	}
}

struct error *recording_pattern(const char *place, struct buffer *ret)
{
	struct stat st;
	bool is_directory = (stat(place, &st) == 0 && S_ISDIR(st.st_mode)) || place[strlen(place) - 1] == '/';
	char cwd[PATH_MAX];

	if (place[0] != '/') {
		if (!getcwd(cwd, sizeof cwd))
			return error_os(errno, "the current directory");
		append_literal(ret, cwd);
		buffer_u8(ret, '/');
	}
	if (is_directory) {
		append_literal(ret, place);
		buffer_printf(ret, "%swaymark-%%e-%%p.wmk", place[strlen(place) - 1] == '/' ? "" : "/");
	} else {
		buffer_printf(ret, "%s", place);
	}
	buffer_u8(ret, 0);
	return buffer_error(ret);
}

/* The file that a pattern names in which nothing is expanded, malloc'd; NULL for the others and without memory. */
static char *only_file(const char *pattern)
{
	char *name = strdup(pattern), *out = name;

	for (const char *in = pattern; name && *in; in++) {
		if (*in == '%' && in[1] && strchr("ephrq", in[1])) {
			free(name);
			return NULL;
		}
		if (*in == '%' && in[1])
			in++;
		*out++ = *in;
	}
	if (name)
		*out = '\0';
	return name;
}

struct error *recording_make_room(const char *command, const char *output, bool is_quiet)
{
	struct stat st;
	bool is_directory = stat(output, &st) == 0 && S_ISDIR(st.st_mode);
	char *file = is_directory ? NULL : only_file(output);
	bool is_moved = false;
	struct error *err = file ? recordings_set_aside(file, &is_moved) : NULL;

	if (is_moved && !is_quiet)
		message_warn(command, "%s of an earlier run is now %s.old", file, file);
	free(file);
	return err;
}
