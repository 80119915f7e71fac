/* heap_line.c - records of the time line to slices: each record counts where it ends, and a slice without one is what the last one left. */
#include "model/tables/heap_line.h"

struct span {
	const struct profile_heap_time *items;
	size_t count;
};

/* Records of a source are side by side. */
static struct span find(const struct profile *p, uint32_t source)
{
	const struct profile_heap_time *items = p->heap_times.items;
	size_t first = 0, end;

	if (!items)
		return (struct span){0};
	while (first < p->heap_times.count && items[first].source != source)
		first++;
	for (end = first; end < p->heap_times.count && items[end].source == source; end++)
		;
	return (struct span){items + first, end - first};
}

static uint64_t peak_of(struct span span)
{
	size_t best = 0;

	for (size_t i = 1; i < span.count; i++)
		if (span.items[i].high > span.items[best].high)
			best = i;
	return span.items[best].after_ns;
}

static struct error *copy(struct span span, struct heap_slice_vec *ret)
{
	struct error *err = NULL;

	for (size_t i = 0; i < span.count && !err; i++)
		err = heap_slice_vec_append(ret, (struct heap_slice){span.items[i].after_ns, span.items[i].live,
								     span.items[i].low, span.items[i].high});
	return err;
}

static struct error *reduce(struct span span, size_t count, uint64_t end_ns, struct heap_slice_vec *ret)
{
	uint64_t live = 0;
	size_t next = 0;
	struct error *err = NULL;

	for (size_t i = 1; i <= count && !err; i++) {
		uint64_t after_ns = i == count ? end_ns : (uint64_t)((double)end_ns / (double)count * (double)i);
		struct heap_slice slice = {after_ns, live, live, live};

		for (; next < span.count && span.items[next].after_ns <= after_ns; next++) {
			const struct profile_heap_time *t = &span.items[next];

			slice.low = t->low < slice.low ? t->low : slice.low;
			slice.high = t->high > slice.high ? t->high : slice.high;
			live = slice.live = t->live;
		}
		err = heap_slice_vec_append(ret, slice);
	}
	return err;
}

struct error *heap_line_create(const struct profile *p, uint32_t source, size_t slices, struct heap_line *ret)
{
	struct span span = find(p, source);
	struct error *err;

	*ret = (struct heap_line){.is_whole = !slices || span.count <= slices};
	if (!span.count)
		return NULL;
	ret->peak_ns = peak_of(span);
	for (size_t i = 0; i < span.count; i++)
		if (span.items[i].after_ns > ret->end_ns)
			ret->end_ns = span.items[i].after_ns;
	err = ret->is_whole ? copy(span, &ret->slices) : reduce(span, slices, ret->end_ns, &ret->slices);
	if (err)
		heap_line_deinit(ret);
	return err;
}

void heap_line_deinit(struct heap_line *line)
{
	heap_slice_vec_deinit(&line->slices);
}

bool heap_line_peak(const struct profile *p, uint32_t source, uint64_t *ret_ns)
{
	struct span span = find(p, source);

	if (span.count)
		*ret_ns = peak_of(span);
	return span.count;
}

bool heap_line_source(const struct profile *p, uint32_t *ret)
{
	if (!p->heap_times.count)
		return false;
	*ret = p->heap_times.items[0].source;
	return p->heap_times.items[p->heap_times.count - 1].source == *ret;
}
