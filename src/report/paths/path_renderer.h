/*
 * path_renderer.h - the one interface of `waymark paths`' formats: a row of a table (path_renderer.c) and a file each.
 *
 * A renderer writes to a stream and reports only what went wrong with the view; the caller checks the stream.
 */
#ifndef WM_REPORT_PATHS_PATH_RENDERER_H
#define WM_REPORT_PATHS_PATH_RENDERER_H

#include <stdio.h>

#include "base/word_table.h"
#include "report/paths/path_listing.h"
#include "model/paths/path_view.h"

struct path_report {
	const struct path_view *view;
	struct path_style style;
	bool is_by_function; /* text: a table of functions in place of paths */
};

struct path_renderer {
	struct word format;
	const char *suffixes; /* of files in the format, separated by blanks */
	size_t default_top;   /* paths or functions shown when the user does not say; 0: all */
	bool has_notes;       /* the output itself says what path_notes_print says */
	struct error *(*render)(const struct path_report *r, FILE *out);
};

extern const struct word_table path_formats; /* of struct path_renderer */

struct error *path_render_text(const struct path_report *r, FILE *out);
struct error *path_render_json(const struct path_report *r, FILE *out);
struct error *path_render_lcov(const struct path_report *r, FILE *out);
struct error *path_render_cobertura(const struct path_report *r, FILE *out);
struct error *path_render_html(const struct path_report *r, FILE *out);

/* A line, if code is optimized: what that means for counts. what: the end of the sentence. */
void path_optimized_print(const struct path_summary *s, const char *what, const char *before, FILE *out);

/* Prints what the recordings and the profile leave out or could not read: one note a line, each after `before`. */
void path_notes_print(const struct path_profile *p, const char *before, FILE *out);

#endif
