/*
 * golden.h - what the tests of each metadata section check alike: its bytes, and that all damage of them is noticed.
 */
#ifndef WM_TESTS_FORMAT_GOLDEN_H
#define WM_TESTS_FORMAT_GOLDEN_H

#include <stdlib.h>

#include <zstd.h>

#include "check.h"
#include "format/section.h"

struct golden {
	char kind; /* the letter of the magic */
	uint8_t version;
	const uint8_t *raw; /* the body of a unit, unpacked */
	size_t raw_bytes;
	const char *where; /* what errors begin with */
	void (*build)(struct buffer *out, const uint8_t *raw, size_t raw_bytes);
	/* The reader's error has the text; of the test's line. */
	void (*expect_damaged)(const uint8_t *bytes, size_t len_bytes, const char *text, int line);
	/* A flip in what no reader looks at or that unpacks to the same may pass; then the model is the same. */
	void (*expect_same_or_damaged)(const struct buffer *section);
};

static inline void golden_check(const struct golden *g, const struct buffer *out)
{
	const uint8_t header[] = {0x89, 'W', 'M', (uint8_t)g->kind, 13, 10, 26, 10, g->version, 0, 0, 0, 1, 0, 0, 0};
	uint8_t raw[1024];
	size_t raw_bytes;

	if (!CHECK(out->len_bytes > SECTION_HEADER_BYTES))
		return;
	CHECK(memcmp(out->bytes, header, sizeof header) == 0);
	raw_bytes = ZSTD_decompress(raw, sizeof raw, out->bytes + SECTION_HEADER_BYTES,
				    out->len_bytes - SECTION_HEADER_BYTES);
	CHECK_U64(raw_bytes, g->raw_bytes);
	for (size_t i = 0; i < raw_bytes && i < g->raw_bytes; i++) {
		if (raw[i] != g->raw[i]) {
			fprintf(stderr, "raw body: byte %zu is %u, want %u\n", i, raw[i], g->raw[i]);
			check_failures++;
			break;
		}
	}
}

static inline void golden_expect(const struct golden *g, const uint8_t *bytes, size_t len_bytes, const char *text,
				 int line)
{
	uint8_t *copy = malloc(len_bytes ? len_bytes : 1); /* so that a sanitizer sees any read behind it */

	if (!copy)
		abort();
	memcpy(copy, bytes, len_bytes);
	g->expect_damaged(copy, len_bytes, text, line);
	free(copy);
}

/* Whatever byte is wrong, and wherever the section ends, the checksum or a check before it notices. */
static inline void golden_check_every_byte(const struct golden *g, struct buffer *out, int line)
{
	for (size_t i = 0; i < out->len_bytes; i++) {
		golden_expect(g, out->bytes, i, g->where, line);
		out->bytes[i] ^= 0x01;
		if (i < SECTION_HEADER_BYTES - 8)
			golden_expect(g, out->bytes, out->len_bytes, g->where, line);
		else
			g->expect_same_or_damaged(out);
		out->bytes[i] ^= 0x01;
	}
}

/* A body with a right checksum and wrong insides: byte `at` of the golden one set to v. */
static inline void golden_check_body(const struct golden *g, size_t at, uint8_t v, const char *text, int line)
{
	uint8_t *raw = malloc(g->raw_bytes);
	struct buffer out = {0};

	if (!raw)
		abort();
	memcpy(raw, g->raw, g->raw_bytes);
	raw[at] = v;
	g->build(&out, raw, g->raw_bytes);
	golden_expect(g, out.bytes, out.len_bytes, text, line);
	buffer_deinit(&out);
	free(raw);
}

#endif
