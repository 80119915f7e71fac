/*
 * handlers.h - the program's signal handlers run inside of one of the client's.
 *
 * sigaction, signal, bsd_signal, ssignal, sysv_signal, sigset, siginterrupt, sigprocmask and pthread_sigmask are those of handlers.c. A client that links it defines
 * wmrt_handle, which becomes the action of every signal that the program has a handler for, and calls that; and of SIGBUS, once that is taken (bus.h).
 */
#ifndef WM_RECORDER_HANDLERS_H
#define WM_RECORDER_HANDLERS_H

#include <signal.h>
#include <stdint.h>

#include "recorder/bus.h"

/* Defined by the client: calls wmrt_handler_of(…) with what it was called with, unless that is NULL. */
void wmrt_handle(int sig, siginfo_t *info, void *context) __attribute__((visibility("hidden")));
/* The program's handler of a signal whose action is wmrt_handle; NULL: there is nothing to call, nor to do. Signal-safe. */
wmrt_handler_fn wmrt_handler_of(int sig, siginfo_t *info, void *context);
/* All is handed on from now: the client does not come into this process, whose own runtime may lead handlers in a circle. Before main. */
void wmrt_handlers_stay_out(void);
/* The client wants SIGBUS alone: other handlers are installed as the program has them, but for what wmrt_handlers_block says. Before main. */
void wmrt_handlers_only_bus(void);
/* The sigaction that is stood in front of. */
int wmrt_next_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
/* Signals of the client's that are blocked, too, while a handler of SA_ONSTACK runs: an alternate stack may have no room for them. Once, at
 * start. */
void wmrt_handlers_block(uint64_t mask);
/*
 * While the program has the default action for this signal, the kernel has this one: the kernel sends the signal for what the client has asked of
 * it. The program sees its own. Once, at start.
 */
void wmrt_handlers_guard(int sig, const struct sigaction *action);
/* Those that the action of this signal blocks so. Signal-safe. */
uint64_t wmrt_handler_blocks(int sig);
/* Handlers that the program has installed go the same way; and are installed again as it had them. One thread runs. */
void wmrt_handlers_take(void);
void wmrt_handlers_give_back(void);
/* Looks up what is stood in front of: once, at start. */
void wmrt_handlers_start(void);

#endif
