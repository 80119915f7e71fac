/*
 * path_compare_renderer.h - the formats of `waymark residual`.
 */
#ifndef WM_REPORT_PATHS_PATH_COMPARE_RENDERER_H
#define WM_REPORT_PATHS_PATH_COMPARE_RENDERER_H

#include <stdio.h>

#include "model/paths/path_compare.h"
#include "report/path_listing.h"

struct error *path_compare_text(const struct path_comparison *c, const struct path_style *style, FILE *out);
/* sources: for the text of conditions. */
struct error *path_compare_json(const struct path_comparison *c, struct sources *sources, FILE *out);

#endif
