/*
 * cfg_single_loops.h - what cfg_check asks of ITERATION edges. Internal to src/core.
 */
#ifndef WM_CORE_PATHS_CFG_SINGLE_LOOPS_H
#define WM_CORE_PATHS_CFG_SINGLE_LOOPS_H

#include "core/paths/cfg.h"

/* The rest of the graph has been checked. */
struct error *cfg_check_iterations(const struct cfg *g);

#endif
