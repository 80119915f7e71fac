/*
 * values.h - values of a stopped program's variables, where debug information says where they are. What it does not say,
 * or not for this place, is said to be so: never a guess. Limits of the texts: value.h.
 *
 * Frames of inlined functions have no machine frame of their own: `level` counts from the innermost one, as snapshot_lines does.
 */
#ifndef WM_SNAPSHOT_SNAPSHOT_VALUES_H
#define WM_SNAPSHOT_SNAPSHOT_VALUES_H

#include "snapshot/snapshot.h"

struct snapshot_value {
	const char *name; /* of the variable, or the expression */
	const char *type; /* "struct node *"; NULL: void or not known */
	const char *text; /* also "<optimized out>", "<not known>", "<not in the core>" */
	bool is_known;
	bool has_number; /* is_known: an integer or a pointer */
	bool is_pointer;
	bool is_code; /* a pointer to a function */
	uint64_t number;
	bool has_address; /* it is in memory, or would be: NULL->member has one, too */
	uint64_t address;
	uint64_t len_bytes; /* of its type; 0: not known */
};
VEC_DECLARE(snapshot_value_vec, struct snapshot_value);

/* A line of source gives a variable another value, or may; asked where debug information does not say it. */
struct snapshot_assignments {
	bool (*may_change)(void *data, const char *file, uint32_t line, const char *name);
	void *data;
};

/* One level of a machine frame. */
struct snapshot_place {
	const struct snapshot_frame *frame;
	const struct snapshot_frame *caller; /* the next machine frame; NULL: none */
	uint64_t thread_pointer;
	uint32_t level;
	uint32_t line; /* in the level: variables that are declared there or behind it have no value yet; 0: not known */
	const struct snapshot_assignments *assignments; /* NULL: any line may */
};

/* The function's parameters, in order. Texts are the arena's; the caller deinits. */
struct error *snapshot_arguments(struct snapshot *s, const struct snapshot_place *place, struct arena *arena,
				 struct snapshot_value_vec *ret);

/*
 * A line of source: its variables, "a->b.c[1]" with each pointer on the way, where they are in scope at the place; each once. Whatever
 * else is on the line is passed over. Not known where names or types do not fit.
 */
struct error *snapshot_line_values(struct snapshot *s, const struct snapshot_place *place, const char *text,
				   struct arena *arena, struct snapshot_value_vec *ret);

/* The variable of static storage that an address is in: "queue.lock", "locks[1]"; without debug information the symbol. *ret: the
 * arena's; NULL: none. */
struct error *snapshot_variable_at(struct snapshot *s, uint64_t address, struct arena *arena, const char **ret);

#endif
