/*
 * gate.h - whether events are recorded just now, and whether any is being: a recording that ends in a process that goes on is whole.
 *
 * Any thread, and signal handlers.
 */
#ifndef WM_JVM_GATE_H
#define WM_JVM_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* False: the event is dropped. True: jvm_gate_leave comes behind it. */
bool jvm_gate_enter(void);
void jvm_gate_leave(void);

/* It is open at first. Who opens and closes is one thread at a time. */
void jvm_gate_open(void);
/* No event enters any more. */
void jvm_gate_close(void);
/* Waits until those that had entered have left. False: one is still inside when the time is over. */
bool jvm_gate_wait(uint64_t limit_ns);

#endif
