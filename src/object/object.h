/*
 * object.h - what Waymark wants to know of one ELF file: build id, the sections with its metadata, where its separate debug
 * file is.
 *
 * Sections that the linker or objcopy compressed (SHF_COMPRESSED) are unpacked. Errors name the path.
 */
#ifndef WM_OBJECT_OBJECT_H
#define WM_OBJECT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
	BUILD_ID_MAX = 32,
};

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	uint32_t len_bytes; /* 0: none */
};

enum object_section {
	OBJECT_CONTEXTS, /* .debug_waymark */
	OBJECT_PATHS,    /* .debug_waymark_paths */
	OBJECT_TRACE,    /* .debug_waymark_trace */
	OBJECT_FLOW,     /* .debug_waymark_flow */
	OBJECT_POINTS,   /* .debug_waymark_points */
	OBJECT_BLOCKS,   /* .llvm_bb_addr_map: strip leaves it */
	OBJECT_IR,       /* .debug_waymark_ir */
	OBJECT_SECTIONS,
};

struct object_bytes {
	uint8_t *bytes; /* malloc'd; NULL when the file has no such section, or it was not asked for */
	size_t len_bytes;
};

struct object {
	struct build_id build_id;
	bool is_relocatable; /* an object file (.o), not linked yet */
	bool is_dynamic;     /* has an interpreter: LD_PRELOAD works on it */
	struct object_bytes sections[OBJECT_SECTIONS];
	char *debuglink; /* .gnu_debuglink's file name, malloc'd; NULL when it has none */
};

/* sections: bit 1 << OBJECT_* for each whose bytes are wanted. */
struct error *object_read(const char *path, unsigned int sections, struct object *ret);
void object_deinit(struct object *o);

/* Properties that decide how a program can be run. */
struct object_program {
	bool is_instrumented; /* by waymark cc; as far as its dynamic symbols tell when it is stripped */
	bool keeps_contexts;  /* its runtime is of before the sampler, and hands over to nothing */
	bool has_no_recorder; /* of its runtime it has only what keeps contexts: libwaymark-rt.so is to come with what records (struct wm1_whole) */
	bool is_dynamic; /* as in struct object */
	bool is_x86_64;
	const char *unfit;         /* why the agent cannot work in it (base/unfit.h); NULL: it can */
	const char *allocator;     /* a function of an allocator whose names are not malloc's; NULL: none is known */
	const char *own_allocator; /* such a function beside malloc, in the program itself; NULL: none is known */
	bool has_malloc;           /* malloc is its own, or it is linked with a library of such an allocator */
	bool is_loader;            /* the dynamic linker itself: what it is given as an argument is what runs */
	const char *libc;          /* the C library, if its loader is known to be of another than glibc; NULL */
};

/* ERROR_FORMAT: it is no ELF file. */
struct error *object_read_program(const char *path, struct object_program *ret);

/* ".debug_waymark" and so on. */
const char *object_section_name(enum object_section section);

enum {
	BUILD_ID_TEXT_MAX = BUILD_ID_MAX * 2 + 1,
};
/* Lower-case hex, or "none". Returns buf. */
const char *build_id_text(const struct build_id *id, char buf[BUILD_ID_TEXT_MAX]);
bool build_id_equal(const struct build_id *a, const struct build_id *b);

#endif
