/*
 * bus.h - the process's SIGBUS: a fault in a recording is repaired (mapping.h), every other one is the program's.
 *
 * From wmrt_bus_take on the kernel's action is wmrt_handle (handlers.h), and the program's is kept here: the program reads and sets that, and
 * gets each SIGBUS as its own action says, the default one included.
 */
#ifndef WM_RECORDER_BUS_H
#define WM_RECORDER_BUS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

typedef void (*wmrt_handler_fn)(int sig, siginfo_t *info, void *context);

/* At start, after wmrt_handlers_start: takes it where anything is to be recorded. */
void wmrt_bus_start(void);
/* Under no lock, one thread runs or all others stand still. */
void wmrt_bus_take(void);
void wmrt_bus_give_back(void);
bool wmrt_bus_is_taken(void);
/* At any time: the program may have saved that action, and put it in place again since. */
bool wmrt_bus_was_taken(void);
/* Instead of wmrt_bus_take: another handler asks wmrt_mapping_repair. */
void wmrt_bus_share(void);
/* sigaction(SIGBUS, …) of the program, once it is taken. */
int wmrt_bus_action(const struct sigaction *act, struct sigaction *old);
/* In a handler of another signal: what it returns to does not block SIGBUS in the kernel. For threads that did before it was taken. */
void wmrt_bus_unblock(void *context);
/* The same of the calling thread, in no handler. */
void wmrt_bus_unblock_here(void);
/*
 * At the begin and the end of every other handler: what it records can be repaired, also where sigsuspend or its kin have SIGBUS blocked
 * while they wait. The kernel puts the mask back behind the handler. frame: an address in the frame of who calls the handler. Returns
 * what wmrt_bus_close gets.
 */
uintptr_t wmrt_bus_open(const void *frame);
void wmrt_bus_close(uintptr_t outer);
/* To the program, where the stack pointer is that, SIGBUS is blocked. */
bool wmrt_bus_is_blocked(uintptr_t sp);
/* The program has set its mask. */
void wmrt_bus_set_blocked(bool is_blocked);
/* In the kernel's handler: the program's handler that is to be called. NULL: none is, and what there was to do is done. */
wmrt_handler_fn wmrt_bus_handler(siginfo_t *info, void *context);

#endif
