/*
 * slice_places.h - the lines of source that a program's code has, numbered once for all slices of it.
 */
#ifndef WM_MODEL_SLICES_SLICE_PLACES_H
#define WM_MODEL_SLICES_SLICE_PLACES_H

#include "analyze/slice.h"

#define SLICE_NO_LINE UINT32_MAX

struct code_place {
	const char *file; /* as the program was built with, whole */
	uint32_t line;
};

struct slice_places {
	struct arena arena;
	struct code_place *items; /* by file and line */
	uint32_t count;
	uint32_t *first; /* [instruction] its first one in `of`; one more at the end */
	struct function_ids
		of; /* numbers of places: an instruction's own line, then those of the calls that it was inlined at; SLICE_NO_LINE */
};

/* The owner deinits. On failure ret is empty. */
struct error *slice_places_make(const struct code *c, struct slice_places *ret);
void slice_places_deinit(struct slice_places *p);

/* How many lines a slice has. */
struct error *slice_places_count(const struct slice_places *p, const struct code *c, const struct slice *s,
				 uint32_t *ret);

/* An instruction's own line, or SLICE_NO_LINE. */
static inline uint32_t slice_place_of(const struct slice_places *p, uint32_t instruction)
{
	return p->first[instruction] < p->first[instruction + 1] ? p->of.items[p->first[instruction]] : SLICE_NO_LINE;
}

/* The instructions of a line: inlined code belongs to its own line and to those of the calls that it was inlined at. name: the end of a
 * file's name, by whole components. ret: [instruction_count]. Returns how many. */
uint32_t slice_find_line(const struct code *c, const char *name, uint32_t line, uint32_t *ret);

/* The lines with code that are next to a line: the last one in front of it and the first one behind it. 0: none. */
struct slice_near {
	bool has_file; /* the program has code of that file at all */
	uint32_t before, after;
};
struct slice_near slice_near_line(const struct code *c, const char *name, uint32_t line);

#endif
