/*
 * effects.h - which instructions can do something to regions that matter behind them. Most cannot: at -O0, two of three.
 */
#ifndef WM_ANALYZE_EFFECTS_H
#define WM_ANALYZE_EFFECTS_H

#include "analyze/regions.h"

/*
 * *ret: [instruction] the last one of its block, up to itself, that changes, overwrites or passes regions, calls a function of the program, or is a
 * landing (jumps.h); CODE_NONE. malloc'd.
 */
struct error *effects_find(const struct regions *r, const struct id_set *landings, uint32_t **ret);

#endif
