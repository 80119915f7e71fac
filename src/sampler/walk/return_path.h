/*
 * return_path.h - how a function without call frame information returns, by its code: instructions are followed from the program counter to
 * the nearest ret, with the registers and the memory that there are, and what they do to the stack pointer says where the return address is.
 *
 *      pc   call f              rsp
 *           add  $24, %rsp      rsp + 24
 *           pop  %rbx           rsp + 32      rbx is at rsp + 24
 *           ret                               the return address is at rsp + 32
 *
 * Code that leaves its stack for another one says so, too (Go, Erlang): mov 0x30(%rsp), %rdi; mov 8(%rdi), %rsi; mov %rsi, %rsp.
 *
 * Calls are taken to return with the stack pointer as it was. Code that keeps the stack in balance has one answer, whatever way is followed. A
 * call that does not return may lead into other code: what is found is a guess, which the word on the stack has to bear out.
 *
 * For signal handlers of the thread whose stack it is: no allocation, no locks. Needs 20 KB of stack.
 */
#ifndef WM_SAMPLER_RETURN_PATH_H
#define WM_SAMPLER_RETURN_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "native/unwind/unwind.h"
#include "sampler/walk/memory.h"

/* Where the code is: in the text of an image, which it does not leave, or (NULL) anywhere, which is read by copies. */
struct return_path_code {
	const struct eh_text *text;
	struct memory_windows *windows;
	/* Has the code there call frame information? NULL: none has. */
	bool (*is_described)(void *data, uintptr_t pc);
	void *data;
};

enum return_path_end {
	RETURN_PATH_NONE,   /* no way to a ret is found; *regs is as it was */
	RETURN_PATH_CALLER, /* *regs is the caller's frame */
	RETURN_PATH_LEAVES, /* made code has come to code that has call frame information: *regs is the frame there, at a jump that leads on */
};

/* From a frame to its caller. */
enum return_path_end return_path_step(const struct return_path_code *code, const struct unwind_stack *stack,
				      struct unwind_regs *regs);

/* Does code from `start` to pc run straight on, so that it is one piece? */
bool return_path_is_straight(const struct eh_text *text, uintptr_t start, uintptr_t pc);

#endif
