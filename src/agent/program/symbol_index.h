/*
 * symbol_index.h - the functions that an image exports, sorted by address: for who asks for many. Under the agent's lock.
 */
#ifndef WM_AGENT_SYMBOL_INDEX_H
#define WM_AGENT_SYMBOL_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct symbol_index {
	uint64_t *items; /* a function's address in the image, and in the lower half the offset of its name; NULL: not made */
	size_t count;
	const char *strings; /* the image's own */
};

struct agent_image;
/* It is empty without memory. */
void symbol_index_make(const struct agent_image *image, struct symbol_index *ret);
/* The name of the function with that address less the image's bias, as long as the image is loaded. NULL: it is not exported. */
const char *symbol_index_find(const struct symbol_index *index, uint64_t value);
void symbol_index_release(struct symbol_index *index);

#endif
