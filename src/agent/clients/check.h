/*
 * check.h - compares contexts with the stack as libgcc's unwinder sees it (`waymark run --check`): independent of walk.c, unwind.c and
 * of the encoding. The caller holds the agent's lock.
 */
#ifndef WM_AGENT_CHECK_H
#define WM_AGENT_CHECK_H

#include "agent/context/capture.h"

/* Under the agent's lock. */
struct check_stats {
	uint64_t checked, agreed;
	uint64_t unchecked; /* the independent walk found no whole stack */
};
extern struct check_stats check_stats __attribute__((visibility("hidden")));

/* Counts in check_stats. Without libgcc's unwinder nothing is compared. */
void check_point(const struct unwind_regs *regs, const struct capture_point *point);

#endif
