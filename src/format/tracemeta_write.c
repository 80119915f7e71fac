/* tracemeta_write.c - model to bytes of `.debug_waymark_trace`: one unit. What the reader would refuse is refused here too. */
#include <inttypes.h>

#include "format/tracemeta.h"
#include "format/tracemeta_bytes.h"
#include "format/unitmeta.h"

static void write_off(struct unitmeta_writer *w, uint32_t off)
{
	buffer_uleb128(&w->tables, off == TRACE_NO_OFFSET ? 0 : (uint64_t)off + 1);
}

static void write_variant(struct unitmeta_writer *w, const struct tracemeta_variant *v)
{
	buffer_uleb128(&w->tables, v->scheme);
	buffer_uleb128(&w->tables, v->frame_bytes);
	if (!v->frame_bytes)
		return;
	buffer_uleb128(&w->tables, v->sum_bytes);
	write_off(w, v->sum_off);
	write_off(w, v->count_off);
	write_off(w, v->ring_off);
	buffer_uleb128(&w->tables, v->ring_slots);
	write_off(w, v->local_off);
	buffer_uleb128(&w->tables, v->local_points);
	buffer_uleb128(&w->tables, v->local_bits);
}

static void write_call(struct unitmeta_writer *w, const struct tracemeta_call *before, const struct tracemeta_call *c)
{
	uint32_t function = string_table_ref(&w->strings, c->function);
	uint32_t file = string_table_ref(&w->strings, c->file);
	bool is_elsewhere = function != string_table_ref(&w->strings, before->function) ||
			    file != string_table_ref(&w->strings, before->file);

	buffer_uleb128(&w->tables, (uint64_t)(c->node - before->node) << CALL_SHIFT |
					   (is_elsewhere ? CALL_ELSEWHERE : 0u) | (c->may_leave ? CALL_MAY_LEAVE : 0u) |
					   (c->no_return ? CALL_NO_RETURN : 0u) | (unsigned int)c->kind);
	if (tracemeta_has_callee(c->kind))
		unitmeta_write_text(w, c->callee);
	if (is_elsewhere) {
		buffer_uleb128(&w->tables, function);
		buffer_uleb128(&w->tables, file);
	}
	buffer_uleb128(&w->tables, zigzag((int64_t)c->line - before->line));
	buffer_uleb128(&w->tables, c->column);
}

static void write_states(struct unitmeta_writer *w, const struct path_state *states, uint32_t count)
{
	for (uint32_t i = 0; i < count; i += 8) {
		uint8_t bits = 0;

		for (uint32_t k = 0; k < 8 && i + k < count; k++)
			bits |= (uint8_t)(states[i + k].has_register << k);
		buffer_u8(&w->tables, bits);
	}
	for (uint32_t i = 0; i < count; i++)
		buffer_uleb128(&w->tables, zigzag((int64_t)states[i].value));
}

static void write_function(struct unitmeta_writer *w, const struct tracemeta_function *f)
{
	struct tracemeta_call before = {0};

	buffer_u64(&w->tables, f->name_key);
	buffer_u64(&w->tables, f->cfg_key);
	buffer_uleb128(&w->tables, (f->is_root ? FUNCTION_ROOT : 0u) | (f->is_address_taken ? FUNCTION_TAKEN : 0u) |
					   (f->is_tunable ? FUNCTION_TUNABLE : 0u) |
					   (f->states ? FUNCTION_STATES : 0u));
	buffer_uleb128(&w->tables, f->node_count);
	buffer_uleb128(&w->tables, f->variant_count);
	for (uint32_t i = 0; i < f->variant_count; i++)
		write_variant(w, &f->variants[i]);
	write_off(w, f->function_off);
	write_off(w, f->calls_off);
	write_off(w, f->blocks_off);
	buffer_uleb128(&w->tables, f->call_count);
	for (uint32_t i = 0; i < f->call_count; i++) {
		write_call(w, &before, &f->calls[i]);
		before = f->calls[i];
	}
	if (f->states)
		write_states(w, f->states, f->node_count);
}

static void write_tables(struct unitmeta_writer *w, const struct tracemeta *m)
{
	const struct tracemeta_unit *u = &m->units[0];

	unitmeta_write_text(w, u->producer);
	unitmeta_write_text(w, u->name);
	buffer_uleb128(&w->tables, u->is_final);
	buffer_uleb128(&w->tables, u->coverage_bytes);
	buffer_uleb128(&w->tables, m->function_count);
	for (uint32_t i = 0; i < m->function_count; i++)
		write_function(w, &m->functions[i]);
	unitmeta_write_skipped(w, m->skipped, m->skipped_count);
}

static struct error *check_model(const struct tracemeta *m)
{
	struct error *err = unitmeta_check("tracing", m->unit_count, m->skipped, m->skipped_count);

	for (uint32_t i = 0; i < m->function_count && !err; i++) {
		err = tracemeta_check(&m->functions[i], &m->units[0]);
		if (err)
			err = error_context(err, "metadata of tracing: function %" PRIu32, i);
	}
	return err;
}

struct error *tracemeta_write(const struct tracemeta *m, uint64_t *ret_key, struct buffer *out)
{
	struct unitmeta_writer w = {0};
	struct error *err = check_model(m);

	if (!err)
		write_tables(&w, m);
	return unitmeta_write(&w, &TRACEMETA_KIND, err, ret_key, out);
}
