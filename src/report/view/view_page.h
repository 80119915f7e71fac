/*
 * view_page.h - `waymark view`: one page of HTML with a whole profile in it, which needs no server and no other file.
 *
 *      view.html    the parts of the page, with view.css
 *      data         base64 of gzip of a header in JSON and arrays of numbers (docs/format.md, "The page of waymark view")
 *      view_data.js reads them; view_trees.js makes flame graphs and tables of them; the others show these
 */
#ifndef WM_REPORT_VIEW_VIEW_PAGE_H
#define WM_REPORT_VIEW_VIEW_PAGE_H

#include <stdio.h>

#include "model/base/profile_view.h"

/* All contexts that the view's filters leave, with all metrics; events by time and thread if the profile keeps them. */
struct error *render_view_page(const struct view *v, FILE *out);

#endif
