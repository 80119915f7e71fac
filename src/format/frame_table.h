/*
 * frame_table.h - sizes of stack frames of a linked program: what `waymark cc` reads in one link (object/frame_sizes.h) and the pass of
 * the next one plans a hybrid encoding with (core/contexts/hybrid.h).
 *
 * As text, a line for each function, behind them for each pair of functions of which one jumps to the other, and for each call that is to
 * have code whatever the offsets are:
 *
 *      frame BYTES NAME            BYTES: from its frame (CFA) down to that of what it calls; 0: not the same at all times
 *      jump CALLER CALLEE CALLS    numbers of functions, from 0, in the order of the lines; CALLS: 1 if it also calls it
 *      site NUMBER                 in .debug_waymark
 *
 * The tables are sorted, so that equal ones are equal bytes. The file belongs to one run of `waymark cc`; it is in no release.
 */
#ifndef WM_FORMAT_FRAME_TABLE_H
#define WM_FORMAT_FRAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct frame_function {
	const char *name; /* of the table's arena */
	uint32_t frame_bytes;
};
VEC_DECLARE(frame_function_vec, struct frame_function);

struct frame_jump {
	uint32_t caller, callee;
	bool jumps;
	bool calls;
};
VEC_DECLARE(frame_jump_vec, struct frame_jump);
VEC_DECLARE(frame_site_vec, uint32_t);

/* Functions by name, jumps by caller and callee; of one link also pairs without a jump, which the text leaves out. */
struct frame_table {
	struct arena arena;
	struct frame_function_vec functions;
	struct frame_jump_vec jumps;
	struct frame_site_vec sites; /* rising */
};

void frame_table_init(struct frame_table *t);
void frame_table_deinit(struct frame_table *t);

/* NULL: it has none of that name. */
const struct frame_function *frame_table_find(const struct frame_table *t, const char *name);
/* Calls of the callee are jumps, or some are. */
const struct frame_jump *frame_table_jump(const struct frame_table *t, const char *caller, const char *callee);

bool frame_table_has_site(const struct frame_table *t, uint32_t number);
/* Puts jumps in order, once they are all there. */
void frame_table_sort(struct frame_table *t);

/* Appends the text: frames and jumps, which the code has; sites, which are wished for. */
struct error *frame_table_write(const struct frame_table *t, struct buffer *out);
struct error *frame_table_write_sites(const struct frame_table *t, struct buffer *out);
/* t is empty; name is for messages. */
struct error *frame_table_read(const char *text, const char *name, struct frame_table *t);

enum frame_merge {
	FRAME_MERGE_FREE,    /* calls get code as the offsets want it; no sites */
	FRAME_MERGE_SETTLES, /* what had code in this link or before has it from now on: frames come to an end */
	FRAME_MERGE_ENDS,    /* functions whose size is another than before have none, too */
};

/*
 * What the next plan is to assume, of the same functions: a jump that was seen in any link is one, and a function that had no size has none.
 */
struct error *frame_table_merge(struct frame_table *t, const struct frame_table *before, enum frame_merge how);

#endif
