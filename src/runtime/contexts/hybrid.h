/*
 * hybrid.h - the offset of the stack beside the ids of a program with hybrid encoding (waymark/abi.h).
 *
 *      main's caller     |                  |  <- frame (CFA) of main: offsets count from here, or
 *      main              |                  |
 *        f               |                  |
 *                        | rsp at the call  |  <- sp of the push: from here, for what it calls
 *          g             |                  |
 *                        | rsp at the site  |
 *
 * An entry has the stack pointer of its call in any case, so a push costs nothing more. Roots other than main are not placed.
 */
#ifndef WM_RUNTIME_CONTEXTS_HYBRID_H
#define WM_RUNTIME_CONTEXTS_HYBRID_H

#include "recorder/image.h"
#include "recorder/process.h"
#include "runtime/contexts/stack.h"

/* The id with its offset; below: the entry on which the site stands, slot 0 of a first segment or NULL for none. */
uint64_t wmrt_hybrid_id_slow(uint64_t id, uint64_t sp, const struct wm1_entry *below);

/* What is recorded for an id at a site, with the stack pointer of the call there. */
static inline uint64_t wmrt_hybrid_id(uint64_t id, uint32_t site, uint64_t sp, const struct wm1_entry *below)
{
	if (WMRT_LIKELY(!wmrt_has_hybrid) || !(id & WM1_HYBRID_PLACED) || (site & ~WM1_SITE_ELIDED) < WM1_SITE_PROGRAM)
		return id;
	return wmrt_hybrid_id_slow(id, sp, below);
}

/* Of a push. Slot 0 and the entries of roots (stack.h) have none. */
static inline uint64_t wmrt_entry_id(struct wm1_entry *entry)
{
	if (WMRT_LIKELY(!wmrt_has_hybrid))
		return entry->id;
	return wmrt_hybrid_id(entry->id, entry->site, entry->sp, wmrt_entry_below(entry));
}

/* The entry, over `below`, is the same push once more. */
static inline bool wmrt_entry_repeats(struct wm1_entry *entry, struct wm1_entry *below)
{
	return entry->site == below->site && entry->history == below->history &&
	       wmrt_entry_marks(entry) == wmrt_entry_marks(below) && wmrt_entry_id(entry) == wmrt_entry_id(below);
}

/* The stack pointer of the call of the runtime's function in which this stands. */
#define WMRT_CALLER_SP() ((uint64_t)(uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uint64_t))

#endif
