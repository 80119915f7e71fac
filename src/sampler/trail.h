/*
 * trail.h - the frames of a thread's last walk, by which the next one is told at the price of comparing words: for walks at each allocation.
 *
 * A frame here is one whose caller an ordinary row of call frame information tells (unwind.h, struct unwind_cache_entry): the CFA is rsp or
 * rbp and a constant, the return address is at CFA - 8, rbp is kept or saved at a constant below the CFA. So the caller's pc, rsp and rbp are
 * a function of the frame's own pc and rsp, of its rbp where that matters, and of one or two words on the stack: the return address, and rbp
 * where the row says that it is saved. rbp matters in a frame whose CFA it is, and in one that keeps it for a caller where it matters.
 *
 *      new walk       A'  B'  c   d   e           innermost first
 *      last walk          b   c   d   e           c is met again: same pc, same rsp, same rbp if it matters
 *
 * A walk steps by rows from the innermost frame on. Where it meets a frame of the last walk (the same pc and rsp, and rbp if it matters) it
 * need not look up rows any more: it compares the words which the step from there reads (struct trail_word, in one array) with those that the last
 * walk found. Where they are equal, the caller is that of the last walk too, again in pc, rsp and rbp if it matters, and so on: by induction all frames from there
 * outwards are those that a walk by rows would find. At the first word that differs the walk goes on by rows, from that word. That frames
 * have returned meanwhile and others were called in their place does not matter: what is compared is all that a walk would read. A step that
 * ends the walk is one of a row or of a return address that is 0, which is compared, too.
 *
 * The words that are read are those that a walk by rows reads, in [low, high) of the stack, no others: a frame of the last walk that is not
 * met is not followed. That rows are still those of the code at pc: images that the program came with stay; for each other image among
 * the frames the walk asks again whether it is the same (images.h).
 *
 * Other frames (code without call frame information, signal frames, expressions) end the attempt: the walk is done in full (walk.h).
 *
 * One thread's. A signal handler may come at any time, find it in use (trail_enter) and go without; it may leave by siglongjmp.
 */
#ifndef WM_SAMPLER_TRAIL_H
#define WM_SAMPLER_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "native/unwind/unwind.h"
#include "sampler/walk/images.h"

enum {
	TRAIL_FRAMES = 1 << 16,
	TRAIL_ROW_BITS = 14,
	TRAIL_ROWS = 1 << TRAIL_ROW_BITS,
	TRAIL_IMAGES = 16,
	TRAIL_NEXT_BITS = 13,
	TRAIL_NEXTS = 1 << TRAIL_NEXT_BITS,
	TRAIL_SET_BITS = 15,
	TRAIL_WAYS = 4,
	TRAIL_WORDS = 2 * TRAIL_FRAMES,
	TRAIL_DEPTHS = 256, /* a power of two */
	TRAIL_NEAR_BITS = 7,
};

enum trail_row_kind {
	TRAIL_ROW_RSP,
	TRAIL_ROW_RBP,
	TRAIL_ROW_OUTERMOST, /* nobody has called it */
	TRAIL_ROW_OTHER,     /* it is no ordinary row */
};

/* Of the code behind one return address. */
struct trail_row {
	uint64_t pc; /* 0: none */
	struct sampler_image *image;
	int32_t cfa_offset; /* from rsp or rbp */
	uint8_t kind;       /* enum trail_row_kind */
	uint8_t rbp_words;  /* rbp is saved so many words below the CFA; 0: it is kept */
	bool may_go;        /* the image, which must be among those of the trail */
};

struct trail_frame {
	uint64_t sp, rbp; /* when its call has returned; rbp: of the walk that found the frame, if it matters */
	struct trail_row row;
	uint64_t path;   /* hash of its return address and those outside of it */
	uint32_t prefix; /* of the frame and all outside of it; the root where it is left out (record.h) */
	uint32_t words;  /* so many of the trail's words are those of the steps from here outwards */
	bool needs_rbp;  /* it matters */
};

/* What a step from a frame to its caller reads, in a walk that finds the same caller. */
struct trail_word {
	uint64_t address, value;
};

