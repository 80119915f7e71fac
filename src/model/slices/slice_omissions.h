/*
 * slice_omissions.h - the marked layer of omissions: lines whose branches decided against what could have mattered (analyze/omissions.h), those of
 * variables first, and the nearest to the criterion.
 *
 * The distance is that of the line that reads what could have been changed: how many lines a chain of dependences of any kind enters, from the
 * criterion to there. Where the search for it is given up, lines are as far away as can be.
 */
#ifndef WM_MODEL_SLICES_SLICE_OMISSIONS_H
#define WM_MODEL_SLICES_SLICE_OMISSIONS_H

#include "analyze/depends.h"
#include "analyze/omissions.h"
#include "model/slices/slice_lines.h"

#define SLICE_FAR UINT32_MAX

struct slice_omission {
	uint32_t line;     /* in slice_lines, of the branch; each once */
	uint32_t went;     /* line that it went to; SLICE_NO_LINE: not known, or several */
	uint32_t omitted;  /* line that did not run */
	uint32_t reader;   /* line that reads what it could have changed; SLICE_NO_LINE: not known */
	uint32_t distance; /* of the reader; SLICE_FAR */
	enum omission_by by;
	bool is_in; /* the line is in the slice, too, for another reason */
};
VEC_DECLARE(slice_omission_vec, struct slice_omission);

struct slice_omissions {
	struct slice_omission_vec
		items; /* those that are not in the slice first, then by what could have been changed, then by distance */
	uint32_t count_new;   /* not in the slice, and not vague */
	uint32_t count_vague; /* not in the slice, and vague; these follow */
	bool is_known;
	const char *why; /* it is not; NULL: not asked for */
};

/* [instruction] distances from the criterion, by d's slice. malloc'ed. */
struct error *slice_distances_find(struct depends *d, const struct slice_lines *l, const struct slice_request *request,
				   uint32_t **ret);

struct error *slice_omissions_make(const struct omissions_request *request, const struct slice_lines *l,
				   struct slice_omissions *ret);
void slice_omissions_deinit(struct slice_omissions *o);

#endif
