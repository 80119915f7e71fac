/*
 * image_functions.h - the functions of the images that a process has loaded, whether they ran or not: what an absent function of a recording
 * cannot tell.
 */
#ifndef WM_MODEL_CONTEXTS_IMAGE_FUNCTIONS_H
#define WM_MODEL_CONTEXTS_IMAGE_FUNCTIONS_H

#include "model/base/profile.h"
#include "model/contexts/context_images.h"

/*
 * Adds those of images that were not added before: of instrumented ones by their metadata, of others that have recorded functions by their
 * symbols, which are read already.
 */
struct error *image_functions_add(struct profile *p, const struct process *process);

#endif
