/*
 * scan_targets.c - the parts of a function, and where control can come in them.
 *
 * A jump to another range of .eh_frame leads to a part of this function if there is the same frame where it comes from and where it
 * leads to (a CFA other than rsp + 8), or if the range jumps back into this function's interior; otherwise it is a tail call. Landing pads and entries of jump tables may
 * lead to parts, too. Each new part is searched like the first, until there are no more.
 *
 * Functions written in assembly jump into their neighbours' interior (glibc's memcpy and its kin). Around a function that never moves
 * the stack pointer, as these do not, ranges are looked through for such jumps.
 *
 * Jump tables: any address of data that the function names may be a table. Its entries are read, as distances from the table and
 * from each label whose address the function takes, and as addresses, as long as they lead to instructions of the function; a few
 * that lead to other functions are passed over, since parts that are not known yet look like that.
 */
#include "agent/scan/scan_work.h"

#include <string.h>

enum {
	TABLE_MAX_ENTRIES = 1 << 16,
	TABLE_MAX_FOREIGN = 16,
	NEAR_BYTES = 1024,
	NEAR_MAX_BYTES = 8192,
};

/* Where a jump at those bytes would lead, if it were an instruction: of a byte's distance, or four. 0: no jump looks like that. */
static uint64_t jump_at(const uint8_t *bytes, uint64_t address, uint64_t end)
{
	int32_t distance;

	if (end - address >= 2 && (bytes[0] == 0xeb || (bytes[0] & 0xf0) == 0x70 || (bytes[0] & 0xfc) == 0xe0))
		return address + 2 + (uint64_t)(int64_t)(int8_t)bytes[1];
	if (end - address < 5 || (bytes[0] != 0xe9 && (bytes[0] & 0xf0) != 0x80))
		return 0;
	memcpy(&distance, bytes + 1, sizeof distance);
	return address + 5 + (uint64_t)(int64_t)distance;
}

/* Most ranges hold no bytes that look like a jump into the function's parts: this is told in a tenth of the time that decoding takes. */
static bool may_jump_here(const struct scan_work *w, uint64_t low, uint64_t high)
{
	const uint8_t *bytes = scan_text_at(w->image, low);
	uint64_t first = w->parts[0].low, last = w->parts[0].high;

	for (size_t i = 1; i < w->part_count; i++) {
		first = w->parts[i].low < first ? w->parts[i].low : first;
		last = w->parts[i].high > last ? w->parts[i].high : last;
	}
	for (uint64_t address = low; address < high; address++) {
		uint64_t target = jump_at(bytes + (address - low), address, high);

		if (target >= first && target < last && (target < low || target >= high))
			return true;
	}
	return false;
}

/* Visits where direct jumps of range [low, high) lead that lead elsewhere, to this function's parts at least. Until visit returns true:
 * that is returned. */
static bool see_jumps_of(struct scan_work *w, uint64_t low, uint64_t high,
			 bool (*visit)(struct scan_work *w, uint64_t target))
{
	uint64_t address = low;
	struct insn insn;

	if (!may_jump_here(w, low, high))
		return false;
	while (address < high && insn_decode_cached(w->image->cache, scan_text_at(w->image, address),
						    (size_t)(high - address), address, &insn)) {
		if ((insn.kind == INSN_JUMP_DIRECT || insn.kind == INSN_JUMP_CONDITIONAL) &&
		    (insn.target < low || insn.target >= high) && visit(w, insn.target))
			return true;
		address += insn.len_bytes;
	}
	return false;
}

static bool is_inside(struct scan_work *w, uint64_t target)
{
	return target != w->start && target != w->inner && scan_part_of(w, target);
}

/* True when range [low, high) has a direct jump into the function, but not to an entry. */
static bool jumps_back(struct scan_work *w, uint64_t low, uint64_t high)
{
	struct scan_asked asked = {.low = low, .part_count = w->part_count};

	for (size_t i = 0; i < SCAN_ASKED; i++)
		if (w->asked[i].low == low && w->asked[i].part_count == w->part_count)
			return w->asked[i].jumps_back;
	asked.jumps_back = see_jumps_of(w, low, high, is_inside);
	w->asked[w->asked_count++ % SCAN_ASKED] = asked;
	return asked.jumps_back;
}

