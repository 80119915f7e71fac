/* event.h - the event log, for the runtime's own files. */
#ifndef WM_RECORDER_EVENT_H
#define WM_RECORDER_EVENT_H

#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop

/* Logs an event with that context. No lock but for a new name or a new chunk. */
void wmrt_event(wm_context c, const char *name, uint64_t value);

#endif
