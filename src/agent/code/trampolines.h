/* trampolines.h - places for calls that the agent makes itself (trampolines.S). */
#ifndef WM_AGENT_TRAMPOLINES_H
#define WM_AGENT_TRAMPOLINES_H

#define AGENT_TRAMPOLINES 16384
#define AGENT_TRAMPOLINE_BYTES 64 /* they begin at multiples of it */
#define AGENT_TRAMPOLINE_BACK 6
#define AGENT_TRAMPOLINE_AT_MARK 16
#define AGENT_TRAMPOLINE_MARK 0x066b6c6c65630f06 /* no code: 06 is no instruction of 64-bit mode */
#define AGENT_TRAMPOLINE_CALLEE 24
#define AGENT_TRAMPOLINE_AFTER 32
#define AGENT_TRAMPOLINE_RETURN 40

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

/* A new trampoline that calls callee (0: what %r11 has), goes on at `after`, and stands for return_address; site: whose call it is. 0: none
 * is left. Under the agent's lock. */
uintptr_t trampoline_add(uint32_t site, uintptr_t callee, uintptr_t after, uintptr_t return_address);
/* Where the next new trampoline is; 0: none is left. */
uintptr_t trampoline_next(void);
/* How many there are still. */
uint32_t trampoline_left(void);
/* Where it goes on. */
uintptr_t trampoline_after(uintptr_t trampoline);
/* Aims a trampoline anew. */
bool trampoline_aim(uintptr_t trampoline, uintptr_t callee, uintptr_t after);
/* The site whose trampoline has that pc; false: it is in no trampoline in use. */
bool trampoline_find(uintptr_t pc, uint32_t *ret_site);
#endif

#endif
