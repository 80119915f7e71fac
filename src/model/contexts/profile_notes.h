/*
 * profile_notes.h - what a report leaves out or could not read, in lines that every format shows: losses are never silent.
 */
#ifndef WM_MODEL_CONTEXTS_PROFILE_NOTES_H
#define WM_MODEL_CONTEXTS_PROFILE_NOTES_H

#include "model/contexts/profile_view.h"

#include <stdio.h>

/* One note a line, each after `before`; nothing when all is there. */
void notes_print(const struct view *v, const char *before, FILE *out);

#endif
