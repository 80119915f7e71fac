/*
 * locations.h - abstract memory: places in objects that pointers can lead to, and which accesses of them can meet.
 *
 * An object is what a program allocates at one place of its code: a variable, a function, what one call of malloc returns. A location is
 * a set of byte offsets in an object: first, first + stride, first + 2 * stride ... below `end`, or `first` alone. So a pointer into an
 * array of structures keeps which member it points to. Whatever is added to a pointer within its object, the new location has the true
 * offset: nothing here depends on types.
 */
#ifndef WM_CORE_POINTERS_LOCATIONS_H
#define WM_CORE_POINTERS_LOCATIONS_H

#include <stdbool.h>

#include "base/slotmap.h"
#include "base/vec.h"
#include "core/pointers/id_set.h"

#define LOCATION_NO_END INT32_MAX

struct location {
	uint32_t object;
	int32_t first;   /* bytes; may be in front of the object */
	uint32_t stride; /* bytes; 0: `first` alone */
	int32_t end;     /* offsets are below it, for strides */
};

/* What is added to a pointer. */
struct pointer_step {
	int64_t offset;
	uint32_t stride; /* besides, any multiple of this; 0: none */
	uint32_t span;   /* the multiples are not negative, and below this; 0: any, negative ones too */
	bool is_upwards; /* span 0: not negative */
};

VEC_DECLARE(location_vec, struct location);
VEC_DECLARE(location_counts, uint32_t);

struct locations {
	struct location_vec items;
	struct slotmap map;
	struct location_counts of_object; /* [object]: how many locations it has */
	struct location_counts whole;     /* [object]: 1 + the location that covers all of it; 0: there is none yet */
};

enum {
	LOCATIONS_MAX = 16, /* of an object: further ones become its location of stride 1, which covers all */
};

void locations_deinit(struct locations *l);
struct error *locations_add_object(struct locations *l, uint32_t *ret);
/* The number of a location, which is made if it is not there. Offsets that do not fit become the location that covers all. */
struct error *locations_get(struct locations *l, const struct location *wanted, uint32_t *ret);
/* A location as it was in other locations of these objects, whatever its offsets. */
struct error *locations_restore(struct locations *l, const struct location *x, uint32_t *ret);
/* Where a pointer to `from` points after a step. */
struct error *locations_step(struct locations *l, uint32_t from, const struct pointer_step *step, uint32_t *ret);
/* The location of the object that covers all of it is in the set, and this one of the object is another: it adds nothing to where accesses by
 * the set can be. */
bool locations_is_covered(const struct locations *l, const struct id_set *set, uint32_t location);
/* The step made any number of times, at least once. */
struct pointer_step pointer_step_repeated(const struct pointer_step *step);
/* An access of a_bytes there and one of b_bytes here can have a byte in common. */
bool locations_meet(const struct location *a, uint32_t a_bytes, const struct location *b, uint32_t b_bytes);

#endif
