/*
 * arena.h - memory that is freed together: one arena per model.
 *
 * Allocations are zeroed and aligned to 16 bytes. Not thread-safe; one owner.
 */
#ifndef WM_BASE_ARENA_H
#define WM_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *last;
	size_t used_bytes; /* sum of what was asked for */
};

void arena_init(struct arena *arena);
void arena_deinit(struct arena *arena);
/* NULL when memory is short or the size overflows. */
void *arena_alloc(struct arena *arena, size_t size_bytes);
void *arena_calloc(struct arena *arena, size_t count, size_t size_bytes);
/* A copy of items[0 .. count - 1]; of none it is not NULL either. */
void *arena_copy(struct arena *arena, const void *items, size_t count, size_t size_bytes);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t len_bytes);
char *arena_vprintf(struct arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
