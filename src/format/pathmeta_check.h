/*
 * pathmeta_check.h - what must hold of every function of `.debug_waymark_paths`, written or read. Private to src/format.
 */
#ifndef WM_FORMAT_PATHMETA_CHECK_H
#define WM_FORMAT_PATHMETA_CHECK_H

#include "format/pathmeta.h"

/* Checks name, kind, control flow and that path_count is the number of its paths. ERROR_ARGUMENT or ERROR_FORMAT; the caller
 * says where. */
struct error *pathmeta_check(const struct pathmeta_function *f);

#endif
