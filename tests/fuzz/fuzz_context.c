/*
 * fuzz_context.c - decoding over damaged metadata and damaged prefixes: each record is a node of the .wmk and a capture. What
 * decodes has names and no more frames than asked for; what does not, leaves no frames.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "model/contexts/context.h"
#include "support/builder.h"

enum {
	BASE = WM_SITE_FIRST,
	DEPTH_MAX = 4096,
};

static struct image *read_image(const uint8_t *raw, size_t raw_bytes)
{
	struct buffer section = {0};
	struct image *image = NULL;
	struct meta m;
	struct error *err;

	build_section(&section, raw, raw_bytes);
	meta_init(&m);
	err = meta_read(section.bytes, section.len_bytes, "input", &m);
	if (!err)
		err = image_create(&m, &image);
	error_destroy(err);
	meta_deinit(&m);
	buffer_deinit(&section);
	return image;
}

static uint64_t load(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static void add_nodes(struct wmk_builder *b, const uint8_t *records, size_t count)
{
	build_wmk_init(b, 1, "p");
	build_chunk(b, WMK_NODES, WM_PREFIX_FIRST, 0);
	for (size_t i = 0; i < count; i++, records += FUZZ_CONTEXT_RECORD_BYTES)
		build_node(b, (uint32_t)load(records + 8, 4), load(records, 8), (uint32_t)load(records + 12, 4),
			   (uint32_t)load(records + 16, 4));
	build_wmk_finish(b);
}

static void decode_all(const struct process *p, const uint8_t *records, size_t count)
{
	struct frame_vec frames = {0};

	for (size_t i = 0; i < count; i++, records += FUZZ_CONTEXT_RECORD_BYTES) {
		struct context_key key = {.id = load(records, 8),
					  .prefix = (uint32_t)load(records + 8, 4),
					  .site = (uint32_t)load(records + 12, 4)};
		struct error *err;

		frames.count = 0;
		err = context_decode(p, &key, DEPTH_MAX, &frames);
		if (err ? frames.count != 0 : frames.count > DEPTH_MAX)
			abort();
		for (size_t j = 0; j < frames.count; j++)
			if (!frames.items[j].name || !frames.items[j].link_name)
				abort();
		error_destroy(err);
	}
	frame_vec_deinit(&frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wmk_builder b;
	struct wmk_file w;
	struct image *image;
	struct error *err;
	size_t raw_bytes, count;

	if (size < 2 || (raw_bytes = (size_t)load(data, 2)) > size - 2)
		return 0;
	image = read_image(data + 2, raw_bytes);
	if (!image)
		return 0;
	data += 2 + raw_bytes;
	count = (size - 2 - raw_bytes) / FUZZ_CONTEXT_RECORD_BYTES;
	if (count > FUZZ_CONTEXT_RECORDS_MAX)
		count = FUZZ_CONTEXT_RECORDS_MAX;
	add_nodes(&b, data, count);
	err = wmk_read(b.out.bytes, b.out.len_bytes, "input", &w);
	if (!err) {
		struct process_image images[] = {
			{.site_base = BASE, .site_count = image->meta.site_count, .image = image},
		};
		struct process p = {.wmk = &w, .images = images, .image_count = 1};

		decode_all(&p, data, count);
		wmk_file_deinit(&w);
	}
	error_destroy(err);
	buffer_deinit(&b.out);
	image_destroy(image);
	return 0;
}
