/*
 * gzip.h - bytes in the format of gzip, written as they come. For one thread.
 */
#ifndef WM_REPORT_GZIP_H
#define WM_REPORT_GZIP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#include "base/error.h"

enum {
	GZIP_CHUNK_BYTES = 3 << 14,
};

struct gzip {
	/* Writes what was made: all but the last time as many bytes as a chunk has, a multiple of 3. */
	void (*write)(FILE *out, const uint8_t *bytes, size_t len_bytes);
	FILE *out;
	z_stream deflate;
	uint8_t chunk[GZIP_CHUNK_BYTES];
	size_t used;
};

/* write, out: as above. Only zlib's lack of memory is an error. */
struct error *gzip_begin(struct gzip *g, void (*write)(FILE *out, const uint8_t *bytes, size_t len_bytes), FILE *out);
void gzip_add(struct gzip *g, const void *bytes, size_t len_bytes);
/* Writes what is left, and gives back zlib's memory. */
void gzip_end(struct gzip *g);

#endif
