/*
 * json_writer.h - writing JSON text by hand: strings, which may be any bytes, are the only part that needs care.
 */
#ifndef WM_BASE_JSON_WRITER_H
#define WM_BASE_JSON_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the UTF-8 sequence at p, which a NUL ends; 0 when it is none (RFC 3629: no surrogates, no overlong forms). */
size_t utf8_len(const uint8_t *p);

/* A quoted string; bytes that are no UTF-8 become U+FFFD. NULL is null. */
void json_print_string(FILE *out, const char *text);

#endif
