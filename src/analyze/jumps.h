/*
 * jumps.h - calls that control comes back to a second time, and those that lead there (setjmp, longjmp and their kin); whether there are threads.
 */
#ifndef WM_ANALYZE_JUMPS_H
#define WM_ANALYZE_JUMPS_H

#include "analyze/memory.h"
#include "core/pointers/id_set.h"

/*
 * Added to the sets: instructions. Where a call can come back a second time, so it can from code outside that is not known (a library's handler of
 * errors that jumps into the program): calls of such code are jumps, too.
 */
struct error *jumps_find(const struct memory *m, struct id_set *ret_landings, struct id_set *ret_jumps);

bool jumps_has_threads(const struct code *c);

#endif
