/*
 * tail_frames.h - frames that tail calls replaced, of a stack that was walked: by what the debug information of a call says that it calls, and of
 * the tail calls of that function (core/contexts/tail_chain.h).
 *
 *      main                        the call in main calls f by its debug information; g is what was found
 *      f             FRAME_TAIL    f's only way to g is by tail calls of h
 *      h             FRAME_TAIL
 *      g
 *
 * Frames are appended where they are certain; [tail calls] stands between those of which it is not known what is between them. A name that
 * several images define is looked up in the caller's image first, else is not known.
 */
#ifndef WM_MODEL_CONTEXTS_TAIL_FRAMES_H
#define WM_MODEL_CONTEXTS_TAIL_FRAMES_H

#include "model/contexts/context_graph.h"

struct tail_frames;

/* recorded: an image of recorded code that outlives *ret. */
struct error *tail_frames_create(struct image *recorded, struct tail_frames **ret);
/* NULL is passed over. */
void tail_frames_destroy(struct tail_frames *x);

/* Both sites are indices in the image: of a call that was walked, and of the frame that was found under it. */
struct error *tail_frames_append(struct tail_frames *x, uint32_t call, uint32_t callee, struct frame_vec *frames);

/* "[tail calls]": an unknown number of them. */
extern const struct frame tail_frames_elided;

#endif
