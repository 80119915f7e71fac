/* arguments.c - response files: words apart by white space, ' and " quote, \ takes the next character as it is. */
#include "cli/arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory_file.h"

enum {
	NESTING_MAX = 16
};

static struct error *expand_word(struct arguments *a, const char *word, int nesting);

static char *read_whole(struct arena *arena, const char *path)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return NULL;
	struct buffer text = {0};
	char block[4096];
	size_t got;
	while ((got = fread(block, 1, sizeof block, file)) > 0)
		buffer_bytes(&text, block, got);
	fclose(file);
	char *copy = buffer_error(&text) ? NULL : arena_strndup(arena, (const char *)text.bytes, text.len_bytes);
	buffer_deinit(&text);
	return copy;
}

/* Cuts the next word out of *text in place; NULL at the end. */
static char *next_word(char **text)
{
	char *in = *text;
	while (isspace((unsigned char)*in))
		in++;
	if (!*in)
		return NULL;
	char *word = in;
	char *out = in;
	char quote = '\0';
	for (; *in && (quote || !isspace((unsigned char)*in)); in++) {
		if (quote && *in == quote)
			quote = '\0';
		else if (!quote && (*in == '\'' || *in == '"'))
			quote = *in;
		else if (*in == '\\' && in[1])
			*out++ = *++in;
		else
			*out++ = *in;
	}
	*text = *in ? in + 1 : in;
	*out = '\0';
	return word;
}

static struct error *expand_file(struct arguments *a, char *text, int nesting)
{
	for (char *word; (word = next_word(&text));) {
		struct error *err = expand_word(a, word, nesting);
		if (err)
			return err;
	}
	return NULL;
}

/* The text of @file; NULL: that is no readable file. */
static char *read_file(struct arguments *a, const char *word, int nesting)
{
	char *text = word[0] == '@' && nesting < NESTING_MAX ? read_whole(&a->arena, word + 1) : NULL;
	a->has_files |= text != NULL;
	return text;
}

static struct error *add_word(struct arguments *a, const char *word)
{
	char *copy = arena_strdup(&a->arena, word);
	return copy ? word_vec_append(&a->words, copy) : &error_no_memory;
}

/* The linker reads @files, too; their words may have commas in them, which -Wl, cannot hand on. */
static struct error *expand_linker_word(struct arguments *a, const char *word, int nesting)
{
	char *text = read_file(a, word, nesting);
	if (!text) {
		struct error *err = add_word(a, "-Xlinker");
		return err ? err : add_word(a, word);
	}
	struct error *err = NULL;
	for (char *inner; !err && (inner = next_word(&text));)
		err = expand_linker_word(a, inner, nesting + 1);
	return err;
}

/* -Wl,A,@FILE,B */
static struct error *expand_linker_list(struct arguments *a, const char *list)
{
	char *rest = arena_strdup(&a->arena, list);
	struct error *err = rest ? NULL : &error_no_memory;
	for (char *word; !err && (word = strsep(&rest, ","));)
		err = expand_linker_word(a, word, 0);
	return err;
}

static struct error *expand_word(struct arguments *a, const char *word, int nesting)
{
	char *text = read_file(a, word, nesting);
	if (text)
		return expand_file(a, text, nesting + 1);
	if (!strncmp(word, "-Wl,", 4) && strstr(word, ",@"))
		return expand_linker_list(a, word + 4);
	return add_word(a, word);
}

void arguments_deinit(struct arguments *arguments)
{
	word_vec_deinit(&arguments->words);
	arena_deinit(&arguments->arena);
}

struct error *arguments_expand(char *const *words, size_t count, struct arguments *ret)
{
	struct arguments a = {0};
	struct error *err = NULL;
	arena_init(&a.arena);
	for (size_t i = 0; i < count && !err; i++)
		err = expand_word(&a, words[i], 0);
	if (err) {
		arguments_deinit(&a);
		return err;
	}
	*ret = a;
	return NULL;
}

/* In quotes, so that the empty word and white space stay. */
static void quote(struct buffer *out, const char *word)
{
	buffer_u8(out, '"');
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			buffer_u8(out, '\\');
		buffer_u8(out, (uint8_t)*word);
	}
	buffer_bytes(out, "\"\n", 2);
}

struct error *arguments_write(char *const *words, size_t count, char **ret)
{
	struct buffer text = {0};
	char *path = NULL;
	for (size_t i = 0; i < count; i++)
		quote(&text, words[i]);
	struct error *err = buffer_error(&text);
	if (!err)
		err = memory_file_create(text.bytes, text.len_bytes, "the response file", &path);
	if (!err && asprintf(ret, "@%s", path) < 0)
		err = &error_no_memory;
	free(path);
	buffer_deinit(&text);
	return err;
}
