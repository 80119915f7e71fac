/*
 * uncount.h - takes the counting of paths out of code that was built with it (instrument/paths), so that its blocks are those that are counted,
 * and the counting is no part of slices.
 */
#ifndef WM_ANALYZE_UNCOUNT_H
#define WM_ANALYZE_UNCOUNT_H

#include "analyze/code.h"

/* c is open, not yet numbered (code_open). */
void uncount_paths(struct code *c);

#endif
