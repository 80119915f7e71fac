/*
 * entry_jump.h - jumps at entries of functions of this process, which lead to functions of our own: these go on in the function itself.
 *
 *      malloc   jmp stub ─────────►  stub     jmp own
 *      │                                      the instructions at the entry, aimed anew ◄───  own: …; call; ret
 *      …        ◄──────────────────           jmp back
 *
 * So every call is seen, whoever makes it and by whatever pointer. Stubs are near the function and stay mapped. Code is written through
 * /proc/self/mem: no page is ever writable and executable.
 *
 * No other thread runs while jumps are made, put and taken, and none is amidst the bytes of one that is put (entry_jump_covers).
 */
#ifndef WM_NATIVE_ENTRY_JUMP_H
#define WM_NATIVE_ENTRY_JUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "native/unwind/eh_frame.h"

enum {
	ENTRY_JUMP_BYTES = 5,
	ENTRY_JUMP_BYTES_MAX = 20, /* of instructions, the last of which begins within the jump */
};

struct entry_jump {
	uintptr_t at;
	uintptr_t enter, behind,
		end; /* in the stub: what the entry jumps to; the function as it is without; the end of it */
	uint8_t len_bytes;
	uint8_t original[ENTRY_JUMP_BYTES_MAX];
	bool is_put;
};

/*
 * Makes the stub, for the function at `at`, which the image's call frame information has. False: there is no room for a jump, as where
 * the function branches into these bytes or calls at once; or no memory near it.
 */
bool entry_jump_make(struct entry_jump *ret, const struct eh_table *table, uintptr_t at, uintptr_t to);
/* False: could not be written. */
bool entry_jump_put(struct entry_jump *jump);
bool entry_jump_take(struct entry_jump *jump);
/* A thread that goes on there is amidst the bytes that the jump takes. */
static inline bool entry_jump_covers(const struct entry_jump *jump, uintptr_t pc)
{
	return pc - jump->at - 1 < (uintptr_t)jump->len_bytes - 1;
}
/* Where the program is when a thread is at pc in the stub; 0: that is not in it. */
uintptr_t entry_jump_place(const struct entry_jump *jump, uintptr_t pc);

#endif
