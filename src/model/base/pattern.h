/*
 * pattern.h - how a user names functions, modules and threads: a glob (fnmatch), which the whole name must match, or, between slashes, an
 * extended regular expression, which some part of the name must match.
 *
 *      Perl_hv_*        /^Perl_(hv|av)_/
 */
#ifndef WM_MODEL_BASE_PATTERN_H
#define WM_MODEL_BASE_PATTERN_H

#include <regex.h>
#include <stdbool.h>

#include "base/vec.h"

struct pattern {
	const char *text; /* not owned */
	bool is_regex;
	regex_t regex;
};
VEC_DECLARE(pattern_vec, struct pattern);

/* ERROR_ARGUMENT says what is wrong with a regular expression; option: "--function", for its message. */
struct error *patterns_add(struct pattern_vec *patterns, const char *option, const char *text);
void patterns_deinit(struct pattern_vec *patterns);
/* Whether one of them matches. text NULL: none does. */
bool patterns_match(const struct pattern_vec *patterns, const char *text);

#endif
