/*
 * fuzz_meta.c - meta_read. The first byte chooses: 0, the rest is a section; else it is a raw body, for which a right header
 * and checksum are made, so that inputs get past them. What is read is written again and must come back with the same key.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "support/builder.h"

static void write_again(struct meta *m)
{
	struct buffer out = {0};
	struct meta back;
	struct error *err = meta_write(m, &out);

	meta_init(&back);
	if (!err) {
		err = meta_read(out.bytes, out.len_bytes, "again", &back);
		if (err || back.key != m->key || back.site_count != m->site_count ||
		    back.function_count != m->function_count)
			abort();
	}
	error_destroy(err);
	meta_deinit(&back);
	buffer_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer section = {0};
	struct meta m;
	struct error *err;

	if (size < 1)
		return 0;
	if (data[0])
		build_section(&section, data + 1, size - 1);
	else
		buffer_bytes(&section, data + 1, size - 1);
	meta_init(&m);
	err = meta_read(section.bytes, section.len_bytes, "input", &m);
	if (!err)
		write_again(&m);
	error_destroy(err);
	meta_deinit(&m);
	buffer_deinit(&section);
	return 0;
}
