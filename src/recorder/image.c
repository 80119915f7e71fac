/*
 * image.c - registers images, keeps their build ids and paths, writes IMAGES records.
 *
 * Site numbers are given out once and never taken back: captures outlive a dlclose. An image that comes back (same
 * build id, same meta_key) gets the numbers it had.
 */
#include "recorder/image.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

#include "recorder/agent.h"
#include "recorder/chunkdir.h"
#include "recorder/client.h"
#include "recorder/config.h"
#include "recorder/deep.h"
#include "recorder/file.h"
#include "recorder/process.h"
#include "recorder/strtab.h"
#include "recorder/sys.h"
#include "waymark/runtime.h"

enum {
	ARENA_BYTES = 65536,
};

/* Takes no lock, unlike dladdr: images are met in signal handlers too, and while another thread runs constructors in
 * dlopen. Weak: an older C library has none, and the image no path then. */
extern __typeof(_dl_find_object) _dl_find_object __attribute__((weak));

/* In the order of their records; appended to under the lock, read by anyone. */
static _Atomic(struct wmrt_image *) images;
/* Under the lock. */
static char path_now[WMRT_PATH_BYTES];
static uint32_t next_site = WM_SITE_FIRST;
static char *arena;
static size_t arena_left;
static struct wmk_chunk_header *chunk_now;
static uint32_t written_count;

static void *arena_alloc(size_t len_bytes)
{
	void *at;

	len_bytes = (len_bytes + 15) & ~(size_t)15;
	if (len_bytes > arena_left) {
		arena = wmrt_map_memory(ARENA_BYTES);
		arena_left = arena && len_bytes <= ARENA_BYTES ? ARENA_BYTES : 0;
		if (!arena_left)
			return NULL;
	}
	at = arena;
	arena += len_bytes;
	arena_left -= len_bytes;
	return at;
}

static size_t round4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Looks through one PT_NOTE for NT_GNU_BUILD_ID. */
static void note_read(const char *notes, size_t len_bytes, struct wmrt_image *image)
{
	size_t off = 0;

	while (off + sizeof(Elf64_Nhdr) <= len_bytes) {
		const Elf64_Nhdr *note = (const void *)(notes + off);
		size_t name_off = off + sizeof *note;
		size_t desc_off = name_off + round4(note->n_namesz);

		if (desc_off + note->n_descsz > len_bytes)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(notes + name_off, "GNU", 4) == 0) {
			image->build_id_bytes =
				note->n_descsz < WMRT_BUILD_ID_BYTES ? note->n_descsz : WMRT_BUILD_ID_BYTES;
			memcpy(image->build_id, notes + desc_off, image->build_id_bytes);
			return;
		}
		off = desc_off + round4(note->n_descsz);
	}
}

static const Elf64_Phdr *program_headers(const Elf64_Ehdr *ehdr)
{
	return (const void *)((const char *)ehdr + ehdr->e_phoff);
}

static void build_id_read(const Elf64_Ehdr *ehdr, struct wmrt_image *image)
{
	const Elf64_Phdr *headers = program_headers(ehdr);
	uintptr_t bias = ehdr->e_type == ET_EXEC ? 0 : (uintptr_t)ehdr;
	int i;

	for (i = 0; i < ehdr->e_phnum; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0)
			bias = (uintptr_t)ehdr - headers[i].p_vaddr;
	for (i = 0; i < ehdr->e_phnum && !image->build_id_bytes; i++)
		if (headers[i].p_type == PT_NOTE)
			note_read((const char *)(bias + headers[i].p_vaddr), headers[i].p_memsz, image);
}

/* Into path_now, under the lock: a relative path with the directory that the process is in. */
static void path_set(const char *path)
{
	size_t n = 0;

	path_now[0] = '\0';
	if (path[0] != '/' && strchr(path, '/') &&
	    wmrt_sys3(SYS_getcwd, (long)path_now, (long)sizeof path_now / 2, 0) > 0) {
		n = strlen(path_now);
		path_now[n++] = '/';
	}
	strncpy(path_now + n, path, sizeof path_now - n - 1);
	path_now[sizeof path_now - 1] = '\0';
}

/* Into path_now, under the lock; absolute where that can be had, empty when it is not known. */
static void path_read(const Elf64_Ehdr *ehdr)
{
	struct dl_find_object found;

	path_now[0] = '\0';
	if (getauxval(AT_PHDR) == (unsigned long)program_headers(ehdr)) {
		strcpy(path_now, wmrt_config()->program);
		return;
	}
	if (_dl_find_object && _dl_find_object((void *)(uintptr_t)ehdr, &found) == 0)
		path_set(found.dlfo_link_map->l_name);
}

/* Under the lock. */
static struct wmrt_image *image_find(const struct wmrt_image *like)
{
	struct wmrt_image *image;

