/*
 * scan_regions.c - the sites of a function, and the bytes of its entry, before and behind its sites that can be replaced.
 *
 * Entry first, then rooms, then leads: what one has, the next may not take.
 */
#include "agent/scan/scan_work.h"

enum {
	JUMP_BYTES = 5,
};

struct region {
	uint8_t bytes, count;
	bool needs_stack;
};

static bool is_call(const struct insn *insn)
{
	return insn->kind == INSN_CALL_DIRECT || insn->kind == INSN_CALL_INDIRECT;
}

/* Nothing comes behind the instruction from it. */
static bool is_end(const struct insn *insn)
{
	return insn->kind == INSN_RETURN || insn->kind == INSN_STOP || insn->kind == INSN_JUMP_DIRECT ||
	       insn->kind == INSN_JUMP_INDIRECT;
}

static bool is_padding(const struct insn *insn)
{
	return insn->op == INSN_OP_NOP || (insn->kind == INSN_STOP && insn->len_bytes == 1);
}

/* Any of the bytes [low, low + len_bytes) of a part has the mark. */
static bool has_mark(const struct scan_part *part, uint64_t low, size_t len_bytes, uint8_t marks)
{
	for (size_t i = 0; i < len_bytes; i++)
		if (part->marks[low - part->low + i] & marks)
			return true;
	return false;
}

static void take(const struct scan_part *part, uint64_t low, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes && low + i < part->high; i++)
		part->marks[low - part->low + i] |= SCAN_MARK_TAKEN;
}

/* Padding between functions, which .eh_frame does not know. */
static bool padding_at(const struct scan_work *w, uint64_t address, struct insn *ret)
{
	const struct scan_image *image = w->image;
	const struct scan_range *text = scan_text_of(image, address);
	uint64_t low, high;
	int cfa_off_bytes;

	return text && !image->function_at(image->state, address, &low, &high, &cfa_off_bytes) &&
	       insn_decode_cached(image->cache, scan_text_at(image, address), (size_t)(text->high - address), address,
				  ret) &&
	       is_padding(ret);
}

static bool can_move(const struct scan_part *part, const struct insn *insn, bool is_first)
{
	uint8_t marks = SCAN_MARK_TAKEN | (is_first ? 0 : SCAN_MARK_TARGET);

	if (is_call(insn) || insn->kind == INSN_REFUSED || insn->op == INSN_OP_ENDBR)
		return false;
	if (has_mark(part, insn->address, insn->len_bytes, SCAN_MARK_SITE) || has_mark(part, insn->address, 1, marks))
		return false;
	return !has_mark(part, insn->address + 1, insn->len_bytes - 1U, SCAN_MARK_TARGET | SCAN_MARK_TAKEN);
}

/*
 * Whole instructions from instruction n of the part on, at least want_bytes. is_end_before: nothing comes to the first. Behind an
 * end only padding is taken: code there that nothing is known to reach is reached somehow.
 */
static struct region forward(const struct scan_work *w, const struct scan_part *part, size_t n, size_t want_bytes,
			     bool is_end_before)
{
	uint64_t address = n < part->first + part->count ? w->insns[n].address : part->high;
	struct region region = {0};
	bool is_ended = is_end_before;

	while (region.bytes < want_bytes) {
		struct insn outside;
		const struct insn *insn = &outside;

		if (n < part->first + part->count) {
			insn = &w->insns[n++];
			if (!can_move(part, insn, region.count == 0 && !is_end_before) ||
			    (is_ended && !is_padding(insn)))
				return (struct region){0};
		} else if (!is_ended || !padding_at(w, address, &outside)) {
			return (struct region){0};
		}
		is_ended = is_ended || is_end(insn);
		region.bytes += insn->len_bytes;
		region.count++;
		address += insn->len_bytes;
	}
	return region;
}

/* Instructions before n that can go with the site there. */
static struct region backward(const struct scan_work *w, const struct scan_part *part, size_t n, bool is_site_call)
{
	size_t want_bytes = JUMP_BYTES - w->insns[n].len_bytes;
	struct region region = {0};

	while (region.bytes < want_bytes) {
		const struct insn *insn;

		/* What comes to the instruction behind misses this one. */
		if (n == part->first || has_mark(part, w->insns[n].address, w->insns[n].len_bytes, SCAN_MARK_TARGET))
			return (struct region){0};
		insn = &w->insns[--n];
		if ((insn->kind != INSN_OTHER && insn->kind != INSN_JUMP_CONDITIONAL) || !can_move(part, insn, true))
			return (struct region){0};
		if (is_site_call && insn->writes_stack_pointer)
			return (struct region){0};
		region.needs_stack |= insn->reads_stack_pointer || insn->kind == INSN_JUMP_CONDITIONAL;
		region.bytes += insn->len_bytes;
		region.count++;
	}
	return region;
}

