/*
 * version_script.c - rewrites --version-script=FILE and its spellings, behind -Wl, and -Xlinker.
 *
 *     LUA_5.4 { global: lua_*; local: *; };   ->   LUA_5.4 { global: wm1_grow; …; global: lua_*; local: *; };
 */
#include "cli/version_script.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/memory_file.h"

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

static struct error *copy_script(const char *path, const char *exports, char **ret)
{
	struct buffer in = {0};
	struct buffer out = {0};
	struct error *err = read_file(path, &in);
	const char *text = (const char *)in.bytes;
	const char *brace = err ? NULL : first_brace(text, in.len_bytes);
	if (brace) {
		buffer_bytes(&out, text, (size_t)(brace + 1 - text));
		buffer_printf(&out, " global: %s", exports);
		buffer_bytes(&out, brace + 1, in.len_bytes - (size_t)(brace + 1 - text));
		err = buffer_error(&out);
		if (!err)
			err = memory_file_create(out.bytes, out.len_bytes, path, ret);
	} else if (!err) {
		*ret = strdup(path); /* not a script: the linker will say so */
		err = *ret ? NULL : &error_no_memory;
	}
	buffer_deinit(&in);
	buffer_deinit(&out);
	return err;
}

/* The path of a version script that the linker option names, or NULL. */
static const char *script_path(struct version_scripts *v, const char *option)
{
	static const char *const spellings[] = {"--version-script", "-version-script"};

	if (v->path_is_next) {
		v->path_is_next = false;
		return option;
	}
	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(spellings[i]);
		if (strncmp(option, spellings[i], len))
			continue;
		if (option[len] == '=')
			return option + len + 1;
		if (!option[len])
			v->path_is_next = true;
	}
	return NULL;
}

/* One linker option; *ret stays NULL when it is to be used as it is. */
static struct error *replace_option(struct version_scripts *v, const char *option, char **ret)
{
	const char *prefix = v->path_is_next ? "" : "--version-script=";
	const char *path = script_path(v, option);
	if (!path)
		return NULL;
	char *copy;
	struct error *err = copy_script(path, v->exports, &copy);
	if (err)
		return err;
	if (asprintf(ret, "%s%s", prefix, copy) < 0)
		err = &error_no_memory;
	free(copy);
	return err;
}

/* -Wl,A,B,C */
static struct error *replace_list(struct version_scripts *v, const char *list, char **ret)
{
	char *options = strdup(list);
	if (!options)
		return &error_no_memory;
	struct buffer out = {0};
	struct error *err = NULL;
	bool changed = false;
	buffer_printf(&out, "-Wl");
	char *rest = options;
	for (char *option; !err && (option = strsep(&rest, ","));) {
		char *other = NULL;
		err = replace_option(v, option, &other);
		buffer_printf(&out, ",%s", other ? other : option);
		changed |= other != NULL;
		free(other);
	}
	buffer_u8(&out, 0);
	if (!err)
		err = buffer_error(&out);
	if (!err && changed && !(*ret = strdup((const char *)out.bytes)))
		err = &error_no_memory;
	free(options);
	buffer_deinit(&out);
	return err;
}

struct error *version_scripts_word(struct version_scripts *v, const char *word, char **ret)
{
	bool is_linker_option = v->linker_option_is_next;
	*ret = NULL;
	v->linker_option_is_next = !strcmp(word, "-Xlinker");
	if (is_linker_option)
		return replace_option(v, word, ret);
	if (!strncmp(word, "-Wl,", 4))
		return replace_list(v, word + 4, ret);
	return NULL;
}
