/*
 * probe.h - reads a variable at a line of source, as if the program did so itself: instructions that are put into the code before it is numbered,
 * so that every analysis sees what the variable's value there depends on.
 *
 * The value is that at the beginning of the line, or, where the line sets the variable itself, behind that. Each piece of code that the line has
 * gets its own probe, also where it was inlined.
 */
#ifndef WM_ANALYZE_PROBE_H
#define WM_ANALYZE_PROBE_H

#include "analyze/code.h"
#include "llvm/ir.h"

struct probe_question {
	const char *file; /* the end of its name, by whole components */
	uint32_t line;
	const char *variable; /* NAME, and members: a.b, a->b */
};

/* c is open, not yet numbered (code_open). ret: instructions that have the variable's values, or a part of them. A line without code gives none.
 * Errors: no such variable or member, or the optimizer kept no value of it there. */
struct error *probe_add(struct code *c, const struct probe_question *question, struct ir_value_vec *ret);

#endif
