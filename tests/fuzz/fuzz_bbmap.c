/* fuzz_bbmap.c - bbmap_read; each block must be found again by its addresses where ranges do not overlap. */
#include <stdlib.h>

#include "format/bbmap.h"
#include "fuzz/fuzz.h"

static void walk(const struct bbmap *m, const struct bbmap_function *f)
{
	for (uint32_t i = 0; i < f->block_count; i++) {
		const struct bbmap_block *b = &f->blocks[i];
		const struct bbmap_function *at;
		uint32_t found = UINT32_MAX;

		for (uint32_t k = 0; k < b->successor_count; k++)
			if (b->successors[k] >= f->block_count)
				abort();
		at = bbmap_find(m, b->address, &found);
		if (at && (found >= at->block_count || at->blocks[found].address > b->address))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bbmap m;
	struct error *err = bbmap_read(data, size, "input", &m);

	if (err) {
		error_destroy(err);
		return 0;
	}
	for (size_t i = 0; i < m.function_count; i++) {
		if (i && m.functions[i - 1].address > m.functions[i].address)
			abort();
		walk(&m, &m.functions[i]);
	}
	bbmap_deinit(&m);
	return 0;
}
