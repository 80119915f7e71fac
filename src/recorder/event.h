/* event.h - the event log, for the runtime's own files. */
#ifndef WM_RECORDER_EVENT_H
#define WM_RECORDER_EVENT_H

#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop
#include "waymark/wmk.h"

/* Logs an event with that context. No lock but for a new name or a new chunk. */
void wmrt_event(wm_context c, const char *name, uint64_t value);
/*
 * Records the event for another thread, of which a sample was taken. tid: 0 if it is not known. Returns its place in the recording, which is valid
 * until this thread records an event in another chunk; NULL: it has none.
 */
#define WMRT_OWN_TID UINT32_MAX
struct wmk_event *wmrt_event_of(uint32_t tid, wm_context c, const char *name, uint64_t value);

#endif
