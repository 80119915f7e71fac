/*
 * unfit_here.h - whether the process is one of those that the agent and the heap client stay out of (base/unfit.h).
 */
#ifndef WM_NATIVE_UNFIT_HERE_H
#define WM_NATIVE_UNFIT_HERE_H

/* What it is, a constant; NULL: a recorder can work in it. Asks the dynamic linker; at start only. */
const char *unfit_here(void) __attribute__((visibility("hidden")));

#endif
