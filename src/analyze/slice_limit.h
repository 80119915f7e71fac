/*
 * slice_limit.h - a slice in as many steps as the request allows: backward and forward, a coarse one comes in place of one that needs more.
 */
#ifndef WM_ANALYZE_SLICE_LIMIT_H
#define WM_ANALYZE_SLICE_LIMIT_H

#include "analyze/slice.h"

/* The slice needs more steps than it may have: there is none. Coarse ones have no limit. */
static inline bool slice_is_over(const struct slice_request *request, const struct slice *s)
{
	return request->limit_steps && s->steps > request->limit_steps && !s->is_coarse;
}

/* Fills the slice, of which is_coarse is set; what it made is the caller's also where it fails, or ends since slice_is_over. */
typedef struct error *slice_make(const struct slice_request *request, struct slice *s);

/* *ret is written if there is a slice. */
struct error *slice_within_limit(const struct slice_request *request, slice_make *make, struct slice *ret);

#endif
