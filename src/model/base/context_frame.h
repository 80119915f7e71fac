/*
 * context_frame.h - one line of a decoded calling context. Strings belong to the image (context_graph.h) that the frame came from.
 */
#ifndef WM_MODEL_CONTEXTS_CONTEXT_FRAME_H
#define WM_MODEL_CONTEXTS_CONTEXT_FRAME_H

#include <stdint.h>

#include "base/vec.h"

enum {
	CONTEXT_DEPTH_MAX = 1 << 22, /* frames; what more would need is damage, or a --max-depth above it */
};

enum frame_flag {
	FRAME_INLINED = 1 << 0, /* its code was inlined into the frame before it */
	FRAME_FOREIGN = 1 << 1, /* code without Waymark: [qsort] */
	FRAME_ROOT = 1 << 2,    /* how it began: [thread], [signal] */
	FRAME_TAIL = 1 << 3,    /* called the next one as its last act: gone from the machine's stack */
	FRAME_ELIDED = 1 << 4,  /* [tail calls]: an unknown number of such frames */
	FRAME_GUESSED = 1 << 6, /* found by a frame pointer: it may be wrong */
	FRAME_METHOD = 1 << 5,  /* of a virtual machine, also in brackets: package.Class.method */
};

struct frame {
	const char *name;      /* demangled; in brackets already when FOREIGN, ROOT or ELIDED */
	const char *link_name; /* as in the symbol table; equal to name when there is no other */
	const char *file;      /* NULL when not known */
	const char *image; /* path of the ELF file that the code is in, in brackets what is none; NULL when not known */
	uint32_t line;     /* of the call (or capture) in this frame; 0 when not known */
	uint32_t column;
	uint32_t flags;
};

VEC_DECLARE(frame_vec, struct frame);

#endif