/* Marks a target in the function. False when address is outside it. */
static bool mark(struct scan_work *w, uint64_t address)
{
	uint8_t *m = scan_mark_of(w, address);

	if (!m)
		return false;
	*m |= SCAN_MARK_TARGET;
	return true;
}

/* Another range of .eh_frame in the text. */
static bool foreign_range(const struct scan_work *w, uint64_t address, uint64_t *low, uint64_t *high,
			  int *cfa_off_bytes)
{
	const struct scan_image *image = w->image;
	const struct scan_range *text = scan_text_of(image, address);

	return text && image->function_at(image->state, address, low, high, cfa_off_bytes) && *low >= text->low &&
	       *high <= text->high;
}

static int cfa_at(const struct scan_work *w, uint64_t address)
{
	return w->image->cfa_offset_at(w->image->state, address);
}

/* The jump's target belongs to this function although it is in another range of .eh_frame. */
static bool is_part(struct scan_work *w, const struct insn *insn, uint64_t *low, uint64_t *high)
{
	const struct scan_image *image = w->image;
	uint64_t slot;
	int cfa_off_bytes;

	if (!foreign_range(w, insn->target, low, high, &cfa_off_bytes) || scan_is_plt(image, insn->target, &slot))
		return false;
	return (cfa_at(w, insn->target) != 8 && cfa_at(w, insn->target) == cfa_at(w, insn->address)) ||
	       jumps_back(w, *low, *high);
}

static void jump_outside(struct scan_work *w, const struct insn *insn)
{
	uint64_t low, high;

	if (!is_part(w, insn, &low, &high))
		*scan_mark_of(w, insn->address) |= SCAN_MARK_LEAVE;
	else if (scan_add_part(w, low, high) && mark(w, insn->target))
		*scan_mark_of(w, insn->target) |= SCAN_MARK_BRANCH;
}

static void follow_branch(struct scan_work *w, const struct insn *insn)
{
	uint8_t *m;

	if (insn->kind == INSN_CALL_DIRECT) {
		if (insn->target != w->start)
			mark(w, insn->target);
		return;
	}
	if (!mark(w, insn->target)) {
		jump_outside(w, insn);
		return;
	}
	if (insn->target == w->start)
		w->entry_is_target = true;
	m = scan_mark_of(w, insn->target);
	*m |= SCAN_MARK_BRANCH;
	/* glibc jumps over the prefix of a locked instruction. */
	if (!(*m & SCAN_MARK_INSN) && *scan_text_at(w->image, insn->target - 1) != 0xf0)
		scan_refuse(w, insn->address, "jumps into an instruction");
}

/* A constant that may be the address of a label. */
static void see_constant(struct scan_work *w, uint64_t value)
{
	if (value == w->start || !mark(w, value))
		return;
	*scan_mark_of(w, value) |= SCAN_MARK_LABEL;
	w->has_labels = true;
}

static void see_constants(struct scan_work *w, const struct insn *insn)
{
	if (insn->is_rip_relative && insn->op == INSN_OP_LEA)
		see_constant(w, insn->rip_target);
	if (insn->has_memory && !insn->is_rip_relative && insn->disp_off_bytes)
		see_constant(w, (uint64_t)insn->disp);
	if (insn->has_imm)
		see_constant(w, (uint64_t)insn->imm);
}

static void visit_landing_pad(void *visitor, uint64_t address)
{
	struct scan_work *w = visitor;
	uint64_t low, high;
	int cfa_off_bytes;

	if (mark(w, address))
		return;
	if (foreign_range(w, address, &low, &high, &cfa_off_bytes) && scan_add_part(w, low, high))
		mark(w, address);
}

static void see_data_words(struct scan_work *w, const struct scan_part *part)
{
	const struct scan_image *image = w->image;
	uint64_t low = part->low, high = part->high, address;

	while (low < high && (address = image->next_data_target(image->state, low, high))) {
		see_constant(w, address);
		low = address + 1;
	}
}

