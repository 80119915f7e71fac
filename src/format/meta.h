/*
 * meta.h - the model of a `.debug_waymark` section: what one instrumented image (program or shared library) is made of.
 *
 * Written by src/instrument at link time, read by src/report. The section is not loaded; its name starts with .debug so
 * that strip, objcopy --only-keep-debug and dwz treat it as the debug information it is. docs/format.md gives every byte.
 *
 * A site is a call (or capture) in the final code. Site 0 is not used. All strings are UTF-8 without NUL inside, owned by
 * the arena of the model.
 */
#ifndef WM_FORMAT_META_H
#define WM_FORMAT_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

enum meta_function_flag {
	META_FUNCTION_ROOT = 1 << 0,      /* may be entered by a push that does not know it */
	META_FUNCTION_EXPORTED = 1 << 1,  /* visible to other images under its link name */
	META_FUNCTION_HAS_DUMMY = 1 << 2, /* some push starts here, at `restart` */
	META_FUNCTION_METHOD = 1 << 3,    /* of a virtual machine, in a recording; in no section */
	META_FUNCTION_PLACED = 1 << 4,    /* is_hybrid: the offset of the stack is known where a push starts here */
};

struct meta_function {
	const char *link_name; /* as in the symbol table, mangled */
	const char *name; /* as written in the source when known (DISubprogram linkage name or name), else link_name */
	const char *file; /* NULL when the program has no debug info */
	uint32_t line;    /* 0 when not known */
	uint32_t flags;
	uint64_t contexts; /* numCC */
	uint64_t restart;
	uint32_t frame_bytes; /* is_hybrid: from its frame (CFA) down to that of a function it calls; 0: not the same at all times */
};

/* Another name under which other images may call a function. */
struct meta_alias {
	const char *link_name;
	uint32_t function; /* index */
};

enum meta_site_kind {
	META_SITE_CALL = 0, /* direct call, encoded */
	META_SITE_BACK,     /* direct call, pushed: closes a cycle */
	META_SITE_CUT,      /* direct call, pushed: selective reduction */
	META_SITE_INDIRECT, /* pushed: callee not known */
	META_SITE_FOREIGN,  /* pushed: callee is the external function `foreign` */
	META_SITE_ASM,      /* pushed: inline assembly that calls */
	META_SITE_CAPTURE,  /* wm_capture or wm_event: no call is in progress */
	META_SITE_BOUND,    /* pushed: `caller` was called, but another image's function of its name is bound */
	META_SITE_SELF_CALL, /* `caller` calls itself: appends its code to the history (waymark/abi.h), or pushes where there is no room */
	META_SITE_KINDS,
	/* of recorded code (model/contexts/recorded_graph.h), in no section */
	META_SITE_CALLEES = META_SITE_KINDS, /* a call of any number of callees, as each epoch has it */
	META_SITE_ENTRY, /* pushed: `caller` was entered with an id of the push's epoch, begins anew */
};

enum meta_site_flag {
	META_SITE_TAIL = 1 << 0, /* a tail call: the caller's frame is gone while the callee runs */
	META_SITE_SELF = 1 << 1, /* of recorded code, FOREIGN: `caller` itself is the foreign code */
	META_SITE_JUMP = 1 << 2, /* is_hybrid: the callee's frame is where the caller's was */
	META_SITE_SPILLS =
		1 << 3, /* SELF_CALL: its push says nothing of the call, whose code is in the history above it */
};

enum {
	META_SELF_CALL_BITS_MAX = 8,
};

/* One source position; `inlined_at` is the index + 1 of the position of the call this was inlined into, 0 at the end. */
struct meta_location {
	const char *function; /* innermost function at this position: linkage name if known, else name */
	const char *file;
	uint32_t line;
	uint32_t column;
	uint32_t inlined_at;
};

struct meta_site {
	enum meta_site_kind kind;
	uint32_t flags;
	uint32_t caller;     /* function index */
	uint32_t callee;     /* function index for CALL, BACK, CUT, SELF_CALL; else 0 */
	const char *foreign; /* FOREIGN: link name of the callee; BOUND: that of `caller`, not written; else NULL */
	uint64_t addend;     /* CALL */
	uint32_t code;       /* SELF_CALL: its bits in the history */
	uint32_t bits; /* how many, 1 to META_SELF_CALL_BITS_MAX; the same in all functions that a piece of a context may have */
	uint32_t location; /* location index + 1, 0 when there is none */
};

/* Numbers of `waymark graph` that the tables do not give. */
struct meta_stats {
	uint64_t functions_total;  /* defined functions, those that need nothing included */
	uint64_t call_sites_total; /* calls in the final code, intrinsics excluded */
	uint64_t call_sites_no_code;
	uint64_t ball_larus_max_id; /* UINT64_MAX: overflowed */
	uint64_t max_id;
	uint64_t cut_nodes;
	uint64_t foreign_objects; /* objects given to the link that have machine code only */
	uint64_t foreign_members; /* the same in its archives: linked where needed */
};

struct meta {
	struct arena arena;
	const char *producer; /* "waymark 0.1.0 LLVM 19.1.7" */
	const char *unit;     /* output file name as given to the linker, for messages */
	uint64_t key; /* hash of the body, also in the image (struct wm1_image); set by meta_write, checked on read */
	struct meta_function *functions;
	uint32_t function_count;
	struct meta_alias *aliases;
	uint32_t alias_count;
	struct meta_site *sites; /* sites[0] is unused */
	uint32_t site_count;     /* sites[0] included */
	struct meta_location *locations;
	uint32_t location_count;
	struct meta_stats stats;
	bool is_hybrid; /* contexts with one number differ by the offset of the stack (core/contexts/hybrid.h) */
};

void meta_init(struct meta *m);
void meta_deinit(struct meta *m);
/* Appends the section's bytes (zstd-compressed body) to out and sets m->key. */
struct error *meta_write(struct meta *m, struct buffer *out);
/* Parses a section. name is used in messages ("lua: .debug_waymark"). Checks every index, size, kind and the key. Several
 * sections that a relocatable link put one after the other are refused with a message. m must be initialised. */
struct error *meta_read(const void *bytes, size_t len_bytes, const char *name, struct meta *m);

#endif
