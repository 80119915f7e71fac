/*
 * stub.h - a stub while it is written, and branches in place of the program's bytes.
 *
 * Under the agent's lock.
 */
#ifndef WM_AGENT_STUB_H
#define WM_AGENT_STUB_H

#include "agent/code/code.h"
#include "agent/program/image.h"

enum {
	STUB_BRANCH_BYTES = 5,
};

struct stub {
	struct code_area *area;
	struct code_stub head;
	struct emit e;
	uint8_t bytes[EMIT_MAX_BYTES];
};

/* False: no room. */
bool stub_begin(struct stub *s, struct agent_image *image, enum code_stub_kind kind, uint32_t number);
/* Begins what a stub is compared with that may be there already (stub_is_old). False: none is. */
bool stub_begin_old(struct stub *s, const struct agent_image *image, uintptr_t old, enum code_stub_kind kind,
		    uint32_t number);
bool stub_is_old(const struct stub *s);
/* See struct code_stub. */
void stub_done(struct stub *s, uint32_t first, uint32_t done);
/* The address of its code, 0 when it was not written. */
uintptr_t stub_end(struct stub *s);
/* What direct calls of the image lead to that are not known. 0: no room. */
uintptr_t stub_unknown(struct agent_image *image);

/* Copies instructions of the program, [from, from + len), to the stub. False: one cannot be moved. */
bool stub_move(struct emit *e, const uint8_t *bytes, uintptr_t from, uint32_t len);

/* The last 4 bytes of a branch, which end at `end`. */
void stub_put_distance(uint8_t *end, uintptr_t end_address, uintptr_t target);
void stub_put_nops(uint8_t *bytes, uint32_t len);
/* A branch of 5 bytes that ends at `end`, of opcode e8 or e9; nops from `from` on up to it. */
void stub_put_branch(uint8_t *region, uint32_t from, uint32_t end, uint8_t opcode, uintptr_t region_address,
		     uintptr_t target);

#endif
