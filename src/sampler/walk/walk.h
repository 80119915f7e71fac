/*
 * walk.h - the stack of a stopped or interrupted thread, frame by frame.
 *
 * Frames are found by call frame information, which is exact, and by code and frame pointers where there is none: these are marked. A walk that ends
 * before the outermost frame says so. Nothing is read but the images, [low, high) of the stack, and what the kernel
 * copies (memory.h).
 *
 * For signal handlers: no allocation, no locks but that of a new image (images.h), errno is left alone. Needs 32 KB of stack.
 */
#ifndef WM_SAMPLER_WALK_H
#define WM_SAMPLER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "native/unwind/unwind.h"
#include "sampler/walk/images.h"
#include "sampler/walk/memory.h"

enum walk_flag {
	WALK_RETURN = 1,       /* pc follows a call; without: the next instruction of an interrupted frame */
	WALK_GUESSED = 1 << 1, /* found by code or by a frame pointer */
	WALK_SIGNAL = 1 << 2,  /* a signal handler, the frame before this, interrupted this frame */
};

enum {
	WALK_IMAGES = 8,
};

struct walk_frame {
	uint64_t pc;
	struct sampler_image *image; /* NULL: code that was made at run time */
	uint32_t flags;
};

enum walk_end {
	WALK_COMPLETE,
	WALK_NO_DATA, /* nothing says where the caller of the last frame is */
	WALK_TOO_DEEP,
	WALK_STOPPED, /* the next frame is in `stop` */
};

/* Bounds of the memory around a stack pointer; false: none is mapped there. */
typedef bool (*walk_stack_fn)(void *data, uintptr_t sp, struct unwind_stack *ret);

/* Where code that was made at run time is: mappings that were met, and copies for this walk. A thread's; all zero is empty. */
enum {
	WALK_CODE_RANGES = 8,
};

struct walk_code {
	struct eh_text ranges[WALK_CODE_RANGES];
	uint32_t next; /* to be written over */
	struct memory_windows windows;
};

struct walk {
	struct walk_frame *frames; /* innermost first; the caller's, room for max */
	size_t max, count;
	struct unwind_cache *cache; /* the thread's; NULL: none */
	struct walk_code *code;
	walk_stack_fn stack_of;
	void *data;
	struct eh_text stop;                       /* code that others walk; empty: there is none */
	struct sampler_image *images[WALK_IMAGES]; /* that this walk has met */
	uint32_t image_count;
	uint32_t switches; /* from one stack to another by code */
	/* WALK_STOPPED: the frame that the walk has come to, which is not among `frames`, and its flags. */
	struct unwind_regs stopped;
	uint32_t stopped_flags;
};

/* From a frame with these registers. */
enum walk_end walk_stack(struct walk *w, const struct unwind_regs *from);

#endif
