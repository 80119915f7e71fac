/*
 * block.h - the memory of a sampled thread: the stack that walks run on, the frames of a walk, what the last one became, and the cache of
 * unwinding rows. Mapped before it is needed, never unmapped; a later thread takes over that of one that has ended.
 */
#ifndef WM_SAMPLER_BLOCK_H
#define WM_SAMPLER_BLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "native/maps.h"
#include "sampler/record.h"
#include "sampler/timer.h"
#include "sampler/trail.h"
#include "sampler/waits.h"
#include "sampler/walk/walk.h"

enum {
	BLOCK_FRAMES_MAX = 1 << 16,
	BLOCK_STACK_BYTES = 64 << 10,
};

/* Writer: its own thread, but for tid, which whoever takes it over sets, and those of a thread that has no clock yet. */
struct block {
	struct block *next;
	_Atomic uint32_t tid; /* 0: free */
	_Atomic bool is_busy;
	bool is_clock_due; /* of a guest: the next look starts its clock */
	bool has_come;     /* of a guest: its thread has taken it, for its allocations */
	bool is_foreign; /* of a guest: it has no thread-local storage of the C library's, or another thread's, and is not sampled */
	enum sampler_tick tick; /* that is in progress */
	uint32_t root;
	uint32_t look;             /* of a guest: when its thread was last there (sample_guest_thread) */
	struct unwind_stack range; /* the thread's own stack; empty: not looked up yet */
	uintptr_t stack_address;   /* in it */
	uintptr_t stack_top; /* no frame of the thread's is above, and the stack goes up to it; 0: it is not known */
	uint64_t counted_ns; /* time of the thread that samples have */
	uint64_t rest_ns;    /* its time of CPU before which no stack is walked for samples of that */
	uint64_t usual_ns;   /* what walks for such samples took, the later ones for more */
	uint64_t watched_ns; /* in this time the clock was looked at */
	uintptr_t fs;        /* of a guest: its thread-local storage; 0: not looked at yet */
	struct sampler_timer timer;
	struct waits_thread waits;
	struct record_memory memory;
	/* What is above is in one page: a thread that is never sampled touches no other. */
	struct walk_code code;
	struct maps_stacks stacks; /* other ones than its own */
	bool may_be_larger;        /* the walk in progress has met one that may be larger by now */
	bool is_cut;               /* it has met one of which it was given the beginning */
	struct unwind_cache cache;
	struct record_known known[BLOCK_FRAMES_MAX];
	struct walk_frame frames[BLOCK_FRAMES_MAX];
	struct trail trail; /* of its allocations */
	_Alignas(16) char stack[BLOCK_STACK_BYTES];
};

/* This thread's; NULL: it has none yet, or none any more. */
extern _Thread_local struct block *block_own __attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
