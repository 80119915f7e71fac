/*
 * meta_write.c - model to bytes of `.debug_waymark`.
 */
#include "format/meta.h"
#include "format/meta_bytes.h"
#include "format/strings.h"

static void write_functions(const struct meta *m, struct string_table *t, struct buffer *b)
{
	buffer_uleb128(b, m->function_count);
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct meta_function *f = &m->functions[i];

		buffer_uleb128(b, string_table_ref(t, f->link_name));
		buffer_uleb128(b, string_table_ref(t, f->name ? f->name : f->link_name));
		buffer_uleb128(b, string_table_ref(t, f->file));
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
		buffer_uleb128(b, string_table_ref(t, m->aliases[i].link_name));
		buffer_uleb128(b, m->aliases[i].function);
	}
}

static void write_locations(const struct meta *m, struct string_table *t, struct buffer *b)
{
	buffer_uleb128(b, m->location_count);
	for (uint32_t i = 0; i < m->location_count; i++) {
		const struct meta_location *l = &m->locations[i];

		buffer_uleb128(b, string_table_ref(t, l->function));
		buffer_uleb128(b, string_table_ref(t, l->file));
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
			buffer_uleb128(b, string_table_ref(t, s->foreign));
		if (s->kind == META_SITE_CALL)
			buffer_uleb128(b, s->addend);
		if (s->kind == META_SITE_SELF_CALL) {
			buffer_uleb128(b, s->bits);
			buffer_uleb128(b, s->code);
		}
		buffer_uleb128(b, s->location);
	}
}

static struct error *write_raw(const struct meta *m, struct buffer *raw)
{
	struct string_table t = {0};
	struct buffer tables = {0};
	struct error *err;

	buffer_uleb128(&tables, string_table_ref(&t, m->producer));
	buffer_uleb128(&tables, string_table_ref(&t, m->unit));
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
	buffer_uleb128(&tables, m->stats.foreign_objects);
	buffer_uleb128(&tables, m->stats.foreign_members);
	for (uint32_t i = 0; m->is_hybrid && i < m->function_count; i++)
		buffer_uleb128(&tables, m->functions[i].frame_bytes);

	err = string_table_write(&t, raw);
	buffer_bytes(raw, tables.bytes, tables.len_bytes);
	if (!err && (tables.failed || raw->failed))
		err = &error_no_memory;
	string_table_deinit(&t);
	buffer_deinit(&tables);
	return err;
}

/* Refuses a model that the reader would refuse: a program would ship with metadata that nobody can use. */
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
		    (s->kind == META_SITE_FOREIGN && !s->foreign) || !meta_code_is_possible(s))
			return error_create(ERROR_ARGUMENT, "metadata: site %u names what does not exist", i);
	}
	for (uint32_t i = 0; i < m->location_count; i++)
		if (m->locations[i].inlined_at > m->location_count)
			return error_create(ERROR_ARGUMENT, "metadata: location %u names what does not exist", i);
	return NULL;
}

struct error *meta_write(struct meta *m, struct buffer *out)
{
	struct buffer raw = {0};
	struct error *err;

	err = check_model(m) ?: write_raw(m, &raw) ?: section_write(&META_KIND, &raw, &m->key, out);
	buffer_deinit(&raw);
	return err;
}
