/*
 * batch.h - the bytes of sites on their way to memory: one site at a time, or many together, which costs a system call for each page
 * rather than for each site.
 *
 * Under the agent's lock.
 */
#ifndef WM_AGENT_BATCH_H
#define WM_AGENT_BATCH_H

#include <stdbool.h>
#include <stdint.h>

/* They stand there, and nothing else is on its way: stubs that they lead to are in memory, too. */
bool batch_has(uintptr_t at, const uint8_t *bytes, uint32_t len);
/* Writes them, or in a batch keeps them until its end. False: the bytes stay as they were. */
bool batch_write(uint32_t site, uintptr_t at, const uint8_t *bytes, uint32_t len);
void batch_begin(void);
/* Writes what was kept, and says so of each site (is_written). False: some bytes stay as they were. */
bool batch_end(void);

#endif
