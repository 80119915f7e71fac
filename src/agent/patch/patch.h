/*
 * patch.h - what stands at a site: has its bytes planned for the calls that were seen and the encoding in force, and writes them.
 *
 * The caller holds the agent's lock, and no other thread runs in the bytes that change.
 */
#ifndef WM_AGENT_PATCH_H
#define WM_AGENT_PATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/program/program.h"

/* With the number of a site in its thunk: no return address of the site's is on the stack. */
#define PATCH_TAIL (UINT32_C(1) << 31)

/* Keeps the bytes of a function's sites, which were added, and puts code at each that finds what it calls. */
bool patch_begin(uint32_t function);
/* Writes a site anew. False: the bytes stay as they were. */
bool patch_site(uint32_t site);
/* Its image is mapped, and stays so while the others are stopped, which they are from now on. */
bool patch_is_there(uint32_t function);
/* A jump stands at the site's return address: what was done for its call is undone behind it. */
bool patch_is_undone_at_return(uint32_t site);
/* A thread at pc, in that function, is between the first and the last of instructions that are written together. */
bool patch_is_inside(uint32_t function, uintptr_t pc);

#endif
