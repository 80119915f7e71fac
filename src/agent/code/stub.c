/* stub.c - a stub while it is written, and branches in place of the program's bytes. */
#include "agent/code/stub.h"

#include <string.h>

static void stub_begin_at(struct stub *s, struct code_area *area, uintptr_t at, enum code_stub_kind kind,
			  uint32_t number)
{
	s->area = area;
	s->head = (struct code_stub){.start = at, .number = number, .kind = (uint8_t)kind};
	emit_init(&s->e, s->bytes, sizeof s->bytes, at);
}

/* Of its code. One for which it is too little is not written. */
static uint32_t most_bytes(enum code_stub_kind kind)
{
	switch (kind) {
	case CODE_STUB_BEFORE:
		return 224;
	case CODE_STUB_AFTER:
		return 288;
	default:
		return EMIT_MAX_BYTES;
	}
}

static struct code_area *area_of(struct agent_image *image)
{
	if (!image->area)
		image->area = code_area_for(image->low, image->high);
	return image->area;
}

uintptr_t stub_unknown(struct agent_image *image)
{
	const struct code_area *area = area_of(image);

	return area ? area->places.unknown : 0;
}

bool stub_begin(struct stub *s, struct agent_image *image, enum code_stub_kind kind, uint32_t number)
{
	struct code_area *area = area_of(image);
	uintptr_t at = area ? code_next(area, most_bytes(kind)) : 0;

	if (!at)
		return false;
	stub_begin_at(s, area, at, kind, number);
	return true;
}

void stub_done(struct stub *s, uint32_t first, uint32_t done)
{
	s->head.first = (uint8_t)first;
	s->head.done = (uint8_t)done;
}

uintptr_t stub_end(struct stub *s)
{
	return code_add_stub(s->area, &s->head, &s->e) ? s->head.start : 0;
}

bool stub_begin_old(struct stub *s, const struct agent_image *image, uintptr_t old, enum code_stub_kind kind,
		    uint32_t number)
{
	if (!image->area || !code_has_stub(image->area, old))
		return false;
	stub_begin_at(s, image->area, old, kind, number);
	return true;
}

bool stub_is_old(const struct stub *s)
{
	return code_is_stub(&s->head, &s->e);
}

bool stub_move(struct emit *e, const uint8_t *bytes, uintptr_t from, uint32_t len)
{
	uint32_t at = 0;

	while (at < len) {
		uint8_t moved[INSN_RELOCATED_MAX];
		struct insn insn;
		size_t n;

		if (!insn_decode_cached(&agent_insns, bytes + at, len - at, from + at, &insn))
			return false;
		n = insn_relocate(bytes + at, &insn, emit_here(e), moved);
		if (!n)
			return false;
		emit_bytes(e, moved, n);
		at += insn.len_bytes;
	}
	return true;
}

void stub_put_distance(uint8_t *end, uintptr_t end_address, uintptr_t target)
{
	int32_t distance = (int32_t)(target - end_address);

	memcpy(end - 4, &distance, 4);
}

void stub_put_nops(uint8_t *bytes, uint32_t len)
{
	struct emit e;

	emit_init(&e, bytes, len, 0);
	emit_nops(&e, len);
}

void stub_put_branch(uint8_t *region, uint32_t from, uint32_t end, uint8_t opcode, uintptr_t region_address,
		     uintptr_t target)
{
	stub_put_nops(region + from, end - from - STUB_BRANCH_BYTES);
	region[end - STUB_BRANCH_BYTES] = opcode;
	stub_put_distance(region + end, region_address + end, target);
}
