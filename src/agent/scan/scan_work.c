/* scan_work.c - parts, instructions and marks of the function that is looked at: what all steps of a scan ask. */
#include "agent/scan/scan_work.h"

#include <string.h>

void scan_refuse(struct scan_work *w, uint64_t address, const char *reason)
{
	if (w->reason)
		return;
	w->reason = reason;
	w->reason_address = address;
}

struct scan_part *scan_part_of(struct scan_work *w, uint64_t address)
{
	for (size_t i = 0; i < w->part_count; i++)
		if (address >= w->parts[i].low && address < w->parts[i].high)
			return &w->parts[i];
	return NULL;
}

uint8_t *scan_mark_of(struct scan_work *w, uint64_t address)
{
	struct scan_part *part = scan_part_of(w, address);

	return part ? &part->marks[address - part->low] : NULL;
}

size_t scan_find(struct scan_work *w, uint64_t address)
{
	const struct scan_part *part = scan_part_of(w, address);
	size_t low, high;

	if (!part)
		return SIZE_MAX;
	low = part->first;
	high = part->first + part->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->insns[middle].address == address)
			return middle;
		if (w->insns[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

bool scan_read_data(const struct scan_image *image, uint64_t address, void *ret, size_t size_bytes)
{
	for (size_t i = 0; i < image->data_count; i++) {
		const struct scan_range *range = &image->data[i];

		if (!scan_range_has(range, address) || range->high - address < size_bytes)
			continue;
		memcpy(ret, range->bytes + (address - range->low), size_bytes);
		return true;
	}
	return false;
}

static struct insn *new_insn(struct scan_work *w)
{
	size_t capacity = w->insn_capacity * 2;
	struct insn *insns;

	if (w->insn_count < w->insn_capacity)
		return &w->insns[w->insn_count];
	insns = allocator_resize(w->allocator, w->insns, w->insn_capacity * sizeof(*insns), capacity * sizeof(*insns));
	if (!insns) {
		w->no_memory = true;
		return NULL;
	}
	w->insns = insns;
	w->insn_capacity = capacity;
	return &w->insns[w->insn_count];
}

static void decode_part(struct scan_work *w, struct scan_part *part)
{
	uint64_t address = part->low;

	while (address < part->high) {
		struct insn *insn = new_insn(w);
		size_t left_bytes = (size_t)(part->high - address);

		if (!insn)
			return;
		if (!insn_decode_cached(w->image->cache, part->bytes + (address - part->low), left_bytes, address,
					insn)) {
			scan_refuse(w, address, "bytes that are no instruction");
			return;
		}
		part->marks[address - part->low] |= SCAN_MARK_INSN;
		if (insn->op == INSN_OP_ENDBR)
			part->marks[address - part->low] |= SCAN_MARK_TARGET;
		address += insn->len_bytes;
		w->insn_count++;
		part->count++;
	}
}

bool scan_add_part(struct scan_work *w, uint64_t low, uint64_t high)
{
	struct scan_part *part = &w->parts[w->part_count];
	const struct scan_range *text = scan_text_of(w->image, low);

	if (w->part_count == SCAN_MAX_CHUNKS) {
		scan_refuse(w, low, "more parts than there is room for");
		return false;
	}
	if (low >= high || !text || high > text->high) {
		scan_refuse(w, low, "a part outside the text");
		return false;
	}
	*part = (struct scan_part){
		.low = low, .high = high, .bytes = scan_text_at(w->image, low), .first = w->insn_count};
	part->marks = allocator_calloc(w->allocator, (size_t)(high - low), 1);
	if (!part->marks) {
		w->no_memory = true;
		return false;
	}
	w->part_count++;
	decode_part(w, part);
	return !w->no_memory;
}

bool scan_is_plt(const struct scan_image *image, uint64_t address, uint64_t *slot)
{
	struct insn insn;

	for (int i = 0; i < 2; i++) {
		const struct scan_range *text = scan_text_of(image, address);

		if (!text || !insn_decode_cached(image->cache, scan_text_at(image, address),
						 (size_t)(text->high - address), address, &insn))
			return false;
		if (insn.op != INSN_OP_ENDBR)
			break;
		address += insn.len_bytes;
	}
	if (insn.kind != INSN_JUMP_INDIRECT || !insn.is_rip_relative)
		return false;
	*slot = insn.rip_target;
	return true;
}
