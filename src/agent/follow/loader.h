/*
 * loader.h - what the loader loads and unloads while the program runs.
 *
 *      dlclose                      the function that the loader calls for debuggers (r_brk of _r_debug, which does nothing)
 *        destructors run
 *        "is about to unload" ----> no thread but one that stands still is walked (agent_is_unloading)
 *        unmaps
 *        "is consistent" ---------> what is known of images that are gone is forgotten
 *
 * The loader's lock is held from the first to the second, so nothing is loaded in their place before that is done: also where the C
 * library itself unloads (iconv, the name service), and where dlclose only drops a reference nothing is forgotten.
 *
 * Functions of images that are gone, their sites and calls stay in the graph, under their numbers: records and contexts name them. What
 * is found by address (functions, sites, targets of calls, hooks, points, rows of unwinding) is forgotten, so an image that is loaded
 * there next is a new one.
 */
#ifndef WM_AGENT_LOADER_H
#define WM_AGENT_LOADER_H

#include <stdbool.h>

/*
 * Comes into that function. False: it is not what it is known to be, as where a debugger has its breakpoint there; then dlclose of a
 * program that was started under the agent is looked after instead. Once, under the agent's lock.
 */
bool loader_start(void);
/* Forgets images that are gone. Under the agent's lock; not while the loader unloads. */
void loader_sweep(void);
/* In a forked child. */
void loader_after_fork(void);

#endif
