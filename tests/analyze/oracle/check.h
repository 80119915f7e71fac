/*
 * check.h - test only: whether each dynamic slice of a recording (shadow.h) is in the static slice of the same line.
 *
 * Criteria are lines that ran: all executions of their instructions. So is what the program did last. Instructions are compared, which is more than
 * lines. With both analyses, each must be in the slice of the code that ran in the recording, too: analysed and sliced as if there were no other
 * blocks. What the program did last must then be in two slices more, if it was stopped in calls: restricted by the stack, of all code, and by what ran
 * in each activation on it.
 *
 * Each function ends the process with status 2 where it fails, as those of oracle_code.h do. What is missing is printed.
 */
#ifndef WM_TESTS_ANALYZE_CHECK_H
#define WM_TESTS_ANALYZE_CHECK_H

#include "analyze/ran.h"
#include "analyze/slice.h"
#include "oracle_code.h"
#include "shadow.h"

/* The slices of all code, or of what ran; and the same two with the activations that were on the stack at the end. */
enum kind {
	KIND_STATIC,
	KIND_ACTIVE,
	KIND_STACK,
	KIND_FRAMES,
	KINDS
};

enum {
	ANALYSES = KIND_ACTIVE + 1, /* of all code, of what ran */
};

struct analysis {
	struct memory memory;
	struct regions regions;
	bool *runs;        /* [block] NULL: all */
	const bool *comes; /* as in slice_request */
};

struct work {
	struct code code;
	struct analysis analyses[ANALYSES];
	uint32_t analyses_used;
	uint32_t *number_of;     /* [instruction of the recording] of the code; CODE_NONE: it has none of that number */
	uint32_t *block_numbers; /* [block] its number in the recording */
	uint32_t numbered;       /* behind the last number */
	bool is_part;            /* of the code that is recorded: instructions of the rest are nobody's */
	const char *file;        /* of criteria */
	bool tells_more;    /* prints what the slice of the activations at the end has, and the dynamic one has not */
	uint32_t most;      /* criteria of a recording; 0: all */
	uint32_t *line_of;  /* [instruction] line in the order of the first instruction; CODE_NONE */
	uint32_t *first_of; /* [line] an instruction */
	uint32_t line_count;
	uint8_t *is_told; /* [instruction] */
	uint64_t criteria, stopped, dynamic, sizes[KINDS], missing, empty,
		ran; /* ran: instructions, of each recording */
};

struct shadow_recording {
	const char *name;
	const struct shadow_header *header;
	const struct shadow_node *nodes;
	uint32_t count;
	const uint8_t *blocks; /* [number of the block] it ran */
	const uint8_t *stack;
	const struct ran
		*ran; /* what is said that ran, which must be all of it and perhaps more; NULL: that is not asked */
};

/* Lines are found, and all code is analysed. The code is w->code. */
void check_begin(struct work *w);
/* The code is left, also the memory of it. Numbers stay: other code can be next. */
void check_leave(struct work *w);
/* bytes: a whole file of shadow.h, which lives as long as the recording. */
void check_take(const char *name, const void *bytes, size_t len_bytes, struct shadow_recording *ret);
void check_recording(struct work *w, const struct shadow_recording *r);
/* Prints the lines of the dynamic slice of what the program did last, and checks nothing; in the place of check_begin. What could have ended the process
 * and did not is no reason. */
void check_print_last(struct work *w, const struct shadow_recording *r);
/* Prints the numbers, of which the first is that of criteria. Returns whether something is missing, or nothing was asked. */
int check_end(const struct work *w);

#endif
