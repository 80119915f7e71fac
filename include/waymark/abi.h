/*
 * abi.h - what instrumented code, the runtime and the readers agree on, in memory and on disk.
 *
 * stdint only. Names with the prefix wm1_ belong to the in-process ABI until the first release; a later, incompatible one gets
 * another prefix, so that two versions in one process cannot meet by accident.
 *
 *                      thread-local state                    context stack of the thread
 *     instrumented  .-------------------.                .--------------------------------.
 *     function ---->| id  | top --------|--------------->|            (free)              |
 *                   | deferred sp, site |                | top-1  id site sp prefix run   |  <- last push
 *                   | origin            |                |                                |
 *                   '---|---------------'                | ...                            |
 *                       v                                | base   prefix = kind of root   |
 *                   pushes of the creator                '--------------------------------'
 *
 * A push is: write *top, then top++, then id = the callee's restart value. Whoever pushed puts both words back after the
 * call, as absolute values: so longjmp and exceptions need no unwinding of ours.
 *
 * A call of foreign code is pushed only if somebody needs the entry. The call notes its site and its stack pointer: it is *deferred*.
 * Code that is entered from outside, a capture, and all else that looks at the stack push it first (wm1_push_deferred). The caller
 * finds its own stack pointer in deferred_sp, and then nothing was pushed; else it takes the push off (wm1_put_back).
 *
 * A function that calls itself keeps its id and appends to the *history* which of its calls it was: k bits, which the call takes off again.
 * Each push notes the history, so what has been added since is known to belong to the functions since that push. A call for which there is no room is
 * pushed, with WM1_SP_RESTARTS in its sp, and the history starts again.
 *
 *      history    0 .. 0 | 1 | code | code | .. | last code          1: nothing has been added
 *      call       history < 2^(32-k) ?  history = history << k | code  :  push, history = 1
 *      return     history >>= k;  0: there was a push, take it off
 *
 * Of several such calls in a row the first one looks for room, and the others replace its code. Where there is none, the push has WM1_SP_SPILLS and says
 * nothing of the call: the history is its code, which is not 0.
 *
 *      between    history ^= code ^ next code
 */
#ifndef WAYMARK_ABI_H
#define WAYMARK_ABI_H

#include <stdint.h>

enum {
	WM1_ABI_VERSION = 3,

	/* The context stack is a list of segments, each this large and aligned to it: top at a multiple of it (NULL too)
	 * means "no room, call wm1_grow". */
	WM1_SEGMENT_BYTES = 65536,

	/* Reserved prefixes: the kinds of root. 0 is "not interned yet". */
	WM_PREFIX_NONE = 0,
	WM_PREFIX_PROCESS = 1,  /* program entry: nothing is printed for it */
	WM_PREFIX_THREAD = 2,   /* [thread]: what created it is not known */
	WM_PREFIX_SIGNAL = 3,   /* [signal] */
	WM_PREFIX_LOST = 4,     /* [lost]: the prefix could not be recorded; counted in the .wmk header */
	WM_PREFIX_NO_DATA = 5,  /* [no unwind data]: a walk of the stack ended there; what called it is not known */
	WM_PREFIX_TOO_DEEP = 6, /* [too deep]: of a walk, too; the outermost frames are left out */
	WM_PREFIX_NOT_KEPT = 7, /* [not kept]: the program keeps no context for such an event (WM1_IMAGE_OWN_EVENTS) */
	WM_PREFIX_FIRST = 16,   /* the first interned one */

	/* Site numbers are unique in a process: image base + index in the image. The first image starts here. */
	WM_SITE_FOREIGN = 0, /* as capture point: in foreign code called from the last pushed site */
	WM_SITE_THREAD = 1,  /* in a prefix: [thread], a thread began here that was created by what is below */
	WM_SITE_SIGNAL = 2,  /* in a prefix: [signal], a handler began here; it interrupted what is below */
	WM_SITE_TASK =
		3, /* in a prefix: [task], what is below is in a task that others have enqueued (src/recorder/task.h) */
	WM_SITE_HISTORY =
		4, /* in a prefix: no push; its id is the history at the push or the capture that stands on it */
	WM_SITE_FIRST = 16,
	/* The program's own sites start here: its code knows their numbers. */
	WM1_SITE_PROGRAM = 0x40000000,
	/* From here on: of no image. What is captured in a library before its first constructor, as by a malloc that is preloaded, has no number. */
	WM1_SITE_NOWHERE = 0x70000000,

	/* Tasks that were enqueued in tasks: the recorder looks through a part of them for equal ones; more are damage. */
	WM_TASK_LINKS_MAX = 1024,

	/* The encoding of programs and libraries that were built with Waymark never changes: it is one epoch. */
	WM_EPOCH_COMPILED = 0,

