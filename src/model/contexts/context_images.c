/* context_images.c - images of a process by site number, with a cache of images by build id and metadata key. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/contexts/context_images.h"
#include "base/order.h"
#include "model/contexts/recorded_graph.h"
#include "waymark/abi.h"

struct error *error_copy(const struct error *err)
{
	return error_create(err->code, "%s", err->message);
}

void image_cache_init(struct image_cache *cache)
{
	*cache = (struct image_cache){0};
	object_search_init(&cache->search);
	recorded_files_init(&cache->files, &cache->search);
}

void image_cache_deinit(struct image_cache *cache)
{
	for (size_t i = 0; i < cache->images.count; i++) {
		image_destroy(cache->images.items[i]->image);
		error_destroy(cache->images.items[i]->why);
		free(cache->images.items[i]);
	}
	cached_image_vec_deinit(&cache->images);
	recorded_files_deinit(&cache->files);
	object_search_deinit(&cache->search);
}

static bool is_same_wanted(const struct object_wanted *a, const struct object_wanted *b)
{
	return a->is_partial == b->is_partial && a->has_key == b->has_key && a->key == b->key &&
	       build_id_equal(&a->build_id, &b->build_id);
}

static struct error *load_image(struct image_cache *cache, const struct object_wanted *wanted, struct image **ret)
{
	struct meta m;
	struct error *err;

	meta_init(&m);
	err = object_find_meta(&cache->search, wanted, &m);
	if (!err)
		err = image_create(&m, ret);
	if (!err) {
		(*ret)->build_id = wanted->build_id;
		if (wanted->path && *wanted->path)
			(*ret)->path = arena_strdup(&(*ret)->meta.arena, wanted->path);
	}
	meta_deinit(&m);
	return err;
}

struct error *image_cache_get(struct image_cache *cache, const struct object_wanted *wanted, struct cached_image **ret)
{
	struct cached_image *new;
	struct error *err;

	for (size_t i = 0; i < cache->images.count; i++) {
		if (is_same_wanted(&cache->images.items[i]->wanted, wanted)) {
			*ret = cache->images.items[i];
			return NULL;
		}
	}
	new = calloc(1, sizeof *new);
	if (!new)
		return &error_no_memory;
	new->wanted = *wanted;
	new->wanted.path = NULL;
	err = cached_image_vec_append(&cache->images, new);
	if (err) {
		free(new);
		return err;
	}
	new->why = load_image(cache, wanted, &new->image);
	*ret = new;
	return NULL;
}

static struct error *find_image(struct image_cache *cache, const struct wmk_file_image *i, struct cached_image **ret)
{
	struct object_wanted wanted = {.path = i->path, .has_key = true, .key = i->record.meta_key};

	wanted.build_id.len_bytes = i->record.build_id_bytes;
	memcpy(wanted.build_id.bytes, i->record.build_id, sizeof i->record.build_id);
	return image_cache_get(cache, &wanted, ret);
}

struct error *process_init(struct process *p, const struct wmk_file *w, struct image_cache *cache)
{
	*p = (struct process){.wmk = w};
	p->images = calloc((size_t)w->image_count + 1, sizeof *p->images);
	if (!p->images)
		return &error_no_memory;
	for (uint32_t i = 0; i < w->image_count; i++) {
		struct process_image *image = &p->images[p->image_count];
		struct cached_image *cached;
		struct error *err;

		if (!w->images[i].record.site_count) /* only paths are counted in it: no context passes through */
			continue;
		err = find_image(cache, &w->images[i], &cached);
		if (err) {
			process_deinit(p);
			return err;
		}
		*image = (struct process_image){.site_base = w->images[i].record.site_base,
						.site_count = w->images[i].record.site_count,
						.image = cached->image,
						.why = cached->why};
		p->image_count++;
	}
	p->recorded_why = recorded_image_create(w, &cache->files, &p->recorded);
	if (p->recorded_why || !p->recorded)
		return NULL;
	p->recorded_why = tail_frames_create(p->recorded, &p->tails);
	return NULL;
}

struct error *process_init_single(struct process *p, struct cached_image *image)
{
	*p = (struct process){.image_count = 1};
	p->images = calloc(1, sizeof *p->images);
	if (!p->images)
		return &error_no_memory;
	p->images[0] = (struct process_image){.site_base = WM_SITE_FIRST, .image = image->image, .why = image->why};
	p->images[0].site_count = image->image ? image->image->meta.site_count : UINT32_MAX - WM_SITE_FIRST;
	return NULL;
}

void process_deinit(struct process *p)
{
	tail_frames_destroy(p->tails);
	image_destroy(p->recorded);
	error_destroy(p->recorded_why);
	free(p->images);
	*p = (struct process){0};
}

static struct error *find_recorded(const struct process *p, uint32_t site, struct image **ret_image,
				   uint32_t *ret_local)
{
	uint32_t local = p->recorded ? recorded_find_site(p->recorded, site) : 0;

	if (p->recorded_why)
		return error_copy(p->recorded_why);
	if (!local && site >= WM1_SITE_NOWHERE)
		return error_create(ERROR_FORMAT, "in a library that had not begun, or had no number");
	if (!local)
		return error_create(ERROR_FORMAT, "damaged: no image has site %" PRIu32, site);
	*ret_image = p->recorded;
	*ret_local = local;
	return NULL;
}

struct error *process_find_site(const struct process *p, uint32_t site, struct image **ret_image, uint32_t *ret_local)
{
	size_t count = COUNT_UP_TO(p->images, p->image_count, site_base, site);
	const struct process_image *image;
	uint32_t local;

	image = count ? &p->images[count - 1] : NULL;
	if (!image || site - image->site_base >= image->site_count)
		return find_recorded(p, site, ret_image, ret_local);
	local = site - image->site_base;
	if (!image->image)
		return error_copy(image->why);
	if (local == 0 || local >= image->image->meta.site_count)
		return error_create(ERROR_FORMAT, "damaged: %s has no site %" PRIu32, image->image->meta.unit, local);
	*ret_image = image->image;
	*ret_local = local;
	return NULL;
}
