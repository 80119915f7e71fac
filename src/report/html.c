/* html.c - how pages begin, escaping and names of files. */
#include <stdint.h>
#include <string.h>

#include "report/html.h"
#include "base/plain_text.h"
#include "report/paths/path_listing.h"

void html_part(FILE *out, const char *text, size_t len_bytes)
{
	const char *end = text + len_bytes;

	for (size_t len; text < end; text += len) {
		len = *text == '\t' ? 1 : plain_len(text);
		if (len == 0) {
			fputs("\xef\xbf\xbd", out);
			len = 1;
		} else if (*text == '&') {
			fputs("&amp;", out);
		} else if (*text == '<') {
			fputs("&lt;", out);
		} else if (*text == '>') {
			fputs("&gt;", out);
		} else if (*text == '"') {
			fputs("&quot;", out);
		} else if (*text == '\'') {
			fputs("&#39;", out);
		} else {
			fwrite(text, 1, len, out);
		}
	}
}

void html_text(FILE *out, const char *text)
{
	html_part(out, text, strlen(text));
}

struct error *html_capture(FILE **ret_stream, char **ret_text, size_t *ret_size)
{
	*ret_text = NULL;
	*ret_stream = open_memstream(ret_text, ret_size);
	return *ret_stream ? NULL : &error_no_memory;
}

const char *html_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Headers of the system and the compiler: none of the program's own files. */
static bool is_foreign(const char *name)
{
	return strncmp(name, "/usr/include/", 13) == 0 || strncmp(name, "/usr/lib/", 9) == 0;
}

struct error *html_names_create(const char *const *names, size_t count, struct arena *arena, struct html_names *ret)
{
	struct html_names n = {.plain = arena_calloc(arena, count + 1, sizeof *n.plain)};
	char *directory = NULL;

	if (!n.plain)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++) {
		const char *name = source_plain_name(names[i], arena);
		size_t len = 0;

		if (!name)
			return &error_no_memory;
		n.plain[i] = name;
		if (is_foreign(name))
			continue;
		if (!directory && !(directory = arena_strdup(arena, name)))
			return &error_no_memory;
		while (directory[len] && directory[len] == name[len])
			len++;
		while (len && directory[len - 1] != '/')
			len--;
		directory[len] = '\0';
	}
	n.directory = directory && strcmp(directory, "/") != 0 ? directory : "";
	*ret = n;
	return NULL;
}

const char *html_short_name(const struct html_names *names, size_t index)
{
	size_t len = strlen(names->directory);
	const char *name = names->plain[index];

	return name + (strncmp(name, names->directory, len) == 0 ? len : 0);
}

void html_print_start(FILE *out, const char *producer)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"",
	      out);
	html_text(out, producer);
	fputs("\">\n<title>", out);
}

void html_print_name(FILE *out, const char *name)
{
	const char *base = strrchr(name, '/');

	base = base ? base : name;
	if (base > name) {
		fputs("<span>", out);
		html_part(out, name, (size_t)(base - name));
		fputs("</span>", out);
	}
	fputs("<span>", out);
	html_text(out, base);
	fputs("</span>", out);
}
