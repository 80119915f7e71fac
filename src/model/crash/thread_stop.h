/*
 * thread_stop.h - the exact calling context of a thread wherever it was stopped: which function is the innermost one that takes part, and
 * what the thread's words mean at the instruction that it has come to (word_flow.h).
 *
 *      innermost function   it has pushed for the call in progress: the push tells it and its callers
 *                           else its own id is that of the thread, less what the code has added up to there
 *
 * Frames of callers are needed only where the innermost function has called what keeps no context (a library, a function without a capture
 * below it). The chain of callers is never unwound.
 */
#ifndef WM_MODEL_CRASH_THREAD_STOP_H
#define WM_MODEL_CRASH_THREAD_STOP_H

#include "model/crash/thread_words.h"
#include "snapshot/snapshot.h"

/* What has been found out of the functions of a process. */
struct stop_flows;
struct error *stop_flows_create(struct stop_flows **ret);
void stop_flows_destroy(struct stop_flows *flows);

struct thread_stop {
	uint32_t frame;      /* the machine frame that the context ends in */
	struct image *image; /* NULL: `name` alone is known, a function of the runtime */
	const char *name;
	uint32_t function; /* of the image */
	bool is_known;     /* else: why */
	bool is_in_call;   /* the function has pushed for a call: the entries say all */
	bool is_spilled; /* it has, but the push says nothing of the call (WM1_SP_SPILLS): its own frame stands on it */
	bool is_on_way_in; /* code of ours (WM1_CALL) leads into the function, which has no frame yet */
	uint64_t id;       /* the function's own, where it has not */
	const char *why;   /* what the function does: "stands where ..." */
};

/*
 * Finds it from the frames of the thread, innermost first. Entries of words that are not in force at that place are taken off. *ret_found
 * is false where no frame is of a function that takes part.
 */
struct error *thread_stop_find(const struct thread_reader *x, struct stop_flows *flows,
			       const struct snapshot_frame *frames, uint32_t frame_count, struct thread_words *words,
			       struct thread_stop *ret, bool *ret_found);

/* Appends the whole context of a stop that is known, the function itself included. */
struct error *thread_stop_decode(const struct thread_reader *x, const struct thread_stop *stop,
				 const struct thread_words *words, struct frame_vec *frames);

#endif
