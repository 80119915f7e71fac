/*
 * entry.h - the registers of the program where a stub led into the agent.
 */
#ifndef WM_AGENT_ENTRY_H
#define WM_AGENT_ENTRY_H

#include <stdint.h>

#include "native/unwind/unwind.h"

/* On the program's stack. What is changed here is what the program goes on with. */
struct agent_saved {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax;
	uint64_t flags;
	uint64_t number;  /* what the stub pushed last; C writes over it the address to go on at, if it is not that */
	uint64_t stack[]; /* what the program had on top */
};

extern const char agent_ret[] __attribute__((visibility("hidden"))); /* a `ret` */

/* Sizes of what entry_point.inc saves. Once, at start. */
void agent_entry_init(void);
/* The registers as of an instruction at pc with that stack pointer. */
void agent_saved_regs(const struct agent_saved *saved, uint64_t pc, uint64_t sp, struct unwind_regs *ret);

#endif
