/*
 * whole.h - what the part of the runtime that keeps contexts asks the whole of. Each function has two definitions: one of the whole runtime, and a weak one
 * of alone.c for programs without it.
 */
#ifndef WM_RUNTIME_WHOLE_H
#define WM_RUNTIME_WHOLE_H

#include <stdbool.h>

#include "waymark/runtime.h"

/* The whole runtime of a library to which this part hands over; NULL: there is none. Constant for the life of the process. */
const struct wm1_whole *wmrt_front(void);
/* There is a whole runtime in this image. */
bool wmrt_is_whole(void);

/* The functions of waymark/runtime.h of this image, whatever the process's symbols name. */
#pragma GCC visibility push(hidden)
extern __typeof(wm1_grow) wmrt_own_grow;
extern __typeof(wm1_drop_tails) wmrt_own_drop_tails;
extern __typeof(wm1_push_deferred) wmrt_own_push_deferred;
extern __typeof(wm1_put_back) wmrt_own_put_back;
#pragma GCC visibility pop

#endif
