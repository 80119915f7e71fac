/*
 * context_images.h - what the numbers of one recorded process mean: which image a site number belongs to, what a prefix stands for.
 *
 * Images are shared between processes through an image_cache, which owns them; it outlives the processes. An image whose
 * metadata could not be found keeps the reason, and only contexts that pass through it fail.
 */
#ifndef WM_MODEL_CONTEXTS_CONTEXT_IMAGES_H
#define WM_MODEL_CONTEXTS_CONTEXT_IMAGES_H

#include "format/wmk.h"
#include "object/find.h"
#include "model/contexts/context_graph.h"
#include "model/contexts/recorded_files.h"
#include "model/contexts/tail_frames.h"

struct cached_image {
	struct object_wanted wanted; /* path not kept */
	struct image *image;         /* NULL: why says why not */
	struct error *why;
};
VEC_DECLARE(cached_image_vec, struct cached_image *);

struct image_cache {
	struct object_search search;
	struct cached_image_vec images;
	struct recorded_files files; /* of recorded code */
};

void image_cache_init(struct image_cache *cache);
void image_cache_deinit(struct image_cache *cache);
/* *ret stays the cache's. Fails only for want of memory: a file that is not found is told by (*ret)->why. */
struct error *image_cache_get(struct image_cache *cache, const struct object_wanted *wanted, struct cached_image **ret);

struct process_image {
	uint32_t site_base;
	uint32_t site_count;
	struct image *image; /* NULL: see why */
	const struct error *why;
};

struct process {
	const struct wmk_file *wmk;   /* NULL: only reserved prefixes are known */
	struct process_image *images; /* by rising site_base */
	uint32_t image_count;
	struct image *recorded;     /* recorded code; NULL: none, or see recorded_why */
	struct error *recorded_why; /* why it cannot be used */
	struct tail_frames *tails;  /* of recorded code */
};

/* Finds the images of a .wmk that have call sites. w must outlive the process. */
struct error *process_init(struct process *p, const struct wmk_file *w, struct image_cache *cache);
/* A process of which one image is known and no .wmk: its sites start at WM_SITE_FIRST. */
struct error *process_init_single(struct process *p, struct cached_image *image);
void process_deinit(struct process *p);

/* The image and the site's index in it. ERROR_FORMAT: no image has it; else the reason why the image is not there. */
struct error *process_find_site(const struct process *p, uint32_t site, struct image **ret_image, uint32_t *ret_local);

/* A copy of an error that someone else owns. */
struct error *error_copy(const struct error *err);

#endif
