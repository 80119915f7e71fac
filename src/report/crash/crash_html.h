/*
 * crash_html.h - private to crash_html*.c: the page of a crash. crash.js draws its parts.
 */
#ifndef WM_REPORT_CRASH_CRASH_HTML_H
#define WM_REPORT_CRASH_CRASH_HTML_H

#include <stdio.h>

#include "model/crash/crash_lines.h"
#include "model/crash/crash_fold.h"
#include "report/crash/crash_renderer.h"
#include "report/html.h"

/* A call on a line of the source, over the whole run. */
struct html_call {
	uint32_t file;
	uint32_t line;
	const char *callee;
	bool is_made;
};
VEC_DECLARE(html_call_vec, struct html_call);

struct html_file {
	const struct source_file *source; /* NULL: not looked for */
	uint8_t *is_shown;                /* [line_count + 1]; NULL: the file has no page */
	uint32_t line_count;
	uint32_t shown_count;
};

struct crash_html {
	const struct crash_report *r;
	const struct crash *c;
	FILE *out;
	struct arena arena;
	struct crash_lines lines;
	uint8_t *is_shown;       /* [functions] its source is on the page */
	uint8_t *is_framed;      /* [functions] it is in a stack */
	struct html_file *files; /* [file_count]: of lines.files */
	uint32_t file_count;
	struct html_names names;
	struct html_call_vec calls;
	struct crash_rows *stacks; /* [thread_count] */
	uint64_t rows;             /* of source, on the whole page */
	uint32_t steps;            /* of paths */
};

/* Decides which functions and lines are shown. */
struct error *crash_html_choose(struct crash_html *h);
void crash_html_release(struct crash_html *h);
/* The pages of the files. */
struct error *crash_html_sources(const struct crash_html *h);

/* Index of the file, UINT32_MAX when the line is not on the page. */
uint32_t crash_html_row(struct crash_html *h, const char *file, uint32_t line);

/* A name of C++, also a link name, in short; its whole is the title, unless is_bare. */
void crash_html_name(const struct crash_html *h, const char *name, bool is_bare);

/* "<span class=bar>" of a function's blocks. */
void crash_html_blocks(const struct crash_html *h, const struct crash_line_function *f);

#endif
