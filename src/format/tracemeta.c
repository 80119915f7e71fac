/*
 * tracemeta.c - bytes of `.debug_waymark_trace` to model, unit after unit. Every count is checked against the bytes that are
 * left before memory is asked for, and every offset against what it is in, so that users of the model need no checks.
 */
#include "format/tracemeta.h"

#include <inttypes.h>
#include <stdlib.h>

#include "format/scheme.h"
#include "format/tracemeta_bytes.h"
#include "format/unitmeta.h"

/* The fewest bytes that an element of each table takes. */
enum {
	FUNCTION_MIN_BYTES = 16 + 7,
	CALL_MIN_BYTES = 3,
};

VEC_DECLARE(unit_vec, struct tracemeta_unit);
VEC_DECLARE(function_vec, struct tracemeta_function);

struct reader {
	struct unitmeta_reader in; /* the first member */
	struct unit_vec units;
	struct function_vec functions;
};

void tracemeta_init(struct tracemeta *m)
{
	*m = (struct tracemeta){0};
	arena_init(&m->arena);
}

void tracemeta_deinit(struct tracemeta *m)
{
	arena_deinit(&m->arena);
	*m = (struct tracemeta){0};
}

/* len_bytes from off on lie in the first `all` bytes, or there is no such part. */
static bool is_inside(uint32_t off, uint64_t len_bytes, uint32_t all)
{
	return off == TRACE_NO_OFFSET || off + len_bytes <= all;
}

static bool is_ring(const struct tracemeta_variant *v)
{
	if (v->ring_off == TRACE_NO_OFFSET)
		return v->ring_slots == 0;
	return v->ring_slots && v->ring_slots <= WM1_TRACE_RING_MAX && !(v->ring_slots & (v->ring_slots - 1)) &&
	       v->count_off != TRACE_NO_OFFSET;
}

/* A variant must keep in frames what its scheme asks for. */
static bool is_of_scheme(const struct tracemeta_variant *v)
{
	if (v->local_off != TRACE_NO_OFFSET && !tracemeta_own_coverage(v->scheme))
		return false;
	if (v->local_off == TRACE_NO_OFFSET ? v->local_bits || v->local_points
					    : v->local_bits != 1 && v->local_bits != 8)
		return false;
	return v->scheme & WM1_SCHEME_PATHS || (v->sum_off == TRACE_NO_OFFSET && v->count_off == TRACE_NO_OFFSET &&
						v->ring_off == TRACE_NO_OFFSET && !v->sum_bytes);
}

static struct error *check_variant(const struct tracemeta_function *f, const struct tracemeta_variant *v)
{
	uint32_t points = v->scheme & WM1_SCHEME_CALLS ? f->call_count : f->node_count;
	bool has_sums = v->sum_off != TRACE_NO_OFFSET || v->ring_off != TRACE_NO_OFFSET;

	if (!scheme_exists(v->scheme))
		return error_create(ERROR_ARGUMENT, "scheme %u", v->scheme);
	if (v->sum_bytes > 8 || v->sum_bytes & (v->sum_bytes - 1) || (has_sums && !v->sum_bytes))
		return error_create(ERROR_ARGUMENT, "sums of %u bytes", v->sum_bytes);
	if (!is_ring(v))
		return error_create(ERROR_ARGUMENT, "a ring of %" PRIu32 " paths", v->ring_slots);
	if (!is_of_scheme(v) || v->local_points > points)
		return error_create(ERROR_ARGUMENT, "a frame record that scheme %u has not", v->scheme);
	if (!is_inside(v->sum_off, v->sum_bytes, v->frame_bytes) || !is_inside(v->count_off, 4, v->frame_bytes) ||
	    !is_inside(v->ring_off, (uint64_t)v->ring_slots * v->sum_bytes, v->frame_bytes) ||
	    !is_inside(v->local_off, ((uint64_t)v->local_points * v->local_bits + 7) / 8, v->frame_bytes))
		return error_create(ERROR_ARGUMENT, "a frame record of %" PRIu32 " bytes that holds more",
				    v->frame_bytes);
	return NULL;
}

static struct error *check_variants(const struct tracemeta_function *f)
{
	unsigned int seen = 0;

