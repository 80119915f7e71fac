/*
 * restart.h - system calls that a stop has interrupted are made again, so that the program does not see EINTR.
 *
 * The kernel restarts most by itself (SA_RESTART). The others, which signal(7) lists, are made again here: as they are, or for the rest of
 * their limit of time. EINTR is left to the program by close, which must not be made twice, and by calls whose number is not to be seen in
 * front of them (syscall(2)'s function). What SO_RCVTIMEO and SO_SNDTIMEO limit begins anew.
 */
#ifndef WM_NATIVE_RESTART_H
#define WM_NATIVE_RESTART_H

#include <stdbool.h>
#include <stdint.h>

/* context: the ucontext_t of the handler of a stop. Signal-safe. */
void restart_call(void *context);
/* After a handler of the program has run: the call that it interrupted, if it did, returns EINTR also when a stop comes
 * before the program is back there. Signal-safe. */
void restart_not(void *context);
/* The functions here that interpose waits: nothing of the client's state changes in them. */
bool restart_is_wait(uintptr_t pc);
/* The number of the call that ends at that address is to be seen in front of it, so that restart_call can make it again. Signal-safe. */
bool restart_knows(uintptr_t behind, uint32_t number);
/* Defined by the client: [low, high) is code of one image, which can be read. Signal-safe. */
bool restart_is_code(uintptr_t low, uintptr_t high) __attribute__((visibility("hidden")));
/* Looks up what is stood in front of. Once, at start. */
void restart_start(void);

#endif