static bool is_site(const struct scan_work *w, const struct scan_part *part, size_t n, enum scan_kind *kind)
{
	const struct insn *insn = &w->insns[n];
	bool leaves = part->marks[insn->address - part->low] & SCAN_MARK_LEAVE;

	switch (insn->kind) {
	case INSN_CALL_DIRECT:
		*kind = SCAN_CALL;
		return true;
	case INSN_CALL_INDIRECT:
		*kind = SCAN_CALL_INDIRECT;
		return true;
	case INSN_JUMP_DIRECT:
	case INSN_JUMP_CONDITIONAL:
		*kind = SCAN_TAIL;
		return leaves;
	case INSN_JUMP_INDIRECT:
		*kind = SCAN_TAIL_INDIRECT;
		return leaves;
	default:
		return false;
	}
}

/* Fills in the sites, or counts them when sites is NULL. */
static size_t list_sites(struct scan_work *w, struct scan_site *sites)
{
	size_t count = 0;
	enum scan_kind kind;

	for (size_t p = 0; p < w->part_count; p++) {
		const struct scan_part *part = &w->parts[p];

		for (size_t n = part->first; n < part->first + part->count; n++) {
			const struct insn *insn = &w->insns[n];

			if (!is_site(w, part, n, &kind))
				continue;
			if (sites) {
				sites[count] = (struct scan_site){.address = insn->address,
								  .target = insn->target,
								  .insn = *insn,
								  .kind = (uint8_t)kind};
				sites[count].is_entered = part->marks[insn->address - part->low] & SCAN_MARK_TARGET;
				part->marks[insn->address - part->low] |= SCAN_MARK_SITE;
				take(part, insn->address, insn->len_bytes);
			}
			count++;
		}
	}
	return count;
}

static void add_entry(const struct scan_work *w, struct scan_function *f)
{
	const struct scan_part *part = &w->parts[0];
	size_t n = part->first;
	struct region region;

	f->entry_address = w->start;
	if (part->count && w->insns[n].op == INSN_OP_ENDBR)
		f->entry_address += w->insns[n++].len_bytes;
	region = forward(w, part, n, JUMP_BYTES, false);
	f->entry_bytes = region.bytes;
	f->entry_count = region.count;
	take(part, f->entry_address, region.bytes);
}

static void add_room(struct scan_work *w, struct scan_site *site)
{
	const struct scan_part *part = scan_part_of(w, site->address);
	size_t n = scan_find(w, site->address) + 1;
	bool is_at_end = n == part->first + part->count;
	bool is_jump = site->kind == SCAN_TAIL || site->kind == SCAN_TAIL_INDIRECT;
	uint64_t behind = site->address + site->insn.len_bytes;
	struct region region = {0};

	if (site->insn.kind == INSN_JUMP_CONDITIONAL)
		return;
	if (is_jump) {
		site->may_stay = part->marks[site->address - part->low] & SCAN_MARK_STAY;
		site->has_suffix = site->insn.len_bytes >= JUMP_BYTES;
		if (site->has_suffix)
			return;
		region = forward(w, part, n, JUMP_BYTES - (size_t)site->insn.len_bytes, true);
	} else {
		site->is_last = is_at_end || w->insns[n].kind == INSN_STOP;
		if (is_at_end)
			return;
		site->is_suffix_entered = part->marks[behind - part->low] & SCAN_MARK_TARGET;
		region = forward(w, part, n, JUMP_BYTES, false);
		if (!region.count && site->kind == SCAN_CALL_INDIRECT && site->insn.len_bytes < JUMP_BYTES &&
		    !site->is_suffix_entered) {
			region = forward(w, part, n, JUMP_BYTES - (size_t)site->insn.len_bytes, false);
			site->is_short_suffix = region.count != 0;
		}
	}
	site->suffix_bytes = region.bytes;
	site->room_count = region.count;
	site->has_suffix = region.count != 0 && !site->is_short_suffix;
	take(part, behind, region.bytes);
}

static void add_prefix(struct scan_work *w, struct scan_site *site)
{
	const struct scan_part *part = scan_part_of(w, site->address);
	bool is_jump = site->kind == SCAN_TAIL || site->kind == SCAN_TAIL_INDIRECT;
	struct region region;

	if (site->insn.len_bytes >= JUMP_BYTES)
		return;
	region = backward(w, part, scan_find(w, site->address), !is_jump);
	site->prefix_bytes = region.bytes;
	site->prefix_count = region.count;
	site->prefix_needs_stack = region.needs_stack;
	take(part, site->address - region.bytes, region.bytes);
}

bool scan_add_sites(struct scan_work *w, struct scan_function *f)
{
	f->site_count = list_sites(w, NULL);
	if (f->site_count) {
		f->sites = allocator_alloc(w->allocator, f->site_count, sizeof(*f->sites));
		if (!f->sites)
			return false;
		list_sites(w, f->sites);
	}
	add_entry(w, f);
	for (size_t i = 0; i < f->site_count; i++)
		add_room(w, &f->sites[i]);
	for (size_t i = 0; i < f->site_count; i++)
		add_prefix(w, &f->sites[i]);
	return true;
}
