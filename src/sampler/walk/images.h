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

/* Immutable once listed, but for record, and stays, which sampler_images_start writes. */
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
	bool stays;              /* it came with the program, and is not unloaded */
	const void *id;          /* its build id's first bytes, in the image; NULL: they are not in its first page */
	uint8_t id_bytes[16];
	const char *path; /* the loader's; NULL: the program's */
};

/* NULL: no ELF image is there, or there is no memory. */
struct sampler_image *sampler_image_at(uintptr_t address);
/* Is it still where it was listed, with no other one in its place? As sampler_image_at, and some 20 ns. */
bool sampler_image_is_there(const struct sampler_image *image);
/* Lists the images that the program came with. Once, before main, while no other thread runs. */
void sampler_images_start(void);
/* In a forked child: another thread may have had the lock. */
void sampler_images_after_fork(void);
/* Is the address in a text of the image? */
static inline bool sampler_image_has_text(const struct sampler_image *image, uintptr_t address)
{
	return eh_text_of(&image->table.image, address) != NULL;
}

#endif
