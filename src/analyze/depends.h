/*
 * depends.h - the direct dependences of an instruction, within a slice: what a slice is the closure of. For showing how its lines hang together.
 *
 * Registers, arguments, returned values, branches and calls are read off the code. Of memory, the stores whose values can reach a load are found
 * for each load anew, backward from it (as slice.h does for all at once): into callers, and into functions that are called on the way. A store
 * that surely overwrites a region ends the way there.
 */
#ifndef WM_ANALYZE_DEPENDS_H
#define WM_ANALYZE_DEPENDS_H

#include "analyze/call_groups.h"
#include "analyze/slice.h"

struct dependence {
	enum slice_reason reason; /* of being in a slice of the instruction */
	uint32_t on;              /* instruction or argument; CODE_NONE: a constant, or what comes from outside */
	uint32_t through;         /* SLICE_ARGUMENT: the call that hands it over; else CODE_NONE */
	bool is_address;          /* it says where memory is read or written, and not what */
};
VEC_DECLARE(dependence_vec, struct dependence);

struct depends_stores;

struct depends {
	const struct regions *regions;
	const struct slice *slice;
	const bool *runs;
	struct controls controls;
	bool has_threads;
	struct id_set landings, jumps; /* calls of setjmp and longjmp */
	struct depends_stores *stores; /* has_threads: made when memory is first asked about (depends.c) */
	struct call_groups groups;     /* asked: by depends_on_new */
	uint32_t *effect_in_front;     /* as of effects_find */
	struct id_set *wanted;         /* [place] regions that are looked for there (depends.c) */
	struct id_set *seen;           /* [place] those that depends_on_new has looked for; NULL: it was not asked */
	bool *is_waiting;              /* [place] */
	bool *lands;                   /* [function] it calls setjmp or its kin */
	struct id_set passed, changed, rest;  /* scratch */
	struct function_ids touched, waiting; /* places */
	uint64_t steps;                       /* words of sets that were gone through: what it has cost */
};

/* runs: as in slice_request. They live longer than ret. */
struct error *depends_init(const struct regions *r, const struct slice *s, const bool *runs, struct depends *ret);
void depends_deinit(struct depends *d);

/* Of an instruction of the slice, or of an argument that one uses. Appended to ret: each once or more; instructions of the slice alone. */
struct error *depends_on(struct depends *d, uint32_t number, struct dependence_vec *ret);
/* For who needs each store once: without those that were found for another instruction that this function was asked about. */
struct error *depends_on_new(struct depends *d, uint32_t number, struct dependence_vec *ret);

#endif
