/*
 * meta_write.c - model to bytes of `.debug_waymark`.
 *
 * Strings are interned in a table of open addressing (FNV-1a, linear probing, at most half full), so that equal names are
 * written once whoever owns them. The key is a hash of the raw body: it does not depend on the version of zstd.
 */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "format/meta.h"
#include "format/meta_bytes.h"

enum {
	ZSTD_LEVEL = 9, /* measured: close to the best size, some tens of MB/s */
};

struct string_table {
	struct buffer pool;
	uint32_t *slots; /* string reference, 0 = free */
	size_t *offs;    /* of string i in the pool */
	size_t slot_count;
	uint32_t count;
	int failed;
};

static void string_table_deinit(struct string_table *t)
{
	buffer_deinit(&t->pool);
	free(t->slots);
	free(t->offs);
}

static uint32_t *string_table_slot(const struct string_table *t, const char *text)
{
	size_t i = meta_hash((const uint8_t *)text, strlen(text)) & (t->slot_count - 1);

	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): a used slot names a string of the pool */
	while (t->slots[i] && strcmp((const char *)t->pool.bytes + t->offs[t->slots[i] - 1], text) != 0)
		i = (i + 1) & (t->slot_count - 1);
	return &t->slots[i];
}

static int string_table_grow(struct string_table *t)
{
	size_t slot_count = t->slot_count ? t->slot_count * 2 : 1024;
	uint32_t *slots = calloc(slot_count, sizeof *slots);
	size_t *offs = realloc(t->offs, slot_count / 2 * sizeof *offs);

	if (offs)
		t->offs = offs;
	if (!slots || !offs) {
		free(slots);
		return -1;
	}
	free(t->slots);
	t->slots = slots;
	t->slot_count = slot_count;
	for (uint32_t i = 0; i < t->count; i++)
		*string_table_slot(t, (const char *)t->pool.bytes + t->offs[i]) = i + 1;
	return 0;
}

/* The reference of text; 0 for NULL, and when memory is short (then t->failed is set). */
static uint32_t string_ref(struct string_table *t, const char *text)
{
	uint32_t *slot;

	if (!text)
		return 0;
	if (t->failed || t->pool.failed || (t->count >= t->slot_count / 2 && string_table_grow(t) != 0)) {
		t->failed = 1;
		return 0;
	}
	slot = string_table_slot(t, text);
	if (!*slot) {
		t->offs[t->count] = t->pool.len_bytes;
		buffer_bytes(&t->pool, text, strlen(text) + 1);
		if (t->pool.failed)
			return 0;
		*slot = ++t->count;
	}
	return *slot;
}

static void write_functions(const struct meta *m, struct string_table *t, struct buffer *b)
{
	buffer_uleb128(b, m->function_count);
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct meta_function *f = &m->functions[i];

		buffer_uleb128(b, string_ref(t, f->link_name));
		buffer_uleb128(b, string_ref(t, f->name ? f->name : f->link_name));
		buffer_uleb128(b, string_ref(t, f->file));
		buffer_uleb128(b, f->line);
		buffer_uleb128(b, f->flags);
		buffer_uleb128(b, f->contexts);
		buffer_uleb128(b, f->restart);
	}
}

static void write_aliases(const struct meta *m, struct string_table *t, struct buffer *b)
{
	buffer_uleb128(b, m->alias_count);
	for (uint32_t i = 0; i < m->alias_count; i++) {
		buffer_uleb128(b, string_ref(t, m->aliases[i].link_name));
		buffer_uleb128(b, m->aliases[i].function);
	}
}

static void write_locations(const struct meta *m, struct string_table *t, struct buffer *b)
{
	buffer_uleb128(b, m->location_count);
	for (uint32_t i = 0; i < m->location_count; i++) {
		const struct meta_location *l = &m->locations[i];

		buffer_uleb128(b, string_ref(t, l->function));
		buffer_uleb128(b, string_ref(t, l->file));
		buffer_uleb128(b, l->line);
		buffer_uleb128(b, l->column);
		buffer_uleb128(b, l->inlined_at);
	}
}

static void write_sites(const struct meta *m, struct string_table *t, struct buffer *b)
{
	buffer_uleb128(b, m->site_count);
	for (uint32_t i = 1; i < m->site_count; i++) {
		const struct meta_site *s = &m->sites[i];

		buffer_uleb128(b, s->kind);
		buffer_uleb128(b, s->flags);
		buffer_uleb128(b, s->caller);
		if (s->kind == META_SITE_CALL || s->kind == META_SITE_BACK || s->kind == META_SITE_CUT)
			buffer_uleb128(b, s->callee);
		else if (s->kind == META_SITE_FOREIGN)
			buffer_uleb128(b, string_ref(t, s->foreign));
		if (s->kind == META_SITE_CALL)
			buffer_uleb128(b, s->addend);
		buffer_uleb128(b, s->location);
	}
}

