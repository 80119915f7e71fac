/*
 * source_cases.h - the labels of a switch as the source has them: 'x', a name of an enum, 0x20.
 */
#ifndef WM_MODEL_PATHS_SOURCE_CASES_H
#define WM_MODEL_PATHS_SOURCE_CASES_H

#include "format/pathmeta.h"
#include "model/source/source.h"

/*
 * The labels in front of the statement that `place` is in: "'+', '-'". They must be as many as `cases` has values, and those that are
 * literals must be among these. is_as_written: the code begins with that statement, so that names count; else all must be literals.
 * *ret: the arena's; NULL when they are not known. Fails only for want of memory.
 */
struct error *source_cases_find(struct sources *sources, const struct pathmeta_line *place,
				const struct pathmeta_cases *cases, bool is_as_written, struct arena *arena,
				const char **ret);

#endif
