/* bitcode.c - writes and reads `.debug_waymark_ir`. What is in a unit is LLVM's and not looked at. */
#include "format/bitcode.h"

#include <stdlib.h>

#include "format/section.h"

static const struct section_kind kind = {"\x89WMI\r\n\x1a\n", 1, 1};

struct error *bitcode_write(const void *bytes, size_t len_bytes, struct buffer *out)
{
	/* section_write only reads it. */
	struct buffer raw = {.bytes = (uint8_t *)(uintptr_t)bytes, .len_bytes = len_bytes};
	uint64_t key;

	return section_write(&kind, &raw, &key, out);
}

void bitcode_deinit(struct bitcode_vec *v)
{
	for (size_t i = 0; i < v->count; i++)
		free(v->items[i].bytes);
	bitcode_vec_deinit(v);
}

struct error *bitcode_read(const void *bytes, size_t len_bytes, const char *name, struct bitcode_vec *ret)
{
	struct bitcode_vec units = {0};
	struct cursor c;
	struct error *err;

	cursor_init(&c, bytes, len_bytes, name);
	err = section_check_units(&c);
	if (err)
		return err;
	do {
		struct section s = {0};

		err = section_read(&c, &kind, &s);
		if (!err)
			err = bitcode_vec_append(&units, (struct bitcode_unit){s.raw, s.raw_bytes});
		if (err)
			section_deinit(&s);
		section_skip_zeros(&c);
	} while (!err && cursor_left(&c));
	if (err)
		bitcode_deinit(&units);
	else
		*ret = units;
	return err;
}
