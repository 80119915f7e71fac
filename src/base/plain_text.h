/*
 * plain_text.h - text from files, for people: what reaches a terminal, a log or a line of output has no control character. Names
 * come from recordings, programs, cores and file systems, where anybody may have chosen them.
 *
 * Everything that prints text from outside goes through here. JSON and markup escape more; they ask plain_len what a character is.
 */
#ifndef WM_BASE_PLAIN_TEXT_H
#define WM_BASE_PLAIN_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"

/* Bytes of the UTF-8 sequence at p, which a NUL ends; 0 when it is none (RFC 3629: no surrogates, no overlong forms). */
size_t utf8_len(const uint8_t *p);

/* Bytes of the character at text; 0 for what is not to be shown: control characters (C0, DEL, C1) and bytes that are no UTF-8. */
size_t plain_len(const char *text);

/* Prints text with '?' for each byte that is not to be shown. */
void plain_print(FILE *out, const char *text);
/* Prints the first len_bytes of text, which a NUL ends there or later. A character that they cut is not UTF-8. */
void plain_print_part(FILE *out, const char *text, size_t len_bytes);
/* Prints one word of a line whose parts are separated: a separator in the text becomes `instead`. */
void plain_print_word(FILE *out, const char *text, char separator, char instead);

/* The text with its tabs as blanks, eight columns each, without blanks at its end, and '?' for what is not to be shown. The arena's; NULL when
 * memory is short. */
char *plain_expand(const char *text, struct arena *arena, size_t *ret_columns);

/* Replaces those bytes in place. */
void plain_make(char *text);

#endif
