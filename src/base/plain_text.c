/* plain_text.c - characters that may be shown, by one walk over the UTF-8 of a text. */
#include "base/plain_text.h"

#include <string.h>

enum {
	TAB = 8, /* columns */
};

size_t utf8_len(const uint8_t *p)
{
	static const struct {
		uint8_t first, last, second_first, second_last;
		uint8_t len;
	} forms[] = {
		{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		size_t len = forms[i].len;

		if (p[0] < forms[i].first || p[0] > forms[i].last)
			continue;
		if (len > 1 && (p[1] < forms[i].second_first || p[1] > forms[i].second_last))
			return 0;
		for (size_t j = 2; j < len; j++)
			if ((p[j] & 0xc0) != 0x80)
				return 0;
		return len;
	}
	return 0;
}

size_t plain_len(const char *text)
{
	const uint8_t *p = (const uint8_t *)text;

	if (*p < ' ' || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
		return 0;
	return utf8_len(p);
}

/* Bytes of the plain characters at text, of the first len_bytes. */
static size_t plain_run(const char *text, size_t len_bytes)
{
	size_t run = 0;

	while (run < len_bytes) {
		size_t len = plain_len(text + run);

		if (!len || len > len_bytes - run)
			break;
		run += len;
	}
	return run;
}

void plain_print_part(FILE *out, const char *text, size_t len_bytes)
{
	while (len_bytes) {
		size_t run = plain_run(text, len_bytes);

		fwrite(text, 1, run, out);
		if (run == len_bytes)
			break;
		putc('?', out);
		text += run + 1;
		len_bytes -= run + 1;
	}
}

void plain_print(FILE *out, const char *text)
{
	plain_print_part(out, text, strlen(text));
}

void plain_print_word(FILE *out, const char *text, char separator, char instead)
{
	for (;;) {
		const char *end = strchrnul(text, separator);

		plain_print_part(out, text, (size_t)(end - text));
		if (!*end)
			break;
		putc(instead, out);
		text = end + 1;
	}
}

void plain_make(char *text)
{
	size_t len_bytes = strlen(text);

	while (len_bytes) {
		size_t run = plain_run(text, len_bytes);

		if (run == len_bytes)
			break;
		text[run] = '?';
		text += run + 1;
		len_bytes -= run + 1;
	}
}

char *plain_expand(const char *text, struct arena *arena, size_t *ret_columns)
{
	char *expanded = arena_alloc(arena, strlen(text) * TAB + 1);
	size_t column = 0, at = 0;

	if (!expanded)
		return NULL;
	for (size_t len; *text; text += len, column++) {
		len = plain_len(text);
		if (*text == '\t') {
			for (; (column + 1) % TAB; column++)
				expanded[at++] = ' ';
			expanded[at++] = ' ';
		} else if (len) {
			memcpy(expanded + at, text, len);
			at += len;
		} else {
			expanded[at++] = '?';
		}
		len += len == 0;
	}
	for (; at && expanded[at - 1] == ' '; at--)
		column--;
	expanded[at] = '\0';
	*ret_columns = column;
	return expanded;
}
