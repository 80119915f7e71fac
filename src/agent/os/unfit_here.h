/*
 * unfit_here.h - whether the process is one of those that nothing can be put into (base/unfit.h).
 */
#ifndef WM_AGENT_UNFIT_HERE_H
#define WM_AGENT_UNFIT_HERE_H

/* What it is, a constant; NULL: a recorder can work in it. Asks the dynamic linker; at start only. */
const char *unfit_here(void) __attribute__((visibility("hidden")));

#endif