	if (f->variant_count > WM1_SCHEMES || (f->is_tunable && f->variant_count < 2))
		return error_create(ERROR_ARGUMENT, "%" PRIu32 " variants", f->variant_count);
	for (uint32_t i = 0; i < f->variant_count; i++) {
		struct error *err = check_variant(f, &f->variants[i]);

		if (err)
			return err;
		if (seen & 1u << f->variants[i].scheme)
			return error_create(ERROR_ARGUMENT, "scheme %u twice", f->variants[i].scheme);
		seen |= 1u << f->variants[i].scheme;
		if (f->variants[i].scheme & WM1_SCHEME_PATHS && !f->states)
			return error_create(ERROR_ARGUMENT, "paths without states");
	}
	return NULL;
}

static struct error *check_calls(const struct tracemeta_function *f)
{
	for (uint32_t i = 0; i < f->call_count; i++) {
		const struct tracemeta_call *c = &f->calls[i];

		if (c->node >= f->node_count || (i && c->node < c[-1].node))
			return error_create(ERROR_ARGUMENT, "call %" PRIu32 " in block %" PRIu32 " of %" PRIu32, i,
					    c->node, f->node_count);
		if ((unsigned int)c->kind >= TRACEMETA_CALLEES || tracemeta_has_callee(c->kind) != !!c->callee)
			return error_create(ERROR_ARGUMENT, "call %" PRIu32 " calls nothing known", i);
	}
	return NULL;
}

struct error *tracemeta_check(const struct tracemeta_function *f, const struct tracemeta_unit *u)
{
	struct error *err = check_variants(f);

	if (err)
		return err;
	if (f->node_count == 0 || f->node_count > 1u << WM1_POINT_NODE_BITS)
		return error_create(ERROR_ARGUMENT, "%" PRIu32 " blocks", f->node_count);
	if (!is_inside(f->function_off, 1, u->coverage_bytes) ||
	    !is_inside(f->calls_off, f->call_count, u->coverage_bytes) ||
	    !is_inside(f->blocks_off, f->node_count, u->coverage_bytes))
		return error_create(ERROR_ARGUMENT, "coverage outside of the unit's %" PRIu32 " bytes",
				    u->coverage_bytes);
	return check_calls(f);
}

static struct error *read_off(struct reader *r, uint32_t *ret)
{
	uint32_t v;
	struct error *err = cursor_uleb32(&r->in.c, &v);

	if (!err)
		*ret = v ? v - 1 : TRACE_NO_OFFSET;
	return err;
}

static struct error *read_variant(struct reader *r, struct tracemeta_variant *v)
{
	uint32_t scheme = 0, sum_bytes = 0, local_bits = 0;
	struct error *err = section_small(&r->in.c, (1 << WM1_SCHEME_BITS) - 1, "scheme", &scheme);

	*v = (struct tracemeta_variant){.scheme = (uint8_t)scheme,
					.sum_off = TRACE_NO_OFFSET,
					.count_off = TRACE_NO_OFFSET,
					.ring_off = TRACE_NO_OFFSET,
					.local_off = TRACE_NO_OFFSET};
	if (!err)
		err = cursor_uleb32(&r->in.c, &v->frame_bytes);
	if (err || !v->frame_bytes)
		return err;
	err = section_small(&r->in.c, 8, "sums with bytes", &sum_bytes) ?:
	      read_off(r, &v->sum_off) ?:
	      read_off(r, &v->count_off) ?:
	      read_off(r, &v->ring_off) ?:
	      cursor_uleb32(&r->in.c, &v->ring_slots) ?:
	      read_off(r, &v->local_off) ?:
	      cursor_uleb32(&r->in.c, &v->local_points) ?:
	      section_small(&r->in.c, 8, "points with bits", &local_bits);
	v->sum_bytes = (uint8_t)sum_bytes;
	v->local_bits = (uint8_t)local_bits;
	return err;
}

static struct error *read_variants(struct reader *r, struct tracemeta_function *f)
{
	struct error *err = section_small(&r->in.c, WM1_SCHEMES, "variants", &f->variant_count);

