/* shape.c - the shape of a site: which bytes are replaced, and whether the call is made in place or from a trampoline. */
#include "agent/patch/shape.h"

enum {
	BRANCH_BYTES = 5,
};

/* An indirect call that is replaced by a jump over it and bytes behind it. */
static bool is_over_suffix(const struct scan_site *site)
{
	return site->kind == SCAN_CALL_INDIRECT && site->insn.len_bytes + site->prefix_bytes < BRANCH_BYTES &&
	       (site->has_suffix || site->is_short_suffix) && !site->is_suffix_entered;
}

/* An indirect call without a prefix that begins where the suffix of the call before it ends. */
static bool shares_suffix(const struct scan_site *site, const struct scan_site *before)
{
	return site->kind == SCAN_CALL_INDIRECT && site->insn.len_bytes + site->prefix_bytes < BRANCH_BYTES &&
	       !is_over_suffix(site) && !site->is_entered && before &&
	       (before->kind == SCAN_CALL || before->kind == SCAN_CALL_INDIRECT) && before->has_suffix &&
	       before->address + before->insn.len_bytes + before->suffix_bytes == site->address;
}

const char *shape_refuses(const struct scan_site *site, const struct scan_site *before)
{
	uint32_t bytes = (uint32_t)site->insn.len_bytes + site->prefix_bytes;

	switch (site->kind) {
	case SCAN_CALL:
		return bytes >= BRANCH_BYTES ? NULL : "a direct call is short";
	case SCAN_CALL_INDIRECT:
		return bytes >= BRANCH_BYTES || is_over_suffix(site) || shares_suffix(site, before)
			       ? NULL
			       : "an indirect call has no room";
	case SCAN_TAIL:
		if (!site->insn.is_short)
			return NULL;
		return site->insn.kind == INSN_JUMP_DIRECT && bytes + site->suffix_bytes >= BRANCH_BYTES
			       ? NULL
			       : "a tail call is short";
	default:
		if (site->may_stay)
			return "an indirect jump may leave it or not";
		return bytes + site->suffix_bytes >= BRANCH_BYTES ? NULL : "an indirect tail call has no room";
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
		.prefix_bytes = s->prefix_bytes,
		.suffix_bytes = s->suffix_bytes,
		.has_suffix = s->has_suffix,
		.is_last = s->is_last,
		.keeps_flags = is_call && s->flags_live,
		.is_entered = is_call && s->is_suffix_entered,
		.is_over_suffix = is_over_suffix(s),
		.shares_suffix = shares_suffix(s, before),
	};

	site.needs_trampoline = is_call && (site.is_over_suffix || site.shares_suffix || s->prefix_needs_stack ||
					    (!s->has_suffix && !s->is_last));
	return site;
}
