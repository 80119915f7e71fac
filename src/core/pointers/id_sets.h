/*
 * id_sets.h - many sets of which each is kept once: equal sets have one number.
 */
#ifndef WM_CORE_POINTERS_ID_SETS_H
#define WM_CORE_POINTERS_ID_SETS_H

#include "base/slotmap.h"
#include "base/vec.h"
#include "core/pointers/id_set.h"

VEC_DECLARE(id_set_vec, struct id_set);

/* *ret: the number in `sets` of a set that equals this one, which is taken: the caller is left with an empty one. map: of these sets. */
struct error *id_sets_intern(struct id_set_vec *sets, struct slotmap *map, struct id_set *set, uint32_t *ret);
void id_sets_deinit(struct id_set_vec *sets, struct slotmap *map);

#endif
