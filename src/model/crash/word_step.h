/*
 * word_step.h - private to word_flow.c and word_step.c: one instruction.
 */
#ifndef WM_MODEL_CRASH_WORD_STEP_H
#define WM_MODEL_CRASH_WORD_STEP_H

#include "base/instruction.h"
#include "model/crash/word_flow.h"

struct word_value word_number(int64_t n);
bool word_is_same(struct word_value a, struct word_value b);

/* What a memory operand addresses; WORD_UNKNOWN. next: the address of the next instruction. */
struct word_value word_address(const struct word_state *s, const struct instruction *i, uint64_t next);

/* The value of the operand that ModRM names. */
struct word_value word_operand(const struct word_code *code, const struct word_state *s, const struct instruction *i,
			       uint64_t next);

/* A general register gets the value; the stack pointer stays one. */
void word_set(struct word_state *s, unsigned reg, struct word_value value, uint64_t pc);

/* Registers that a call may change. kept: it is one of ours, which changes r11 and its result alone. */
void word_call(struct word_state *s, bool is_kept);

/* It moves a register to the history: behind setjmp, or in a landing pad. next: the address of the next instruction. */
bool word_puts_back_history(const struct word_code *code, const struct word_state *s, const struct instruction *i,
			    uint64_t next);

/* The effect of an instruction that is no jump, call or return. function: whose code it is in. */
void word_step(const struct word_code *code, const struct word_function *function, struct word_state *s,
	       const struct instruction *i, uint64_t pc);

#endif
