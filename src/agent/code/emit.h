/*
 * emit.h - the code that stands at and behind a call: stubs and the jumps to them, as bytes.
 *
 * Pure: bytes are written into a buffer for the address they will run at. Return addresses stay true: a stub in front of a call is
 * entered by the call itself and jumps to the callee; a stub behind it is entered by a jump at the return address.
 *
 *      caller                    before the callee                callee
 *      call before  ------------> add $A, %fs:id
 *                                 jmp callee  -------------------> ...
 *  RA: jmp after    <--------------------------------------------- ret
 *        |                       after the callee
 *        '----------------------> sub $A, %fs:id
 *                                 (what was at RA)
 *  RA+n: ...        <------------ jmp RA+n
 *
 * No stub changes a register or, where control may also come from elsewhere, a flag. The stack below the stack pointer is free at
 * a call and behind it, so stubs may push and pop.
 *
 * A pushed entry's frame_slot is 8 less than the address of the slot that holds the return address: the same for the call and for
 * every tail call that its callee makes instead of returning. The stub behind the call finds by it what is on top.
 */
#ifndef WM_AGENT_EMIT_H
#define WM_AGENT_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	EMIT_JUMP_BYTES = 5,
	EMIT_MAX_BYTES = 512, /* of any one stub */
	EMIT_MAX_CALLERS = 4,
	EMIT_TAILS_KEPT = 8, /* pushes of one frame; of further ones the newest */
	/* Offsets in what emit_push_tail writes: between them an entry is being replaced. */
	EMIT_REPLACE_FIRST = 90,
	EMIT_REPLACE_DONE = 108,
};

/* Bytes under way. `address` is where bytes[0] will run. Past the capacity is_full is set and nothing is written. */
struct emit {
	uint8_t *bytes;
	uint32_t len;
	uint32_t capacity;
	uint64_t address;
	bool is_full;
	bool is_far; /* a branch or literal was out of reach (2 GB) */
};

/* What all stubs use: places relative to %fs, and code and literals within reach of every stub. */
struct emit_places {
	int32_t id;        /* of struct agent_thread.id */
	int32_t top;       /* of struct agent_thread.top */
	int32_t base;      /* of struct agent_thread.base */
	uint64_t foreign;  /* 8 bytes that hold AGENT_FOREIGN_ID */
	uint64_t grow;     /* called when the thread has no context stack yet; keeps all registers */
	uint64_t discover; /* jumped to with a site's number pushed: a call that is not known */
	uint64_t returned; /* called with the address behind the program's call pushed: the entry on top is not the site's */
	uint64_t unknown; /* called instead of what is not known: a stub that says so, and no site */
	uint64_t entered; /* jumped to with a function's number pushed: foreign code called it */
};

void emit_init(struct emit *e, uint8_t *bytes, uint32_t capacity, uint64_t address);
void emit_bytes(struct emit *e, const void *bytes, size_t len);
static inline uint64_t emit_here(const struct emit *e)
{
	return e->address + e->len;
}
bool emit_ok(const struct emit *e);

/* jmp target: 5 bytes, or 14 when it is out of reach. call target: 5 bytes. */
void emit_jump(struct emit *e, uint64_t target);
void emit_call(struct emit *e, uint64_t target);
/* len bytes that do nothing. */
void emit_nops(struct emit *e, uint32_t len);

/* id += addend, id -= addend. Returns the offset behind the store of the id. */
uint32_t emit_add(struct emit *e, const struct emit_places *p, uint64_t addend);
uint32_t emit_sub(struct emit *e, const struct emit_places *p, uint64_t addend);

/* The id of the callee, after a push. */
struct emit_start {
	bool is_foreign;
	uint64_t restart;
};

/*
 * Pushes (id + addend, frame_slot, site) and sets the id. Entered with the return address on top of the stack. counter: the address of 4 bytes that
 * are incremented, 0 for none. *ret_pushed: offset behind the store that makes the entry the top one; *ret_done: behind the
 * store of the id.
 */
void emit_push(struct emit *e, const struct emit_places *p, uint32_t site, uint64_t addend,
	       const struct emit_start *start, uint64_t counter, uint32_t *ret_pushed, uint32_t *ret_done);
/*
 * The same for a tail call, which may be one of a loop of them: the first EMIT_TAILS_KEPT entries with this frame's frame_slot stay, and one more,
 * the newest, which is marked with WM1_SITE_ELIDED once it has taken the place of another. Where the id is that of foreign code, or a sum
 * from it on, nothing is done: who called may not take the entry off. Nothing is in front of it in its stub. Behind
 * *ret_pushed the entry is the top one, also where one was replaced.
 */
void emit_push_tail(struct emit *e, const struct emit_places *p, uint32_t site, const struct emit_start *start,
		    uint64_t counter, uint32_t *ret_pushed, uint32_t *ret_done);
/*
 * Takes the entries with this frame's frame_slot off: the site's, and above it those that tail calls of the callee have left. Entered by a jump
 * at the return address, which is `back`; keeps registers. When there is none: calls `returned`. *ret_done: offset behind the
 * store of top.
 */
void emit_pop(struct emit *e, const struct emit_places *p, uint64_t back, uint32_t *ret_done);
/*
 * The same where there may be none (control comes from elsewhere too, or not every call pushes), if `pops`; then id -= addend. Registers are
 * kept, and, by the second, flags. *ret_done: offset behind the last store.
 */
void emit_undo(struct emit *e, const struct emit_places *p, bool pops, uint64_t addend, uint32_t *ret_done);
void emit_undo_kept(struct emit *e, const struct emit_places *p, bool pops, uint64_t addend, uint32_t *ret_done);
/* cmp literal, %r11; je to. The literal's address is within reach. */
void emit_if_target(struct emit *e, uint64_t literal, uint64_t to);
/*
 * At a function's entry: where id is that of foreign code, and the return address one of `count` literals (8 bytes each, from
 * `literals` on), sets id to restart, or leaves it where the literal's bit is set in `left`; where it is another, goes to `entered` with
 * `number`, which goes on behind this code.
 */
void emit_entry(struct emit *e, const struct emit_places *p, uint32_t number, uint64_t restart, uint64_t literals,
		uint32_t count, uint32_t left);
/* id is that of foreign code. Registers and flags are kept. */
void emit_foreign(struct emit *e, const struct emit_places *p);
/* Pushes 8 bytes: a return address for unwinders. */
void emit_push_address(struct emit *e, uint64_t address);
/* Pushes number and jumps to `to`. 10 bytes. */
void emit_thunk(struct emit *e, uint32_t number, uint64_t to);

#endif
