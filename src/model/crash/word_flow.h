/*
 * word_flow.h - what the code of one function has done to the words of its thread (struct wm1_thread), at each of its instructions.
 *
 * The id is the function's own when the function is entered. In front of a call it is the callee's, in a root it is set first, helpers
 * (instrument/contexts/outline.c) change it. No table in the program says where: the code itself does. An abstract interpretation over the
 * function's control flow follows what is a sum with the function's own id, and where the stack pointer is:
 *
 *      mov  %fs:id, %rbx         rbx = own          id = own        rsp = entry - 16
 *      lea  5(%rbx), %rax        rax = own + 5
 *      mov  %rax, %fs:id                            id = own + 5
 *      call g
 *      mov  %rbx, %fs:id                            id = own
 *
 * At a join values that differ are unknown. What it cannot follow it says; it never guesses (word_flow_why).
 * No memory of the process is read but code, tables of jumps and the addresses that the dynamic linker has filled in.
 */
#ifndef WM_MODEL_CRASH_WORD_FLOW_H
#define WM_MODEL_CRASH_WORD_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum word_kind {
	WORD_UNKNOWN = 0,
	WORD_ID,     /* the function's own id + n */
	WORD_NUMBER, /* n */
	WORD_STACK,  /* region 0: the stack pointer at the function's entry + n; else that where the region began + n */
	WORD_THREAD, /* the thread pointer + n */
	WORD_RELATIVE, /* read from a table at n, whose entries are distances from n */
	WORD_TARGET,   /* the address that such an entry leads to */
	WORD_POINTER,  /* read from a table at n, whose entries are addresses */
};

struct word_value {
	enum word_kind kind;
	uint32_t region; /* WORD_STACK; of a table's entry how many there are, 0: not known */
	int64_t n;
};

enum {
	WORD_REGISTERS = 16, /* DWARF's numbers */
	WORD_RSP = 7,
	WORD_SLOTS_MAX = 24, /* of the frame that are followed */
};

/* The history of the thread, beside what the function found; other values are bits appended. */
enum word_history {
	WORD_HISTORY_OWN = 0,
	WORD_HISTORY_BITS_MAX = 31,
	WORD_HISTORY_PUSHED, /* begun anew: the call had no room and has pushed */
	WORD_HISTORY_UNKNOWN,
};

struct word_slot {
	struct word_value place; /* WORD_STACK */
	struct word_value value;
};

struct word_state {
	struct word_value id;
	struct word_value saved; /* the id at the last push or deferral, which wm1.put_back restores */
	struct word_value registers[WORD_REGISTERS];
	struct word_slot slots[WORD_SLOTS_MAX];
	uint32_t slot_count;
	uint8_t compared; /* DWARF number of a register that was compared, and is below `bound` if is_bounded; 0xff */
	uint32_t bound;
	bool is_bounded;
	bool is_outside; /* entered by code that does not know it: the id is not set yet, it will be the restart */
	bool is_after_call; /* a callee may have left another id, or have been left by a jump: it is set anew before it counts */
	bool has_jumped_on; /* its tail call has been pushed */
	bool has_cleaned;   /* it may have taken off the pushes of its own tail chain */
	uint8_t history; /* WORD_HISTORY_OWN and so on; else how many bits a call of the function by itself has appended to it */
	bool is_doubtful; /* control may not come here: behind calls of which it is not known whether they return */
};

struct word_function {
	const char *name;
	uint64_t start, end;
};

/* What reads the code; addresses are those of the process. */
struct word_code {
	void *data;
	bool (*read)(void *data, uint64_t address, void *ret, size_t len_bytes);
	/* The function that the address is in. false: none is known. */
	bool (*find)(void *data, uint64_t address, struct word_function *ret);
	int64_t state_off; /* of the thread's words, from the thread pointer */
};

struct word_flow;

/* The state of a function that is entered; is_outside: by code that does not know it. */
struct word_state word_state_begin(bool is_outside);

/* Follows the function from `begin`. *code outlives the flow. Fails for want of memory only. */
struct error *word_flow_create(const struct word_code *code, const struct word_function *function,
			       const struct word_state *begin, struct word_flow **ret);
void word_flow_destroy(struct word_flow *flow);
const struct word_function *word_flow_function(const struct word_flow *flow);

/* Why nothing is known of it; NULL: all that control can reach was followed. */
const char *word_flow_why(const struct word_flow *flow);

/* Control may come back into it by a jump (setjmp, exceptions), with the history of what has jumped. */
bool word_flow_recovers(const struct word_flow *flow);

/* In front of the instruction at pc. false: control does not come there as far as is known. */
bool word_flow_at(const struct word_flow *flow, uint64_t pc, struct word_state *ret);
/* In front of the call that returns to `address`. */
bool word_flow_at_call(const struct word_flow *flow, uint64_t address, struct word_state *ret);

/* Code of ours that a function calls to change its words. */
bool word_is_helper(const char *name);

#endif
