/*
 * strings.c - the strings of a metadata body. The writer interns them, so that equal names are written once whoever owns them.
 */
#include "format/strings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/section.h"

void string_table_deinit(struct string_table *t)
{
	buffer_deinit(&t->pool);
	hashmap_deinit(&t->known);
	*t = (struct string_table){0};
}

uint32_t string_table_ref(struct string_table *t, const char *text)
{
	uint32_t count = t->known.count, number;
	struct key key;
	struct error *err;

	if (!text || t->failed)
		return 0;
	key = key_of_text_safe(text, 0);
	err = hashmap_add(&t->known, &key, &number);
	if (!err && number == count)
		buffer_bytes(&t->pool, text, strlen(text) + 1);
	if (!err && !t->pool.failed)
		return number + 1;
	error_destroy(err);
	t->failed = true;
	return 0;
}

struct error *string_table_write(const struct string_table *t, struct buffer *out)
{
	buffer_uleb128(out, t->known.count);
	buffer_uleb128(out, t->pool.len_bytes);
	buffer_bytes(out, t->pool.bytes, t->pool.len_bytes);
	return t->failed || t->pool.failed ? &error_no_memory : buffer_error(out);
}

/* strings[] of a pool that was copied to texts, which has a NUL behind it. */
static struct error *split(const struct cursor *at, const char *texts, size_t pool_bytes, struct string_pool *p)
{
	size_t off = 0;
	uint32_t i;

	for (i = 0; i < p->count && off < pool_bytes; i++) {
		p->strings[i] = texts + off;
		off += strlen(texts + off) + 1;
	}
	/* A last string without its NUL would end at the NUL behind the copy, one past the pool. */
	if (i != p->count || off != pool_bytes)
		return cursor_error(at, "the string pool does not hold %" PRIu32 " strings: the section is damaged",
				    p->count);
	return NULL;
}

struct error *string_pool_read(struct cursor *c, struct arena *arena, struct string_pool *ret)
{
	struct cursor at = *c;
	struct string_pool p = {0};
	uint64_t pool_bytes;
	const uint8_t *pool;
	char *texts;
	struct error *err = section_count(c, 1, "strings", &p.count);

	if (!err)
		err = cursor_uleb128(c, &pool_bytes);
	if (!err && pool_bytes > cursor_left(c))
		err = cursor_error(&at, "strings of %" PRIu64 " bytes, %zu left: the section is damaged", pool_bytes,
				   cursor_left(c));
	if (!err)
		err = cursor_bytes(c, (size_t)pool_bytes, &pool);
	if (err)
		return err;
	texts = arena_strndup(arena, (const char *)pool, (size_t)pool_bytes);
	p.strings = calloc((size_t)p.count + 1, sizeof *p.strings);
	err = texts && p.strings ? split(&at, texts, (size_t)pool_bytes, &p) : &error_no_memory;
	if (err)
		string_pool_deinit(&p);
	else
		*ret = p;
	return err;
}

void string_pool_deinit(struct string_pool *p)
{
	free(p->strings);
	*p = (struct string_pool){0};
}

struct error *string_pool_text(const struct string_pool *p, struct cursor *c, const char **ret)
{
	struct cursor at = *c;
	uint32_t ref;
	struct error *err = cursor_uleb32(c, &ref);

	if (err)
		return err;
	if (ref > p->count)
		return cursor_error(&at, "string %" PRIu32 " of %" PRIu32 ": the section is damaged", ref, p->count);
	*ret = ref ? p->strings[ref - 1] : NULL;
	return NULL;
}
