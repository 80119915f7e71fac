/*
 * renderer.h - the one interface of output formats: a row of a table (renderer.c) and a file each.
 *
 * A renderer writes to a stream and reports only what went wrong with the view; the caller checks the stream.
 */
#ifndef WM_REPORT_CONTEXTS_RENDERER_H
#define WM_REPORT_CONTEXTS_RENDERER_H

#include <stdio.h>

#include "base/number_text.h"
#include "base/word_table.h"
#include "model/base/heap_classes.h"
#include "model/base/profile_view.h"
#include "model/tables/call_tree.h"
#include "model/tables/table.h"

struct renderer {
	struct word format;
	const char *suffixes; /* of files in the format, separated by blanks */
	const char *metric;   /* shown when the user names none; NULL: the profile's first one */
	size_t default_top;   /* contexts shown when the user does not say; 0: all */
	bool keeps_zeros;     /* shows contexts where the metric is 0 */
	bool wants_events;    /* shows single events: the profile must keep them */
	bool adds_up;   /* shows sums over contexts, or its readers make them: not of a metric that is a maximum */
	bool is_binary; /* no text: nothing for a terminal */
	bool has_notes; /* else the caller tells what is lost (notes_print) */
	struct error *(*render)(const struct view *v, FILE *out);
	/* A table or a tree in place of contexts; NULL: the format has none. */
	struct error *(*render_table)(const struct view *v, const struct table *t, FILE *out);
	struct error *(*render_tree)(const struct view *v, const struct call_tree *t, FILE *out);
	/* The live bytes by time, in so many slices (0: all records); NULL: the format has none. */
	struct error *(*render_timeline)(const struct view *v, size_t slices, FILE *out);
	/* Sizes or life times of blocks, with the first `top` contexts (0: all); NULL: the format has none. */
	struct error *(*render_histogram)(const struct view *v, enum heap_class_kind kind, size_t top, FILE *out);
};

extern const struct word_table report_formats; /* of struct renderer */

struct error *render_text(const struct view *v, FILE *out);
struct error *render_events(const struct view *v, FILE *out);
struct error *render_json(const struct view *v, FILE *out);
struct error *render_folded(const struct view *v, FILE *out);
struct error *render_speedscope(const struct view *v, FILE *out);
struct error *render_svg(const struct view *v, FILE *out);
struct error *render_pprof(const struct view *v, FILE *out);
struct error *render_callgrind(const struct view *v, FILE *out);
struct error *render_dhat(const struct view *v, FILE *out);
struct error *render_massif(const struct view *v, FILE *out);
struct error *render_firefox(const struct view *v, FILE *out);
struct error *render_chrome(const struct view *v, FILE *out);
struct error *render_perf(const struct view *v, FILE *out);
struct error *render_table_text(const struct view *v, const struct table *t, FILE *out);
struct error *render_table_json(const struct view *v, const struct table *t, FILE *out);
struct error *render_tree_text(const struct view *v, const struct call_tree *t, FILE *out);
struct error *render_tree_json(const struct view *v, const struct call_tree *t, FILE *out);
struct error *render_timeline_text(const struct view *v, size_t slices, FILE *out);
struct error *render_timeline_json(const struct view *v, size_t slices, FILE *out);
struct error *render_histogram_text(const struct view *v, enum heap_class_kind kind, size_t top, FILE *out);
struct error *render_histogram_json(const struct view *v, enum heap_class_kind kind, size_t top, FILE *out);

/* What several of them print. */

enum {
	METRIC_TEXT_MAX = DIGITS_MAX + 1,
};
/* A number of a metric with its separators or its unit; "~" is before estimates. Returns buf. */
const char *metric_number(const struct metric *m, uint64_t value, char buf[METRIC_TEXT_MAX]);
/* " (5.2 MiB)" behind large numbers of bytes. */
void metric_print_size(const struct metric *m, uint64_t value, FILE *out);
const char *metric_unit_name(enum metric_unit unit);
/* What a report in text begins with: the files, what they lack, the totals. False: nothing was recorded, which it says. */
bool text_print_head(const struct view *v, FILE *out);
/* `before`, and as many # of at most so many as the part is of the whole; nothing if that is none. */
void text_print_bar(uint64_t part, uint64_t whole, const char *before, int most, FILE *out);
void table_print(const struct view *v, const struct table *t, FILE *out);

#endif
