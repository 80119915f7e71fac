/* dump_bbmap.c - prints the machine blocks of a program, a line each, for bbmap.sh. */
#include <inttypes.h>
#include <stdio.h>

#include "format/bbmap.h"
#include "object/object.h"

static void print_function(const struct bbmap *m, const struct bbmap_function *f)
{
	for (uint32_t i = 0; i < f->block_count; i++) {
		const struct bbmap_block *b = &f->blocks[i];
		uint32_t found;

		printf("%" PRIx64 " %" PRIx64 " %" PRIx64 " %d%d%d", f->address, b->address, b->len_bytes,
		       b->is_landing_pad, b->falls_through, b->is_end);
		for (uint32_t k = 0; k < b->successor_count; k++)
			printf(" %" PRIx64, f->blocks[b->successors[k]].address);
		putchar('\n');
		if (b->len_bytes && (bbmap_find(m, b->address + b->len_bytes - 1, &found) != f || found != i))
			printf("block at %" PRIx64 " is not found\n", b->address);
	}
}

int main(int argc, char **argv)
{
	struct object o;
	struct bbmap m;
	struct error *err = argc == 2 ? object_read(argv[1], 1u << OBJECT_BLOCKS, &o)
				      : error_create(ERROR_ARGUMENT, "usage: dump_bbmap PROGRAM");

	if (!err && !o.sections[OBJECT_BLOCKS].bytes)
		err = error_create(ERROR_NOT_FOUND, "%s: no machine blocks", argv[1]);
	if (!err)
		err = bbmap_read(o.sections[OBJECT_BLOCKS].bytes, o.sections[OBJECT_BLOCKS].len_bytes, argv[1], &m);
	if (err) {
		fprintf(stderr, "%s\n", err->message);
		return 1;
	}
	for (size_t i = 0; i < m.function_count; i++)
		print_function(&m, &m.functions[i]);
	bbmap_deinit(&m);
	object_deinit(&o);
	return 0;
}
