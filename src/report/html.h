/*
 * html.h - what the HTML pages share: text, names of files; their looks are in html.css. path_html.c and crash_html.c make the pages.
 */
#ifndef WM_REPORT_HTML_H
#define WM_REPORT_HTML_H

#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"

/* Escaped for text and for attributes in double quotes; control bytes and broken UTF-8 as U+FFFD. */
void html_text(FILE *out, const char *text);
void html_part(FILE *out, const char *text, size_t len_bytes);

/* A stream into memory, for what must be escaped as a whole. After fclose *ret_text is the caller's to free. */
struct error *html_capture(FILE **ret_stream, char **ret_text, size_t *ret_size);

/* The last component. */
const char *html_base_name(const char *path);

struct html_names {
	const char **plain;    /* [count] names without "x/.." */
	const char *directory; /* that all of the program's own files are in, with its slash; "" for none */
};

/* names: [count]; the arena's. */
struct error *html_names_create(const char *const *names, size_t count, struct arena *arena, struct html_names *ret);
/* A plain name as it is in its project. */
const char *html_short_name(const struct html_names *names, size_t index);

/* How a page begins, up to its title. */
void html_print_start(FILE *out, const char *producer);
/* Name of a file as two spans, for what is cut to be in the middle. */
void html_print_name(FILE *out, const char *name);

#endif
