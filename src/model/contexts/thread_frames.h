/* thread_frames.h - contexts below their threads, or below a label of their recording: `[thread NAME]`, the thread's number or `[KEY=VALUE]` becomes the outermost frame. */
#ifndef WM_MODEL_CONTEXTS_THREAD_FRAMES_H
#define WM_MODEL_CONTEXTS_THREAD_FRAMES_H

#include "model/base/profile.h"

/* The same below the label of that key, `[KEY=?]` where the value is NULL. */
struct error *thread_frames_add_label(struct profile *p, uint32_t node, const char *key, const char *value,
				      uint32_t *ret);
/* name: NULL: it has none. tid: 0: not known. *ret: the node of the same context below its thread. */
struct error *thread_frames_add(struct profile *p, uint32_t node, uint32_t tid, const char *name, uint32_t *ret);

#endif
