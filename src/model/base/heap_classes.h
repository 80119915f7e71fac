/*
 * heap_classes.h - metrics of the heap by sizes and life times of blocks (struct wmk_heap), which a profile has where it keeps_classes:
 *
 *      size:16-31          allocations of that size, and size:16-31:bytes
 *      life:64-255         blocks that were freed when the process had allocated so many others since theirs
 *      life:268435456-     so many or more
 *
 * A size class is a group of two, the life times are one group.
 */
#ifndef WM_MODEL_BASE_HEAP_CLASSES_H
#define WM_MODEL_BASE_HEAP_CLASSES_H

#include "model/base/profile.h"

enum heap_class_kind {
	HEAP_CLASS_SIZE,
	HEAP_CLASS_LIFE,
};

enum {
	HEAP_SIZES = 64,
	HEAP_CLASS_NAME_MAX = 64,
};

/* Numbers from least to most; most is UINT64_MAX in the last class, which has no end. */
struct heap_class {
	uint64_t least, most;
};

/* How many there are, and one of them. */
uint32_t heap_class_count(enum heap_class_kind kind);
struct heap_class heap_class_at(enum heap_class_kind kind, uint32_t index);
/* "16-31", "0", "268435456-". Returns buf. */
const char *heap_class_text(struct heap_class c, char buf[HEAP_CLASS_NAME_MAX]);

bool heap_class_is_metric(const char *name);
/* False: the profile has nothing in that class. */
bool heap_class_metric(const struct profile *p, enum heap_class_kind kind, uint32_t index, uint32_t *ret);

/* What a record of the heap has, at its node. Numbers of classes that do not exist are left out. */
struct error *heap_classes_add(struct profile *p, uint32_t node, uint32_t size_class, uint64_t count, uint64_t bytes,
			       bool is_estimate);
struct error *heap_classes_add_lives(struct profile *p, uint32_t node, const uint64_t lives[WMK_LIVES]);

#endif
