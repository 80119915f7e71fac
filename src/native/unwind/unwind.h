/*
 * unwind.h - from a frame to its caller, by the call frame information of the image, x86-64 Linux. Exact, or it says "unknown".
 *
 * For signal handlers and stopped threads: no allocation, no locks, no libc but memcpy and memset, errno is left alone. Nothing is
 * read but the tables and the text of the image and [low, high) of the stack. A step that is not in the cache needs 2 KB of stack.
 *
 *     struct unwind_regs regs = registers of the thread, is_return_address false;
 *
 *     while (unwind_step(table of the image of regs.pc, &stack, cache, &regs, &frame) == UNWIND_OK)
 *             regs is now the caller: regs.pc is in it, where the call returns to
 *
 * Who walks bounds the steps: a chain of signal frames that damage made a ring does not end.
 */
#ifndef WM_NATIVE_UNWIND_H
#define WM_NATIVE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "native/unwind/cfi.h"
#include "native/unwind/eh_frame.h"

/*
 * A frame's registers. Callee-saved ones (rbx, rbp, r12-r15) and rsp stay known from frame to frame; the others are known in the
 * innermost frame and in one that a signal interrupted. A function of hand-written assembly may make any of them unknown.
 */
struct unwind_regs {
	uint64_t pc;
	uint64_t r[CFI_RETURN_ADDRESS]; /* by enum cfi_register */
	uint32_t known;                 /* bit i: r[i] is known */
	bool is_return_address;         /* pc follows a call: what is looked up is pc - 1. Not in the innermost frame */
};

enum {
	UNWIND_ALL_KNOWN = (1 << CFI_RETURN_ADDRESS) - 1,
};

/*
 * Every byte of it can be read. low is rsp - 128 of the innermost frame or less: at the end of a function the rules name words of
 * the red zone. The stack that regs.r[CFI_RSP] is in: another one once a handler's stack was left. */
struct unwind_stack {
	uintptr_t low;
	uintptr_t high;
};

enum unwind_result {
	UNWIND_OK,
	UNWIND_END,     /* the outermost frame: its return address is undefined or 0 */
	UNWIND_UNKNOWN, /* no CFI, a rule that is not understood, an unknown register, or an address outside the stack */
};

/* The frame that was left. */
struct unwind_frame {
	uint64_t cfa;
	uint64_t return_slot; /* where its return address (signal frame: the interrupted pc) is in memory; 0: in a register */
	bool is_signal;       /* a signal frame: the new registers are those that the signal interrupted */
};

/*
 * Rows that were decoded, by the address that was looked up. Owned by one thread, whose signal handlers may use it while it is in
 * use; other threads may not. All zero is empty. Before a walk, set generation to a number that changes whenever an image is
 * unloaded: entries of another generation are not found.
 */
enum {
	UNWIND_CACHE_ENTRIES = 1024, /* a power of two; 24 KB */
	UNWIND_CACHE_SAVED = 6,
	UNWIND_CACHE_RBP = 1, /* in saved */
};

struct unwind_cache_entry {
	uint64_t address;
	uint32_t generation;
	int32_t cfa_offset;
	uint8_t saved[UNWIND_CACHE_SAVED]; /* rbx, rbp, r12, r13, r14, r15: in the word that many words below the CFA; 0: not saved */
	uint8_t is_from_rbp;               /* the CFA is rbp + cfa_offset, not rsp + cfa_offset */
	uint8_t deepest;                   /* of saved, and 1 for the return address; 0: the outermost frame */
};

struct unwind_cache {
	uint32_t generation;
	uint32_t writes; /* twice those that ended; odd: in one, and what a handler decodes then is not kept */
	struct unwind_cache_entry entries[UNWIND_CACHE_ENTRIES];
};

/*
 * One step, from the frame with these registers to its caller. t: of the image that has regs->pc (of the code before it, if it is
 * a return address); NULL if there is none. cache: NULL if there is none. regs is written on UNWIND_OK only, frame too.
 *
 * A signal frame is known by its CFI (glibc's __restore_rt, vdso) or, where there is none, by the code at pc (musl).
 */
enum unwind_result unwind_step(const struct eh_table *t, const struct unwind_stack *stack, struct unwind_cache *cache,
			       struct unwind_regs *regs, struct unwind_frame *ret_frame);

/*
 * The row of the code at an address that follows a call, as the cache would keep it, without its address. False: there is none, or it is not
 * that of ordinary compiled code. Needs 2 KB of stack.
 */
bool unwind_ordinary_row(const struct eh_table *t, uint64_t address, struct unwind_cache_entry *ret);

/* The same where another source than call frame information has the row, which has no expressions. */
enum unwind_result unwind_step_by_row(const struct cfi_row *row, const struct unwind_stack *stack,
				      struct unwind_regs *regs, struct unwind_frame *ret_frame);

/* The registers that a signal interrupted: the third argument of its handler. */
void unwind_regs_of_signal(const ucontext_t *context, struct unwind_regs *ret);

#endif
