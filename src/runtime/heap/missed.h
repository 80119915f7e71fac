/* missed.h - what libwaymark-heap.so does not see, said in a line on standard error. */
#ifndef WM_RUNTIME_HEAP_MISSED_H
#define WM_RUNTIME_HEAP_MISSED_H

#include <stdbool.h>

/* Once, before main or when a runtime comes later: allocations are recorded from now, without the agent. Not in a signal handler. */
void missed_say(void);

#endif
