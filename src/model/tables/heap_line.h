/*
 * heap_line.h - the live bytes of a process by time, in slices of equal length.
 */
#ifndef WM_MODEL_TABLES_HEAP_LINE_H
#define WM_MODEL_TABLES_HEAP_LINE_H

#include "model/base/profile.h"

struct heap_slice {
	uint64_t after_ns; /* its end, from the start of the process */
	uint64_t live;     /* then */
	uint64_t low, high;
};
VEC_DECLARE(heap_slice_vec, struct heap_slice);

struct heap_line {
	struct heap_slice_vec slices;
	uint64_t peak_ns; /* when the line was highest for the first time: about when the peak was */
	uint64_t end_ns;  /* of the last change that the line has */
	bool is_whole;    /* a slice for each record, since there are not more than were asked for */
};

/* Of one source; slices 0: a slice for each record. Without records there is no slice. */
struct error *heap_line_create(const struct profile *p, uint32_t source, size_t slices, struct heap_line *ret);
void heap_line_deinit(struct heap_line *line);

/* When the line of the source was highest. False: it has none. */
bool heap_line_peak(const struct profile *p, uint32_t source, uint64_t *ret_ns);
/* The only source with a line; false: there is none, or several. */
bool heap_line_source(const struct profile *p, uint32_t *ret);

#endif
