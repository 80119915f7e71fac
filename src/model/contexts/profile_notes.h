/*
 * profile_notes.h - what a report leaves out or could not read, in lines that every format shows: losses are never silent.
 */
#ifndef WM_MODEL_CONTEXTS_PROFILE_NOTES_H
#define WM_MODEL_CONTEXTS_PROFILE_NOTES_H

#include "model/base/profile_view.h"

#include <stdio.h>

/* One note a line, each after `before`; nothing when all is there. */
void notes_print(const struct view *v, const char *before, FILE *out);

/* The same as a text, "" when all is there. The caller frees it. */
struct error *notes_text(const struct view *v, const char *before, char **ret);

/* A line of text from a file. */
void notes_print_line(const char *before, const char *text, FILE *out);
/* Why the recorder could not write; nothing for 0. */
void notes_print_drop(const char *before, const char *path, uint64_t drop_errno, FILE *out);
/* "PATH: COUNT what", in the words for one or for many; nothing for 0. */
void notes_print_count(const char *before, const char *path, uint64_t count, const char *one, const char *many,
		       FILE *out);

/* More files than that are told of together: by one line of what they are, and sums of what they lost. */
enum {
	NOTES_FILES_MAX = 8,
};

#endif
