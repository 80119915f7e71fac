/* cells.h - places for calls that the agent makes itself (cells.S). */
#ifndef WM_AGENT_CELLS_H
#define WM_AGENT_CELLS_H

#define AGENT_CELLS 16384
#define AGENT_CELL_BYTES 64 /* they begin at multiples of it */
#define AGENT_CELL_BACK 6
#define AGENT_CELL_AT_MARK 16
#define AGENT_CELL_MARK 0x066b6c6c65630f06 /* no code: 06 is no instruction of 64-bit mode */
#define AGENT_CELL_CALLEE 24
#define AGENT_CELL_AFTER 32
#define AGENT_CELL_RETURN 40

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

/* A new cell that calls callee (0: what %r11 has), goes on at `after`, and stands for return_address; site: whose call it is. 0: none
 * is left. Under the agent's lock. */
uintptr_t cells_add(uint32_t site, uintptr_t callee, uintptr_t after, uintptr_t return_address);
/* Where the next new cell is; 0: none is left. */
uintptr_t cells_next(void);
/* How many there are still. */
uint32_t cells_left(void);
/* Where it goes on. */
uintptr_t cells_after(uintptr_t cell);
/* Aims a cell anew. */
bool cells_aim(uintptr_t cell, uintptr_t callee, uintptr_t after);
/* The site whose cell has that pc; false: it is in no cell in use. */
bool cells_find(uintptr_t pc, uint32_t *ret_site);
#endif

#endif
