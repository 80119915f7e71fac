/*
 * diff_renames.h - functions that have another name in a new build.
 *
 * A function may have been renamed if the old build has it and the new one has none of its name, and the new name is one that the old build
 * lacks. Builds are asked, not recordings (profile.functions): a function that was not seen to run is not gone. Such a pair is one function if
 *   - callers that both builds have agree: some are shared, and those of one are among those of the other; so do callees, and
 *   - the code looks alike: equal lines of calls, counted from the function's own, or the same size to an eighth; then it is in the same source
 *     file, or has a callee in common; or its code was changed, and callers, callees and source file are equal,
 *   - and no other pair of the two would do. Of several the one counts that is alike exactly and in the same file.
 * Names that were matched count as shared in the next round.
 */
#ifndef WM_MODEL_TABLES_DIFF_RENAMES_H
#define WM_MODEL_TABLES_DIFF_RENAMES_H

#include "model/tables/diff_names.h"

struct diff_rename {
	const char *names[DIFF_SIDES];
};
VEC_DECLARE(diff_rename_vec, struct diff_rename);

/* Appends them to ret, by old name, and gives the frames of the old side their new names. */
struct error *diff_renames_find(struct diff_names sides[DIFF_SIDES], struct diff_rename_vec *ret);

#endif
