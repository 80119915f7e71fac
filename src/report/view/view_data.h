/*
 * view_data.h - the data of the page: arrays of numbers that a browser takes as they are, and what packs them into text.
 *
 * Text of a profile is a number in `strings`; nodes, frames and metrics are those of the profile.
 */
#ifndef WM_REPORT_VIEW_VIEW_DATA_H
#define WM_REPORT_VIEW_VIEW_DATA_H

#include <stdio.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "model/base/profile_view.h"

enum {
	VIEW_SLICES = 1000, /* of the time between the first and the last event */
};

VEC_DECLARE(view_numbers, uint32_t);
VEC_DECLARE(view_values, double);

/* The numbers of one metric: its contexts, and the value of each. */
struct view_cells {
	struct view_numbers nodes;
	struct view_values values;
};

/* Events of one metric, thread and context in one slice of time are one row. */
struct view_event_rows {
	struct view_numbers slices, threads, metrics, nodes;
	struct view_values counts, sums;
};

struct view_data {
	struct hashmap strings;                                                  /* by pointer */
	struct view_numbers frame_names, frame_files, frame_images, frame_lines; /* strings, 0: none, else number + 1 */
	struct view_numbers node_parents, node_frames;
	struct view_cells *cells; /* by metric */
	size_t metric_count;
	struct view_event_rows events;
	struct hashmap threads;      /* of events, by name, else by number */
	uint64_t begin_ns, slice_ns; /* CLOCK_REALTIME of the first slice; length of each, 0: there are no events */
};

struct error *view_data_create(const struct view *v, struct view_data *ret);
void view_data_deinit(struct view_data *d);

/*
 * Writes to `out` in base64 what gzip makes of: the header's length in bytes (32 bits, little-endian), the header, and the arrays in the order of
 * the struct, each from a multiple of 8 bytes on; by metric first the contexts, then the values.
 */
struct error *view_data_write(const struct view_data *d, const char *header, FILE *out);

#endif
