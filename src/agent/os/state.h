/*
 * state.h - whether the agent works in this process, and what of its state code below must know.
 *
 *      off ---> on ---> leaving ---> off, has left ---> on       attached by `waymark agent`
 *                `----> frozen, for ever                         a filter of system calls, or a program that the agent stays out of
 */
#ifndef WM_AGENT_STATE_H
#define WM_AGENT_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define AGENT_HIDDEN __attribute__((visibility("hidden")))

/* It works. Written before main and under the agent's lock: when it is attached, detached or frozen. Read by any thread. */
extern bool agent_is_on AGENT_HIDDEN;
/* It worked, and was taken out. The same writers. */
extern bool agent_has_left AGENT_HIDDEN;
/* It stays as it is from now on (follow/seccomp.h), for ever. Written at start, or under the agent's lock; lock.c reads it with acquire. */
extern bool agent_is_seccomp_frozen AGENT_HIDDEN;
/* The loader unloads: images may be unmapped that are still listed. Writer: follow/loader.c. Under the agent's lock. */
extern bool agent_is_unloading AGENT_HIDDEN;
/*
 * Handlers of the program that have begun in a stub and have not returned, or were left by a jump: what comes back there must find the
 * stub. Writer: any thread (follow/signal.c). Reader: who has stopped the others.
 */
extern _Atomic uint32_t agent_stubs_held AGENT_HIDDEN;

/* It is being detached, and waits for threads to be in the program's own code: nothing is recorded meanwhile. Signal-safe. */
bool agent_leaves(void);
/* Until that time of CLOCK_MONOTONIC, after which nobody waits any more. Under the agent's lock. */
void agent_leaves_until(uint64_t ns);
/* It stays, or it is out. The same. */
void agent_leaves_no_more(void);

#endif
