/*
 * scan.c - the analysis of one function: decodes its parts and has the steps look at them.
 *
 * 1. scan_targets.c: which parts there are, and where control can come.
 * 2. scan_jumps.c: whether each indirect jump stays in the function.
 * 3. scan_regions.c: sites, and the bytes around them that can be replaced.
 * 4. scan_taken.c: addresses of other functions that it takes.
 * 5. scan_live.c: registers and flags that are live behind calls.
 */
#include "agent/scan/scan.h"

#include <string.h>

#include "agent/scan/scan_work.h"

/* Control must not run over the end of a part. */
static void check_ends(struct scan_work *w)
{
	for (size_t i = 0; i < w->part_count; i++) {
		const struct scan_part *part = &w->parts[i];
		const struct insn *last = part->count ? &w->insns[part->first + part->count - 1] : NULL;

		if (!last || last->op == INSN_OP_NOP || last->kind == INSN_JUMP_CONDITIONAL)
			continue;
		if (last->kind == INSN_OTHER || last->kind == INSN_SYSCALL)
			scan_refuse(w, last->address, "runs over its end");
	}
}

static uint16_t clobbered(const struct scan_work *w, const struct scan_function *f)
{
	uint16_t regs = 0;
	uint64_t slot;

	for (size_t i = 0; i < w->insn_count; i++)
		regs |= w->insns[i].regs_written;
	for (size_t i = 0; i < f->site_count; i++) {
		const struct scan_site *site = &f->sites[i];

		if (site->kind == SCAN_CALL_INDIRECT || site->kind == SCAN_TAIL_INDIRECT ||
		    scan_is_plt(w->image, site->target, &slot))
			regs |= SCAN_CALLER_SAVED;
	}
	return regs;
}

static bool finish(struct scan_work *w, struct scan_function *f)
{
	*f = (struct scan_function){.start = w->start, .chunk_count = w->part_count, .insn_count = w->insn_count};
	for (size_t i = 0; i < w->part_count; i++)
		f->chunks[i] = (struct scan_chunk){w->parts[i].low, w->parts[i].high};
	f->switches_stack = scan_switches_stack(w);
	if (!scan_add_sites(w, f) || !scan_add_taken(w, f))
		return false;
	f->is_leaf = f->site_count == 0;
	f->entry_is_target = w->entry_is_target;
	f->regs_clobbered = clobbered(w, f);
	scan_add_liveness(w, f);
	check_ends(w);
	f->reason = w->reason;
	f->reason_address = w->reason_address;
	return true;
}

/*
 * The start of the range that this one is a part of, which is then the function's; 0 when this one is a function. The start of a
 * function, other than that of a part, is a target in it for loops only.
 */
static uint64_t whole_of(struct scan_work *w)
{
	for (size_t i = 1; i < w->part_count; i++) {
		uint64_t low, high, at = w->parts[i].low;
		int cfa_off_bytes;

		if (w->entry_is_target && !(w->parts[i].marks[0] & SCAN_MARK_BRANCH) &&
		    w->image->function_at(w->image->state, at, &low, &high, &cfa_off_bytes) && cfa_off_bytes == 8)
			return at;
	}
	return w->inside_of;
}

static enum scan_result analyse(const struct scan_image *image, struct scan_chunk range,
				const struct allocator *allocator, struct scan_function *f, uint64_t *whole)
{
	struct scan_work w = {.image = image,
			      .allocator = allocator,
			      .start = range.low,
			      .inner = image->inner_of(image->state, range.low)};

	w.insn_capacity = (size_t)(range.high - range.low) / 3 + 16;
	w.insns = allocator_alloc(allocator, w.insn_capacity, sizeof(*w.insns));
	w.no_memory = !w.insns;
	if (w.insns && scan_add_part(&w, range.low, range.high)) {
		scan_mark_targets(&w);
		for (size_t i = 0; i < w.insn_count; i++)
			if (w.insns[i].kind == INSN_REFUSED)
				scan_refuse(&w, w.insns[i].address, "an instruction that is not followed");
		scan_mark_jumps(&w);
	}
	*whole = whole_of(&w);
	if (!w.no_memory && !finish(&w, f)) {
		scan_function_release(f, allocator);
		w.no_memory = true;
	}
	for (size_t i = w.part_count; i-- > 0;)
		allocator_free(allocator, w.parts[i].marks);
	allocator_free(allocator, w.insns);
	return w.no_memory ? SCAN_NO_MEMORY : SCAN_OK;
}

