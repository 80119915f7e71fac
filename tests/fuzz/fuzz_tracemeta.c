/*
 * fuzz_tracemeta.c - tracemeta_read. The first byte chooses: 0, the rest is a section; else it is the raw body of a unit, for
 * which a right header and checksum are made, so that inputs get past them. A single unit is written again and must come back
 * the same.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "support/builder.h"
#include "support/trace_builder.h"

static uint32_t points_of(const struct tracemeta_function *f, const struct tracemeta_variant *v)
{
	return v->scheme & WM1_SCHEME_CALLS ? f->call_count : f->node_count;
}

/* As users do, without a check of their own. */
static void walk(const struct tracemeta *m, const struct tracemeta_function *f)
{
	uint32_t coverage_bytes = m->units[f->unit].coverage_bytes;

	for (uint32_t i = 0; i < f->call_count; i++)
		if (f->calls[i].node >= f->node_count || (f->calls[i].kind == TRACEMETA_DIRECT && !f->calls[i].callee))
			abort();
	if ((f->function_off != TRACE_NO_OFFSET && f->function_off >= coverage_bytes) ||
	    (f->calls_off != TRACE_NO_OFFSET && (uint64_t)f->calls_off + f->call_count > coverage_bytes) ||
	    (f->blocks_off != TRACE_NO_OFFSET && (uint64_t)f->blocks_off + f->node_count > coverage_bytes))
		abort();
	for (uint32_t i = 0; i < f->variant_count; i++) {
		const struct tracemeta_variant *v = &f->variants[i];

		if (v->ring_off != TRACE_NO_OFFSET &&
		    (uint64_t)v->ring_off + (uint64_t)v->ring_slots * v->sum_bytes > v->frame_bytes)
			abort();
		if (v->local_off != TRACE_NO_OFFSET &&
		    (v->local_points > points_of(f, v) ||
		     v->local_off + ((uint64_t)v->local_points * v->local_bits + 7) / 8 > v->frame_bytes))
			abort();
		if (v->scheme & WM1_SCHEME_PATHS && !f->states)
			abort();
	}
}

static void write_again(const struct tracemeta *m)
{
	struct buffer out = {0};
	struct tracemeta back;
	uint64_t key;

	tracemeta_init(&back);
	if (tracemeta_write(m, &key, &out) || tracemeta_read(out.bytes, out.len_bytes, "again", &back) ||
	    back.function_count != m->function_count || back.skipped_count != m->skipped_count ||
	    back.units[0].key != key)
		abort();
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct tracemeta_function *a = &m->functions[i], *b = &back.functions[i];

		if (a->cfg_key != b->cfg_key || a->node_count != b->node_count || a->call_count != b->call_count ||
		    a->blocks_off != b->blocks_off || a->variant_count != b->variant_count)
			abort();
		for (uint32_t k = 0; k < a->call_count; k++)
			if (a->calls[k].node != b->calls[k].node || a->calls[k].line != b->calls[k].line)
				abort();
		for (uint32_t k = 0; a->states && k < a->node_count; k++)
			if (a->states[k].value != b->states[k].value)
				abort();
	}
	tracemeta_deinit(&back);
	buffer_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer section = {0};
	struct tracemeta m;
	struct error *err;

	if (size < 1)
		return 0;
	if (data[0])
		build_trace_section(&section, data + 1, size - 1);
	else
		buffer_bytes(&section, data + 1, size - 1);
	tracemeta_init(&m);
	err = tracemeta_read(section.bytes, section.len_bytes, "input", &m);
	if (!err) {
		for (uint32_t i = 0; i < m.function_count; i++)
			walk(&m, &m.functions[i]);
		if (m.unit_count == 1)
			write_again(&m);
	}
	error_destroy(err);
	tracemeta_deinit(&m);
	buffer_deinit(&section);
	return 0;
}
