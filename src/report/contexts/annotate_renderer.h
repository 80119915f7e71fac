/*
 * annotate_renderer.h - the formats of `waymark annotate`: source lines of functions with their numbers beside them.
 */
#ifndef WM_REPORT_CONTEXTS_ANNOTATE_RENDERER_H
#define WM_REPORT_CONTEXTS_ANNOTATE_RENDERER_H

#include <stdio.h>

#include "base/word_table.h"
#include "model/source/source.h"
#include "model/tables/annotation.h"

struct annotate_report {
	const struct view *view;
	const struct annotation *annotation;
	const char *functions; /* as the user named them */
	struct sources *sources;
};

struct annotate_renderer {
	struct word format;
	struct error *(*render)(const struct annotate_report *r, FILE *out);
};

extern const struct word_table annotate_formats; /* of struct annotate_renderer */

struct error *annotate_render_text(const struct annotate_report *r, FILE *out);
struct error *annotate_render_html(const struct annotate_report *r, FILE *out);
struct error *annotate_render_json(const struct annotate_report *r, FILE *out);

/*
 * Calls for each line of a file that is shown, in order: numbers is NULL for lines around; text is NULL where the file or the line is not
 * there. gap: lines were left out before it.
 */
typedef void (*annotate_line_fn)(void *data, bool gap, uint32_t line, const struct annotated_line *numbers,
				 const char *text);
struct error *annotate_each_line(const struct annotate_report *r, const struct annotated_file *file,
				 annotate_line_fn call, void *data);
/* Why the text of the file is not shown; NULL: it is. */
struct error *annotate_missing(const struct annotate_report *r, const struct annotated_file *file, const char **ret);

#endif
