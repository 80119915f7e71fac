/* images.c - finds tables by dl_iterate_phdr. */
#include "agent/images.h"

#include <link.h>
#include <stdio.h>

struct reading {
	struct image *images;
	unsigned int count;
};

static int add_image(struct dl_phdr_info *info, size_t size, void *data)
{
	struct reading *r = data;
	struct image *image = &r->images[r->count];
	struct eh_image where = {0};

	(void)size;
	if (r->count == IMAGES_MAX)
		return 1;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_GNU_EH_FRAME) {
			where.hdr = (const uint8_t *)(info->dlpi_addr + p->p_vaddr);
			where.hdr_bytes = p->p_memsz;
		}
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
			image->text.low = info->dlpi_addr + p->p_vaddr;
			image->text.high = image->text.low + p->p_memsz;
			where.texts = &image->text;
			where.text_count = 1;
		}
	}
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint8_t *low = (const uint8_t *)(info->dlpi_addr + p->p_vaddr);

		if (p->p_type == PT_LOAD && low <= where.hdr && where.hdr < low + p->p_filesz) {
			where.low = low;
			where.high = low + p->p_filesz;
		}
	}
	image->base = info->dlpi_addr;
	image->has_table = eh_table_init(&image->table, &where);
	snprintf(image->path, sizeof image->path, "%s", info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe");
	r->count++;
	return 0;
}

unsigned int images_read(struct image images[IMAGES_MAX])
{
	struct reading r = {images, 0};

	dl_iterate_phdr(add_image, &r);
	return r.count;
}

const struct image *images_find(const struct image *images, unsigned int count, uintptr_t address)
{
	for (unsigned int i = 0; i < count; i++)
		if (eh_text_of(&images[i].table.image, address))
			return &images[i];
	return NULL;
}
