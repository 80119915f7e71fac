/*
 * crash_fold.h - what is shown once because it is the same again: rounds of a recursion, threads that wait alike, paths round a
 * loop; and which frames are left out when there are too many.
 */
#ifndef WM_MODEL_CRASH_CRASH_FOLD_H
#define WM_MODEL_CRASH_CRASH_FOLD_H

#include "model/crash/crash.h"

/* One line of a stack. */
struct crash_row {
	uint32_t frame;  /* the first one */
	uint32_t count;  /* 1: it is shown */
	uint32_t period; /* of more: they go round so many again; 0: they are left out */
};

struct crash_rows {
	struct crash_row *items; /* the arena's */
	uint32_t count;
};

/* Chooses which of `count` frames are shown: all but [*ret_from, *ret_to). Most of them are the innermost ones. frame_limit 0: all. */
void crash_frames_left_out(uint32_t count, uint32_t frame_limit, uint32_t *ret_from, uint32_t *ret_to);

/* Innermost first. Of a recursion the first two rounds and the last one are shown, unless is_whole; of what is left at most
 * frame_limit frames. */
struct error *crash_rows_of(const struct crash_thread *t, uint32_t frame_limit, bool is_whole, struct arena *arena,
			    struct crash_rows *ret);

/* They led the same way. */
bool crash_paths_alike(const struct crash_path *a, const struct crash_path *b);
/* Their frames stand in the same places, came there by the same paths, and have the same coverage. */
bool crash_threads_alike(const struct crash_thread *a, const struct crash_thread *b);

/* The calls are of one place in the source. */
bool crash_calls_alike(const struct tracemeta_call *a, const struct tracemeta_call *b);
/* The code of one call of the source may be there several times: it was made if any of them was, and is shown once. f->meta and
 * f->calls_used only. */
bool crash_call_is_repeat(const struct crash_frame *f, uint32_t index);

#endif
