/*
 * crash_context.h - exact calling contexts of the threads of a crash, where the program was built with --wm=contexts, too.
 */
#ifndef WM_MODEL_CRASH_CRASH_CONTEXT_H
#define WM_MODEL_CRASH_CRASH_CONTEXT_H

#include "model/contexts/context.h"
#include "model/crash/crash.h"

/* Sets the context of the innermost frame of each thread that takes part; notes list what cannot be decoded. */
struct error *crash_find_contexts(struct crash *c, struct image_cache *cache);

#endif
