/*
 * tracepoint.h - the records of a `.debug_waymark_points` section (waymark/trace.h), with their text parsed.
 */
#ifndef WM_FORMAT_TRACEPOINT_H
#define WM_FORMAT_TRACEPOINT_H

#include "base/arena.h"
#include "base/error.h"
#include "format/tracemeta.h"

enum {
	TRACEPOINT_NO_REGISTER = UINT8_MAX, /* FRAME: at a place that cannot be told by one register */
};

struct tracepoint {
	uint64_t address;  /* as linked, not as loaded */
	uint32_t function; /* index in tracemeta.functions */
	uint32_t node;     /* COVERED: the point's number, of a call or of a node */
	uint8_t scheme;
	uint8_t kind; /* enum wm1_point */
	/* FRAME: the record is at register + displacement, at this address. */
	uint8_t dwarf_register; /* x86-64 psABI: 3 rbx, 6 rbp, 7 rsp, ... */
	int32_t displacement;
};

struct tracepoints {
	struct arena arena;
	struct tracepoint *points; /* by rising address; at equal addresses in the order of the section */
	size_t count;
	uint64_t *coverage; /* [tracemeta.unit_count]: address of the unit's coverage bytes as linked, 0: none */
};

/*
 * m was read from the same file. Checks unit, function, node, scheme and kind of each record against it. Records of discarded
 * code (address 0) are left out. A single unit needs no record of its own. ret is written only on success.
 */
struct error *tracepoints_read(const void *bytes, size_t len_bytes, const char *name, const struct tracemeta *m,
			       struct tracepoints *ret);
void tracepoints_deinit(struct tracepoints *p);

#endif
