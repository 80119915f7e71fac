/* thread_name.h - names of threads, for reports that list events. */
#ifndef WM_RECORDER_THREAD_NAME_H
#define WM_RECORDER_THREAD_NAME_H

#include <stdint.h>

/* Events of that thread have this name from now on. Any thread, not a signal handler; takes the lock. No room: they have none. */
void wmrt_thread_name(uint32_t tid, const char *name);

#endif
