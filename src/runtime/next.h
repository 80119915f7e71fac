/*
 * next.h - the functions that the runtime stands in front of.
 *
 * Looked up with dlsym(RTLD_NEXT) when the program starts, so that other interposers behind this one keep working. In a
 * static program there is no dlsym (the weak reference stays NULL) and each user has a fallback; definitions of the
 * runtime are weak and come first, so libc.a's equally weak ones give way.
 */
#ifndef WM_RUNTIME_NEXT_H
#define WM_RUNTIME_NEXT_H

#include <stdatomic.h>

/* The next definition of `name` after this image's, NULL in a static program. Remembered in *cache. */
void *wmrt_next(_Atomic(void *) *cache, const char *name);

/* In the constructor: looks everything up, so that no handler has to. */
void wmrt_signal_start(void);
void wmrt_jump_start(void);
void wmrt_coroutine_start(void);

#define WMRT_INTERPOSER __attribute__((weak, visibility("default")))

#endif
