/*
 * stay_out.h - processes that nothing is recorded in: those that the recorder cannot work in, and those that were given a filter of system
 * calls since `waymark run`.
 */
#ifndef WM_NATIVE_STAY_OUT_H
#define WM_NATIVE_STAY_OUT_H

#include <stdbool.h>

/* unfit: what the process is that the recorder cannot work in; NULL: it can. Looks whether nothing is to be recorded. Then nothing is recorded, handlers are the program's alone, and one line on standard error says why.
 * Calls nothing of the C library's that a sanitizer interposes. Once, at start. */
bool stay_out(const char *unfit);

#endif
