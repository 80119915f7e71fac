/*
 * next_instruction.h - where control goes from an instruction, so that a breakpoint stops there as a step of the trap flag would. The
 * trap flag leaves a virtual machine for its hypervisor at each step (20 µs and more); a breakpoint takes a tenth of that.
 */
#ifndef WM_TESTS_NEXT_INSTRUCTION_H
#define WM_TESTS_NEXT_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NEXT_BREAKPOINT = 0xcc,
};

struct next_state {
	uint64_t pc, flags;
	uint64_t r[16]; /* in DWARF's order */
};

/*
 * *ret is the address of the instruction that follows the one at state->pc, whose bytes are code[len_bytes], unless a signal comes between
 * them. A repeated string instruction is one.
 * false: nothing but the trap flag tells. It is a system call, which may return elsewhere or in a new thread, or it traps, or is not known.
 */
bool next_instruction(const struct next_state *state, const uint8_t *code, size_t len_bytes,
		      bool (*read)(uint64_t address, void *to, size_t len_bytes), uint64_t *ret);

#endif
