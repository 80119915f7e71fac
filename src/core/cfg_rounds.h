/*
 * cfg_rounds.h - what cfg_check asks of ROUND edges. Internal to src/core.
 */
#ifndef WM_CORE_CFG_ROUNDS_H
#define WM_CORE_CFG_ROUNDS_H

#include "core/cfg.h"

/* The rest of the graph has been checked. */
struct error *cfg_check_rounds(const struct cfg *g);

#endif
