/*
 * shape.h - the shape of a site: which of the program's bytes are replaced there.
 *
 *      prefix  instructions in front of the call that give way to a branch
 *      site    the call's instruction
 *      suffix  instructions behind it that give way to a jump
 *
 * Pure.
 */
#ifndef WM_AGENT_SHAPE_H
#define WM_AGENT_SHAPE_H

#include <stdint.h>

#include "agent/program/program.h"

/* Why a site of that shape cannot be replaced; NULL: it can. before: the site before it in its function, NULL if it is the first. */
const char *shape_refuses(const struct scan_site *site, const struct scan_site *before);
/* The site that it becomes, without its function. */
struct agent_site shape_site(const struct scan_site *site, const struct scan_site *before);

static inline uintptr_t shape_return_address(const struct agent_site *site)
{
	return site->address + site->len_bytes;
}

/* All bytes of the site. */
static inline uintptr_t shape_start(const struct agent_site *site)
{
	return site->address - site->prefix_bytes;
}

static inline uint32_t shape_bytes(const struct agent_site *site)
{
	return (uint32_t)site->prefix_bytes + site->len_bytes + site->suffix_bytes;
}

#endif
