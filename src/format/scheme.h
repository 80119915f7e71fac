/*
 * scheme.h - names of schemes and the rules that give them to functions: `waymark cc --wm=trace=RULES`, `waymark tune --set`
 * and WAYMARK_SCHEME.
 *
 *      RULES  = RULE { ";" RULE } | "@" FILE        a file has a rule a line; # begins a comment
 *      RULE   = GLOB "=" SCHEME { "|" SCHEME }      several schemes when compiling only: the first one is shipped
 *      SCHEME = none | fc | cc | fc+cc | stmt | pt | fc+pt | cc+pt | fc+cc+pt | stmt+pt
 *      GLOB   = fnmatch(3) pattern of a function's linkage or plain name, or "file:" and one of its source file's path
 *
 * The first rule that matches a function is its own. "*", "?", "[a-z]", "[!a-z]" and "\\" are as in fnmatch(3) without flags:
 * "*" takes "/" too. A file pattern may also match what stands behind any "/" of the path: file:lib/x.c is any lib/x.c.
 * A comment begins with "#" before a rule or behind a blank.
 * No malloc, no stdio: the runtime uses the same code.
 */
#ifndef WM_FORMAT_SCHEME_H
#define WM_FORMAT_SCHEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <waymark/trace.h>

enum {
	SCHEME_NAME_MAX = 8,
	SCHEME_GLOB_MAX = 512,
};

/* False for a number that is no scheme. */
bool scheme_exists(uint8_t scheme);

/* "cc+pt"; static storage. "?" when there is no such scheme. */
const char *scheme_name(uint8_t scheme);

/* False when there is no scheme of that name. */
bool scheme_parse(const char *text, size_t len, uint8_t *ret);

struct scheme_rule {
	const char *glob; /* in the text, not NUL-terminated */
	size_t glob_len;
	uint8_t schemes[WM1_SCHEMES];
	uint8_t count;
};

/* Where reading stopped, and why: static text, NULL when all is well. */
struct scheme_problem {
	const char *at;
	const char *what;
};

/*
 * Reads the rule at *text and moves behind it and its separator (; or newline; blanks and comments are skipped). False at the
 * end or on a problem; *text is behind the bad rule then, so that a caller may go on.
 */
bool scheme_next_rule(const char **text, struct scheme_rule *ret, struct scheme_problem *problem);

/* name and plain (may be NULL) are the function's; file may be NULL or "". */
bool scheme_rule_matches(const struct scheme_rule *rule, const char *name, const char *plain, const char *file);

#endif
