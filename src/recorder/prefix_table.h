/*
 * prefix_table.h - prefixes: context stacks as small numbers.
 */
#ifndef WM_RECORDER_PREFIX_TABLE_H
#define WM_RECORDER_PREFIX_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "waymark/wmk.h"

/*
 * The number of the stack `parent` with `run` times (id, site) on it, id being one of `epoch`. Equal arguments give the same number, in every
 * thread. WM_PREFIX_LOST when it cannot be recorded. Lock-free but when a chunk is full; signal-safe; about 10 ns
 * when known.
 */
uint32_t wmrt_intern(uint32_t parent, uint32_t epoch, uint64_t id, uint32_t site, uint32_t run);
/* Copies the node of a prefix; false: there is none. Signal-safe. */
bool wmrt_prefix_read(uint32_t prefix, struct wmk_node *ret);

#endif