	for (image = atomic_load(&images); image; image = atomic_load(&image->next))
		if (image->kind == like->kind && image->meta_key == like->meta_key &&
		    image->site_count == like->site_count && image->build_id_bytes == like->build_id_bytes &&
		    memcmp(image->build_id, like->build_id, sizeof image->build_id) == 0)
			return image;
	return NULL;
}

static void image_write(struct wmrt_image *image)
{
	struct wmk_image *record;
	struct wmrt_place place;
	uint32_t path;

	if (image->is_written)
		return;
	place = wmrt_place_of(written_count, sizeof *record);
	if (!chunk_now || place.i == 0)
		chunk_now = wmrt_file_chunk(WMK_IMAGES, wmrt_chunk_units(place.order), written_count, 0);
	if (!chunk_now) {
		wmrt_file_drop(offsetof(struct wmk_header, dropped_prefixes));
		return;
	}
	path = wmrt_string_locked(image->path);
	record = (struct wmk_image *)(void *)wmrt_chunk_body(chunk_now) + place.i;
	record->meta_key = image->meta_key;
	record->load_address = image->load_address;
	record->site_base = image->site_base;
	record->site_count = image->site_count;
	record->kind = image->kind;
	record->path = path == WMRT_STRING_NONE ? UINT64_MAX : path;
	memcpy(record->build_id, image->build_id, sizeof record->build_id);
	record->build_id_bytes = image->build_id_bytes;
	__atomic_store_n(&record->state, 1, __ATOMIC_RELEASE);
	wmrt_chunk_raise_used(chunk_now, (place.i + 1) * (uint32_t)sizeof *record);
	image->is_written = 1;
	written_count++;
}

/* In their order, so that each record has its image's number. */
static void write_all(void)
{
	struct wmrt_image *image;

	for (image = atomic_load(&images); image; image = atomic_load(&image->next)) {
		image_write(image);
		if (!image->is_written)
			return;
	}
}

static void after_fork(void)
{
	struct wmrt_image *image;

	for (image = atomic_load(&images); image; image = atomic_load(&image->next))
		image->is_written = 0;
	chunk_now = NULL;
	written_count = 0;
}

static const struct wmrt_part part = {after_fork, write_all};

/* Under the lock, after path_read: lists the image; NULL without memory. */
static struct wmrt_image *image_list(const struct wmrt_image *found, uint32_t site_base)
{
	struct wmrt_image *image = arena_alloc(sizeof *image);
	char *copy = arena_alloc(strlen(path_now) + 1);
	_Atomic(struct wmrt_image *) *end = &images;
	uint32_t number = 0;

	if (!image || !copy)
		return NULL;
	wmrt_part_add(WMRT_PART_IMAGES, &part);
	*image = *found;
	image->site_base = site_base;
	image->path = strcpy(copy, path_now);
	for (; atomic_load(end); end = &atomic_load(end)->next)
		number++;
	image->number = number;
	atomic_store_explicit(end, image, memory_order_release);
	if (wmrt_file_header())
		write_all();
	return image;
}

/* Under the lock: gives out the numbers and lists the image; the base. The program has numbers of its own. */
static uint32_t image_add(struct wmrt_image *found, bool is_program)
{
	uint32_t base = is_program ? (uint32_t)WM1_SITE_PROGRAM : next_site;

	/* Out of numbers: those at the end belong to no image. */
	if (found->site_count >= (is_program ? WM1_SITE_ELIDED : WM1_SITE_PROGRAM) - base)
		return WM1_SITE_ELIDED - found->site_count;
	if (!is_program)
		next_site += found->site_count;
	image_list(found, base);
	return base;
}

bool wmrt_has_own_events;
bool wmrt_has_hybrid;

void wm1_register(struct wm1_image *image)
{
	struct wmrt_image found = {.meta_key = image->meta_key, .site_count = image->site_count};
	struct wmrt_image *known;
	struct wmrt_guard guard;
	bool is_ours = image->abi_version == WM1_ABI_VERSION && !wmrt_process.is_sealed;
	void (*other)(struct wm1_image *) = wmrt_bind_deep ? wmrt_bind_deep(image) : NULL;

	if (other) {
		other(image);
		return;
	}
	if (&wm1_agent) /* its recording has no use for the numbers */
		return;
	wmrt_check_fork();
	wmrt_config();
	wmrt_lock(&guard);
	if (!is_ours) {
		/* Numbers without a record: decoded as unknown. */
		image->site_base = next_site;
		next_site += image->site_count < WM1_SITE_PROGRAM - next_site ? image->site_count : 0;
	} else {
		if (image->flags & WM1_IMAGE_OWN_EVENTS)
			wmrt_has_own_events = true;
		if (image->flags & WM1_IMAGE_HYBRID)
			wmrt_has_hybrid = true;
		found.load_address = (uintptr_t)image->ehdr;
		build_id_read(image->ehdr, &found);
		path_read(image->ehdr);
		known = image_find(&found);
		image->site_base = known ? known->site_base : image_add(&found, image->flags & WM1_IMAGE_PROGRAM);
	}
	wmrt_unlock(&guard);
	for (const struct wmrt_client *const *c = wmrt_clients; *c; c++)
		if ((*c)->image_added)
			(*c)->image_added();
}

