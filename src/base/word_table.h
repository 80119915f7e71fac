/*
 * word_table.h - tables of the words that an option takes, such as output formats: each row begins with a struct word, the last
 * one has no name.
 */
#ifndef WM_BASE_WORD_TABLE_H
#define WM_BASE_WORD_TABLE_H

#include <stddef.h>

struct word {
	const char *name;    /* as in --format=NAME */
	const char *summary; /* one line of help, or NULL */
};

struct word_table {
	const void *rows;
	size_t row_bytes;
};

/* NULL behind the last one. */
const struct word *word_table_at(const struct word_table *t, size_t index);
/* The row of that name, NULL when there is none. */
const void *word_table_find(const struct word_table *t, const char *name);
/* Rows that have suffixes of file names, separated by blanks, as a const char * at suffixes_off. The row with the longest one that the path
 * has; NULL when none has one. */
const void *word_table_find_path(const struct word_table *t, size_t suffixes_off, const char *path);

#endif
