/* trace_builder.h - metadata of tracing by hand, for tests and fuzz seeds. */
#ifndef WM_TESTS_TRACE_BUILDER_H
#define WM_TESTS_TRACE_BUILDER_H

#include "format/tracemeta.h"

enum {
	BUILD_TRACE_NODES = 10,
	BUILD_TRACE_CALLS = 4,
	BUILD_TRACE_SCHEME = WM1_SCHEME_FUNCTION | WM1_SCHEME_CALLS | WM1_SCHEME_PATHS, /* of its second variant */
};

struct trace_builder {
	struct tracemeta meta; /* one unit, for tracemeta_write */
	struct tracemeta_unit unit;
	struct tracemeta_function functions[2];
	struct tracemeta_call calls[BUILD_TRACE_CALLS];
	struct path_state states[BUILD_TRACE_NODES];
	struct skipped_function skipped;
};

/*
 * Function 0: three variants (none, fc+cc+pt, stmt) of ten blocks with four calls, all kinds; function 1: not traced, one block.
 * One skipped. Nothing is allocated.
 */
void build_trace(struct trace_builder *b, const char *unit);

/* A record of .debug_waymark_points. */
void build_point_unit(struct buffer *out, uint64_t key, uint64_t coverage);
void build_point(struct buffer *out, uint64_t address, enum wm1_point kind, uint32_t function, uint8_t scheme,
		 uint32_t node);
void build_point_frame(struct buffer *out, uint64_t address, uint32_t function, uint8_t scheme, const char *place);

#endif
