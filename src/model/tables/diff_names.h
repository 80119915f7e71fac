/*
 * diff_names.h - what the two sides of a difference share: the names of their functions as they are compared, without what a compiler adds to
 * a name (.constprop.0, .isra.0, .part.0, .cold). Texts are those of one profile, so that equal text is an equal pointer.
 */
#ifndef WM_MODEL_TABLES_DIFF_NAMES_H
#define WM_MODEL_TABLES_DIFF_NAMES_H

#include "model/base/profile_view.h"

enum diff_side {
	DIFF_OLD,
	DIFF_NEW,
	DIFF_SIDES,
};

/* One side. Arrays are by frame of its profile. */
struct diff_names {
	const struct view *view;
	const char **names;
	const char **link_names;
	const char **
		files; /* names of source files without their folders, which differ between checkouts; NULL: not known */
};

/* both: owns the texts. */
struct error *diff_names_create(const struct view *v, struct profile *both, struct diff_names *ret);
void diff_names_deinit(struct diff_names *n);

/* Writes the name without what compilers add, into a buffer of strlen(name) + 1 bytes. */
void diff_plain_name(const char *name, char *ret);

#endif
