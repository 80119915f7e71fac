/*
 * context_text.h - a decoded context as people read it: one frame a line, innermost first, repetitions counted.
 */
#ifndef WM_MODEL_CONTEXTS_CONTEXT_TEXT_H
#define WM_MODEL_CONTEXTS_CONTEXT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "model/base/context_frame.h"

/* "main;f;[qsort];cmp", outermost first; a ';' or control byte inside a name is replaced. */
void stack_print_folded(FILE *out, const struct frame *frames, size_t count);
/* The same as a text. The caller frees it. */
struct error *stack_folded_text(const struct frame *frames, size_t count, char **ret);
/* Lines of "INDENT#0 cmp at sort.c:12:5", innermost first; with colours for a terminal if wanted. */
void stack_print_lines(FILE *out, const char *indent, const struct frame *frames, size_t count, bool is_coloured);
/* "cmp at sort.c:12:5": the innermost frame. */
void stack_print_leaf(FILE *out, const struct frame *frames, size_t count);

#endif
