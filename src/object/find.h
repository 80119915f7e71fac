/*
 * find.h - finds the metadata (of contexts, paths or tracing) of an image by build id, wherever the program or its debug
 * file is now.
 *
 * The first file, in the order of locate.h, that has the wanted build id and the section. A file of another build is never used; if
 * nothing fits, the message says which build was found and which was wanted.
 */
#ifndef WM_OBJECT_FIND_H
#define WM_OBJECT_FIND_H

#include "format/bbmap.h"
#include "format/bitcode.h"
#include "format/meta.h"
#include "format/pathmeta.h"
#include "format/tracepoint.h"
#include "object/locate.h"

/* The object to find. Unknown parts are empty: NULL path, build_id.len_bytes 0, has_key false. */
struct object_wanted {
	const char *path;
	struct build_id build_id;
	bool is_partial; /* of the build id only the beginning is known, of the key the low 32 bits */
	bool has_key;
	uint64_t key;
};

/*
 * Reads the metadata into m (initialised). ERROR_NOT_FOUND: no file with such a build id has it; ERROR_MISMATCH: only files
 * of another build were found.
 */
struct error *object_find_meta(const struct object_search *s, const struct object_wanted *wanted, struct meta *m);

/* Finds the metadata of paths, which has no key: wanted->has_key is false. */
struct error *object_find_paths(const struct object_search *s, const struct object_wanted *wanted, struct pathmeta *m);

/* The sections of tracing: .debug_waymark_trace, _flow and _points of one file; .llvm_bb_addr_map of that or another one. */
struct object_trace {
	struct tracemeta meta;
	struct pathmeta flow;
	const struct pathmeta_function **flows; /* [meta.function_count] of each function; all are there */
	struct tracepoints points;
	struct bbmap blocks; /* empty when there are none */
	struct error *why;   /* there are none: why (not there, damaged); else NULL */
};

/* ERROR_NOT_FOUND, ERROR_MISMATCH as above. wanted->has_key is false. On success the caller deinits. */
struct error *object_find_trace(const struct object_search *s, const struct object_wanted *wanted,
				struct object_trace *ret);
void object_trace_deinit(struct object_trace *t);

/* Finds the bitcode of traced functions; on success the caller deinits. */
struct error *object_find_bitcode(const struct object_search *s, const struct object_wanted *wanted,
				  struct bitcode_vec *ret);

#endif