/* path: what it must be when there is no build id. */
static const struct wmrt_image *image_like(const struct wmrt_image *found, const char *path)
{
	const struct wmrt_image *image;

	for (image = atomic_load_explicit(&images, memory_order_acquire); image;
	     image = atomic_load_explicit(&image->next, memory_order_acquire)) {
		if (image->kind != found->kind || image->build_id_bytes != found->build_id_bytes ||
		    memcmp(image->build_id, found->build_id, sizeof image->build_id) != 0)
			continue;
		if (image->build_id_bytes || (path && strcmp(image->path, path) == 0))
			return image;
	}
	return NULL;
}

const struct wmrt_image *wmrt_image_at(const void *ehdr)
{
	struct wmrt_image found = {.load_address = (uintptr_t)ehdr};

	build_id_read(ehdr, &found);
	return image_like(&found, NULL);
}

const struct wmrt_image *wmrt_image_at_locked(const void *ehdr)
{
	struct wmrt_image found = {.load_address = (uintptr_t)ehdr};
	const struct wmrt_image *image;

	build_id_read(ehdr, &found);
	path_read(ehdr);
	image = image_like(&found, path_now);
	if (!image)
		image = image_list(&found, next_site);
	if (image && !image->is_written)
		write_all();
	return image && image->is_written ? image : NULL;
}

/* Under the lock, after path_now is set. */
static const struct wmrt_image *image_recorded(const struct wmrt_image *found)
{
	const struct wmrt_image *image;

	for (image = atomic_load(&images); image; image = atomic_load(&image->next))
		if (image->kind == found->kind && image->load_address == found->load_address &&
		    image->build_id_bytes == found->build_id_bytes &&
		    memcmp(image->build_id, found->build_id, sizeof image->build_id) == 0 &&
		    strcmp(image->path, path_now) == 0)
			return image;
	return image_list(found, 0);
}

const struct wmrt_image *wmrt_image_recorded_locked(const void *ehdr, const char *path, enum wmk_image_kind kind)
{
	struct wmrt_image found = {.load_address = (uintptr_t)ehdr, .kind = kind};
	const struct wmrt_image *image;

	path_set("");
	if (ehdr)
		build_id_read(ehdr, &found);
	if (path && kind == WMK_IMAGE_BINARY)
		path_set(path);
	else if (path)
		strncpy(path_now, path, sizeof path_now - 1);
	else if (ehdr)
		path_read(ehdr);
	image = image_recorded(&found);
	return image && (image->is_written || !wmrt_file_header()) ? image : NULL;
}

uint32_t wmrt_image_take_sites(uint32_t count)
{
	uint32_t first = next_site;

	if (count >= WM1_SITE_ELIDED - next_site)
		return 0;
	next_site += count;
	return first;
}

/* Its site numbers stay what they are: contexts captured in it outlive it. */
void wm1_unregister(struct wm1_image *image)
{
	(void)image;
}

extern __typeof(wm1_register) wmrt_own_register __attribute__((alias("wm1_register"), visibility("hidden")));

/* An agent that came later (`waymark attach`) is none that an instance hands over to. */
static bool is_handed_over_to(void)
{
	const struct wm1_agent *agent = &wm1_runtime ? wm1_runtime.agent() : NULL;

	return agent && agent->register_image == wmrt_own_register;
}

/* The program keeps contexts and records nothing by itself: the first whole runtime does, or this copy where there is none. */
static bool is_recorder_of_keeper(void)
{
	return &wm1_keeper && (!&wm1_whole || wm1_whole.register_image == wmrt_own_register);
}

bool wmrt_is_active(void)
{
	void (*volatile found)(struct wm1_image *) = wm1_register;
	void (*volatile own)(struct wm1_image *) = wmrt_own_register;

	return !wmrt_agent() && (found == own || is_handed_over_to() || is_recorder_of_keeper());
}

const struct wmrt_image *wmrt_image_of(uint32_t site)
{
	const struct wmrt_image *image;

	for (image = atomic_load_explicit(&images, memory_order_acquire); image;
	     image = atomic_load_explicit(&image->next, memory_order_acquire))
		if (site >= image->site_base && site - image->site_base < image->site_count)
			return image;
	return NULL;
}
