/*
 * source_condition.h - the text of what a branch tests, cut out of the source: of `if (a && !f(b, c))`, `a` or `!f(b, c)`.
 *
 * Metadata has one place of a test, an operator or a name. From there it goes on to both sides up to what ends an operand:
 * `&&`, `||`, `?`, `:`, `,`, `;`, assignments, and a parenthesis that was not opened in it. A text that this cannot be sure of is
 * none. No type is known, so nothing of C++ that needs types is understood, only noticed.
 */
#ifndef WM_MODEL_PATHS_SOURCE_CONDITION_H
#define WM_MODEL_PATHS_SOURCE_CONDITION_H

#include "format/pathmeta.h"
#include "model/source/source.h"

struct source_condition {
	const char *text; /* the arena's, blanks as one, long ones cut; NULL: not known */
	bool is_alone;    /* no other operand of what it is part of stands on its line */
	bool is_known;    /* its value is that of the test, or with is_negated its opposite */
	bool is_negated;
};

/* sources: where the file is read. Fails only for want of memory. */
struct error *source_condition_find(struct sources *sources, const struct pathmeta_test *test, struct arena *arena,
				    struct source_condition *ret);

#endif
