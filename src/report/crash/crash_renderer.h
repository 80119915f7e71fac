/*
 * crash_renderer.h - the one interface of `waymark core`'s formats: a row of a table (crash_renderer.c) and a file each.
 *
 * A renderer writes to a stream and reports only what went wrong with the crash; the caller checks the stream.
 */
#ifndef WM_REPORT_CRASH_CRASH_RENDERER_H
#define WM_REPORT_CRASH_CRASH_RENDERER_H

#include <stdio.h>

#include "base/word_table.h"
#include "model/crash/crash.h"
#include "model/crash/crash_values.h"
#include "report/paths/path_listing.h"
#include "report/slices/slice_layer.h"

struct crash_report {
	const struct crash *crash;
	struct path_style style;
	uint32_t frame_limit; /* of each thread, the rest is counted; 0: none */
	uint32_t path_limit;  /* of each frame, the newest; 0: none */
	const char *producer;
	const struct activity_result *activity; /* NULL: not analysed */
	const struct crash_values *values;      /* NULL: not wanted */
	const char *cause;                      /* what happened, in a line; NULL: not known */
	const struct slice_layer *slice;        /* HTML: a slice as a layer; NULL: none */
	bool has_functions; /* text: the table of all functions; JSON: those without stacks and coverage, too */
};

struct crash_renderer {
	struct word format;
	struct error *(*render)(const struct crash_report *r, FILE *out); /* NULL: of slices alone */
	uint32_t default_paths; /* shown of each frame when the user does not say; 0: all */
	bool wants_activity;
};

extern const struct word_table crash_formats; /* of struct crash_renderer */

struct error *crash_render_text(const struct crash_report *r, FILE *out);
struct error *crash_render_json(const struct crash_report *r, FILE *out);
struct error *crash_render_html(const struct crash_report *r, FILE *out);
struct error *crash_render_lcov(const struct crash_report *r, FILE *out);

/* The table of all functions; nothing without activity. */
struct error *crash_functions_print(const struct crash_report *r, FILE *out);

#endif
