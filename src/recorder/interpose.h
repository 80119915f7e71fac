/*
 * interpose.h - the functions that the runtime interposes.
 *
 * Looked up with dlsym(RTLD_NEXT) when the program starts, so that other interposers behind this one keep working;
 * where this image comes after libc, with RTLD_DEFAULT. In a static program there is no dlsym (the weak reference
 * stays NULL) and each user has a fallback; definitions of the runtime are weak and come first, so libc.a's equally
 * weak ones give way.
 */
#ifndef WM_RECORDER_INTERPOSE_H
#define WM_RECORDER_INTERPOSE_H

#include <stdatomic.h>

/* The definition of `name` that `own` interposes, NULL in a static program. Remembered in *cache. */
void *wmrt_next(_Atomic(void *) *cache, const char *name, void *own);

/* In the constructor: looks everything up, so that no handler has to. */
void wmrt_leave_start(void);

/*
 * Puts a static function in front of libc's `name`. It is weak, so that a program may have one of its own, and it has
 * a second name: the executable comes first in the process's symbol order and so are its interposers, but
 * libwaymark-rt.so may come after libc. So instrumented shared libraries are linked with --wrap=name and call
 * __wrap_name.
 */
#define WMRT_INTERPOSE(name, own)                                                            \
	extern __typeof(own) name __attribute__((weak, visibility("default"), alias(#own))); \
	extern __typeof(own) __wrap_##name __attribute__((visibility("default"), alias(#own)))

#endif
