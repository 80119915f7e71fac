/*
 * images.h - the ELF images of the process by address, for walks: found without the loader's lock, each read once.
 *
 * sampler_image_at may be called in a signal handler of any thread, with all signals blocked. Images stay listed when the loader has
 * unloaded them; another image at the same place is another entry.
 */
#ifndef WM_SAMPLER_IMAGES_H
#define WM_SAMPLER_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "native/unwind/eh_frame.h"

enum {
	SAMPLER_TEXTS_MAX = 8, /* executable segments of one image */
};

/* Immutable once listed, but for record. */
struct sampler_image {
	struct sampler_image *next;
	uintptr_t low, high; /* all of it */
	const void *ehdr;
	uintptr_t eh_hdr;      /* .eh_frame_hdr, by which the image is known again */
	uint64_t head;         /* hash of the first bytes of the file, with its build id */
	struct eh_table table; /* may have no functions */
	struct eh_text texts[SAMPLER_TEXTS_MAX];
	uint32_t number;         /* from 1 on */
	_Atomic uint32_t record; /* of wmrt_code_image, plus 1; 0: not yet */
	bool is_own;             /* the library that this is compiled into */
	const char *path;        /* the loader's; NULL: the program's */
};

/* NULL: no ELF image is there, or there is no memory. */
struct sampler_image *sampler_image_at(uintptr_t address);
/* In a forked child: another thread may have had the lock. */
void sampler_images_after_fork(void);
/* Is the address in a text of the image? */
static inline bool sampler_image_has_text(const struct sampler_image *image, uintptr_t address)
{
	return eh_text_of(&image->table.image, address) != NULL;
}

#endif
