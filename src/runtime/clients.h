/*
 * clients.h - the clients of the recorder in compiled programs; each is defined in the file that it is about.
 */
#ifndef WM_RUNTIME_CLIENTS_H
#define WM_RUNTIME_CLIENTS_H

#include "recorder/client.h"
#include "runtime/heap/heap.h"
#include "runtime/paths/paths.h"

extern const struct wmrt_client wmrt_stacks;     /* contexts/stack.c */
extern const struct wmrt_client wmrt_signals;    /* contexts/signal.c */
extern const struct wmrt_client wmrt_faults;     /* contexts/signal.c: in recordings */
extern const struct wmrt_client wmrt_jumps;      /* contexts/jump.c */
extern const struct wmrt_client wmrt_coroutines; /* contexts/coroutine.c */
extern const struct wmrt_client wmrt_whole;      /* whole.c */
extern const struct wmrt_client wmrt_filter;     /* filter.c */
extern const struct wmrt_client wmrt_creators;   /* contexts/create.c: of threads */

#endif
