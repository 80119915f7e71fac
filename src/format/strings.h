/*
 * strings.h - the strings of a metadata body: one pool, and references to it. 0 refers to none, else to string reference - 1.
 *
 *     string_count pool_bytes pool (each string ends with a NUL)
 *
 * Private to src/format.
 */
#ifndef WM_FORMAT_STRINGS_H
#define WM_FORMAT_STRINGS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/hashmap.h"
#include "base/vec.h"

/* A writer's strings. All zero is an empty table. */
struct string_table {
	struct buffer pool;
	struct hashmap known; /* a text -> its reference - 1 */
	bool failed;
};

void string_table_deinit(struct string_table *t);
/* The reference of text; 0 for NULL, and when memory is short (string_table_write then fails). */
uint32_t string_table_ref(struct string_table *t, const char *text);
/* Appends the pool. */
struct error *string_table_write(const struct string_table *t, struct buffer *out);

/* A reader's strings. */
struct string_pool {
	const char **strings; /* malloc'd; the texts are the arena's */
	uint32_t count;
};

struct error *string_pool_read(struct cursor *c, struct arena *arena, struct string_pool *ret);
void string_pool_deinit(struct string_pool *p);
/* Reads a reference: NULL for none. */
struct error *string_pool_text(const struct string_pool *p, struct cursor *c, const char **ret);

#endif
