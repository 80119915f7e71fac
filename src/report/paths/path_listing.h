/*
 * path_listing.h - one path for reading: its source lines, numbered, and behind them what each branch decided.
 *
 *          121  while (n--) {                -> true
 *          122      if (x > 3)               -> false
 *          125          y = f(x);
 *          ...  4 more lines
 *          131  }                            -> back to line 121
 */
#ifndef WM_REPORT_PATHS_PATH_LISTING_H
#define WM_REPORT_PATHS_PATH_LISTING_H

#include <stdio.h>

#include "model/paths/path_profile.h"
#include "model/source/source.h"

struct path_style {
	struct sources *sources;
	bool is_coloured;
	bool is_full;       /* leave nothing out */
	unsigned int width; /* columns */
};

/* Ends the line that names the path, with how it begins if not at the entry; then its lines, each after four blanks. Where
 * the source is not there, the numbers of the lines only, wrapped. */
struct error *path_listing_render(FILE *out, const struct path_profile *p, const struct path_function *f,
				  uint64_t number, const struct path_style *style);

/* Prints given steps, of the function of that name and file (NULL: not known). */
struct path_steps;
struct error *path_listing_render_steps(FILE *out, const char *name, const char *file, const struct path_steps *s,
					const struct path_style *style);

/* A line of a header of the system that was inlined and decides nothing: C++ inlines them by the dozen. Left out of paths of
 * functions of `file`, unless all is wanted or it is the last step. */
struct path_step;
bool path_listing_is_plumbing(const struct path_step *step, const char *file);

/* "name  dir/file.c:12", behind `column` columns of a line; long names are cut in the middle unless all is wanted. */
void path_listing_render_function(FILE *out, const struct path_function *f, const struct path_style *style,
				  unsigned int column);

/* In lists, C++ names are without parameters and template arguments, unless all is wanted. */
void path_listing_print_name(FILE *out, const char *name, const struct path_style *style);

/* Files whose text was wanted and is not there, a line each, with the option that names their directory. */
void path_listing_render_missing(FILE *out, const char *mark, const struct path_style *style);

#endif
