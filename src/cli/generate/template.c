/* template.c - copies a file line by line and finds the markers in it. */
#include "cli/generate/template.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "object/file.h"

struct error *template_error(const struct template_file *t, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	struct error *err;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return &error_no_memory;
	err = error_create(ERROR_FORMAT, "%s:%u: %s", t->path, t->line, text);
	free(text);
	return err;
}

static struct error *print_marker(struct template_file *t, char *text, const struct marker *markers, void *state,
				  FILE *out)
{
	size_t name_len = strcspn(text, " ");
	const char *arguments = text + name_len + (text[name_len] == ' ');

	text[name_len] = '\0';
	for (const struct marker *marker = markers; marker->name; marker++)
		if (strcmp(marker->name, text) == 0)
			return marker->print(state, t, arguments, out);
	return template_error(t, "@%s@ is no marker", text);
}

static struct error *print_line(struct template_file *t, const char *line, size_t len, const struct marker *markers,
				void *state, FILE *out)
{
	struct error *err;
	char *text;

	if (len < 3 || line[0] != '@' || line[len - 1] != '@') {
		fprintf(out, "%.*s\n", (int)len, line);
		return NULL;
	}
	text = strndup(line + 1, len - 2);
	if (!text)
		return &error_no_memory;
	err = print_marker(t, text, markers, state, out);
	free(text);
	return err;
}

struct error *template_print(const char *path, const struct marker *markers, void *state, FILE *out)
{
	struct template_file t = {.path = path};
	struct mapped_file file;
	struct error *err = file_map(path, &file);
	char *text;

	if (err)
		return err;
	text = strndup((const char *)file.bytes, file.len_bytes);
	file_unmap(&file);
	if (!text)
		return &error_no_memory;
	t.text = text;
	for (const char *line = text; *line && !err; line = t.rest) {
		size_t len = strcspn(line, "\n");

		t.line++;
		t.rest = line + len + (line[len] == '\n');
		err = print_line(&t, line, len, markers, state, out);
	}
	free(text);
	return err;
}
