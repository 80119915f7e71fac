/*
 * image.h - the images of the process, instrumented and recorded ones: who owns which site numbers.
 */
#ifndef WM_RECORDER_IMAGE_H
#define WM_RECORDER_IMAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "waymark/wmk.h"

enum {
	WMRT_BUILD_ID_BYTES = 32,
};

/* Immutable once listed, but for next, and is_written (under the lock). */
struct wmrt_image {
	_Atomic(struct wmrt_image *) next;
	uint64_t meta_key;
	uint64_t load_address;
	uint32_t site_base;
	uint32_t site_count;
	uint8_t build_id[WMRT_BUILD_ID_BYTES];
	uint32_t build_id_bytes;
	uint32_t number; /* of its record, in this process's file and in those of forked children */
	uint32_t is_written;
	uint32_t kind; /* enum wmk_image_kind */
	const char *path;
};

/* This copy's functions are the ones that the process's symbols name, or what has those hands over to this one. */
bool wmrt_is_active(void);
/* The image that has this site, NULL if none. No lock. */
/* Some program keeps contexts for its own sites only (WM1_IMAGE_OWN_EVENTS). Written before its code runs; read by any thread. */
extern bool wmrt_has_own_events;
/* The program has hybrid encoding (WM1_IMAGE_HYBRID). Written and read like that. */
extern bool wmrt_has_hybrid;
const struct wmrt_image *wmrt_image_of(uint32_t site);
/* The listed image that lies there in memory now; NULL if none is known, or it has no build id to know it by. No lock. */
const struct wmrt_image *wmrt_image_at(const void *ehdr);
/* Finds the image, and lists it if need be; NULL without room. Under the lock; the file is open. */
const struct wmrt_image *wmrt_image_at_locked(const void *ehdr);
/*
 * The listed image of recorded code of that kind, path and place, listed now if need be; ehdr and path as in wmrt_code_image. NULL
 * without room. Under the lock; without a file it is written when there is one.
 */
const struct wmrt_image *wmrt_image_recorded_locked(const void *ehdr, const char *path, enum wmk_image_kind kind);
/* `count` site numbers in a row, of no image; the first, 0 when there are none left. Under the lock. */
uint32_t wmrt_image_take_sites(uint32_t count);

#endif
