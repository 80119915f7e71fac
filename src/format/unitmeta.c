/*
 * unitmeta.c - units of a section, read and written: the parts that metadata of paths and of tracing share.
 */
#include "format/unitmeta.h"

#include <inttypes.h>

enum {
	SKIPPED_MIN_BYTES = 2,
};

/* Unpacks the unit at c and reads it. */
static struct error *read_frame(struct unitmeta_reader *r, const struct section_kind *kind, struct cursor *c,
				struct error *(*read_unit)(struct unitmeta_reader *r, uint64_t key))
{
	struct section s = {0};
	struct error *err = section_read_unit(c, kind, r->unit, r->arena, &s, &r->c);

	if (!err) {
		err = string_pool_read(&r->c, r->arena, &r->strings);
		if (!err)
			err = read_unit(r, s.key);
		string_pool_deinit(&r->strings);
	}
	section_deinit(&s);
	return err;
}

struct error *unitmeta_read(const void *bytes, size_t len_bytes, const char *name, const struct section_kind *kind,
			    struct unitmeta_reader *r,
			    struct error *(*read_unit)(struct unitmeta_reader *r, uint64_t key))
{
	struct cursor c;
	struct error *err;

	cursor_init(&c, bytes, len_bytes, name);
	err = section_check_units(&c);
	if (err)
		return err;
	for (r->unit = 0;; r->unit++) {
		err = read_frame(r, kind, &c, read_unit);
		section_skip_zeros(&c);
		if (err || !cursor_left(&c))
			return err;
	}
}

struct error *unitmeta_read_text(struct unitmeta_reader *r, const char **ret)
{
	return string_pool_text(&r->strings, &r->c, ret);
}

struct error *unitmeta_read_line(const struct cursor *at, int64_t step, uint32_t before, uint32_t *ret)
{
	int64_t line;

	if (__builtin_add_overflow(step, (int64_t)before, &line) || line < 0 || line > UINT32_MAX)
		return cursor_error(at, "line %" PRId64 ": the section is damaged", line);
	*ret = (uint32_t)line;
	return NULL;
}

struct error *unitmeta_read_origin(struct unitmeta_reader *r, const char **ret_producer, const char **ret_name)
{
	struct error *err = unitmeta_read_text(r, ret_producer) ?: unitmeta_read_text(r, ret_name);

	if (err)
		return err;
	if (!*ret_producer)
		*ret_producer = "an unknown program";
	if (!*ret_name)
		*ret_name = "an unknown unit";
	return NULL;
}

struct error *unitmeta_read_skipped(struct unitmeta_reader *r)
{
	uint32_t count = 0;
	struct error *err = section_count(&r->c, SKIPPED_MIN_BYTES, "skipped functions", &count);

	for (uint32_t i = 0; i < count && !err; i++) {
		struct skipped_function s = {.unit = r->unit};
		struct cursor at = r->c;

		err = unitmeta_read_text(r, &s.name) ?: unitmeta_read_text(r, &s.reason);
		if (!err && (!s.name || !s.reason))
			err = cursor_error(&at, "a skipped function without a name or reason: the section is damaged");
		if (!err)
			err = skipped_vec_append(&r->skipped, s);
	}
	return err ? err : section_check_end(&r->c);
}

void unitmeta_write_text(struct unitmeta_writer *w, const char *text)
{
	buffer_uleb128(&w->tables, string_table_ref(&w->strings, text));
}

void unitmeta_write_skipped(struct unitmeta_writer *w, const struct skipped_function *skipped, uint32_t count)
{
	buffer_uleb128(&w->tables, count);
	for (uint32_t i = 0; i < count; i++) {
		unitmeta_write_text(w, skipped[i].name);
		unitmeta_write_text(w, skipped[i].reason);
	}
}

struct error *unitmeta_check(const char *what, uint32_t unit_count, const struct skipped_function *skipped,
			     uint32_t skipped_count)
{
	if (unit_count != 1)
		return error_create(ERROR_ARGUMENT, "metadata of %s: %" PRIu32 " units, one is written", what,
				    unit_count);
	for (uint32_t i = 0; i < skipped_count; i++)
		if (!skipped[i].name || !skipped[i].reason)
			return error_create(ERROR_ARGUMENT,
					    "metadata of %s: a skipped function without a name or reason", what);
	return NULL;
}

struct error *unitmeta_write(struct unitmeta_writer *w, const struct section_kind *kind, struct error *err,
			     uint64_t *ret_key, struct buffer *out)
{
	struct buffer raw = {0};

	if (!err)
		err = string_table_write(&w->strings, &raw) ?: buffer_error(&w->tables);
	if (!err) {
		buffer_bytes(&raw, w->tables.bytes, w->tables.len_bytes);
		err = buffer_error(&raw) ?: section_write(kind, &raw, ret_key, out);
	}
	string_table_deinit(&w->strings);
	buffer_deinit(&w->tables);
	buffer_deinit(&raw);
	return err;
}