	/* Pushes before tail calls: sp is the slot of the return address (8 modulo 16, unlike any other sp) plus, in the low
	 * three bits, how many tail calls of the same frame came before. The last of them is replaced by any further one. */
	WM1_TAIL_ORDINALS = 7,
	/* Set in the sp of a push behind which the history starts again: at 1, or at 0. Of other pushes only those before tail calls have low bits. */
	WM1_SP_RESTARTS = 1,
	WM1_SP_SPILLS = 2,
	WM1_SP_MARKS = 15,
	WM1_HISTORY_NONE = 1,
};
/*
 * Contexts that a walk of the stack found: each node is one frame, its site where that is, and no number is encoded. The id of a frame
 * that was not found by call frame information is WM_WALKED_GUESSED.
 */
#define WM_EPOCH_WALKED (UINT32_MAX - 1)
#define WM_WALKED_GUESSED UINT64_C(1)
/* Set in the site of such a replacement: tail calls between this entry and the one below are left out. */
#define WM1_SITE_ELIDED 0x80000000u

/* Local functions of a shared library through which it calls its own exported functions: for each f its WM1_CALL f, which jumps to f's
 * code or, when the dynamic linker has bound another image's, to WM1_CALL_BOUND. That one pushes, its sp so far below its caller's. */
#define WM1_CALL "wm1.call."
#define WM1_CALL_BOUND "wm1.call_bound"
enum {
	WM1_CALL_BOUND_BYTES = 160,
};

/* One pushed (caller id, call site). 32 bytes. prefix and run are the runtime's cache and are 0 when pushed. */
struct wm1_entry {
	uint64_t id;     /* the caller's id at the call */
	uint64_t sp;     /* stack pointer of the caller: shows which entries a longjmp leaves behind */
	uint32_t site;   /* site number of the process; in slot 0 the low half of an origin */
	uint32_t prefix; /* interned number of the stack up to and with this entry, 0 if not known yet */
	uint32_t run;    /* how many equal (id, site, history) end here, 0 if not known yet */
	__extension__ union {
		uint32_t history; /* the caller's at the call */
		uint32_t below; /* of a signal handler's: the prefix [signal], 0 if not known yet; in slot 0 the high half of an origin */
	};
};

/* `run` pushes with this (id, site) in a row. */
struct wm1_push {
	uint64_t id;
	uint32_t site;
	uint32_t run;
};

/* The context in which a thread or a coroutine was created. Shared by all of that context, never changed but for prefix, never
 * freed; in memory that core dumps have. Behind it follow the pushes, outermost first. */
struct wm1_origin {
	struct wm1_origin *creator; /* of the creating stack, when that is what the pushes stand on */
	uint32_t root;              /* what they stand on if creator is NULL: a prefix */
	uint32_t prefix;            /* of the new stack, 0 before anything was captured on one */
	uint32_t is_coroutine;      /* else a thread */
	uint32_t push_count;
};

/* A coroutine's stack: slot 0 of its first segment has the address of its origin, in two halves, or this when there is none. A
 * thread's stack has 0 there. */
#define WM1_ORIGIN_NONE 1u

/* Thread-local, initial-exec; writer: its own thread only, handlers on that thread put back what they found. */
struct wm1_thread {
	uint64_t id;
	struct wm1_entry *top;     /* first free entry; NULL before the thread's first push */
	struct wm1_origin *origin; /* NULL: not known, or the program's first thread */
	uint64_t deferred_sp; /* not 0: a call of foreign code is in progress whose push has been put off; id is its caller's */
	uint32_t deferred_site; /* written before deferred_sp */
	uint32_t unused;
	uint32_t zero; /* always: a push writes it, with the history, to run and history of its entry */
	uint32_t history;
};

enum {
	WM1_IMAGE_PROGRAM = 1, /* its site_base is WM1_SITE_PROGRAM */
	/* Of programs: its calls of other code push only for captures at the program's own sites. What other code captures has no context. */
	WM1_IMAGE_OWN_EVENTS = 2,
	WM1_IMAGE_HYBRID = 4, /* of programs: contexts with one number differ by the offset of the stack */
};

/*
 * The ids of a program with hybrid encoding. Its code keeps the number, twice, and bit 0: whether the piece of the context that began with the
 * last push, or with main, began at a known place of the stack. What is recorded has the offset from that place down to the stack
 * pointer of the site beside it:
 *
 *      63  62              40  39              1   0
 *       0   offset / 8          number             1       placed
 *       0   0                   number             0       not placed: the number alone decides
 */
enum {
	WM1_HYBRID_PLACED = 1,
	WM1_HYBRID_OFFSET_SHIFT = 40,
	WM1_HYBRID_OFFSET_UNIT = 8,
	WM1_HYBRID_OFFSET_END = 1 << 26,
};

/* One instrumented image (program or shared library), in its writable data; registered by its first constructor. */
struct wm1_image {
	uint32_t abi_version;
	uint32_t site_count;
	uint32_t site_base; /* written by wm1_register; of a library, until then: from WM1_SITE_NOWHERE on */
	uint32_t flags;     /* WM1_IMAGE_* */
	const void *ehdr;   /* its ELF header in memory (__ehdr_start) */
	uint64_t meta_key;  /* a hash of its .debug_waymark, the same number in that section's header */
};

#endif
