/*
 * version_script.c - rewrites -Wl,--version-script=FILE and its spellings.
 *
 *     LUA_5.4 { global: lua_*; local: *; };   ->   LUA_5.4 { global: wm1_grow; …; global: lua_*; local: *; };
 */
#include "cli/version_script.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vec.h"

static struct error *read_file(const char *path, struct buffer *ret)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return error_os(errno, "%s", path);
	char block[4096];
	size_t got;
	while ((got = fread(block, 1, sizeof block, file)) > 0)
		buffer_bytes(ret, block, got);
	fclose(file);
	return buffer_error(ret);
}

/* The first { outside of comments; NULL when there is none. */
static const char *first_brace(const char *text, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++) {
		if (text[i] == '{')
			return text + i;
		if (text[i] == '#')
			while (i < len_bytes && text[i] != '\n')
				i++;
		if (i + 1 < len_bytes && text[i] == '/' && text[i + 1] == '*') {
			const char *end = memmem(text + i + 2, len_bytes - i - 2, "*/", 2);
			if (!end)
				return NULL;
			i = (size_t)(end - text) + 1;
		}
	}
	return NULL;
}

static void append_exports(struct buffer *out, const char *exports)
{
	buffer_printf(out, " global:");
	while (*exports) {
		size_t len = strcspn(exports, " \t\n");
		if (len)
			buffer_printf(out, " %.*s;", (int)len, exports);
		exports += len;
		exports += strspn(exports, " \t\n");
	}
}

/* Writes the copy and gives the path under which children find it. The descriptor stays open for them. */
static struct error *publish(const struct buffer *script, const char *path, char **ret)
{
	int fd = memfd_create("version-script", 0);
	if (fd < 0)
		return error_os(errno, "%s: cannot copy it", path);
	for (size_t off = 0; off < script->len_bytes;) {
		ssize_t wrote = write(fd, script->bytes + off, script->len_bytes - off);
		if (wrote < 0) {
			close(fd);
			return error_os(errno, "%s: cannot copy it", path);
		}
		off += (size_t)wrote;
	}
	return asprintf(ret, "/proc/self/fd/%d", fd) < 0 ? &error_no_memory : NULL;
}

static struct error *copy_script(const char *path, const char *exports, char **ret)
{
	struct buffer in = {0};
	struct buffer out = {0};
	struct error *err = read_file(path, &in);
	const char *text = (const char *)in.bytes;
	const char *brace = err ? NULL : first_brace(text, in.len_bytes);
	if (brace) {
		buffer_bytes(&out, text, (size_t)(brace + 1 - text));
		append_exports(&out, exports);
		if (!strstr(brace, "global:") || strstr(brace, "local:") < strstr(brace, "global:"))
			buffer_printf(&out, "\n");
		buffer_bytes(&out, brace + 1, in.len_bytes - (size_t)(brace + 1 - text));
		err = buffer_error(&out);
		if (!err)
			err = publish(&out, path, ret);
	} else if (!err) {
		*ret = strdup(path); /* not a script: the linker will say so */
		err = *ret ? NULL : &error_no_memory;
	}
	buffer_deinit(&in);
	buffer_deinit(&out);
	return err;
}

/* Appends one linker option, its script replaced when it names one. *pending: the next one is a script's path. */
static struct error *append_option(struct buffer *out, const char *option, const char *exports, bool *pending)
{
	static const char *const spellings[] = {"--version-script", "-version-script"};
	const char *path = NULL;
	bool found = *pending;
	if (*pending)
		path = option;
	*pending = false;
	for (size_t i = 0; i < 2 && !path; i++) {
		size_t len = strlen(spellings[i]);
		if (strncmp(option, spellings[i], len))
			continue;
		if (option[len] == '=')
			path = option + len + 1;
		else if (!option[len])
			*pending = true;
	}
	if (!path) {
		buffer_printf(out, ",%s", option);
		return NULL;
	}
	char *copy;
	struct error *err = copy_script(path, exports, &copy);
	if (err)
		return err;
	buffer_printf(out, found ? ",%s" : ",--version-script=%s", copy);
	free(copy);
	return NULL;
}

struct error *version_script_replace(const char *word, const char *exports, char **ret_word)
{
	*ret_word = NULL;
	if (strncmp(word, "-Wl,", 4) || !strstr(word, "version-script"))
		return NULL;
	char *options = strdup(word + 4);
	if (!options)
		return &error_no_memory;
	struct buffer out = {0};
	struct error *err = NULL;
	bool pending = false;
	buffer_printf(&out, "-Wl");
	char *rest = options;
	for (char *option; !err && (option = strsep(&rest, ","));)
		err = append_option(&out, option, exports, &pending);
	/* -Wl,--version-script -Wl,FILE is two words: left as it is. */
	buffer_u8(&out, 0);
	if (!err && !pending)
		err = buffer_error(&out);
	if (!err && !pending)
		*ret_word = strdup((const char *)out.bytes);
	free(options);
	buffer_deinit(&out);
	return err;
}
