/*
 * signal.h - the program's signal handlers, which run inside of the agent's (recorder/handlers.h).
 */
#ifndef WM_AGENT_SIGNAL_H
#define WM_AGENT_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

/* Handlers that have not returned, or that were left by a jump, had interrupted stubs: what comes back there must find them. Under the
 * agent's lock, other threads stopped. */
bool signal_holds_stubs(void);
/* The code at these addresses was unloaded: a handler there is another one from now on. Under the agent's lock. */
void signal_forget(uintptr_t low, uintptr_t high);

#endif
