/*
 * images.c - lists images as walks meet them. _dl_find_object (glibc 2.35) tells an address's image without a lock.
 *
 * An image is known again by where it is mapped, its .eh_frame_hdr and the bytes of its build id: a library that another one was loaded
 * over is not taken for that.
 */
#include "sampler/walk/images.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "native/image_header.h"
#include "recorder/sys.h"
#include "recorder/short_lock.h"

enum {
	PAGE_BYTES = 4096,
	IMAGES_PER_PAGE = PAGE_BYTES / sizeof(struct sampler_image),
	HEAD_BYTES = 1024,
};

static _Atomic(struct sampler_image *) images;
static _Atomic uint32_t lock;
static struct sampler_image *free_images; /* under the lock */
static uint32_t free_count, image_count;

static const void *at(uintptr_t address)
{
	return (const void *)address; /* NOLINT(performance-no-int-to-ptr) */
}

/* The build id of a note segment. */
static void read_note(struct sampler_image *image, uintptr_t note, size_t size)
{
	static const char owner[] = "GNU";
	Elf64_Nhdr head;

	if (note - (uintptr_t)image->ehdr >= IMAGE_HEADER_BYTES ||
	    size > IMAGE_HEADER_BYTES - (note - (uintptr_t)image->ehdr))
		return;
	while (size >= sizeof head + sizeof owner) {
		size_t len;

		memcpy(&head, at(note), sizeof head);
		len = sizeof head + ((size_t)head.n_namesz + 3) / 4 * 4 + ((size_t)head.n_descsz + 3) / 4 * 4;
		if (len > size)
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof owner &&
		    head.n_descsz >= sizeof image->id_bytes &&
		    memcmp(at(note + sizeof head), owner, sizeof owner) == 0) {
			image->id = at(note + sizeof head + sizeof owner);
			memcpy(image->id_bytes, image->id, sizeof image->id_bytes);
			return;
		}
		note += len;
		size -= len;
	}
}

static void read_segments(struct sampler_image *image, uintptr_t bias)
{
	const Elf64_Ehdr *ehdr = image->ehdr;
	const Elf64_Phdr *p = image_program_headers(ehdr);
	struct eh_image eh = {.texts = image->texts};

	image->low = UINTPTR_MAX;
	for (int i = 0; i < ehdr->e_phnum; i++) {
		uintptr_t low = bias + p[i].p_vaddr, high = low + p[i].p_memsz;

		if (p[i].p_type == PT_GNU_EH_FRAME) {
			eh.hdr = at(low);
			eh.hdr_bytes = p[i].p_memsz;
		}
		if (p[i].p_type == PT_NOTE && !image->id)
			read_note(image, low, p[i].p_memsz);
		if (p[i].p_type != PT_LOAD)
			continue;
		if (low < image->low)
			image->low = low;
		if (high > image->high)
			image->high = high;
		if (p[i].p_flags & PF_X && p[i].p_flags & PF_R && eh.text_count < SAMPLER_TEXTS_MAX)
			image->texts[eh.text_count++] = (struct eh_text){low, high};
	}
	eh.low = at(image->low);
	eh.high = at(image->high);
	if (!eh_table_init(&image->table, &eh))
		image->table = (struct eh_table){.image = eh};
}

static struct sampler_image *new_image(void)
{
	if (!free_count) {
		free_images = wmrt_map_memory(PAGE_BYTES);
		if (!free_images)
			return NULL;
		free_count = IMAGES_PER_PAGE;
	}
	free_count--;
	return free_images++;
}

static bool is_same(const struct sampler_image *image, const struct dl_find_object *found, uint64_t head)
{
	return image->eh_hdr == (uintptr_t)found->dlfo_eh_frame && image->head == head;
}

static struct sampler_image *find(uintptr_t address, const struct dl_find_object *found, uint64_t head)
{
	struct sampler_image *image = atomic_load_explicit(&images, memory_order_acquire);

	while (image && !(address >= image->low && address < image->high && is_same(image, found, head)))
		image = image->next;
	return image;
}

/* Under the lock. */
static struct sampler_image *list(const struct dl_find_object *found, const Elf64_Ehdr *ehdr, uint64_t head)
{
	struct sampler_image *image = new_image();
	const char *name = found->dlfo_link_map->l_name;

	if (!image)
		return NULL;
	image->ehdr = ehdr;
	image->head = head;
	image->eh_hdr = (uintptr_t)found->dlfo_eh_frame;
	image->path = name && *name ? name : NULL;
	read_segments(image, found->dlfo_link_map->l_addr);
	image->is_own = (uintptr_t)&images >= image->low && (uintptr_t)&images < image->high;
	image->number = ++image_count;
	image->next = atomic_load(&images);
	atomic_store_explicit(&images, image, memory_order_release);
	return image;
}

void sampler_images_after_fork(void)
{
	atomic_store(&lock, 0);
}

struct sampler_image *sampler_image_at(uintptr_t address)
{
	struct dl_find_object found;
	struct sampler_image *image;
	const Elf64_Ehdr *ehdr;
	uint64_t head;

	if (_dl_find_object((void *)at(address), &found) != 0)
		return NULL;
	ehdr = image_header_of(&found);
	if (!ehdr)
		return NULL;
	head = image_header_hash(ehdr, HEAD_BYTES);
	image = find(address, &found, head);
	if (image)
		return image;
	short_lock(&lock);
	image = find(address, &found, head) ?: list(&found, ehdr, head);
	short_unlock(&lock);
	return image;
}

bool sampler_image_is_there(const struct sampler_image *image)
{
	struct dl_find_object found;
	uintptr_t id = (uintptr_t)image->id;

	if (_dl_find_object((void *)at(image->texts[0].low), &found) != 0 ||
	    (uintptr_t)found.dlfo_eh_frame != image->eh_hdr)
		return false;
	if (id >= (uintptr_t)found.dlfo_map_start && id + sizeof image->id_bytes <= (uintptr_t)found.dlfo_map_end)
		return memcmp(image->id, image->id_bytes, sizeof image->id_bytes) == 0;
	return image_header_of(&found) == image->ehdr && image_header_hash(image->ehdr, HEAD_BYTES) == image->head;
}

static int list_one(struct dl_phdr_info *info, size_t size, void *nothing)
{
	(void)size;
	(void)nothing;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];
		struct sampler_image *image = p->p_type == PT_LOAD && p->p_flags & PF_X
						      ? sampler_image_at(info->dlpi_addr + p->p_vaddr)
						      : NULL;

		if (image)
			image->stays = true;
	}
	return 0;
}

void sampler_images_start(void)
{
	dl_iterate_phdr(list_one, NULL);
}
