/* thread_frames.h - contexts below their threads: `[thread NAME]`, or the thread's number, becomes the outermost frame. */
#ifndef WM_MODEL_CONTEXTS_THREAD_FRAMES_H
#define WM_MODEL_CONTEXTS_THREAD_FRAMES_H

#include "model/base/profile.h"

/* name: NULL: it has none. tid: 0: not known. *ret: the node of the same context below its thread. */
struct error *thread_frames_add(struct profile *p, uint32_t node, uint32_t tid, const char *name, uint32_t *ret);

#endif
