/*
 * return_path.h - how a function without call frame information returns, by its code: instructions are followed from the program counter to
 * the nearest ret, and what they do to the stack pointer says where the return address is.
 *
 *      pc   call f              rsp
 *           add  $24, %rsp      rsp + 24
 *           pop  %rbx           rsp + 32      rbx is at rsp + 24
 *           ret                               the return address is at rsp + 32
 *
 * Calls are taken to return with the stack pointer as it was. Code that keeps the stack in balance has one answer, whatever way is followed. A
 * call that does not return may lead into other code: what is found is a guess, which the word on the stack has to bear out.
 *
 * For signal handlers: no allocation, no locks. Needs 8 KB of stack.
 */
#ifndef WM_SAMPLER_RETURN_PATH_H
#define WM_SAMPLER_RETURN_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "native/unwind/cfi.h"

/* The row of the code at pc, which is in the text. False: no way to a ret is found. */
bool return_path_row(const struct eh_text *text, uintptr_t pc, struct cfi_row *ret);

/* Does code from `start` to pc run straight on, so that it is one piece? */
bool return_path_is_straight(const struct eh_text *text, uintptr_t start, uintptr_t pc);

#endif
