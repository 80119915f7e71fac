/*
 * addends.h - the addends of sites, and which calls may have one.
 *
 * A site has one addend in an epoch, which what stands behind it takes off again whatever was called. Of an indirect site's calls one has
 * it, the others push: their entries have the id with the addend.
 *
 *      call *%rax   --- a: id += 7                                --.
 *                   --- b: push (id + 7, frame_slot, site); id = b's       +-->  pop, if there is an entry; id -= 7
 *                   --- c: push (id + 7, frame_slot, site); id = c's     --'
 *
 * Under the agent's lock.
 */
#ifndef WM_AGENT_ADDENDS_H
#define WM_AGENT_ADDENDS_H

#include <stdint.h>

/* Before the program is encoded anew: by what was counted, which edges may have an addend. */
void addends_prepare(void);
/* And after it: which of them have one. */
void addends_settle(void);

#endif
