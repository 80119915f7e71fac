/*
 * code.h - the instructions of a stopped program: which one faulted or has called, and what its operand is with the registers
 * of a frame.
 */
#ifndef WM_SNAPSHOT_SNAPSHOT_CODE_H
#define WM_SNAPSHOT_SNAPSHOT_CODE_H

#include "base/instruction.h"
#include "snapshot/snapshot.h"

/* false: its bytes are not there, or not known. */
bool snapshot_instruction_at(const struct snapshot *s, uint64_t address, struct instruction *ret);

/* Address of the operand in memory, and the operand itself. false: it has none, or what it needs is not known. address: the
 * instruction's. */
bool snapshot_operand_address(const struct snapshot_frame *frame, const struct instruction *i, uint64_t address,
			      uint64_t *ret);
bool snapshot_operand(const struct snapshot *s, const struct snapshot_frame *frame, const struct instruction *i,
		      uint64_t address, uint64_t *ret);

/* A call ends at an address: it can be one that a call returns to. */
bool snapshot_is_behind_call(const struct snapshot *s, uint64_t address);
/* The call by pointer that ends at `behind` and goes to `target`, with the frame's registers; *ret_address: its own. false: none. */
bool snapshot_call_to(const struct snapshot *s, const struct snapshot_frame *frame, uint64_t behind, uint64_t target,
		      struct instruction *ret, uint64_t *ret_address);
/* A function that a direct call, which ends at `behind`, goes to. false: there is none that leads to code. */
bool snapshot_direct_call(const struct snapshot *s, uint64_t behind, uint64_t *ret_target);

/*
 * An address of [first, end), which is code from `first` on, is in a loop there: *ret_first and *ret_end are the innermost loop's code,
 * from where a jump behind the address leads to up to that jump. *ret_written: the general registers that it writes to, by bits.
 */
bool snapshot_loop_around(const struct snapshot *s, uint64_t address, uint64_t first, uint64_t end, uint64_t *ret_first,
			  uint64_t *ret_end, uint32_t *ret_written);

#endif
