/*
 * host.h - the recorder that samples go to: of a program that `waymark cc` built its own, so that one recording has its events in their
 * compiled contexts and the samples in walked ones; else this library's.
 */
#ifndef WM_SAMPLER_HOST_H
#define WM_SAMPLER_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/table.h"

/* Written by host_find, before the first sample. */
extern const struct wm1_recorder *host __attribute__((visibility("hidden")));

/* Once, before main. */
void host_find(void);
/* It is the program's. */
bool host_is_program(void);
/* Is that code of the program's runtime? Its frames are left out, as those of this library. */
bool host_has_code(uintptr_t address);
/* The tasks of its threads. NULL: an earlier version built the program. */
const struct wm1_tasks *host_tasks(void);
/* A context that was found in the running thread, in the thread's task. */
wm_context host_in_task(wm_context context);
/* The records of the heap of the same recording. NULL: an earlier version built the program. */
const struct wm1_heap_records *host_heap(void);

#endif
