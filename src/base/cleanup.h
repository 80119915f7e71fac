/*
 * cleanup.h - what a variable holds is given back when the variable goes out of scope, so that a function can return early.
 *
 *     CLEANUP(path_vec_deinit) struct path_vec paths = {0};
 *     CLEANUP(arena_deinit) struct arena scratch = {0};
 *
 * The variable is initialised where it is declared; deinit takes its address. For memory of malloc there is the arena: the static
 * analyzer does not see that a cleanup frees, and would report leaks.
 */
#ifndef WM_BASE_CLEANUP_H
#define WM_BASE_CLEANUP_H

#define CLEANUP(deinit) __attribute__((cleanup(deinit)))

#endif
