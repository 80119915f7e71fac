/*
 * diff_sites.h - which call sites of an old build are which of a new one.
 *
 * A function that calls another one from several places has a context for each. Lines move between builds, so the sites of a file are put side by
 * side as a text is: calls that are there once on either side (a caller and its callee) are anchors, of which the longest sequence in one order
 * counts (patience difference). Between two anchors
 *
 *      old                         new
 *      12 main > open   anchor     14 main > open      both anchors moved by 2 lines, so what is between them did, too:
 *      15 main > f                 17 main > f         15 is 17,
 *      16 main > f                 21 main > g  anchor and 16 is gone
 *      19 main > g      anchor
 *
 * Where they moved by different numbers, and in functions that moved within or between files, the sites of a callee are matched in their order,
 * if there are as many on either side. What is still open is several sites that are counted as one. Calls from one place on each side are matched by
 * names alone.
 */
#ifndef WM_MODEL_TABLES_DIFF_SITES_H
#define WM_MODEL_TABLES_DIFF_SITES_H

#include "model/tables/diff_names.h"

struct diff_site {
	const char *file[DIFF_SIDES]; /* of both; NULL: the site is not on that side, or is several */
	uint32_t line[DIFF_SIDES];
	uint32_t column[DIFF_SIDES];
};
VEC_DECLARE(diff_site_vec, struct diff_site);

struct diff_sites {
	struct diff_site_vec sites;     /* sites.items[0] is none: names alone count */
	uint32_t *of_nodes[DIFF_SIDES]; /* by node of a side: the site in its caller's frame that called it */
	uint32_t *of_leaves
		[DIFF_SIDES]; /* by node: the site in its own frame where it was recorded, of metrics that are not samples */
};

/* both: owns the texts. */
struct error *diff_sites_create(const struct diff_names sides[DIFF_SIDES], struct profile *both,
				struct diff_sites *ret);
void diff_sites_deinit(struct diff_sites *s);

#endif
