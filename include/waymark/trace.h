/*
 * trace.h - ABI of crash tracing: what instrumented code, `waymark tune` and `waymark core` agree on. stdint only.
 *
 * A function is compiled with one or several schemes; each is a body of its own (a variant). What a variant leaves behind lies
 * in the program's memory and is read from a core dump or a stopped process:
 *
 *      frame record (in the activation's stack frame, if the variant has one; offsets are in the metadata)
 *              sum      the current path's register, 1, 2, 4 or 8 bytes: with the node that control is in it gives the path
 *              count    u32, paths that have ended in this activation, modulo 2^32; but for rounds of loops with one way round,
 *                       which follows from the start of the next path (core/paths/cfg.h: CFG_CUT_ITERATION)
 *              ring     the numbers of the last ones: slot of number i is i modulo the ring's size, a power of two
 *              local    one byte, 0 or 1, for each point of call-site or block coverage that the others and the place where control
 *                       is do not tell of (core/activity/coverage_points.h); where they are many one bit: of the i-th bit i % 8 of byte i / 8
 *      coverage (one array of bytes for each unit, section wm1_coverage)
 *              one byte for each point: 0 until it is first reached. A byte, so that threads do not disturb each other
 *
 * A point of call-site coverage is set just before the call, so that a call that does not come back is there too; of
 * function coverage on entry, with `cc` only of functions whose entry no call site proves (trace_layout.c); of block coverage
 * at the start of the block. Ohmann and Liblit, "Lightweight control-flow
 * instrumentation and postmortem analysis in support of debugging" (ASE journal 2017), section 4.1 (which sets them after).
 *
 * Everything is written by single instructions on memory, so it is right at each instruction that can fault and under
 * signals; threads share nothing but coverage bytes, which only ever become 1.
 */
#ifndef WAYMARK_TRACE_H
#define WAYMARK_TRACE_H

#include <stdint.h>

/* A set of mechanisms. Block coverage has what function and call-site coverage have, so it is never with them. */
enum wm1_scheme {
	WM1_SCHEME_NONE = 0,
	WM1_SCHEME_FUNCTION = 1 << 0, /* fc */
	WM1_SCHEME_CALLS = 1 << 1,    /* cc; fc+cc is both */
	WM1_SCHEME_BLOCKS = 1 << 2,   /* stmt */
	WM1_SCHEME_COVERAGE = 7,      /* mask of the above */
	WM1_SCHEME_PATHS = 1 << 3,    /* pt */
	WM1_SCHEME_BITS = 4,
	WM1_SCHEMES = 10, /* how many sets are schemes */
};

enum {
	WM1_TRACE_RING_DEFAULT = 8, /* --wm-trace-paths=N: last paths kept for each frame, a power of two */
	WM1_TRACE_RING_MAX = 4096,
};

/*
 * One function with several schemes compiled in. Section wm1_tunables: loaded, never written. The offsets are from the address of
 * the field itself, so nothing is relocated. 28 bytes, aligned to 4.
 */
struct wm1_tunable {
	int32_t name;   /* to its linkage name in the source, NUL-terminated */
	int32_t plain;  /* to its name without scope and parameters; to "" when not known or the same */
	int32_t file;   /* to the source file it is defined in; to "" when not known */
	int32_t chosen; /* to its byte in section wm1_chosen (writable, loaded): index of the scheme that runs */
	uint8_t count;
	uint8_t zero;
	uint8_t schemes[WM1_SCHEMES]; /* enum wm1_scheme; [0] is what it is shipped with */
};

/* Called by each image's first constructor with its section: applies WAYMARK_SCHEME (format/scheme.h has the rules' syntax).
 * Without that variable it does nothing. Says once on standard error what is wrong with a rule. */
void wm1_trace_choose(const struct wm1_tunable *first, const struct wm1_tunable *end);

/*
 * Records in section .debug_waymark_points (not loaded, goes with strip), written by the assembler in the order of the code:
 *
 *      u64 address    ~0: a unit begins
 *      u64 value      of a unit: its key (FNV-1a-64, as in .debug_waymark_trace); else
 *                     bits 0-24 node (COVERED: point), 25-28 scheme of the variant, 29-31 kind, 32-63 index of the function in the unit
 *      and then       UNIT: u64 address of the unit's bytes in wm1_coverage, 0 without; FRAME: text as in assembler, with its NUL
 *
 * From `address` on, which is where the next instruction begins, or the last byte of the one that made it true:
 */
enum wm1_point {
	WM1_POINT_NODE = 0,  /* control is in node: on entering it, or the register is as on entering it */
	WM1_POINT_START = 1, /* a path has ended and the next one begins at node; the register is not set yet */
	WM1_POINT_FRAME = 2, /* the frame record is at the place of the text: "16(%rsp)", "-40(%rbp)", "(%rbx)" */
	WM1_POINT_ENTRY = 3, /* the register is not set yet: the activation begins */
	WM1_POINT_END = 4,   /* control is in node, whose path has ended already: it is the newest in the ring */
	WM1_POINT_PUSH =
		5, /* as NODE, but the ring's oldest slot has the path that ends here; count is not increased yet */
	WM1_POINT_COVERED =
		6, /* control has reached this point of the scheme's call-site or block coverage; says nothing of paths */
};

enum {
	WM1_POINT_NODE_BITS = 25, /* functions with more blocks are not traced */
	WM1_POINT_SCHEME_SHIFT = WM1_POINT_NODE_BITS,
	WM1_POINT_KIND_SHIFT = WM1_POINT_SCHEME_SHIFT + WM1_SCHEME_BITS,
	WM1_POINT_FUNCTION_SHIFT = 32,
};

#endif
