/*
 * restart.h - system calls that a stop has interrupted are made again, so that the program does not see EINTR.
 *
 * The kernel restarts most by itself (SA_RESTART). Of the others those that wait without limit, until a point in time, or whose
 * remaining time the kernel has written back, are made again as they are; poll, epoll_wait and the sleeps for the rest of their
 * time. EINTR is left to the program by connect and close, which must not be made twice, and by these with a limit of time: sigtimedwait,
 * semtimedop, epoll_pwait2, io_getevents, calls of sockets.
 */
#ifndef WM_AGENT_RESTART_H
#define WM_AGENT_RESTART_H

#include <stdbool.h>
#include <stdint.h>

/* context: the ucontext_t of the handler of a stop. Signal-safe. */
void restart_call(void *context);
/* The same of a handler of the program, which has run: the call that it interrupted, if it did, returns EINTR also when a stop comes
 * before the program is back there. Signal-safe. */
void restart_not(void *context);
/* The agent's functions that stand in front of waits: nothing of the thread's state changes in them. */
bool restart_is_wait(uintptr_t pc);
/* Looks up what is stood in front of. Once, at start. */
void restart_start(void);

#endif
