/*
 * stub.h - plans stubs: emits them for the places where they will be, and writes none before stub_apply. And branches in place of the
 * program's bytes.
 *
 *      stub_begin      the next stub, where there is room
 *      emit_...(&s->e) its code
 *      stub_done       what a thread in it has done
 *      stub_end        it is part of the plan
 *
 * stub_begin_old instead emits for the place of a stub that is there already: where that one is the same (stub_is_old), it stays.
 *
 * The caller holds the agent's lock.
 */
#ifndef WM_AGENT_STUB_H
#define WM_AGENT_STUB_H

#include "agent/code/code.h"

enum {
	STUB_BRANCH_BYTES = 5,
};

struct stub_plan {
	const struct code_area *area; /* NULL: there is room for none */
	struct code_place place;      /* where the next one goes */
	uint32_t counter_count;       /* of the area, with those that the plan takes */
	struct code_stub *stubs;      /* whose code is one behind the other in `bytes` */
	uint32_t count, capacity;
	uint8_t *bytes;
	uint32_t byte_count, byte_capacity;
	/* The one that is begun. */
	struct code_stub head;
	struct emit e;
};

/* Room for a plan of one stub. */
struct stub_one {
	struct code_stub stub;
	uint8_t bytes[EMIT_MAX_BYTES];
};

/* stubs, bytes: room for them. */
void stub_plan(struct stub_plan *s, const struct code_area *area, struct code_stub *stubs, uint32_t capacity,
	       uint8_t *bytes, uint32_t byte_capacity);
void stub_plan_one(struct stub_plan *s, const struct code_area *area, struct stub_one *one);
/* Most bytes that a stub of that kind takes of them. */
uint32_t stub_most_bytes(enum code_stub_kind kind);
/* False: no room. */
bool stub_begin(struct stub_plan *s, enum code_stub_kind kind, uint32_t number);
/* False: there is no stub at `old`. */
bool stub_begin_old(struct stub_plan *s, uintptr_t old, enum code_stub_kind kind, uint32_t number);
bool stub_is_old(const struct stub_plan *s);
/* See struct code_stub. */
void stub_done(struct stub_plan *s, uint32_t first, uint32_t done);
/* The address of its code; 0: it cannot be. */
uintptr_t stub_end(struct stub_plan *s);
/* The address of one more counter; 0: none is left. */
uintptr_t stub_counter(struct stub_plan *s);

/* Adds what was planned to its area, which has not changed since. False: not all of it. */
bool stub_apply(const struct stub_plan *s, struct code_area *area);

/* Copies instructions of the program, [from, from + len), to the stub. False: one cannot be moved. */
bool stub_move(struct emit *e, const uint8_t *bytes, uintptr_t from, uint32_t len);

/* The last 4 bytes of a branch, which end at `end`. */
void stub_put_distance(uint8_t *end, uintptr_t end_address, uintptr_t target);
void stub_put_nops(uint8_t *bytes, uint32_t len);
/* A branch of 5 bytes that ends at `end`, of opcode e8 or e9; nops from `from` on up to it. */
void stub_put_branch(uint8_t *region, uint32_t from, uint32_t end, uint8_t opcode, uintptr_t region_address,
		     uintptr_t target);

#endif
