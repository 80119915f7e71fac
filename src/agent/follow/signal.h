/*
 * signal.h - the program's signal handlers, which run inside of the agent's (recorder/handlers.h).
 */
#ifndef WM_AGENT_SIGNAL_H
#define WM_AGENT_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

/* The code at these addresses was unloaded: a handler there is another one from now on. Under the agent's lock. */
void signal_forget(uintptr_t low, uintptr_t high);

#endif
