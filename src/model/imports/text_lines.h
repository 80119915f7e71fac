/* text_lines.h - a file of text, line by line: views of its bytes, without the ends of lines. */
#ifndef WM_MODEL_IMPORTS_TEXT_LINES_H
#define WM_MODEL_IMPORTS_TEXT_LINES_H

#include <stdbool.h>
#include <string.h>

#include "object/file.h"

struct text {
	const char *at;
	size_t len_bytes;
};

struct text_lines {
	struct text line;
	size_t number; /* of the line, from 1 */
	const char *next, *end;
};

static inline struct text_lines text_lines_of(const struct mapped_file *file)
{
	return (struct text_lines){.next = (const char *)file->bytes,
				   .end = (const char *)file->bytes + file->len_bytes};
}

static inline bool text_lines_next(struct text_lines *lines)
{
	const char *end;

	if (lines->next >= lines->end)
		return false;
	end = memchr(lines->next, '\n', (size_t)(lines->end - lines->next));
	end = end ? end : lines->end;
	lines->line = (struct text){lines->next, (size_t)(end - lines->next)};
	lines->next = end + 1;
	lines->number++;
	if (lines->line.len_bytes && lines->line.at[lines->line.len_bytes - 1] == '\r')
		lines->line.len_bytes--;
	return true;
}

/* The text from its byte `from` on. */
static inline struct text text_from(struct text t, size_t from)
{
	return (struct text){t.at + from, t.len_bytes - from};
}

/* Takes the first word, and the blanks before and behind it, off the text. */
static inline struct text text_word(struct text *t)
{
	struct text word;

	while (t->len_bytes && (*t->at == ' ' || *t->at == '\t'))
		*t = text_from(*t, 1);
	word = (struct text){t->at, 0};
	while (word.len_bytes < t->len_bytes && word.at[word.len_bytes] != ' ' && word.at[word.len_bytes] != '\t')
		word.len_bytes++;
	*t = text_from(*t, word.len_bytes);
	while (t->len_bytes && (*t->at == ' ' || *t->at == '\t'))
		*t = text_from(*t, 1);
	return word;
}

/* A decimal number, and nothing else. */
static inline bool text_number(struct text t, uint64_t *ret)
{
	uint64_t number = 0;

	if (!t.len_bytes)
		return false;
	for (size_t i = 0; i < t.len_bytes; i++)
		if (t.at[i] < '0' || t.at[i] > '9' || __builtin_mul_overflow(number, (uint64_t)10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(t.at[i] - '0'), &number))
			return false;
	*ret = number;
	return true;
}

#endif