/* How one entry of a table ends. */
enum entry {
	ENTRY_TAKEN,
	ENTRY_FOREIGN, /* leads to another function */
	ENTRY_NONE,    /* leads nowhere: the table ended */
};

static enum entry see_entry(struct scan_work *w, uint64_t target)
{
	const uint8_t *m = scan_mark_of(w, target);
	uint64_t low, high;
	int cfa_off_bytes;

	if (m) {
		if (!(*m & SCAN_MARK_INSN))
			return ENTRY_NONE;
		mark(w, target);
		if (target == w->start)
			w->entry_is_target = true;
		else
			*scan_mark_of(w, target) |= SCAN_MARK_LABEL;
		return ENTRY_TAKEN;
	}
	if (!foreign_range(w, target, &low, &high, &cfa_off_bytes))
		return ENTRY_NONE;
	if (cfa_off_bytes == 8 || !jumps_back(w, low, high))
		return ENTRY_FOREIGN;
	if (scan_add_part(w, low, high) && mark(w, target))
		*scan_mark_of(w, target) |= SCAN_MARK_LABEL;
	return ENTRY_TAKEN;
}

/* base is what entries are relative to; 0: entries are addresses. */
static void see_table(struct scan_work *w, uint64_t table, uint64_t base)
{
	size_t foreign = 0;

	for (uint64_t i = 0; i < TABLE_MAX_ENTRIES && foreign < TABLE_MAX_FOREIGN; i++) {
		int32_t distance = 0;
		uint64_t target = 0;
		enum entry entry;

		if (base ? !scan_read_data(w->image, table + 4 * i, &distance, sizeof(distance))
			 : !scan_read_data(w->image, table + 8 * i, &target, sizeof(target)))
			return;
		if (base)
			target = base + (uint64_t)(int64_t)distance;
		entry = see_entry(w, target);
		if (entry == ENTRY_NONE || w->no_memory)
			return;
		foreign = entry == ENTRY_FOREIGN ? foreign + 1 : 0;
	}
}

/* labels: addresses in the function that it takes. */
static void see_tables_at(struct scan_work *w, uint64_t table, const uint64_t *labels, size_t label_count)
{
	uint8_t byte;

	if (!scan_read_data(w->image, table, &byte, 1))
		return;
	see_table(w, table, 0);
	see_table(w, table, table);
	for (size_t i = 0; i < label_count; i++)
		see_table(w, table, labels[i]);
}

static uint64_t label_of(struct scan_work *w, const struct insn *insn)
{
	uint64_t label = insn->is_rip_relative && insn->op == INSN_OP_LEA ? insn->rip_target : 0;

	return label && scan_part_of(w, label) ? label : 0;
}

/* Those that the function takes now; parts that tables lead to are searched later. *ret_count: how many. */
static uint64_t *list_labels(struct scan_work *w, size_t *ret_count)
{
	size_t count = 0;
	uint64_t *ret;

	for (size_t i = 0; w->has_labels && i < w->insn_count; i++)
		count += label_of(w, &w->insns[i]) != 0;
	ret = allocator_alloc(w->allocator, count + 1, sizeof(*ret));
	w->no_memory |= !ret;
	*ret_count = 0;
	for (size_t i = 0; ret && count && i < w->insn_count; i++)
		if (label_of(w, &w->insns[i]))
			ret[(*ret_count)++] = label_of(w, &w->insns[i]);
	return ret;
}

static void see_tables(struct scan_work *w)
{
	size_t label_count;
	uint64_t *labels = list_labels(w, &label_count);

	for (size_t i = 0; i < w->insn_count && !w->no_memory; i++) {
		const struct insn insn = w->insns[i];

		if (insn.is_rip_relative && insn.op == INSN_OP_LEA)
			see_tables_at(w, insn.rip_target, labels, label_count);
		else if (!insn.is_rip_relative && insn.has_memory && insn.disp_off_bytes)
			see_tables_at(w, (uint64_t)insn.disp, labels, label_count);
		if (insn.has_imm && insn.op == INSN_OP_MOV)
			see_tables_at(w, (uint64_t)insn.imm, labels, label_count);
	}
	allocator_free(w->allocator, labels);
}

