/*
 * objects.h - what lies where in a stopped program's memory: variables of frames that are in memory, variables of static storage by the symbols,
 * blocks of glibc's heap.
 */
#ifndef WM_SNAPSHOT_SNAPSHOT_OBJECTS_H
#define WM_SNAPSHOT_SNAPSHOT_OBJECTS_H

#include "snapshot/debug/values.h"

struct snapshot_object {
	const char *name; /* of a variable; NULL: a block of the heap */
	uint64_t address;
	uint64_t len_bytes;
};
VEC_DECLARE(snapshot_object_vec, struct snapshot_object);

/* Variables and parameters of a machine frame's function, of all its scopes and of what was inlined. Names are the arena's. Appended to ret. */
struct error *snapshot_frame_objects(struct snapshot *s, const struct snapshot_place *place, struct arena *arena,
				     struct snapshot_object_vec *ret);

/* Variables of a module. Names live as long as s. Appended to ret, in no order. */
struct error *snapshot_static_objects(const struct snapshot *s, uint32_t module, struct snapshot_object_vec *ret);

/*
 * The blocks that the main thread's heap consists of, from its beginning: glibc/malloc/malloc.c, struct malloc_chunk. The size in front of each
 * block leads to the next one, so that a size that was overwritten ends the walk. Which ones are free is not told.
 *
 *      | size | block ... | size | block ... | top
 */
struct snapshot_heap {
	struct snapshot_object_vec blocks; /* rising; len_bytes are those that may be used */
	uint64_t broken;                   /* address of the first size that cannot be one; 0: all fit */
};
/* No blocks: there is no such heap. The owner deinits. */
struct error *snapshot_heap_walk(const struct snapshot *s, struct snapshot_heap *ret);
void snapshot_heap_deinit(struct snapshot_heap *h);

/* Addresses of words in writable memory that have a value from `first` to `last`; at most `max`. Returns how many. */
uint32_t snapshot_find_words(const struct snapshot *s, uint64_t first, uint64_t last, uint64_t *ret, uint32_t max);

#endif
