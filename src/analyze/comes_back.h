/*
 * comes_back.h - the calls of a backward slice that may not return and that an instruction is behind, the nearest on each way: had one of them not
 * come back, the instruction would not have run. They are in the slice for that (SLICE_COMES_BACK). For showing how its lines hang together.
 *
 * A forward problem of each function by itself. Behind a call of a function that may end the process are the nearest ones in front of the
 * function's returns, too.
 */
#ifndef WM_ANALYZE_COMES_BACK_H
#define WM_ANALYZE_COMES_BACK_H

#include "analyze/depends.h"

struct comes_back {
	const struct depends *d;
	struct id_set *at_begin; /* [block] calls, the last ones */
	bool *is_done;           /* [function] */
	struct id_set now;       /* scratch */
};

/* d is of a backward slice, and lives longer. */
struct error *comes_back_init(const struct depends *d, struct comes_back *ret);
void comes_back_deinit(struct comes_back *c);

/* Appended to ret: calls that the instruction depends on. */
struct error *comes_back_of(struct comes_back *c, uint32_t instruction, struct function_ids *ret);

#endif