/* The prefix of a call in the context of a prefix, in an image that may go. */
struct trail_next {
	uint64_t call;                     /* return address, and what else distinguishes it */
	const struct sampler_image *image; /* NULL: none */
	uint32_t below, prefix;
};

/* The same, in an image that stays. */
struct trail_call {
	uint64_t call; /* 0: none */
	uint32_t below, prefix;
};

struct trail {
	/* A set is a line of the cache, the last one first. */
	_Alignas(64) struct trail_call calls[1 << TRAIL_SET_BITS][TRAIL_WAYS];
	/* Of few calls at each depth, which are still in the cache when the next walk comes. */
	struct trail_call near[TRAIL_DEPTHS][1 << TRAIL_NEAR_BITS];
	struct trail_frame frames[TRAIL_FRAMES]; /* outermost first */
	struct trail_word words[TRAIL_WORDS];    /* those of the outermost steps first */
	uint32_t word_frames[TRAIL_WORDS];       /* from which frame that step is */
	struct trail_frame fresh[TRAIL_FRAMES];  /* of the walk in progress, innermost first */
	size_t count;
	size_t kept;  /* so many of the outermost frames are those of the walk before */
	size_t outer; /* so many of the outermost frames are left out (record.h) */
	uint32_t root;
	struct trail_row rows[TRAIL_ROWS];
	struct trail_next nexts[TRAIL_NEXTS];
	struct sampler_image *images[TRAIL_IMAGES]; /* that may go, and were there when this walk began */
	uint32_t image_count;
	uintptr_t in_use; /* the stack pointer of the walk in progress; 0: none is */
};

/* What a walk begins with: in the frame of the caller, once the call has returned. */
struct trail_start {
	uint64_t pc, sp, rbp;
	uintptr_t low, high; /* of the stack that sp is in: it stays mapped for as long as the thread is on it */
};

/* Brings the row of the code behind pc to the trail (trail_read_row): on another stack, with signals blocked. */
typedef void (*trail_look_up)(struct trail *t, uint64_t pc);

/*
 * Takes it, for a call whose frame is at `here`, on the thread's own stack [low, high). False: a walk of this thread is in progress, which
 * a handler has interrupted. One that a handler has left for good by siglongjmp is forgotten: it was on a deeper frame of the same stack.
 */
bool trail_enter(struct trail *t, uintptr_t here, uintptr_t low, uintptr_t high);
void trail_leave(struct trail *t);

/* Afterwards frames are those of this walk. False: it cannot be done by rows, and they are as before. Entered. */
bool trail_walk(struct trail *t, const struct trail_start *from, trail_look_up look_up);
/* Needs 2 KB of stack. */
void trail_read_row(struct trail *t, uint64_t pc);

static inline uint64_t trail_hash(uint64_t call, uint32_t below)
{
	return (call ^ (uint64_t)below << 32) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The place of the prefix of a call in a context, in an image that may go. */
static inline struct trail_next *trail_next(struct trail *t, uint64_t call, uint32_t below)
{
	return &t->nexts[trail_hash(call, below) >> (64 - TRAIL_NEXT_BITS)];
}

/*
 * The hash of a call on a path. Calls are placed by their paths rather than by the prefixes below them, which only say whether what is there
 * is theirs: so the places of all frames are known before any of them is read, and the processor waits for all at once.
 */
static inline uint64_t trail_path(uint64_t below, uint64_t call)
{
	uint64_t hash = (below ^ call) * UINT64_C(0x9e3779b97f4a7c15);

	return hash ^ hash >> 32;
}

/* TRAIL_WAYS places. */
static inline struct trail_call *trail_calls(struct trail *t, uint64_t path)
{
	return t->calls[path >> (64 - TRAIL_SET_BITS)];
}

/* The place of the same call at that depth. */
static inline struct trail_call *trail_near(struct trail *t, size_t depth, uint64_t path)
{
	return &t->near[depth % TRAIL_DEPTHS][path >> (64 - TRAIL_NEAR_BITS)];
}

/* Forgets all frames: of a thread that has ended, or of one whose stack is another. */
void trail_reset(struct trail *t);

#endif
