/*
 * json_writer.h - writing JSON text by hand: strings, which may be any bytes, are the only part that needs care.
 */
#ifndef WM_BASE_JSON_WRITER_H
#define WM_BASE_JSON_WRITER_H

#include <stdio.h>

/* A quoted string; control characters are escaped, bytes that are no UTF-8 become U+FFFD. NULL is null. */
void json_print_string(FILE *out, const char *text);
/* One string of all parts; NULL is behind the last one. */
void json_print_joined(FILE *out, const char *const *parts);
/* The same behind `before` and "NAME": . */
void json_print_member(FILE *out, const char *before, const char *name, const char *text);

#endif
