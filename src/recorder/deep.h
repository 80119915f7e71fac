/* deep.h - libraries that are opened with RTLD_DEEPBIND (src/runtime/contexts/deep.c). */
#ifndef WM_RECORDER_DEEP_H
#define WM_RECORDER_DEEP_H

#include "waymark/runtime.h"

/*
 * If the image has found this runtime though another one is in front: binds it to that one, whose wm1_register this gives. NULL: it is bound as it
 * must be. Takes the loader's lock. Only libwaymark-rt.so defines it: a program's runtime is in front of all.
 */
void (*wmrt_bind_deep(const struct wm1_image *image))(struct wm1_image *) __attribute__((weak, visibility("hidden")));

#endif
