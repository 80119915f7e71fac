/*
 * patch_entry.h - what stands at entries of functions, and where calls return to foreign code.
 *
 * The caller holds the agent's lock, and no other thread runs in the bytes that change.
 */
#ifndef WM_AGENT_PATCH_ENTRY_H
#define WM_AGENT_PATCH_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/code/code.h"
#include "agent/program/program.h"

/* Puts a hook at the function's entry, or writes it anew. False: there is no room. */
bool patch_entry(uint32_t function);
/* Puts the id of foreign code back where that call of foreign code returns to. `function` has the site. */
bool patch_foreign(uint32_t function, const struct scan_site *site);
/* The same in a direct call that foreign code makes next, which is at `address` and has 5 bytes. */
bool patch_foreign_call(uint32_t function, uintptr_t address, uintptr_t target);
/* The loader's function for debuggers, which is empty and at `at` of the image, goes on at `to`. False, too: it is not empty. */
bool patch_loader(struct agent_image *image, uintptr_t at, uintptr_t to);
/* A function that is not instrumented leads to another one instead, which can go on in it. */
struct patch_detour {
	uintptr_t at;            /* the entry's bytes */
	uintptr_t enter, behind; /* in the stub: where the entry jumps to; the function as it is without */
	uint8_t len_bytes;
	uint8_t original[CODE_PATCH_MAX];
};
/* Writes the stub. False: no room. */
bool patch_make_detour(uint32_t function, const struct scan_function *scan, uintptr_t to, struct patch_detour *ret);
/* Writes the jump to it, and the function's own bytes again. No other thread runs, and none is amidst them. False: could not be written. */
bool patch_put_detour(const struct patch_detour *detour);
bool patch_take_detour(const struct patch_detour *detour);

#endif
