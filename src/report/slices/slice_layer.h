/*
 * slice_layer.h - a slice in a page of source: what slice.js needs to dim lines outside of it, and to show what a line depends on and what
 * depends on it. Any page whose source has rows #f<N>-L<line> in a section with data-file can have it.
 */
#ifndef WM_REPORT_SLICES_SLICE_LAYER_H
#define WM_REPORT_SLICES_SLICE_LAYER_H

#include <stdint.h>
#include <stdio.h>

struct slice_place {
	const char *file;
	uint32_t line;
};

struct slice_layer {
	const char *json;                 /* of the slice; slice.js has its members */
	const struct slice_place *places; /* lines that are in, and behind them those of other layers */
	uint32_t count;
};

/* Style in the page's head, data and script at its end. */
void slice_layer_print_style(FILE *out);
void slice_layer_print(const struct slice_layer *layer, FILE *out);

#endif
