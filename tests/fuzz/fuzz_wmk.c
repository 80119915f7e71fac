/*
 * fuzz_wmk.c - wmk_read and all that walks what it read. The input is unfolded to a file of whole chunks; an odd last byte
 * cuts the file there.
 */
#include <stdlib.h>
#include <string.h>

#include "format/wmk.h"
#include "fuzz/fuzz.h"

/* Returns the file's length. */
static size_t unfold(const uint8_t *data, size_t size, uint8_t *file)
{
	size_t part = size < FUZZ_WMK_HEADER_BYTES ? size : FUZZ_WMK_HEADER_BYTES;
	size_t len = part < FUZZ_WMK_HEADER_BYTES ? part : WMK_HEADER_BYTES;

	memcpy(file, data, part);
	for (data += part, size -= part; size && len < WMK_HEADER_BYTES + FUZZ_WMK_CHUNKS_MAX * WMK_CHUNK_BYTES;
	     data += part, size -= part) {
		part = size < FUZZ_WMK_CHUNK_BYTES ? size : FUZZ_WMK_CHUNK_BYTES;
		memcpy(file + len, data, part);
		len += part < FUZZ_WMK_CHUNK_BYTES && (data[part - 1] & 1) ? part : WMK_CHUNK_BYTES;
	}
	return len;
}

static void walk_all(const struct wmk_file *w)
{
	struct wmk_walk walk = {0};
	struct wmk_event event;
	struct wmk_heap heap;
	struct wmk_node node;
	uint64_t count = 0;

	while (wmk_next_event(w, &walk, &event)) {
		wmk_find_string(w, event.name);
		wmk_find_image(w, event.site);
		wmk_find_node(w, event.prefix, &node);
		count++;
	}
	if (count != w->event_count)
		abort();
	walk = (struct wmk_walk){0};
	for (count = 0; wmk_next_heap(w, &walk, &heap); count++)
		wmk_find_node(w, heap.prefix, &node);
	if (count != w->heap_count)
		abort();
	for (uint32_t i = 0; i < w->image_count; i++)
		if (wmk_find_image(w, w->images[i].record.site_base) != &w->images[i] && w->images[i].record.site_count)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *file = calloc(FUZZ_WMK_CHUNKS_MAX + 1, WMK_CHUNK_BYTES);
	struct wmk_file w;
	struct error *err;
	uint8_t *exact;
	size_t len;

	if (!file)
		return 0;
	len = unfold(data, size, file);
	exact = realloc(file, len ? len : 1); /* so that a read behind the end is seen */
	if (!exact) {
		free(file);
		return 0;
	}
	err = wmk_read(exact, len, "input", &w);
	if (!err) {
		walk_all(&w);
		wmk_file_deinit(&w);
	}
	error_destroy(err);
	free(exact);
	return 0;
}
