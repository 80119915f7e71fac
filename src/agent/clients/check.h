/*
 * check.h - compares contexts with the stack as libgcc's unwinder sees it (`waymark run --check`): independent of walk.c, unwind.c and
 * of the encoding. The caller holds the agent's lock.
 */
#ifndef WM_AGENT_CHECK_H
#define WM_AGENT_CHECK_H

#include "agent/context/capture.h"

/* Finds libgcc's unwinder: without it nothing is compared. Once, before main. */
void check_start(void);
/* Counts in tick_stats. */
void check_point(const struct unwind_regs *regs, const struct capture_point *point);

#endif
