/*
 * crash_lines.h - activity of source lines and of functions: which ran, cannot have run, or may have run.
 *
 * A line ran when any of its code did, and cannot have run when none of it can. Code that exists several times (inlined,
 * instantiated, in several images) counts together. Of the block where a frame's control is, the lines behind it are not
 * taken to have run, unless another path shows it. What may have run unseen (hidden.h) is no line that cannot have run.
 */
#ifndef WM_MODEL_CRASH_CRASH_LINES_H
#define WM_MODEL_CRASH_CRASH_LINES_H

#include "model/crash/crash_hidden.h"

enum {
	CRASH_LINE_UNKNOWN = 3, /* beside enum activity_state: nothing was analysed */
	CRASH_LINE_STATES,
};

struct crash_line {
	uint32_t file;
	uint32_t line;
	uint8_t state;
};
VEC_DECLARE(crash_line_vec, struct crash_line);

/* Copies of one name and place together. */
struct crash_line_function {
	uint32_t file;
	uint32_t line;
	uint32_t id; /* of one of them, as in struct crash */
	const struct pathmeta_function *flow;
	uint8_t state;
	uint32_t blocks[CRASH_LINE_STATES]; /* of each state; of several copies: of the one that ran most */
};
VEC_DECLARE(crash_line_function_vec, struct crash_line_function);

struct crash_line_file {
	const char *name; /* plain */
	size_t first_line, line_count;
	size_t first_function, function_count;
	size_t states[CRASH_LINE_STATES]; /* lines */
};
VEC_DECLARE(crash_line_file_vec, struct crash_line_file);

VEC_DECLARE(crash_file_number_vec, uint32_t);

struct crash_lines {
	struct arena arena;
	struct hashmap spelled_map; /* names as the metadata spells them -> spelled */
	struct crash_file_number_vec spelled;
	struct hashmap file_map; /* plain names -> files */
	struct crash_line_file_vec files;
	struct crash_line_vec lines;              /* by file, line */
	struct crash_line_function_vec functions; /* by file, line, name; those without a place are last, their file is
						     UINT32_MAX */
	size_t placed_functions;
	struct hidden hidden;
	bool has_jumps; /* any call may be left by longjmp */
};

/* activity: NULL when there is none. It borrows names of the crash. */
struct error *crash_lines_create(const struct crash *c, const struct activity_result *activity,
				 struct crash_lines *ret);
void crash_lines_deinit(struct crash_lines *l);

/* The file of that name, or a new one without lines; found as long as l is there. */
struct error *crash_lines_file(struct crash_lines *l, const char *name, uint32_t *ret);
/* NULL: there is no code on it. */
const struct crash_line *crash_lines_find(const struct crash_lines *l, uint32_t file, uint32_t line);

/* Finds the lines that one activation ran: of a node that ran, the lines before ret[node]. edges: crash_frame_activity's. */
void crash_lines_own_ends(const struct crash_lines *l, const struct crash *c, uint32_t thread, uint32_t frame,
			  const uint8_t *edges, uint32_t *ret);

/* "yes", "maybe", "no", "unknown" */
const char *crash_state_name(uint8_t state);

#endif
