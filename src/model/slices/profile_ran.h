/*
 * profile_ran.h - which blocks of the bitcode ran, by a profile of paths.
 *
 * A profile counts every path of every activation that has ended, so what has no count did not run in the recorded runs. The argument has holes,
 * and what is in one may have run: functions with an activation that has not ended (what it did last is not counted: so is every function that
 * was left by exit or longjmp), with paths outside of a plan, with copies that nothing counts, or whose graph is not the bitcode's. A recording
 * that lost counts is refused.
 */
#ifndef WM_MODEL_SLICES_PROFILE_RAN_H
#define WM_MODEL_SLICES_PROFILE_RAN_H

#include "analyze/ran.h"
#include "model/paths/path_profile.h"

struct profile_ran_count {
	uint32_t functions; /* with code */
	uint32_t unknown;   /* of which it is not known what ran, as the graph is another one, or none is recorded */
	uint32_t part;      /* that may have run where nothing was counted, for the reasons above */
};

/* The profile is finished. ret: deinit'ed by ran_deinit. */
struct error *profile_ran(const struct path_profile *p, const struct build_id *program, const struct code *code,
			  struct ran *ret, struct profile_ran_count *ret_count);

#endif
