/*
 * crash_frame_coverage.c - coverage of one activation: from its frame's memory and from the points that control can have passed last
 * (core/activity/coverage_points.h).
 */
#include <stdlib.h>
#include <string.h>

#include "model/crash/crash_build.h"

/* Made once for each function. */
static struct error *find_own_points(struct crash *c, const struct crash_image *image, uint32_t function,
				     enum wm1_scheme coverage, const struct coverage_points **ret)
{
	struct coverage_points *o =
		coverage == WM1_SCHEME_CALLS ? &image->own_calls[function] : &image->own_blocks[function];

	*ret = o;
	return o->nodes ? NULL
			: tracemeta_own_points(&image->trace.meta.functions[function],
					       &image->trace.flows[function]->cfg, coverage, &c->arena, o);
}

static uint8_t use_of(uint8_t byte)
{
	return byte > 1 ? POINT_UNKNOWN /* overwritten */ : byte ? POINT_USED : POINT_UNUSED;
}

/* kept[o->kept_count]; false: it cannot be read, or the metadata says otherwise. */
static bool read_memory(const struct crash *c, const struct coverage_points *o, const struct tracemeta_variant *v,
			const uint64_t *record, uint8_t *kept)
{
	const bool has_bytes = v->local_bits == 8;
	const size_t len_bytes = has_bytes ? o->kept_count : (o->kept_count + 7) / 8;
	uint8_t *bytes;
	bool is_read;

	if (o->kept_count != v->local_points)
		return false;
	if (!o->kept_count)
		return true;
	if (!record)
		return false;
	bytes = calloc(len_bytes, 1);
	is_read = bytes && snapshot_read(c->stopped, *record + v->local_off, bytes, len_bytes);
	for (uint32_t i = 0; is_read && i < o->kept_count; i++)
		kept[i] = use_of(has_bytes ? bytes[i] : bytes[i / 8] >> (i % 8) & 1);
	free(bytes);
	return is_read;
}

/*
 * The numbers of the points that can be the last ones; last[] has room for all. *may_be_none: or the activation just began.
 * Points of other variants, inlined into the same code, are other activations'.
 */
static uint32_t take_last(const struct crash_image *image, const struct crash_position *position,
			  const struct tracemeta_variant *v, uint32_t *last, bool *may_be_none)
{
	uint32_t count = 0;

	*may_be_none = position->is_before_covered;
	for (uint32_t i = 0; i < position->covered_count; i++) {
		const struct tracepoint *p = &image->trace.points.points[position->covered[i]];

		if (p->kind != WM1_POINT_COVERED)
			*may_be_none = true;
		else if (p->scheme == v->scheme)
			last[count++] = p->node;
	}
	return count;
}

static struct error *expand(struct crash *c, const struct crash_image *image, const struct crash_position *position,
			    const struct coverage_points *o, const struct tracemeta_variant *v, const uint64_t *record,
			    uint8_t **ret)
{
	uint8_t *used = arena_calloc(&c->arena, (size_t)o->count + 1, 1);
	uint8_t *kept = calloc((size_t)o->kept_count + 1, 1);
	uint32_t *last = calloc((size_t)position->covered_count + 1, sizeof *last);
	struct error *err = used && kept && last ? NULL : &error_no_memory;
	bool may_be_none = false, is_none;
	uint32_t count = 0;

	if (!err)
		count = take_last(image, position, v, last, &may_be_none);
	/* No point has been passed: what the memory has may be of another activation. */
	is_none = !err && !count && may_be_none;
	if (is_none)
		memset(kept, POINT_UNUSED, o->kept_count);
	if (!err && (is_none || read_memory(c, o, v, record, kept))) {
		err = coverage_points_expand(o, kept, last, count, may_be_none, used);
		*ret = used;
	}
	free(last);
	free(kept);
	return err;
}

struct error *crash_read_own_coverage(struct crash *c, const struct crash_level *level, const uint64_t *record,
				      struct crash_frame *frame)
{
	const struct crash_image *image = &c->images[frame->image];
	const enum wm1_scheme coverage = tracemeta_own_coverage(frame->variant->scheme);
	const struct coverage_points *o;
	struct error *err;

	if (coverage == WM1_SCHEME_NONE)
		return NULL;
	err = find_own_points(c, image, level->index, coverage, &o);
	if (err || !o->count) /* no calls, no coverage of them */
		return err;
	return expand(c, image, level->position, o, frame->variant, record,
		      coverage == WM1_SCHEME_CALLS ? &frame->calls_used : &frame->nodes_used);
}
