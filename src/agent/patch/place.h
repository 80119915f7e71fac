/*
 * place.h - where the program itself is while its thread is in a stub.
 *
 *      in front of a call     at the call's instruction, or at the one of those in front of it that the stub does in its place
 *      behind a call          where the call returns to, or at the one of those behind it
 *      at an entry            at the function's first instruction that can be replaced
 *
 * There the program's own unwind tables hold, and every register but the stack pointer is as they say: what stubs push is theirs, and the
 * registers that they change for a while name no frame.
 */
#ifndef WM_AGENT_PLACE_H
#define WM_AGENT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct place {
	uintptr_t pc, sp;
};

struct code_stub;

/* The site that has called that stub, of CODE_STUB_UNKNOWN, in which a thread is at pc. */
uint32_t place_unknown_site(const struct code_stub *stub, uintptr_t pc, uintptr_t sp);
/* pc is in a stub, or where one leads out. Signal-safe. */
bool place_is_stub(uintptr_t pc);
/* False: pc is in no stub, and in none of the jumps that stubs leave by. Under the agent's lock. Signal-safe. */
bool place_find(uintptr_t pc, uintptr_t sp, struct place *ret);

#endif
