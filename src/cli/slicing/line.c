/* line.c - parses FILE:LINE:VARIABLE and finds its instructions (line.h). */
#include "cli/slicing/line.h"

#include <stdlib.h>
#include <string.h>

#include "model/slices/slice_places.h"

/* The line number begins behind the last colon that digits follow up to the end or a colon. */
struct error *slicing_line_parse(const char *text, struct slicing_line *ret, bool *is_line)
{
	struct slicing_line l = {.text = text};
	const char *found = NULL;
	unsigned long line = 0;

	*is_line = false;
	for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
		char *end;
		unsigned long number = strtoul(colon + 1, &end, 10);

		if (colon == text || colon[1] < '0' || colon[1] > '9' || (*end && *end != ':'))
			continue;
		found = colon;
		line = number;
		l.variable = *end ? end + 1 : NULL;
	}
	if (!line || line > UINT32_MAX || (l.variable && !*l.variable))
		return NULL;
	l.file = strndup(text, (size_t)(found - text));
	l.line = (uint32_t)line;
	if (!l.file)
		return &error_no_memory;
	*is_line = true;
	*ret = l;
	return NULL;
}

void slicing_line_deinit(struct slicing_line *l)
{
	ir_value_vec_deinit(&l->probes);
	free(l->file);
	*l = (struct slicing_line){0};
}

struct error *slicing_line_probe(struct slicing_line *l, struct code *c)
{
	const struct probe_question question = {l->file, l->line, l->variable};

	return l->variable ? probe_add(c, &question, &l->probes) : NULL;
}

static struct error *no_code(const struct slicing_line *l, const struct code *c, const char *program)
{
	struct slice_near near = slice_near_line(c, l->file, l->line);

	if (!near.has_file)
		return error_create(ERROR_NOT_FOUND, "%s: the program has no code of a file %s with debug information",
				    program, l->file);
	if (near.before && near.after)
		return error_create(ERROR_NOT_FOUND,
				    "%s: the program has no code of %s:%u; the nearest lines with code are %u and %u",
				    program, l->file, l->line, near.before, near.after);
	return error_create(ERROR_NOT_FOUND, "%s: the program has no code of %s:%u; the nearest line with code is %u",
			    program, l->file, l->line, near.before ? near.before : near.after);
}

struct error *slicing_line_find(const struct slicing_line *l, const struct code *c, const bool *runs,
				const char *program, uint32_t *criteria, uint32_t *ret)
{
	*ret = l->variable ? (uint32_t)l->probes.count : slice_find_line(c, l->file, l->line, criteria);
	for (size_t i = 0; i < l->probes.count; i++)
		criteria[i] = code_number(c, l->probes.items[i]);
	if (!*ret)
		return no_code(l, c, program);
	for (uint32_t i = 0; i < *ret; i++)
		if (!runs || runs[c->instructions[criteria[i]].block])
			return NULL;
	return error_create(ERROR_NOT_FOUND, "%s did not run in what is recorded", l->text);
}
