/* stub.c - plans of stubs, and branches in place of the program's bytes. */
#include "agent/code/stub.h"

#include <string.h>

#include "agent/scan/insn_cache.h"

void stub_plan(struct stub_plan *s, const struct code_area *area, struct code_stub *stubs, uint32_t capacity,
	       uint8_t *bytes, uint32_t byte_capacity)
{
	s->area = area;
	s->place = area ? area->place : (struct code_place){0, 0};
	s->counter_count = area ? area->counter_count : 0;
	s->stubs = stubs;
	s->capacity = capacity;
	s->bytes = bytes;
	s->byte_capacity = byte_capacity;
	s->count = s->byte_count = 0;
}

void stub_plan_one(struct stub_plan *s, const struct code_area *area, struct stub_one *one)
{
	stub_plan(s, area, &one->stub, 1, one->bytes, sizeof one->bytes);
}

/* One for which it is too little is not written. */
uint32_t stub_most_bytes(enum code_stub_kind kind)
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

static bool begin_at(struct stub_plan *s, uintptr_t at, enum code_stub_kind kind, uint32_t number)
{
	uint32_t left = s->byte_capacity - s->byte_count, most = stub_most_bytes(kind);

	s->head = (struct code_stub){.start = at, .number = number, .kind = (uint8_t)kind};
	emit_init(&s->e, s->bytes + s->byte_count, most < left ? most : left, at);
	return true;
}

bool stub_begin(struct stub_plan *s, enum code_stub_kind kind, uint32_t number)
{
	uintptr_t at = s->area ? code_next(s->area, &s->place, stub_most_bytes(kind)) : 0;

	return at && begin_at(s, at, kind, number);
}

bool stub_begin_old(struct stub_plan *s, uintptr_t old, enum code_stub_kind kind, uint32_t number)
{
	return s->area && code_has_stub(s->area, old) && begin_at(s, old, kind, number);
}

bool stub_is_old(const struct stub_plan *s)
{
	return code_is_stub(&s->head, &s->e);
}

void stub_done(struct stub_plan *s, uint32_t first, uint32_t done)
{
	s->head.first = (uint8_t)first;
	s->head.done = (uint8_t)done;
}

uintptr_t stub_end(struct stub_plan *s)
{
	if (!emit_ok(&s->e) || s->count == s->capacity)
		return 0;
	s->head.len = s->e.len;
	s->stubs[s->count++] = s->head;
	s->byte_count += s->e.len;
	code_pass(&s->place, s->e.len);
	return s->head.start;
}

uintptr_t stub_counter(struct stub_plan *s)
{
	uintptr_t counter = code_counter(s->area, s->counter_count);

	s->counter_count += counter != 0;
	return counter;
}

bool stub_apply(const struct stub_plan *s, struct code_area *area)
{
	const uint8_t *code = s->bytes;

	if (!area)
		return s->count == 0;
	area->place = s->place;
	area->counter_count = s->counter_count;
	for (uint32_t i = 0; i < s->count; i++) {
		if (!code_add_stub(area, &s->stubs[i], code))
			return false;
		code += s->stubs[i].len;
	}
	return true;
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
