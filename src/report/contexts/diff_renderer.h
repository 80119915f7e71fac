/*
 * diff_renderer.h - the formats of `waymark diff`: a row of a table (diff_renderer.c) and a function each.
 */
#ifndef WM_REPORT_CONTEXTS_DIFF_RENDERER_H
#define WM_REPORT_CONTEXTS_DIFF_RENDERER_H

#include <stdio.h>

#include "base/word_table.h"
#include "model/tables/profile_diff.h"

struct diff_report {
	const struct profile_diff *diff;
	const struct view *views[DIFF_SIDES]; /* what it was made of */
	size_t top;                           /* functions and contexts; 0: all */
	double min;                           /* percent of the old total that a change must have */
};

struct diff_renderer {
	struct word format;
	size_t default_top;
	bool has_notes; /* else the caller tells what the recordings lack (notes_print) */
	struct error *(*render)(const struct diff_report *r, FILE *out);
};

extern const struct word_table diff_formats; /* of struct diff_renderer */

struct error *diff_render_text(const struct diff_report *r, FILE *out);
struct error *diff_render_json(const struct diff_report *r, FILE *out);
/* "main;f OLD NEW", as difffolded.pl makes it. */
struct error *diff_render_folded(const struct diff_report *r, FILE *out);
struct error *diff_render_svg(const struct diff_report *r, FILE *out);
struct error *diff_render_view(const struct diff_report *r, FILE *out);

/* How many of the functions and contexts are shown: those with enough change, and no more than `top`. */
size_t diff_functions_shown(const struct diff_report *r);
size_t diff_contexts_shown(const struct diff_report *r);

#endif
