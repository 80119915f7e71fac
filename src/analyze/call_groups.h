/*
 * call_groups.h - calls that can reach the same functions, many of them, are a group: what one of them has asked these functions for, the others need
 * not ask them for again. A program that goes through a table of functions has few such sets of functions and thousands of such calls.
 */
#ifndef WM_ANALYZE_CALL_GROUPS_H
#define WM_ANALYZE_CALL_GROUPS_H

#include "analyze/memory.h"

enum {
	CALLEES_OF_GROUP_MIN = 2, /* a call that can reach one function has no group */
};

struct call_group {
	const struct function_ids *callees; /* of its first call */
	/* The user's, of regions or classes of them. */
	bool has_changes;
	struct id_set changes; /* what one of the functions can change, or another one */
	struct id_set asked;   /* of these: each function was asked for those that it can change */
};

struct call_groups {
	struct call_group *items;
	uint32_t count;
	uint32_t *of; /* [instruction] CODE_NONE: it has none */
};

/* The owner deinits, on failure, too. m lives longer than ret. */
struct error *call_groups_find(const struct memory *m, struct call_groups *ret);
void call_groups_deinit(struct call_groups *g);

/* NULL: the call has none. */
static inline struct call_group *call_groups_of(const struct call_groups *g, uint32_t call)
{
	return g->of[call] == CODE_NONE ? NULL : &g->items[g->of[call]];
}

#endif
