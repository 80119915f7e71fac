/*
 * line.h - a line of source that is asked about, FILE:LINE or FILE:LINE:VARIABLE: the instructions that a slice begins with.
 */
#ifndef WM_CLI_SLICING_LINE_H
#define WM_CLI_SLICING_LINE_H

#include "analyze/probe.h"

struct slicing_line {
	const char *text; /* as it was given */
	char *file;
	uint32_t line;
	const char *variable;       /* NULL: all that the line does */
	struct ir_value_vec probes; /* of the variable */
};

/* False: the text names no line; ret is as it was. On success the caller deinits ret, which points into text. */
struct error *slicing_line_parse(const char *text, struct slicing_line *ret, bool *is_line);
void slicing_line_deinit(struct slicing_line *l);

/* Between code_open and code_number_all: asks the code for the variable, if there is one (analyze/probe.h). */
struct error *slicing_line_probe(struct slicing_line *l, struct code *c);

/*
 * The instructions that are asked about. criteria: [instruction_count]. runs: [block], what ran; NULL: all can. program: for messages.
 * ERROR_NOT_FOUND: there is no code of the line, or none of it ran.
 */
struct error *slicing_line_find(const struct slicing_line *l, const struct code *c, const bool *runs,
				const char *program, uint32_t *criteria, uint32_t *ret);

#endif
