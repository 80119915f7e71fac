/*
 * analysis.h - what is known of the memory of code, of all of it or of what ran: points-to sets and regions. Where the finer analysis needs too much
 * memory, the coarser one is made, and why is kept to be told.
 */
#ifndef WM_CLI_SLICING_ANALYSIS_H
#define WM_CLI_SLICING_ANALYSIS_H

#include "cli/progress.h"
#include "analyze/slice.h"
#include "cli/slicing/cache.h"

struct slicing_analysis {
	struct memory memory;
	struct regions regions;
	bool is_there;
	char *coarse; /* why the finer analysis, or a slice by it, was given up; NULL: it was not */
};

enum {
	SLICING_MILLION = 1000000,
	COUNTED_WITH_CODE_MB = 400,
	CODE_BYTES_PER_INSTRUCTION = 1000, /* of a program at -O0 with -g */
	COUNTED_LIMIT_MB = 256,
	COUNTED_LIMIT_MIN_MB = 64,
	COUNTED_LIMIT_MSTEPS = 300,
	COUNTED_SLICE_MSTEPS = 100,
};

/* The user's limits, in millions of bytes and steps; 0: the preset. counted: it is for slices of this code of which only the size is shown; else NULL. */
struct pointers_limit slicing_limit(size_t mb, size_t msteps, const struct code *counted);

/*
 * Takes it from the cache, or finds it out and keeps it there. The owner deinits, on failure too. spare: another analysis, which the coarser one does
 * without, so that it has its room: of that one nothing but `coarse` is left then. NULL: there is none.
 */
struct error *slicing_analyse(const struct slicing_cache_key *key, struct slicing_analysis *spare,
			      struct slicing_analysis *ret);
/* A slice that was made coarsely says so in *coarse, if nothing else does. */
struct error *slicing_take_slice(const struct slice *s, const struct slice_request *request, char **coarse);
void slicing_analysis_deinit(struct slicing_analysis *a);

/* A line on the terminal that says what analyses of code are doing, after the first second. */
struct slicing_progress {
	struct progress line;
	struct watch watch;
};
/* p stays where it is as long as c is analysed. */
void slicing_progress_start(struct slicing_progress *p, struct code *c);
/* Removes the line. */
void slicing_progress_end(struct slicing_progress *p);

#endif
