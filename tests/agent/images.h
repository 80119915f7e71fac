/* images.h - the tables of this process's images, for tests. */
#ifndef WM_TESTS_AGENT_IMAGES_H
#define WM_TESTS_AGENT_IMAGES_H

#include "native/unwind/eh_frame.h"

enum {
	IMAGES_MAX = 64,
};

struct image {
	struct eh_table table;
	struct eh_text text; /* of table; the last that is executable */
	uintptr_t base;      /* what is added to the file's addresses */
	bool has_table;
	char path[256];
};

/* Reads all images that are loaded now; returns how many. */
unsigned int images_read(struct image images[IMAGES_MAX]);
/* NULL: no image has code there. */
const struct image *images_find(const struct image *images, unsigned int count, uintptr_t address);

#endif
