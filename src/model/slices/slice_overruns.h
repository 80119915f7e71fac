/*
 * slice_overruns.h - the marked layer of writes out of bounds: lines that ran and whose stores may have left their object (analyze/overruns.h), and
 * what a core has of evidence which (crash_evidence.h). They are suspicions, and no dependences.
 *
 * The first ones write to the object in which what was overwritten begins. Then come those that write to an object that lies directly in front of one
 * that the slice reads; then those that write to memory of a kind that the slice reads (the stack, the heap, variables of static storage), and
 * the others. Within these: those that are more certain to leave their object, and those whose reader is nearer to the criterion.
 */
#ifndef WM_MODEL_SLICES_SLICE_OVERRUNS_H
#define WM_MODEL_SLICES_SLICE_OVERRUNS_H

#include "analyze/overruns.h"
#include "analyze/regions.h"
#include "model/slices/crash_code.h"
#include "model/slices/crash_evidence.h"
#include "model/slices/slice_lines.h"

enum slice_overrun_rank {
	SLICE_OVERRUN_EVIDENT,
	SLICE_OVERRUN_NEIGHBOUR,
	SLICE_OVERRUN_SAME_MEMORY,
	SLICE_OVERRUN_OTHER,
	SLICE_OVERRUN_RANKS,
};

struct slice_overrun {
	uint32_t line; /* in slice_lines; each once */
	enum slice_overrun_rank rank;
	enum overrun_how how;
	uint32_t object;     /* that it writes to, of the analysis */
	const char *name;    /* of the variable; NULL: an allocation */
	uint32_t allocation; /* line of it; SLICE_NO_LINE: none, or not known */
	uint32_t distance;   /* of the nearest line that reads what it may have hit; UINT32_MAX */
	bool is_in;          /* the line is in the slice, too */
};
VEC_DECLARE(slice_overrun_vec, struct slice_overrun);

struct slice_overruns {
	struct arena arena;
	struct slice_overrun_vec items;
	uint32_t counts[SLICE_OVERRUN_RANKS];
	struct crash_evidence_vec evidence;
	const char **frame_names; /* [evidence.count] function of a frame's variable, or whose frame it is; NULL */
	bool is_known;
	bool is_of_line; /* the slice is of a line: memory is not asked */
};

struct slice_overruns_request {
	const struct regions *regions; /* of what ran */
	const struct slice *slice;
	const bool *runs;
	const uint32_t *distances; /* [instruction] from the criterion (slice_omissions.h) */
	const struct slice_lines *lines;
	const struct crash_code *code;
	const struct crash_values *values;
	uint32_t thread, frame; /* that the criterion is in; UINT32_MAX: none, it is a line */
	bool shows_text;
};

struct error *slice_overruns_make(const struct slice_overruns_request *request, struct slice_overruns *ret);
void slice_overruns_deinit(struct slice_overruns *o);

#endif
