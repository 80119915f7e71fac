/*
 * render_folded.c - "main;f;g 42", one context a line, by the chosen metric. Contexts that differ in lines only become one
 * line of the same names, so lines are sorted and summed. There is nothing else: the tools that read it take every line for a context.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/contexts/renderer.h"
#include "model/base/context_text.h"

struct line {
	char *text;
	uint64_t value;
};

static int compare_lines(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static struct error *fold(const struct profile *p, uint32_t node, struct frame_vec *frames, char **ret)
{
	struct error *err = view_frames(p, node, frames);

	return err ? err : stack_folded_text(frames->items, frames->count, ret);
}

static void print_lines(struct line *lines, size_t count, FILE *out)
{
	qsort(lines, count, sizeof *lines, compare_lines);
	for (size_t i = 0; i < count;) {
		uint64_t value = 0;
		size_t first = i;

		for (; i < count && strcmp(lines[i].text, lines[first].text) == 0; i++)
			if (__builtin_add_overflow(value, lines[i].value, &value))
				value = UINT64_MAX;
		fprintf(out, "%s %" PRIu64 "\n", lines[first].text, value);
	}
}

struct error *render_folded(const struct view *v, FILE *out)
{
	struct frame_vec frames = {0};
	struct line *lines;
	size_t count = 0;
	struct error *err = view_check_stacks(v, true, NULL, 0);

	if (err)
		return err;
	lines = calloc(v->row_count + 1, sizeof *lines);
	if (!lines)
		return &error_no_memory;
	for (; !err && count < v->row_count; count++) {
		err = fold(v->profile, v->rows[count].node, &frames, &lines[count].text);
		if (err)
			break;
		lines[count].value = v->rows[count].value;
	}
	if (!err)
		print_lines(lines, count, out);
	for (size_t i = 0; i < count; i++)
		free(lines[i].text);
	free(lines);
	frame_vec_deinit(&frames);
	return err;
}
