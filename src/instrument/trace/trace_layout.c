/*
 * trace_layout.c - where each variant of a function keeps what it leaves behind (waymark/trace.h): only what it needs.
 *
 *      one path                nothing but points
 *      several, no loops       sum
 *      loops                   sum, count, ring
 *      coverage                one byte for each point that follows from nothing else (core/activity/coverage_points.h); one bit where they are many
 */
#include "instrument/trace/trace.h"

enum {
	LOCAL_BYTES_MAX =
		256, /* a bit waits for the one that was set before it in its byte; perl's functions gained nothing by more */
};

static unsigned number_bytes(uint64_t path_count)
{
	return path_count <= 1u << 8 ? 1 : path_count <= 1u << 16 ? 2 : path_count <= UINT64_C(1) << 32 ? 4 : 8;
}

static bool uses_register(const struct trace_function *f, const struct cfg *g)
{
	for (uint32_t i = 0; i < f->numbering.start_count; i++)
		if (f->placement.starts[i].kind != PLACE_NOTHING)
			return true;
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].cut == CFG_KEPT && f->placement.edges[e].kind != PLACE_NOTHING)
			return true;
	return false;
}

static uint32_t place(uint32_t *used, uint32_t bytes, uint32_t alignment)
{
	uint32_t off = (*used + alignment - 1) / alignment * alignment;
	*used = off + bytes;
	return off;
}

/*
 * A byte is set without being read; a bit waits for the one that was set before it in the same byte. Padded to what few stores
 * clear: stack frames are multiples of 16 bytes anyway.
 */
static void place_local(struct tracemeta_variant *v, uint32_t points, uint32_t *used)
{
	v->local_points = points;
	v->local_bits = points <= LOCAL_BYTES_MAX ? 8 : 1;
	uint32_t bytes = (points * v->local_bits + 7) / 8;
	bytes = bytes <= 2 ? bytes : bytes <= 4 ? 4 : (bytes + 7) / 8 * 8;
	v->local_off = place(used, bytes, 1);
}

static struct error *lay_out(struct trace_function *f, const struct cfg *g, struct tracemeta_variant *v)
{
	const uint32_t slots = f->m->options->ring;
	uint32_t used = 0;
	v->sum_off = v->count_off = v->ring_off = v->local_off = TRACE_NO_OFFSET;
	if (v->scheme & WM1_SCHEME_PATHS) {
		v->sum_bytes = (uint8_t)number_bytes(f->numbering.path_count);
		/* First, what is used most: without optimization only the record's own address is part of an instruction. */
		if (uses_register(f, g))
			v->sum_off = place(&used, v->sum_bytes, v->sum_bytes);
		if (f->numbering.start_count > 1) {
			v->count_off = place(&used, 4, 4);
			v->ring_slots = slots;
			v->ring_off = place(&used, slots * v->sum_bytes, v->sum_bytes);
		}
		if (!used)
			v->sum_bytes = 0;
	}
	uint32_t points = f->own[tracemeta_own_coverage(v->scheme)].kept_count;
	if (points)
		place_local(v, points, &used);
	v->frame_bytes = used;
	return NULL;
}

static struct error *reserve_coverage(struct trace_function *f, uint32_t points, uint32_t *off)
{
	struct trace_module *m = f->m;
	if (*off != TRACE_NO_OFFSET || !points)
		return NULL;
	if (points > INT32_MAX - m->coverage_bytes)
		return error_create(ERROR_OVERFLOW, "%s: more than 2^31 points of coverage", m->paths.unit);
	*off = m->coverage_bytes;
	m->coverage_bytes += points;
	return NULL;
}

static struct error *reserve_entry(struct trace_function *f, const struct cfg *g, uint8_t scheme)
{
	bool needs_byte = true;
	struct error *err = scheme & WM1_SCHEME_FUNCTION ? NULL : trace_entry_needs_byte(f, g, &needs_byte);
	return err || !needs_byte ? err : reserve_coverage(f, 1, &f->meta.function_off);
}

/* Once for all schemes of a coverage. */
static struct error *find_own(struct trace_function *f, const struct cfg *g, uint8_t scheme)
{
	const enum wm1_scheme coverage = tracemeta_own_coverage(scheme);
	struct coverage_points *own = &f->own[coverage];
	if (coverage == WM1_SCHEME_NONE || own->nodes)
		return NULL;
	return tracemeta_own_points(&f->meta, g, coverage, f->scratch, own);
}

struct error *trace_layout(struct trace_function *f, const struct cfg *g)
{
	struct error *err = NULL;
	f->meta.function_off = f->meta.calls_off = f->meta.blocks_off = TRACE_NO_OFFSET;
	f->meta.variant_count = f->scheme_count;
	f->meta.is_tunable = f->scheme_count > 1;
	for (uint32_t i = 0; i < f->scheme_count && !err; i++) {
		const uint8_t scheme = f->schemes[i];
		f->meta.variants[i] = (struct tracemeta_variant){.scheme = scheme};
		err = find_own(f, g, scheme);
		if (!err)
			err = lay_out(f, g, &f->meta.variants[i]);
		if (!err && scheme & (WM1_SCHEME_FUNCTION | WM1_SCHEME_CALLS))
			err = reserve_entry(f, g, scheme);
		if (!err && scheme & WM1_SCHEME_CALLS)
			err = reserve_coverage(f, f->meta.call_count, &f->meta.calls_off);
		if (!err && scheme & WM1_SCHEME_BLOCKS)
			err = reserve_coverage(f, f->meta.node_count, &f->meta.blocks_off);
	}
	return err;
}
