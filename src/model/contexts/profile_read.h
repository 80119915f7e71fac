/* profile_read.h - adds a .wmk file to a profile, with the contexts of the file decoded. */
#ifndef WM_MODEL_CONTEXTS_PROFILE_READ_H
#define WM_MODEL_CONTEXTS_PROFILE_READ_H

#include "model/base/profile.h"
#include "model/contexts/context_images.h"

/* Told how far the reading of a file is, now and then; may be NULL. */
struct profile_progress {
	void (*report)(void *data, uint64_t done, uint64_t total);
	void *data;
};

/* Adds all that a .wmk file has. cache finds its images; both may go afterwards. */
struct error *profile_add_file(struct profile *p, const struct wmk_file *w, struct image_cache *cache,
			       const struct profile_progress *progress);

#endif
