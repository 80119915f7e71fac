/* import_folded.c - folded stacks, "main;f;g 42": a context a line, outermost first, and how often it was seen. */
#include <stdlib.h>
#include <string.h>

#include "model/imports/import.h"
#include "model/imports/text_lines.h"

/* The stack and the number behind its last blank. A fraction of a number, which some tools write, is left out. */
static bool split_line(struct text line, struct text *ret_stack, uint64_t *ret_value)
{
	size_t blank = line.len_bytes;
	struct text number;
	const char *point;

	while (blank && line.at[blank - 1] != ' ')
		blank--;
	if (blank < 2)
		return false;
	number = text_from(line, blank);
	point = memchr(number.at, '.', number.len_bytes);
	if (point)
		number.len_bytes = (size_t)(point - number.at);
	*ret_stack = (struct text){line.at, blank - 1};
	return text_number(number, ret_value);
}

/* By the first line that is no comment. */
bool import_is_folded(const struct mapped_file *file)
{
	struct text_lines lines = text_lines_of(file);
	struct text stack;
	uint64_t value;

	while (text_lines_next(&lines))
		if (lines.line.len_bytes && *lines.line.at != '#')
			return !memchr(lines.line.at, '\0', lines.line.len_bytes) &&
			       split_line(lines.line, &stack, &value);
	return false;
}

/* Names in brackets are what they are in other tools' stacks: no function of the program. */
static struct error *add_stack(struct profile *p, struct text stack, uint32_t *ret_node)
{
	uint32_t node = 0;
	struct error *err = NULL;

	while (stack.len_bytes && !err) {
		const char *end = memchr(stack.at, ';', stack.len_bytes);
		size_t len_bytes = end ? (size_t)(end - stack.at) : stack.len_bytes;
		char *name = strndup(stack.at, len_bytes);
		struct frame frame = {.name = name};

		if (!name)
			return &error_no_memory;
		frame.flags = *name == '[' ? FRAME_FOREIGN : 0;
		if (*name)
			err = profile_spend(p, 1) ?: profile_add_frame(p, node, &frame, &node);
		free(name);
		stack = text_from(stack, len_bytes + (end != NULL));
	}
	if (!err)
		*ret_node = node;
	return err;
}

struct error *import_folded(struct profile *p, const char *path, const struct mapped_file *file)
{
	struct text_lines lines = text_lines_of(file);
	struct text stack;
	uint64_t value;
	uint32_t metric, node;
	struct error *err = import_metric(p, "samples", UNIT_COUNT, &metric);

	while (!err && text_lines_next(&lines)) {
		if (!lines.line.len_bytes || *lines.line.at == '#')
			continue;
		if (!split_line(lines.line, &stack, &value))
			return error_create(ERROR_FORMAT, "%s:%zu: a stack and a number are expected: main;f;g 42",
					    path, lines.number);
		err = add_stack(p, stack, &node) ?: profile_add_value(p, node, metric, value);
	}
	return err;
}