	for (uint32_t i = 0; i < f->variant_count && !err; i++)
		err = read_variant(r, &f->variants[i]);
	if (!err)
		err = read_off(r, &f->function_off);
	if (!err)
		err = read_off(r, &f->calls_off);
	return err ? err : read_off(r, &f->blocks_off);
}

static struct error *read_line(struct reader *r, const struct tracemeta_call *before, struct tracemeta_call *c)
{
	struct cursor at = r->in.c;
	uint64_t step;
	struct error *err = cursor_uleb128(&r->in.c, &step);

	if (!err)
		err = unitmeta_read_line(&at, unzigzag(step), before->line, &c->line);
	return err ? err : cursor_uleb32(&r->in.c, &c->column);
}

static struct error *read_call(struct reader *r, const struct tracemeta_call *before, struct tracemeta_call *c)
{
	struct cursor at = r->in.c;
	uint64_t how;
	struct error *err = cursor_uleb128(&r->in.c, &how);

	if (err)
		return err;
	if (how >> CALL_SHIFT > UINT32_MAX - before->node)
		return cursor_error(&at, "a call in block %" PRIu64 " behind the one before: the section is damaged",
				    how >> CALL_SHIFT);
	c->node = before->node + (uint32_t)(how >> CALL_SHIFT);
	c->kind = (enum tracemeta_callee)(how & CALL_KIND_MASK);
	c->no_return = (how & CALL_NO_RETURN) != 0;
	c->may_leave = (how & (CALL_MAY_LEAVE | CALL_NO_RETURN)) != 0;
	c->function = before->function;
	c->file = before->file;
	if (tracemeta_has_callee(c->kind))
		err = unitmeta_read_text(&r->in, &c->callee);
	if (!err && how & CALL_ELSEWHERE)
		err = unitmeta_read_text(&r->in, &c->function);
	if (!err && how & CALL_ELSEWHERE)
		err = unitmeta_read_text(&r->in, &c->file);
	return err ? err : read_line(r, before, c);
}

static struct error *read_calls(struct reader *r, struct tracemeta_function *f)
{
	static const struct tracemeta_call none;
	struct error *err = section_count(&r->in.c, CALL_MIN_BYTES, "calls", &f->call_count);

	if (err)
		return err;
	f->calls = arena_calloc(r->in.arena, f->call_count, sizeof *f->calls);
	if (!f->calls)
		return &error_no_memory;
	for (uint32_t i = 0; i < f->call_count && !err; i++)
		err = read_call(r, i ? &f->calls[i - 1] : &none, &f->calls[i]);
	return err;
}

static struct error *read_states(struct reader *r, struct tracemeta_function *f)
{
	uint32_t bits_bytes = f->node_count / 8 + (f->node_count % 8 != 0);
	const uint8_t *bits;
	uint64_t value;
	struct error *err;

	if (f->node_count > cursor_left(&r->in.c))
		return cursor_error(&r->in.c,
				    "states of %" PRIu32
				    " blocks cannot fit in the %zu bytes left: the section is damaged",
				    f->node_count, cursor_left(&r->in.c));
	f->states = arena_calloc(r->in.arena, f->node_count, sizeof *f->states);
	if (!f->states)
		return &error_no_memory;
	err = cursor_bytes(&r->in.c, bits_bytes, &bits);
	for (uint32_t i = 0; i < f->node_count && !err; i++) {
		err = cursor_uleb128(&r->in.c, &value);
		if (!err)
			f->states[i] = (struct path_state){.has_register = bits[i / 8] >> i % 8 & 1,
							   .value = (uint64_t)unzigzag(value)};
	}
	return err;
}

static struct error *read_function(struct reader *r)
{
	struct tracemeta_function f = {.unit = r->in.unit};
	struct cursor at = r->in.c;
	uint32_t flags = 0;
	struct error *err;

