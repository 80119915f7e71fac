/* shape.c - the shape of a site: which bytes are replaced, and whether the call is made in place or from a cell. */
#include "agent/patch/shape.h"

enum {
	BRANCH_BYTES = 5,
};

/* An indirect call that is replaced by a jump over it and bytes behind it. */
static bool is_over_room(const struct scan_site *site)
{
	return site->kind == SCAN_CALL_INDIRECT && site->insn.len_bytes + site->lead_bytes < BRANCH_BYTES &&
	       (site->has_room || site->is_short_room) && !site->is_room_entered;
}

/* An indirect call without room in front that begins where the room of the call before it ends. */
static bool is_chained(const struct scan_site *site, const struct scan_site *before)
{
	return site->kind == SCAN_CALL_INDIRECT && site->insn.len_bytes + site->lead_bytes < BRANCH_BYTES &&
	       !is_over_room(site) && !site->is_entered && before &&
	       (before->kind == SCAN_CALL || before->kind == SCAN_CALL_INDIRECT) && before->has_room &&
	       before->address + before->insn.len_bytes + before->room_bytes == site->address;
}

const char *shape_refuses(const struct scan_site *site, const struct scan_site *before)
{
	uint32_t bytes = (uint32_t)site->insn.len_bytes + site->lead_bytes;

	switch (site->kind) {
	case SCAN_CALL:
		return bytes >= BRANCH_BYTES ? NULL : "a direct call is short";
	case SCAN_CALL_INDIRECT:
		return bytes >= BRANCH_BYTES || is_over_room(site) || is_chained(site, before)
			       ? NULL
			       : "an indirect call has no room";
	case SCAN_TAIL:
		if (!site->insn.is_short)
			return NULL;
		return site->insn.kind == INSN_JUMP_DIRECT && bytes + site->room_bytes >= BRANCH_BYTES
			       ? NULL
			       : "a tail call is short";
	default:
		if (site->may_stay)
			return "an indirect jump may leave it or not";
		return bytes + site->room_bytes >= BRANCH_BYTES ? NULL : "an indirect tail call has no room";
	}
}

struct agent_site shape_site(const struct scan_site *s, const struct scan_site *before)
{
	bool is_call = s->kind == SCAN_CALL || s->kind == SCAN_CALL_INDIRECT;
	struct agent_site site = {
		.address = s->address,
		.target = s->target,
		.first_call = AGENT_NONE,
		.added_call = AGENT_NONE,
		.kind = s->kind,
		.len_bytes = s->insn.len_bytes,
		.lead_bytes = s->lead_bytes,
		.room_bytes = s->room_bytes,
		.has_room = s->has_room,
		.is_last = s->is_last,
		.keeps_flags = is_call && s->flags_live,
		.is_entered = is_call && s->is_room_entered,
		.is_over_room = is_over_room(s),
		.is_chained = is_chained(s, before),
	};

	site.is_detour = is_call &&
			 (site.is_over_room || site.is_chained || s->lead_needs_stack || (!s->has_room && !s->is_last));
	return site;
}
