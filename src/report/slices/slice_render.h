/*
 * slice_render.h - prints a slice: as text with the source, or as JSON.
 */
#ifndef WM_REPORT_SLICES_SLICE_RENDER_H
#define WM_REPORT_SLICES_SLICE_RENDER_H

#include <stdio.h>

#include "model/slices/profile_ran.h"
#include "model/slices/slice_chain.h"
#include "model/slices/slice_graph.h"
#include "model/slices/slice_lines.h"
#include "model/slices/slice_omissions.h"
#include "model/slices/slice_order.h"
#include "model/slices/slice_overruns.h"
#include "model/source/source.h"
#include "report/slices/slice_layer.h"

/* How large a slice is; of a crash there are several. */
struct slice_size {
	const char *name; /* in JSON */
	const char *text;
	uint32_t lines, instructions;
	bool is_coarse; /* by the coarser analysis (slice_sizes.coarse): it is at most that */
	bool is_shown;
};

struct slice_sizes {
	const struct slice_size *items;
	uint32_t count;
	uint32_t lines;             /* with code */
	const char *coarse;         /* why the finer analysis of some was given up; NULL: of none was it */
	uint32_t unknown_functions; /* with code of which it is not known what ran: all of it may have */
};

struct slice_report {
	const char *producer; /* JSON alone */
	const char *program;
	const char *criterion; /* as the user gave it */
	const struct slice_lines *lines;
	const struct slice_chain *chain; /* NULL: none */
	const struct slice_graph *graph; /* HTML alone */
	const struct slice_order *order; /* NULL: that of the source */
	struct sources *sources;
	const char *coarse;                      /* why the finer analysis was given up; NULL: it was not */
	bool is_forward;                         /* what the criterion can reach, not what can have decided it */
	bool is_explained;                       /* names functions that are not known */
	const struct profile_ran_count *ran;     /* NULL: no recorded runs restrict it */
	const struct slice_sizes *sizes;         /* NULL: there is one slice */
	const struct slice_omissions *omissions; /* NULL: none, as nothing restricts it */
	const struct slice_overruns *overruns;   /* NULL: none */
};

struct error *slice_render_text(const struct slice_report *r, FILE *out);
struct error *slice_render_json(const struct slice_report *r, FILE *out);
struct error *slice_render_html(const struct slice_report *r, FILE *out);
/* SARIF 2.1.0: the chain as a code flow, the slice as another one. */
struct error *slice_render_sarif(const struct slice_report *r, FILE *out);

/* For a page of source that has the slice as a layer. Texts are the arena's. */
struct error *slice_layer_make(const struct slice_report *r, struct arena *arena, struct slice_layer *ret);

/* What a line is to another one in a backward slice: "stored, read in ". */
const char *slice_reason_text(enum slice_reason reason);
/* In JSON: "memory". */
const char *slice_reason_name(enum slice_reason reason);
/* Why a line is in, for reading. of: NULL for no line that differs. */
void slice_reason_print(const struct slice_report *r, enum slice_reason reason, const struct slice_line *line,
			const struct slice_line *of, FILE *out);

/* A text that is printed in parts, as one string of JSON: parts go to `stream`. */
struct slice_quote {
	FILE *stream;
	char *text;
	size_t size;
};
struct error *slice_quote_begin(struct slice_quote *q);
/* Prints it, and frees what q has. */
struct error *slice_quote_end(struct slice_quote *q, FILE *out);
/* slice_reason_print as a string of JSON. line, of: numbers in r->lines; of: SLICE_NO_LINE. */
struct error *slice_reason_json(const struct slice_report *r, enum slice_reason reason, uint32_t line, uint32_t of,
				FILE *out);

/* The line of source, up to where what is said of it stands. */
struct error *slice_source_print(const struct slice_report *r, const struct slice_line *line, FILE *out);
/* The same below the name of its file, where that is not *file, the one of the line before. */
struct error *slice_source_below_print(const struct slice_report *r, const struct slice_line *line, const char **file,
				       FILE *out);

/* Which way a branch went, and what did not run: "-> line 30; line 28 could have set what line 12 reads". */
void slice_omission_print(const struct slice_report *r, const struct slice_omission *x, FILE *out);
struct error *slice_omissions_text(const struct slice_report *r, FILE *out);
/* A member that follows others. */
void slice_omissions_json(const struct slice_report *r, FILE *out);

/* What a write of the layer writes to, and what it may have left that by. */
void slice_overrun_print(const struct slice_report *r, const struct slice_overrun *x, FILE *out);
/* One piece of evidence in memory. */
void slice_evidence_print(const struct slice_overruns *o, size_t number, FILE *out);
bool slice_overruns_has_evidence(const struct slice_overruns *o);
/* How many of the first ones are shown unless all are asked for: those that there is evidence of, or else those in front of what the slice reads.
 * o may be NULL. */
uint32_t slice_overruns_shown(const struct slice_overruns *o);
struct error *slice_overruns_text(const struct slice_report *r, FILE *out);
/* Members that follow others. */
struct error *slice_overruns_json(const struct slice_report *r, FILE *out);

void slice_sizes_text(const struct slice_sizes *s, FILE *out);
/* A member that follows others. */
void slice_sizes_json(const struct slice_sizes *s, FILE *out);

#endif
