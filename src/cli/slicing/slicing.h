/*
 * slicing.h - the parts of waymark-slice: main.c slices from a line of source, core_slice.c from where a crashed program stands.
 */
#ifndef WM_CLI_SLICING_SLICING_H
#define WM_CLI_SLICING_SLICING_H

#include "analyze/code.h"
#include "cli/slice.h"
#include "object/find.h"
#include "report/slices/slice_render.h"

/* The code that an image carries; opened: not numbered yet (code_open). */
struct error *slicing_open(const struct object_search *search, const struct object_wanted *wanted, struct code *ret);

/* Prints in that format. */
struct error *slicing_render(enum slice_format format, const struct slice_report *report, FILE *out);

/* `waymark core --slice`: the exit status. The code, which is filled, is left to the caller. */
int core_slice_main(int argc, char **argv, struct code *code);

#endif
