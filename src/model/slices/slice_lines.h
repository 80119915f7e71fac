/*
 * slice_lines.h - a slice as lines of source, each with why it is in.
 */
#ifndef WM_MODEL_SLICES_SLICE_LINES_H
#define WM_MODEL_SLICES_SLICE_LINES_H

#include "model/slices/slice_places.h"

struct slice_line {
	const char *file; /* as the program was built with, whole */
	uint32_t line;
	bool is_in;
	enum slice_reason reason; /* why; the criterion's lines have SLICE_CRITERION */
	uint32_t of;              /* the line that it is in because of; SLICE_NO_LINE: none that differs is known */
};

/* A function outside of the program that library.h does not know. */
struct slice_unknown {
	const char *name; /* NULL: called through a pointer, or assembly */
	uint32_t calls;   /* in the slice */
};

/* Code of a line was inlined at another one. */
struct slice_inlined {
	uint32_t line, at;
};
VEC_DECLARE(slice_inlined_vec, struct slice_inlined);

struct slice_lines {
	struct arena arena;
	struct slice_line *items; /* all lines with code, by file and line */
	uint32_t count;
	uint32_t count_in;
	uint32_t *line_of;                /* [instruction] its line, the innermost one; SLICE_NO_LINE */
	struct slice_inlined_vec inlined; /* of what is in the slice; some more than once */
	uint32_t instructions, instructions_in;
	struct slice_unknown *unknown; /* most calls first */
	uint32_t unknown_count;
};

/* places: of the same code; names of files are theirs, so they must outlive ret. */
struct error *slice_lines_make(const struct slice_places *places, const struct regions *r, const struct slice *s,
			       struct slice_lines *ret);
void slice_lines_deinit(struct slice_lines *l);

#endif
