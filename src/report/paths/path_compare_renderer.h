/*
 * path_compare_renderer.h - the one interface of `waymark residual`'s formats: a row of a table (path_compare_renderer.c) and a
 * file each.
 */
#ifndef WM_REPORT_PATHS_PATH_COMPARE_RENDERER_H
#define WM_REPORT_PATHS_PATH_COMPARE_RENDERER_H

#include <stdio.h>

#include "base/word_table.h"
#include "model/paths/path_compare.h"
#include "report/paths/path_listing.h"

struct path_compare_renderer {
	struct word format;
	size_t default_top; /* of each list when the user does not say; 0: all */
	struct error *(*render)(const struct path_comparison *c, const struct path_style *style, FILE *out);
};

extern const struct word_table path_compare_formats; /* of struct path_compare_renderer */

struct error *path_compare_text(const struct path_comparison *c, const struct path_style *style, FILE *out);
/* Prints JSON. Only the style's sources are used, for the text of conditions. */
struct error *path_compare_json(const struct path_comparison *c, const struct path_style *style, FILE *out);
/* Prints SARIF, for editors and code review. */
struct error *path_compare_sarif(const struct path_comparison *c, const struct path_style *style, FILE *out);

#endif
