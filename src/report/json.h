/*
 * json.h - writing JSON text by hand: strings are the only part that needs care.
 */
#ifndef WM_REPORT_JSON_H
#define WM_REPORT_JSON_H

#include <stdio.h>

/* A quoted string; bytes that are no UTF-8 become U+FFFD. NULL is null. */
void json_print_string(FILE *out, const char *text);

#endif
