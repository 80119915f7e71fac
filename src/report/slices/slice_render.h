/*
 * slice_render.h - prints a slice: as text with the source, or as JSON.
 */
#ifndef WM_REPORT_SLICES_SLICE_RENDER_H
#define WM_REPORT_SLICES_SLICE_RENDER_H

#include <stdio.h>

#include "model/slices/slice_lines.h"
#include "model/source/source.h"

struct slice_report {
	const char *program;
	const char *criterion; /* as the user gave it */
	const struct slice_lines *lines;
	struct sources *sources;
	bool is_explained; /* names functions that are not known */
};

struct error *slice_render_text(const struct slice_report *r, FILE *out);
struct error *slice_render_json(const struct slice_report *r, FILE *out);

#endif