	err = cursor_u64(&r->in.c, &f.name_key) ?:
	      cursor_u64(&r->in.c, &f.cfg_key) ?:
	      section_small(&r->in.c, FUNCTION_FLAGS_MAX, "a function with flags", &flags) ?:
	      cursor_uleb32(&r->in.c, &f.node_count);
	f.is_root = (flags & FUNCTION_ROOT) != 0;
	f.is_address_taken = (flags & FUNCTION_TAKEN) != 0;
	f.is_tunable = (flags & FUNCTION_TUNABLE) != 0;
	if (!err)
		err = read_variants(r, &f);
	if (!err)
		err = read_calls(r, &f);
	if (!err && flags & FUNCTION_STATES)
		err = read_states(r, &f);
	if (err)
		return err;
	err = tracemeta_check(&f, &r->units.items[f.unit]);
	if (err) {
		struct error *where = cursor_error(&at, "a function with %s: the section is damaged", err->message);

		error_destroy(err);
		return where;
	}
	return function_vec_append(&r->functions, f);
}

static struct error *read_unit(struct unitmeta_reader *in, uint64_t key)
{
	struct reader *r = (struct reader *)in;
	struct tracemeta_unit u = {.key = key, .first_function = (uint32_t)r->functions.count};
	uint32_t is_final = 0;
	struct error *err = unitmeta_read_origin(in, &u.producer, &u.name) ?:
			    section_small(&in->c, 1, "stage", &is_final) ?:
			    cursor_uleb32(&in->c, &u.coverage_bytes) ?:
			    section_count(&in->c, FUNCTION_MIN_BYTES, "functions", &u.function_count);

	if (err)
		return err;
	u.is_final = is_final != 0;
	err = unit_vec_append(&r->units, u);
	for (uint32_t i = 0; i < u.function_count && !err; i++)
		err = read_function(r);
	return err ? err : unitmeta_read_skipped(in);
}

/* Moves what was read into the model; the arena then owns it. */
static struct error *keep_all(const struct reader *r, struct tracemeta *m)
{
	m->units = arena_copy(&m->arena, r->units.items, r->units.count, sizeof *m->units);
	m->functions = arena_copy(&m->arena, r->functions.items, r->functions.count, sizeof *m->functions);
	m->skipped = arena_copy(&m->arena, r->in.skipped.items, r->in.skipped.count, sizeof *m->skipped);
	if (!m->units || !m->functions || !m->skipped)
		return &error_no_memory;
	m->unit_count = (uint32_t)r->units.count;
	m->function_count = (uint32_t)r->functions.count;
	m->skipped_count = (uint32_t)r->in.skipped.count;
	return NULL;
}

struct error *tracemeta_read(const void *bytes, size_t len_bytes, const char *name, struct tracemeta *m)
{
	struct tracemeta parsed;
	struct reader r = {.in.arena = &parsed.arena};
	struct error *err;

	tracemeta_init(&parsed);
	err = unitmeta_read(bytes, len_bytes, name, &TRACEMETA_KIND, &r.in, read_unit);
	if (!err)
		err = keep_all(&r, &parsed);
	unit_vec_deinit(&r.units);
	function_vec_deinit(&r.functions);
	skipped_vec_deinit(&r.in.skipped);
	if (err) {
		tracemeta_deinit(&parsed);
		return err;
	}
	tracemeta_deinit(m);
	*m = parsed;
	return NULL;
}

enum wm1_scheme tracemeta_own_coverage(uint8_t scheme)
{
	return scheme & (WM1_SCHEME_CALLS | WM1_SCHEME_BLOCKS);
}

bool tracemeta_covers_entry(const struct tracemeta_function *f, uint8_t scheme)
{
	return f->function_off != TRACE_NO_OFFSET && scheme & (WM1_SCHEME_FUNCTION | WM1_SCHEME_CALLS);
}

struct error *tracemeta_own_points(const struct tracemeta_function *f, const struct cfg *g, enum wm1_scheme coverage,
				   struct arena *arena, struct coverage_points *ret)
{
	const bool is_calls = coverage == WM1_SCHEME_CALLS;
	const uint32_t count = is_calls ? f->call_count : f->node_count;
	uint32_t *nodes = arena_calloc(arena, count, sizeof *nodes);

	if (!nodes)
		return &error_no_memory;
	for (uint32_t i = 0; i < count; i++)
		nodes[i] = is_calls ? f->calls[i].node : i;
	return coverage_points_find(g, nodes, count, !is_calls, arena, ret);
}
