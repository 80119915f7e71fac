/*
 * text.h - text in caller's buffers, cut to size, usable in a signal handler.
 */
#ifndef WM_RECORDER_TEXT_H
#define WM_RECORDER_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Appends like snprintf: len counts what did not fit too; the text is NUL-terminated when size is not 0. */
struct wmrt_text {
	char *data;
	size_t size;
	size_t len;
};

static inline void wmrt_text_char(struct wmrt_text *text, char c)
{
	if (text->len + 1 < text->size) {
		text->data[text->len] = c;
		text->data[text->len + 1] = '\0';
	}
	text->len++;
}

static inline void wmrt_text_add(struct wmrt_text *text, const char *s)
{
	while (*s)
		wmrt_text_char(text, *s++);
}

/* In base 10 or 16, at least `digits` digits. */
static inline void wmrt_text_number(struct wmrt_text *text, uint64_t value, unsigned int base, int digits)
{
	char reversed[24];
	int n = 0;

	while (value || n < digits || n == 0) {
		reversed[n++] = "0123456789abcdef"[value % base];
		value /= base;
	}
	while (n > 0)
		wmrt_text_char(text, reversed[--n]);
}

static inline int wmrt_text_fits(const struct wmrt_text *text)
{
	return text->len < text->size;
}

#endif
