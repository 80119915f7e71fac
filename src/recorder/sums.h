/*
 * sums.h - events that are added up by context, name, thread and time window: what stays of events whose own records make room for later ones.
 *
 * The records are in SUMS chunks of the file, as many as WAYMARK_RECENT allows. When these are full, windows become twice as long, and when
 * one window is left, threads are no longer told apart; then the contexts with the fewest events go to [lost]. Sums stay exact all along.
 *
 * All functions are called under the recorder's lock. No malloc.
 */
#ifndef WM_RECORDER_SUMS_H
#define WM_RECORDER_SUMS_H

#include <stdbool.h>

#include "waymark/wmk.h"

/* Makes the first chunk, while the file still has room. False: there are none, and nothing can be added up. */
bool wmrt_sums_start(void);
/* Adds an event. False: no sum had room for it. */
bool wmrt_sums_add(const struct wmk_event *event);
/* The file is another one: a fork, or a new recording. */
void wmrt_sums_forget(void);

#endif
