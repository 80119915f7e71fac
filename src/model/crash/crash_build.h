/*
 * crash_build.h - private to crash*.c: building a struct crash.
 */
#ifndef WM_MODEL_CRASH_CRASH_BUILD_H
#define WM_MODEL_CRASH_CRASH_BUILD_H

#include "model/crash/crash.h"

#define CRASH_NONE UINT32_MAX

VEC_DECLARE(crash_number_vec, uint32_t);

/* Points of one function of the source that can be the last ones passed when control is at an address. */
struct crash_position {
	uint32_t function;      /* index in the image's meta.functions */
	const uint32_t *points; /* indices in points.points; none of kinds FRAME and COVERED */
	uint32_t point_count;
	const uint32_t *records; /* those of kind FRAME */
	uint32_t record_count;
	const uint32_t *covered; /* those of kinds COVERED and ENTRY: the last of either */
	uint32_t covered_count;
	bool is_before;         /* control can come from the function's beginning without passing a point */
	bool is_before_record;  /* the same of kind FRAME */
	bool is_before_covered; /* the same of those kinds */
	uint8_t scheme;         /* of the variant that this code is */
};

/* One function of the source at an address: the machine function's own, or one inlined into it. */
struct crash_level {
	const char *function;
	const char *name;
	const char *file;
	uint32_t line;
	uint32_t column;
	uint32_t index;                        /* in meta.functions; CRASH_NONE */
	const struct crash_position *position; /* NULL: no points */
	/* Without points, by the line. */
	enum crash_position_kind kind;
	const uint32_t *nodes;
	uint32_t node_count;
};

/* All that follows from an address alone. */
struct crash_site {
	uint32_t image; /* CRASH_NONE */
	uint64_t pc;    /* looked up; as linked */
	const struct debug_line *lines;
	struct crash_level *levels; /* innermost first */
	uint32_t level_count;
};

VEC_DECLARE(crash_site_vec, struct crash_site *);
VEC_DECLARE(crash_note_vec, const char *);
VEC_DECLARE(crash_known_path_vec, struct crash_path);

/* The path to a node with a register there. */
struct crash_partial {
	bool fits; /* there is one */
	struct path path;
};
VEC_DECLARE(crash_partial_vec, struct crash_partial);

struct crash_builder {
	struct hashmap sites; /* (pc looked up, is it an activation) -> known_sites */
	struct crash_site_vec known_sites;
	struct hashmap paths; /* (image and function, number) -> known_paths */
	struct crash_known_path_vec known_paths;
	struct hashmap partials; /* (image and function, node and width, register) -> known_partials */
	struct crash_partial_vec known_partials;
	struct crash_number_vec scratch; /* edges of the path being made */
	struct crash_note_vec notes;
};

static inline struct crash_builder *crash_builder(struct crash *c)
{
	return c->builder;
}

/* Adds a line to the notes; printf's. */
struct error *crash_note(struct crash *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Each function of the source that has points in the machine function at pc (as linked). The arena's. */
struct error *crash_positions_find(const struct object_trace *t, uint64_t pc, struct arena *arena,
				   struct crash_position **ret, uint32_t *ret_count);

/* Which function of the metadata each level of a site is, and without points where in it, by the line. */
struct error *crash_name_levels(struct crash *c, struct crash_site *site, const struct crash_position *positions,
				uint32_t position_count, bool is_call);
/* The call in progress; inner: linkage name of the function that was called, NULL when not known. */
uint32_t crash_find_call(const struct crash_image *image, const struct crash_site *site, uint32_t level,
			 const struct crash_frame *frame, const char *inner);

/* Coverage of an activation, of which the frame has the variant. record: its address, or NULL. */
struct error *crash_read_own_coverage(struct crash *c, const struct crash_level *level, const uint64_t *record,
				      struct crash_frame *frame);

/* Paths and coverage of an activation from the process's memory; frame has what follows from its site. */
struct error *crash_read_frame(struct crash *c, const struct crash_level *level, struct crash_frame *frame);

/* The frame of a function of one node, which needs no points. */
struct error *crash_take_only_node(struct crash *c, const struct crash_level *level, struct crash_frame *frame);

/* Coverage over the whole run. */
struct error *crash_read_coverage(struct crash *c);

#endif
