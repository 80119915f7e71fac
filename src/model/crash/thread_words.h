/*
 * thread_words.h - a thread's id and context stack (struct wm1_thread), read from memory, and what its pushes decode to.
 *
 *      TLS of the thread                  context stack                    frames
 *      wm1_thread_state: id, top -------> (id, site) ... (id, site)  --->  main;work;[qsort]
 *
 * Below the stack of a thread or a coroutine are copies of those of its creators (struct wm1_origin).
 */
#ifndef WM_MODEL_CRASH_THREAD_WORDS_H
#define WM_MODEL_CRASH_THREAD_WORDS_H

#include "model/contexts/context.h"
#include "model/crash/word_flow.h"
#include "waymark/abi.h"

/* In memory; and where the pushes behind it are. */
struct thread_origin {
	struct wm1_origin head;
	uint64_t pushes;
};

VEC_DECLARE(thread_entry_vec, struct wm1_entry);
VEC_DECLARE(thread_origin_vec, struct thread_origin);

struct thread_words {
	struct wm1_thread state;
	struct thread_entry_vec entries;  /* innermost first; with the call that is deferred */
	struct thread_origin_vec origins; /* what they stand on: its creator's first; none: root */
	uint32_t root;
};

/* What a stopped process is read by. */
struct thread_reader {
	struct word_code code; /* its memory and functions; state_off is that of wm1_thread_state */
	/* The image that the code at the address belongs to; NULL: none with contexts. */
	struct image *(*image_of)(void *data, uint64_t address);
	struct process process;
};

/* is_first: it is the one that the process began with. *ret_is_read is false where memory is not there or makes no sense. */
struct error *thread_words_read(const struct thread_reader *x, uint64_t thread_pointer, bool is_first,
				struct thread_words *words, bool *ret_is_read);
void thread_words_deinit(struct thread_words *words);

/* Takes off entries that lie below the stack pointer: they are of frames that were left. */
void thread_words_drop_below(struct thread_words *words, uint64_t sp);

/* Appends the frames of all pushes, outermost first, and tells what stands on them. */
struct error *thread_words_decode(const struct thread_reader *x, const struct thread_words *words,
				  struct context_below *below, struct frame_vec *frames);

#endif
