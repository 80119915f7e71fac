/*
 * meta_bytes.h - numbers of the `.debug_waymark` layout that its writer and its reader share. docs/format.md has the rest.
 *
 * The frame is that of section.h. The raw body, every number uleb128, every string a reference (0 = none, else index + 1):
 *
 *     string_count pool_bytes pool (each string ends with a NUL)
 *     producer unit
 *     function_count { link_name name file line flags contexts restart }
 *     alias_count { link_name function }
 *     location_count { function file line column inlined_at }
 *     site_count { kind flags caller (callee | foreign | bits | -) (addend | code | -) location }   sites 1 .. site_count - 1
 *     functions_total call_sites_total call_sites_no_code ball_larus_max_id max_id cut_nodes
 *     foreign_objects foreign_members
 *     (frame_bytes of each function)   with hybrid encoding only
 *
 * Private to src/format.
 */
#ifndef WM_FORMAT_META_BYTES_H
#define WM_FORMAT_META_BYTES_H

#include "format/meta.h"
#include "format/section.h"

/* Of a site of any kind. */
static inline bool meta_code_is_possible(const struct meta_site *s)
{
	if (s->kind != META_SITE_SELF_CALL)
		return true;
	return s->bits >= 1 && s->bits <= META_SELF_CALL_BITS_MAX && s->code < 1u << s->bits;
}

#define META_KIND ((struct section_kind){"\x89WMD\r\n\x1a\n", 2, 1})

#endif
