/*
 * frame_module.h - the module of a frame: the file of source that it is in, or the class of a method; where neither is known, the image.
 */
#ifndef WM_MODEL_BASE_FRAME_MODULE_H
#define WM_MODEL_BASE_FRAME_MODULE_H

#include "base/arena.h"
#include "model/base/context_frame.h"
#include "model/base/pattern.h"

/* What is shown where a frame has no image. */
extern const char frame_no_image[];

/* Of the arena or the frame's. NULL: no memory. */
const char *frame_module(struct arena *arena, const struct frame *f);

/* Whether a pattern matches its module or its image, as whole paths or names of files. */
bool frame_is_of_module(const struct frame *f, const struct pattern_vec *patterns);

#endif