static void search_part(struct scan_work *w, size_t n)
{
	const struct scan_part part = w->parts[n];

	for (size_t i = part.first; i < part.first + part.count && !w->no_memory; i++) {
		const struct insn insn = w->insns[i];

		if (insn.kind == INSN_CALL_DIRECT || insn.kind == INSN_JUMP_DIRECT ||
		    insn.kind == INSN_JUMP_CONDITIONAL)
			follow_branch(w, &insn);
		see_constants(w, &insn);
	}
	w->image->landing_pads(w->image->state, part.low, visit_landing_pad, w);
	see_data_words(w, &part);
}

static bool moves_stack(const struct scan_work *w)
{
	for (size_t i = 0; i < w->insn_count; i++)
		if (w->insns[i].writes_stack_pointer && w->insns[i].kind != INSN_RETURN)
			return true;
	return false;
}

static bool mark_jump(struct scan_work *w, uint64_t target)
{
	if (target != w->start)
		mark(w, target);
	return false;
}

static void see_neighbours(struct scan_work *w)
{
	uint64_t low = w->parts[0].low, high = w->parts[0].high, from, to;
	int cfa_off_bytes;

	if (moves_stack(w))
		return;
	for (uint64_t at = low; at > low - NEAR_BYTES; at--) {
		if (!foreign_range(w, at - 1, &from, &to, &cfa_off_bytes))
			continue;
		if (to - from <= NEAR_MAX_BYTES)
			see_jumps_of(w, from, to, mark_jump);
		at = from + 1;
	}
	for (uint64_t at = high; at < high + NEAR_BYTES; at++) {
		if (!foreign_range(w, at, &from, &to, &cfa_off_bytes))
			continue;
		if (to - from <= NEAR_MAX_BYTES)
			see_jumps_of(w, from, to, mark_jump);
		at = to - 1;
	}
}

/*
 * Jumps to what cannot be reached (the default of a switch, code behind a throw) lead to whatever comes next: from no frame to where
 * there is one, or with a frame over the end.
 */
static bool is_unreachable(struct scan_work *w, const struct insn *insn)
{
	uint64_t low, high, slot;
	int cfa_off_bytes;

	if (cfa_at(w, insn->address) != 8)
		return insn->target == scan_part_of(w, insn->address)->high;
	return !scan_is_plt(w->image, insn->target, &slot) &&
	       foreign_range(w, insn->target, &low, &high, &cfa_off_bytes) && cfa_at(w, insn->target) != 8;
}

/* With all parts known: the jump leaves, and as a tail call does. */
static void check_leaving(struct scan_work *w, const struct insn *insn)
{
	uint8_t *m = scan_mark_of(w, insn->address);
	uint64_t low, high, slot;
	int cfa_off_bytes;

	if (!(*m & SCAN_MARK_LEAVE))
		return;
	if (scan_part_of(w, insn->target) || is_unreachable(w, insn)) {
		*m &= (uint8_t)~SCAN_MARK_LEAVE;
		return;
	}
	if (cfa_at(w, insn->address) != 8)
		scan_refuse(w, insn->address, "leaves with a frame");
	if (foreign_range(w, insn->target, &low, &high, &cfa_off_bytes) && low != insn->target &&
	    insn->target != w->image->inner_of(w->image->state, low) && !scan_is_plt(w->image, insn->target, &slot)) {
		w->inside_of = low;
		scan_refuse(w, insn->address, "jumps into another function");
	}
}

void scan_mark_targets(struct scan_work *w)
{
	size_t searched = 0;

	if (w->inner)
		mark(w, w->inner);
	/* What looked like a tail call, or was no label, may lead to a part that was found later: all is searched again. */
	while (searched < w->part_count && !w->no_memory) {
		searched = w->part_count;
		for (size_t i = 0; i < searched && !w->no_memory; i++)
			search_part(w, i);
		if (searched == w->part_count)
			see_tables(w);
	}
	if (!w->no_memory)
		see_neighbours(w);
	for (size_t i = 0; i < w->insn_count; i++)
		check_leaving(w, &w->insns[i]);
}
