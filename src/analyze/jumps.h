/*
 * jumps.h - calls that control comes back to a second time, and those that lead there (setjmp, longjmp and their kin); whether there are threads.
 */
#ifndef WM_ANALYZE_JUMPS_H
#define WM_ANALYZE_JUMPS_H

#include "analyze/code.h"
#include "core/pointers/id_set.h"

/* Added to the sets: instructions. */
struct error *jumps_find(const struct code *c, struct id_set *ret_landings, struct id_set *ret_jumps);

bool jumps_has_threads(const struct code *c);

#endif
