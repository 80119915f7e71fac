/*
 * patch.h - what stands at a site: plans its bytes for the calls that were seen and the encoding in force, and writes them.
 *
 * The caller holds the agent's lock, and no other thread runs in the bytes that change.
 */
#ifndef WM_AGENT_PATCH_H
#define WM_AGENT_PATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/program.h"

/* With the number of a site in its thunk: no return address of the site's is on the stack. */
#define PATCH_TAIL (UINT32_C(1) << 31)

/* Why a site of that shape cannot be replaced; NULL: it can. before: the site before it in its function, NULL if it is the first. */
const char *patch_refuses(const struct scan_site *site, const struct scan_site *before);
/* An indirect call without room in front that begins where the room of the call before it ends. */
bool patch_is_chained(const struct scan_site *site, const struct scan_site *before);
/* An indirect call that is replaced by a jump over it and bytes behind it. */
bool patch_is_over_room(const struct scan_site *site);
/* Keeps the bytes of a function's sites, which were added, and puts code at each that finds what it calls. */
bool patch_begin(uint32_t function);
/* Writes a site anew. False: the bytes stay as they were. */
bool patch_site(uint32_t site);
/* Puts a hook at the function's entry, or writes it anew. False: there is no room. */
bool patch_entry(uint32_t function);
/* Puts the id of foreign code back where that call of foreign code returns to. `function` has the site. */
bool patch_foreign(uint32_t function, const struct scan_site *site);
/* The same in a direct call that foreign code makes next, which is at `address` and has 5 bytes. */
bool patch_foreign_call(uint32_t function, uintptr_t address, uintptr_t target);
/* Writes over code of that image, which is not instrumented, and keeps what stood there (agent_program.foreigns). */
bool patch_write_foreign(struct agent_image *image, uintptr_t at, const uint8_t *bytes, uint32_t len);
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
/* All bytes that belong to the site. */
void patch_region(const struct agent_site *site, uintptr_t *ret_start, uint32_t *ret_len);
/* A jump stands at the site's return address: what was done for its call is undone behind it. */
bool patch_is_undone_at_return(uint32_t site);
/* A thread at pc, in that function, is between the first and the last of instructions that are written together. */
bool patch_is_inside(uint32_t function, uintptr_t pc);
/* Does a call over this edge need code of its own now? */
bool patch_call_pushes(const struct agent_call *call);
/* The site that its entry has. */
uint32_t patch_pushed_site(const struct agent_call *call);

#endif
