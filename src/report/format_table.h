/*
 * format_table.h - tables of output formats, of whatever kind: each row begins with a struct format, the last one has no name.
 */
#ifndef WM_REPORT_FORMAT_TABLE_H
#define WM_REPORT_FORMAT_TABLE_H

#include <stddef.h>

struct format {
	const char *name;    /* --format=NAME */
	const char *summary; /* one line of help */
};

struct format_table {
	const void *rows;
	size_t row_bytes;
};

/* NULL behind the last one. */
const struct format *format_at(const struct format_table *t, size_t index);
/* The row of that name, NULL when there is none. */
const void *format_find(const struct format_table *t, const char *name);

#endif
