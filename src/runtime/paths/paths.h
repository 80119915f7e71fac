/*
 * paths.h - the client that counts paths, and whose contexts they are: compiled into the runtime and into the agent, each of which says
 * what the context of a path is.
 */
#ifndef WM_RUNTIME_PATHS_PATHS_H
#define WM_RUNTIME_PATHS_PATHS_H

#include "recorder/client.h"
#include "waymark/runtime.h"
#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop

extern const struct wmrt_client wmrt_paths; /* path_fork.c */

/* Where a path ended, behind which the function goes on. Signal-safe; no malloc. */
wm_context wmrt_path_context(const void *return_address, uint32_t site);

/* wm1_path_enter, wm1_path_miss and wm1_path_residual of this copy, with the usual calling convention. */
uint64_t *wmrt_path_enter(const struct wm1_path_function *function, uint64_t **thread_slot);
void wmrt_path_miss(uint64_t *table, uint64_t r);
void wmrt_path_residual(const void *return_address, uint64_t *table, uint64_t r, uint32_t site);

#endif
