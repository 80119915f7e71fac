/*
 * pause.h - what the agent does itself raises no events: a thread pauses the clients while it runs the agent's code.
 *
 * A pause is the running thread's own: no lock, no atomics. Not for signal handlers.
 */
#ifndef WM_JVM_PAUSE_H
#define WM_JVM_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

/* Events of this thread are dropped until jvm_resume was called as often. */
void jvm_pause(void);
void jvm_resume(void);
bool jvm_is_paused(void);
/* How many pauses are open: what code that was called has left open is undone with the number of before. */
uint32_t jvm_pauses(void);
void jvm_set_pauses(uint32_t count);

#endif