static struct error *write_raw(const struct meta *m, struct buffer *raw)
{
	struct string_table t = {0};
	struct buffer tables = {0};
	struct error *err = NULL;

	buffer_uleb128(&tables, string_ref(&t, m->producer));
	buffer_uleb128(&tables, string_ref(&t, m->unit));
	write_functions(m, &t, &tables);
	write_aliases(m, &t, &tables);
	write_locations(m, &t, &tables);
	write_sites(m, &t, &tables);
	buffer_uleb128(&tables, m->stats.functions_total);
	buffer_uleb128(&tables, m->stats.call_sites_total);
	buffer_uleb128(&tables, m->stats.call_sites_no_code);
	buffer_uleb128(&tables, m->stats.ball_larus_max_id);
	buffer_uleb128(&tables, m->stats.max_id);
	buffer_uleb128(&tables, m->stats.cut_nodes);

	buffer_uleb128(raw, t.count);
	buffer_uleb128(raw, t.pool.len_bytes);
	buffer_bytes(raw, t.pool.bytes, t.pool.len_bytes);
	buffer_bytes(raw, tables.bytes, tables.len_bytes);
	if (t.failed || t.pool.failed || tables.failed || raw->failed)
		err = &error_no_memory;
	string_table_deinit(&t);
	buffer_deinit(&tables);
	return err;
}

/* What the reader would refuse must not be written: a program would ship with metadata that nobody can use. */
static struct error *check_model(const struct meta *m)
{
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct meta_function *f = &m->functions[i];

		if (!f->link_name || f->restart >= f->contexts)
			return error_create(ERROR_ARGUMENT, "metadata: function %u (%s): no name or no contexts", i,
					    f->link_name ? f->link_name : "?");
	}
	for (uint32_t i = 0; i < m->alias_count; i++)
		if (!m->aliases[i].link_name || m->aliases[i].function >= m->function_count)
			return error_create(ERROR_ARGUMENT, "metadata: alias %u names what does not exist", i);
	for (uint32_t i = 1; i < m->site_count; i++) {
		const struct meta_site *s = &m->sites[i];

		if ((unsigned)s->kind >= META_SITE_KINDS || s->caller >= m->function_count ||
		    s->callee >= m->function_count || s->location > m->location_count ||
		    (s->kind == META_SITE_FOREIGN && !s->foreign))
			return error_create(ERROR_ARGUMENT, "metadata: site %u names what does not exist", i);
	}
	for (uint32_t i = 0; i < m->location_count; i++)
		if (m->locations[i].inlined_at > m->location_count)
			return error_create(ERROR_ARGUMENT, "metadata: location %u names what does not exist", i);
	return NULL;
}

static struct error *write_section(const struct buffer *raw, uint64_t key, struct buffer *out)
{
	size_t bound = ZSTD_compressBound(raw->len_bytes);
	uint8_t *body = malloc(bound);
	size_t body_bytes;
	struct error *err;

	if (!body)
		return &error_no_memory;
	body_bytes = ZSTD_compress(body, bound, raw->bytes, raw->len_bytes, ZSTD_LEVEL);
	if (ZSTD_isError(body_bytes)) {
		err = error_create(ERROR_NO_MEMORY, "metadata: zstd: %s", ZSTD_getErrorName(body_bytes));
		free(body);
		return err;
	}
	buffer_bytes(out, META_MAGIC, 8);
	buffer_u32(out, META_VERSION);
	buffer_u32(out, META_COMPRESSION_ZSTD);
	buffer_u64(out, key);
	buffer_u64(out, body_bytes);
	buffer_u64(out, raw->len_bytes);
	buffer_u64(out, 0);
	buffer_bytes(out, body, body_bytes);
	free(body);
	return buffer_error(out);
}

struct error *meta_write(struct meta *m, struct buffer *out)
{
	struct buffer raw = {0};
	uint64_t key;
	struct error *err = check_model(m);

	if (!err)
		err = write_raw(m, &raw);
	if (!err && raw.len_bytes > META_RAW_MAX)
		err = error_create(ERROR_OVERFLOW, "metadata: %zu bytes of tables, at most %d are possible",
				   raw.len_bytes, META_RAW_MAX);
	if (!err) {
		key = meta_hash(raw.bytes, raw.len_bytes);
		err = write_section(&raw, key, out);
		if (!err)
			m->key = key;
	}
	buffer_deinit(&raw);
	return err;
}
