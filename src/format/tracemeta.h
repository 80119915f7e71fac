/*
 * tracemeta.h - the model of a `.debug_waymark_trace` section: what `waymark core` needs to read what traced functions left
 * behind. Control flow and source lines of the same functions are in `.debug_waymark_flow` (format/pathmeta.h, the same
 * format as .debug_waymark_paths), joined by name_key and cfg_key. One unit for each translation unit (source stage) or
 * linked image (final stage), as there; all functions of the unit, traced or not. docs/format.md gives every byte.
 */
#ifndef WM_FORMAT_TRACEMETA_H
#define WM_FORMAT_TRACEMETA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <waymark/trace.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "core/activity/coverage_points.h"
#include "core/paths/path_state.h"
#include "format/skipped.h"

#define TRACE_NO_POINT UINT32_MAX
#define TRACE_NO_OFFSET UINT32_MAX

enum tracemeta_callee {
	TRACEMETA_DIRECT = 0, /* `callee` is a function: of this image or of another one */
	TRACEMETA_INDIRECT,
	TRACEMETA_PURE, /* outside; calls nothing back and always returns */
	TRACEMETA_ASM,  /* inline assembly that may call */
	TRACEMETA_CALLEES,
};

/* In the order of the code: nodes rise. Intrinsics that are no calls in the end are not there. */
struct tracemeta_call {
	uint32_t node;
	enum tracemeta_callee kind;
	bool may_leave;     /* the instruction may not come back to the code behind it: may throw, or no_return */
	bool no_return;     /* it is known not to come back: noreturn, never a tail call */
	const char *callee; /* DIRECT and PURE: link name; else NULL */
	/* Its line, for people; inlined code has the function it comes from. line 0: not known. */
	const char *function; /* NULL: the function itself */
	const char *file;
	uint32_t line;
	uint32_t column;
};

/* A body of the function. Offsets are in bytes from the frame record, TRACE_NO_OFFSET for what it does not have. */
struct tracemeta_variant {
	uint8_t scheme;
	uint8_t sum_bytes; /* 1, 2, 4, 8: of sum and of each slot of the ring */
	uint32_t sum_off;
	uint32_t count_off;
	uint32_t ring_off;
	uint32_t ring_slots; /* a power of two */
	uint32_t local_off;
	uint32_t local_points; /* how many are there: those that core/activity/coverage_points.h keeps, in order; 0 without */
	uint8_t local_bits;   /* for each of them: 1 or 8; 0 without */
	uint32_t frame_bytes; /* of the whole record; 0: there is none */
};

struct tracemeta_function {
	uint64_t name_key;
	uint64_t cfg_key; /* of .debug_waymark_flow */
	uint32_t unit;
	bool is_root; /* main, exported, constructors, address taken, ...: called from where the unit does not show it */
	bool is_address_taken; /* its address is used other than to call it */
	struct tracemeta_variant variants[WM1_SCHEMES];
	uint32_t variant_count;
	bool is_tunable; /* several variants: one is chosen at run time */
	struct tracemeta_call *calls;
	uint32_t call_count;
	/* Coverage: first byte of each kind in the unit's bytes, TRACE_NO_OFFSET for none. Function: one byte, which bodies with
	 * `cc` set too; with `cc` alone it is there only where no call site proves the entry. Calls: a byte for each call in
	 * order (PURE and ASM ones too); blocks: for each node. */
	uint32_t function_off;
	uint32_t calls_off;
	uint32_t blocks_off;
	uint32_t node_count;       /* of the flow */
	struct path_state *states; /* [node_count]; NULL when no variant traces paths */
};

struct tracemeta_unit {
	uint64_t key; /* of the section's frame */
	const char *producer;
	const char *name;
	bool is_final;
	uint32_t coverage_bytes;
	uint32_t first_function, function_count; /* functions[]: in the order of WM1_POINT_FUNCTION's index */
};

struct tracemeta {
	struct arena arena;
	struct tracemeta_unit *units;
	uint32_t unit_count;
	struct tracemeta_function *functions; /* grouped by unit; copies of a function in several units are all there */
	uint32_t function_count;
	struct skipped_function *skipped;
	uint32_t skipped_count;
};

void tracemeta_init(struct tracemeta *m);
void tracemeta_deinit(struct tracemeta *m);

/* Appends one unit's bytes (units[0]) to out; *ret_key is its key, for the points' unit record. */
struct error *tracemeta_write(const struct tracemeta *m, uint64_t *ret_key, struct buffer *out);

/* Parses a whole section, all its units; checks all sizes, indices and kinds. m must be initialised. */
struct error *tracemeta_read(const void *bytes, size_t len_bytes, const char *name, struct tracemeta *m);

/* The coverage of which frames keep points of their own: WM1_SCHEME_CALLS, WM1_SCHEME_BLOCKS, or none. */
enum wm1_scheme tracemeta_own_coverage(uint8_t scheme);

/* A body with this scheme sets the function's byte on entry. */
bool tracemeta_covers_entry(const struct tracemeta_function *f, uint8_t scheme);

/* Which points of a coverage, WM1_SCHEME_CALLS or WM1_SCHEME_BLOCKS, frames keep. g: the function's flow. ret: the arena's. */
struct error *tracemeta_own_points(const struct tracemeta_function *f, const struct cfg *g, enum wm1_scheme coverage,
				   struct arena *arena, struct coverage_points *ret);

#endif
