/*
 * slice_work.h - what a backward slice is made with: contexts, worklists, and their memory. slice.c has the rules, slice_work.c the rest. Internal to
 * src/analyze.
 */
#ifndef WM_ANALYZE_SLICE_WORK_H
#define WM_ANALYZE_SLICE_WORK_H

#include "analyze/call_groups.h"
#include "analyze/region_classes.h"
#include "analyze/slice.h"
#include "analyze/sweep.h"

/*
 * Of a function: as one that a criterion is below, and as one whose effects matter to a call. Behind these two, each frame of the request is a
 * context of its own.
 */
enum context_number {
	CONTEXT_UP,
	CONTEXT_DOWN,
	CONTEXT_FRAMES
};

/* A function in a context. Its regions, as all that a slice is made with, are classes of them (region_classes.h). */
struct view {
	bool is_active; /* something of it is in the slice, so is what calls it */
	bool is_return_wanted;
	struct id_set wanted;    /* CONTEXT_DOWN: regions at its ends */
	struct id_set at_entry;  /* regions at its beginning */
	struct id_set asking;    /* CONTEXT_DOWN: calls, by place */
	struct id_set arguments; /* those that matter, by number */
};

/* An instruction in the slice. */
enum {
	IN_SLICE = 1,
	IN_FOR_VALUE = 2, /* of a call: not only for what it does */
	IN_STANDS = 4,    /* a criterion that control stands in: it has not read yet */
	IN_HAS_READ = 8,  /* in the slice, and what it reads has gone on from it */
};

/* What is known in a context, of all code or of a frame's function. Each instruction in each context has a place, a number. */
struct context {
	const struct slice_frame *frame; /* NULL: of all code */
	struct code_function range;
	uint32_t first_function, function_count;
	uint32_t first_place;
	struct view *views;
	struct id_set *at_end; /* [block] regions that matter at its end, and that have gone through it */
	struct id_set *more;   /* [block] those that have not yet; nothing of it is in at_end */
	struct id_set
		*called; /* [instruction] regions that have come from what it calls, and have not gone on from it yet */
	uint8_t *is_in;  /* [instruction] of IN_* */
	uint8_t *is_waiting; /* [block] of WAITS_* */
};

/*
 * Why a block is to be gone through. What comes out at its beginning is what comes in at its end, less what is overwritten, and what its instructions
 * and calls bring: so each is enough by itself.
 */
enum {
	WAITS_WITH_MORE = 1, /* regions have come to its end */
	WAITS_FOR_CALLS = 2, /* regions have come from functions that it calls */
	WAITS_FOR_OWN = 4,   /* more of its instructions are in the slice */
};

/* An instruction or a block, in a context. */
struct item {
	uint32_t context;
	uint32_t number;
};
VEC_DECLARE(item_vec, struct item);
VEC_DECLARE(function_ids_vec, struct function_ids);

struct work {
	const struct slice_request *request;
	const struct regions *regions;
	const struct memory *memory;
	const struct code *code;
	struct slice *slice;
	struct region_classes classes;
	struct controls controls;
	struct context *contexts;
	uint32_t context_count;
	struct sweep blocks;       /* to be gone through */
	uint32_t *effect_in_front; /* as of effects_find */
	bool is_coarse; /* all of memory is in `ever`, and all calls of a function go with CONTEXT_UP (slice.h) */
	bool has_threads;
	struct async async;
	struct id_set ever;       /* async.is_some: regions that matter somewhere */
	struct id_set ever_async; /* and in functions that may run at any time */
	struct id_set at_jumps;   /* regions that matter behind a setjmp, and so where longjmp is called */
	struct id_set landings;   /* calls of setjmp and its kin */
	struct id_set jumps;      /* calls of longjmp and its kin */
	struct id_set changed;    /* regions that an instruction changes, of those that matter */
	struct item_vec found;    /* instructions in the slice, not looked at yet */
	/* Calls that can reach many functions: what matters behind the one at hand, and of each that was come to the functions that it has not asked. */
	struct call_groups groups;
	struct id_set grouped;
	struct hashmap group_calls; /* by place */
	struct function_ids_vec left;
};

/* A set of regions.sets, as classes. */
static inline const struct id_set *classes_of(const struct work *w, uint32_t set)
{
	return &w->classes.sets[set];
}

static inline struct view *view_of(const struct work *w, uint32_t context, uint32_t function)
{
	return &w->contexts[context].views[function - w->contexts[context].first_function];
}

static inline struct id_set *end_of(const struct work *w, uint32_t context, uint32_t block)
{
	return &w->contexts[context].at_end[block - w->contexts[context].range.first_block];
}

static inline uint8_t *in_of(const struct work *w, uint32_t context, uint32_t instruction)
{
	return &w->contexts[context].is_in[instruction - w->contexts[context].range.first_instruction];
}

static inline uint32_t place_of(const struct work *w, uint32_t context, uint32_t instruction)
{
	return w->contexts[context].first_place + instruction - w->contexts[context].range.first_instruction;
}

/* request, regions, memory, code and slice are set; slice's memory is made, too. Where it fails, w is closed all the same. */
struct error *slice_work_open(struct work *w);
void slice_work_close(struct work *w);

/* The instruction of a place. */
struct item slice_work_item(const struct work *w, uint32_t place);

/* Of a call of a group, at that place: of its functions those that it has not asked. *ret_is_first: nobody has wanted to know before. */
struct error *slice_work_left(struct work *w, uint32_t place, const struct function_ids *callees,
			      struct function_ids **ret, bool *ret_is_first);

/* What mattered at the ends of blocks goes from w to ret. */
struct error *slice_work_take_demand(struct work *w, struct slice_demand *ret);

#endif