static bool has_chunk(const struct scan_function *f, uint64_t low)
{
	for (size_t i = 0; i < f->chunk_count; i++)
		if (f->chunks[i].low == low)
			return true;
	return false;
}

/* The range at start is a part of the function at whole if that says so, too. */
static enum scan_result analyse_whole(const struct scan_image *image, uint64_t whole, uint64_t start,
				      const struct allocator *allocator, struct scan_function *f)
{
	struct scan_chunk range;
	enum scan_result result;
	uint64_t again;
	int cfa_off_bytes;

	if (!image->function_at(image->state, whole, &range.low, &range.high, &cfa_off_bytes) || cfa_off_bytes != 8)
		return SCAN_NO_FUNCTION;
	result = analyse(image, range, allocator, f, &again);
	if (result == SCAN_OK && !has_chunk(f, start)) {
		scan_function_release(f, allocator);
		return SCAN_NO_FUNCTION;
	}
	return result;
}

/* gcc puts a nop before a cold part that starts with a landing pad: the frame is there behind it. */
static bool starts_with_frame(const struct scan_image *image, uint64_t start, int entry_cfa_off_bytes)
{
	return entry_cfa_off_bytes != 8 ||
	       (*scan_text_at(image, start) == 0x90 && image->cfa_offset_at(image->state, start + 1) != 8);
}

/* For a range that starts with a frame: the range that its first jump out of it leads to; 0: there is none. */
static uint64_t jumps_out(const struct scan_image *image, struct scan_chunk range)
{
	uint64_t low, high, address = range.low;
	struct insn insn;
	int cfa_off_bytes;

	while (address < range.high && insn_decode_cached(image->cache, scan_text_at(image, address),
							  (size_t)(range.high - address), address, &insn)) {
		if ((insn.kind == INSN_JUMP_DIRECT || insn.kind == INSN_JUMP_CONDITIONAL) &&
		    (insn.target < range.low || insn.target >= range.high) &&
		    image->function_at(image->state, insn.target, &low, &high, &cfa_off_bytes))
			return low;
		address += insn.len_bytes;
	}
	return 0;
}

enum scan_result scan_function(const struct scan_image *image, uint64_t start, const struct allocator *allocator,
			       struct scan_function *ret)
{
	const struct scan_range *text = scan_text_of(image, start);
	struct scan_function f, whole_function;
	struct scan_chunk range;
	enum scan_result result;
	uint64_t whole = 0, slot;
	int cfa_off_bytes;

	if (!text || !image->function_at(image->state, start, &range.low, &range.high, &cfa_off_bytes) ||
	    range.low != start || range.high > text->high || scan_is_plt(image, start, &slot))
		return SCAN_NO_FUNCTION;
	if (starts_with_frame(image, start, cfa_off_bytes)) {
		whole = jumps_out(image, range);
		return whole ? analyse_whole(image, whole, start, allocator, ret) : SCAN_NO_FUNCTION;
	}
	result = analyse(image, range, allocator, &f, &whole);
	if (result != SCAN_OK)
		return result;
	if (whole && analyse_whole(image, whole, start, allocator, &whole_function) == SCAN_OK) {
		scan_function_release(&f, allocator);
		f = whole_function;
	}
	*ret = f;
	return SCAN_OK;
}

void scan_function_release(struct scan_function *f, const struct allocator *allocator)
{
	allocator_free(allocator, f->sites);
	allocator_free(allocator, f->taken);
	f->sites = NULL;
	f->taken = NULL;
	f->site_count = f->taken_count = 0;
}
