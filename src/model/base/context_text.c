/*
 * context_text.c - prints decoded contexts. Recursion shows once: where a block of up to BLOCK_MAX frames repeats three times or
 * more, one copy is printed and the others are counted. The middle of what is still longer than anybody reads is counted, too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "base/plain_text.h"
#include "model/base/context_text.h"

enum {
	BLOCK_MAX = 16,
	LINES_MAX = 2000, /* of a stack: as many innermost frames, and outermost ones */
};

void stack_print_folded(FILE *out, const struct frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			putc(';', out);
		plain_print_word(out, frames[i].name, ';', ':');
		if (frames[i].flags & FRAME_GUESSED)
			fputs("_[fp]", out);
	}
}

static void print_place(FILE *out, const struct frame *f)
{
	if (!f->file)
		return;
	fputs(" at ", out);
	plain_print(out, f->file);
	if (f->line)
		fprintf(out, ":%" PRIu32, f->line);
	if (f->line && f->column)
		fprintf(out, ":%" PRIu32, f->column);
}

static void print_frame(FILE *out, const struct frame *f)
{
	plain_print(out, f->name);
	print_place(out, f);
}

void stack_print_leaf(FILE *out, const struct frame *frames, size_t count)
{
	if (count)
		print_frame(out, &frames[count - 1]);
	else
		fputs("nothing", out);
}

static bool is_equal_frame(const struct frame *a, const struct frame *b)
{
	return a->name == b->name && a->link_name == b->link_name && a->file == b->file && a->image == b->image &&
	       a->line == b->line && a->column == b->column && a->flags == b->flags;
}

/* How many of the `left` frames going outwards from f are copies of the first `len`, themselves included. */
static size_t count_copies(const struct frame *f, size_t len, size_t left)
{
	size_t i = len;

	while (i < left && is_equal_frame(f - i, f - (i - len)))
		i++;
	return i / len;
}

static void print_line(FILE *out, const char *indent, size_t number, const struct frame *f, bool is_coloured)
{
	fprintf(out, "%s#%-2zu ", indent, number);
	if (is_coloured) { /* code without Waymark is pale, places are blue */
		fputs(f->flags & (FRAME_FOREIGN | FRAME_ROOT | FRAME_ELIDED) ? "\033[2m" : "\033[1m", out);
		plain_print(out, f->name);
		fputs("\033[0;34m", out);
		print_place(out, f);
		fputs("\033[0m", out);
	} else {
		print_frame(out, f);
	}
	if (f->flags & FRAME_INLINED)
		fputs(" (inlined)", out);
	if (f->flags & FRAME_TAIL)
		fputs(" (tail call)", out);
	if (f->flags & FRAME_GUESSED)
		fputs(" (by code or frame pointer)", out);
	putc('\n', out);
}

void stack_print_lines(FILE *out, const char *indent, const struct frame *frames, size_t count, bool is_coloured)
{
	size_t printed = 0;

	for (size_t i = 0; i < count;) {
		const struct frame *f = &frames[count - 1 - i];
		size_t len = 1, copies = 1;

		if (printed >= LINES_MAX && count - i > LINES_MAX) {
			fprintf(out, "%s    ... %zu more %s\n", indent, count - i - LINES_MAX,
				noun_of(count - i - LINES_MAX, "frame", "frames"));
			i = count - LINES_MAX;
			printed = 0;
			continue;
		}

		for (len = 1; len <= BLOCK_MAX && len * 3 <= count - i; len++) {
			copies = count_copies(f, len, count - i);
			if (copies >= 3)
				break;
		}
		if (copies < 3)
			len = copies = 1;
		for (size_t j = 0; j < len; j++)
			print_line(out, indent, i + j, f - j, is_coloured);
		printed += len;
		if (copies > 1)
			fprintf(out, "%s    ... %s %zu times more\n", indent, len == 1 ? "this frame" : "these frames",
				copies - 1);
		i += len * copies;
	}
}

struct error *stack_folded_text(const struct frame *frames, size_t count, char **ret)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (memory)
		stack_print_folded(memory, frames, count);
	if (!memory || fclose(memory) != 0 || !text) {
		free(text);
		return &error_no_memory;
	}
	*ret = text;
	return NULL;
}
