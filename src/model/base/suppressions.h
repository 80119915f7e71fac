/*
 * suppressions.h - contexts that a user knows and does not want to see, from files in the forms of valgrind and LeakSanitizer.
 *
 *      leak:libfontconfig           LeakSanitizer's: a frame's function, source file or image has that in its name; * is anything, ^ and $ are
 *                                   its ends
 *      {                            valgrind's: the innermost frames, in this order, by the names of the symbol table; * and ? are wild,
 *         NAME                      a line of three dots stands for any number of frames
 *         Memcheck:Leak
 *         fun:malloc
 *         ...
 *         obj:*libX11.so*
 *      }
 */
#ifndef WM_MODEL_BASE_SUPPRESSIONS_H
#define WM_MODEL_BASE_SUPPRESSIONS_H

#include "model/base/profile.h"

enum suppression_kind {
	SUPPRESS_FUNCTION,
	SUPPRESS_IMAGE,
	SUPPRESS_SOURCE,
	SUPPRESS_FRAMES,   /* any number of them */
	SUPPRESS_ANYWHERE, /* some frame, by any of its names: the only line of its suppression */
};

struct suppression_line {
	enum suppression_kind kind;
	const char *pattern; /* with * and ? */
};
VEC_DECLARE(suppression_line_vec, struct suppression_line);

struct suppression {
	size_t first, count; /* lines */
};
VEC_DECLARE(suppression_vec, struct suppression);

/* All zero is empty, but for the arena. */
struct suppressions {
	struct arena arena;
	struct suppression_line_vec lines;
	struct suppression_vec all;
	uint64_t skipped; /* valgrind's suppressions of what is no leak */
};

void suppressions_init(struct suppressions *s);
void suppressions_deinit(struct suppressions *s);
/* Adds those of a file. ERROR_FORMAT names the line that is none. */
struct error *suppressions_read(struct suppressions *s, const char *path);
/* The same of text; name: for messages. */
struct error *suppressions_parse(struct suppressions *s, const char *text, size_t len_bytes, const char *name);

/* By node of the profile, whether a context that ends there is suppressed; of nodes for which wanted is set. The caller frees it. */
struct error *suppressions_mark(const struct suppressions *s, const struct profile *p, const bool *wanted, bool **ret);

#endif
