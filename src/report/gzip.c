/* gzip.c - zlib's stream in chunks of one size. */
#include "report/gzip.h"

enum {
	WINDOW = 15 + 16, /* deflateInit2: the largest window, and a header of gzip */
	MEMORY = 8,
	PART_BYTES = 1 << 30, /* zlib's lengths have 32 bits */
};

static void deflate_part(struct gzip *g, const uint8_t *bytes, size_t len_bytes, int flush)
{
	g->deflate.next_in = (Bytef *)(uintptr_t)bytes;
	g->deflate.avail_in = (uInt)len_bytes;
	for (;;) {
		g->deflate.next_out = g->chunk + g->used;
		g->deflate.avail_out = (uInt)(sizeof g->chunk - g->used);
		deflate(&g->deflate, flush);
		g->used = sizeof g->chunk - g->deflate.avail_out;
		if (g->used < sizeof g->chunk)
			return;
		g->write(g->out, g->chunk, g->used);
		g->used = 0;
	}
}

struct error *gzip_begin(struct gzip *g, void (*write)(FILE *out, const uint8_t *bytes, size_t len_bytes), FILE *out)
{
	g->write = write;
	g->out = out;
	g->used = 0;
	g->deflate = (z_stream){0};
	return deflateInit2(&g->deflate, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK
		       ? NULL
		       : &error_no_memory;
}

void gzip_add(struct gzip *g, const void *bytes, size_t len_bytes)
{
	const uint8_t *at = bytes;

	while (len_bytes) {
		size_t part = len_bytes < PART_BYTES ? len_bytes : PART_BYTES;

		deflate_part(g, at, part, Z_NO_FLUSH);
		at += part;
		len_bytes -= part;
	}
}

void gzip_end(struct gzip *g)
{
	deflate_part(g, NULL, 0, Z_FINISH);
	g->write(g->out, g->chunk, g->used);
	deflateEnd(&g->deflate);
}
