/* view_data.c - takes the arrays from a view, and packs them by zlib and base64, a chunk at a time. */
#include "report/view/view_data.h"

#include <stdlib.h>
#include <string.h>

#include "report/base64.h"
#include "report/gzip.h"

/* ---- taking ---- */

static struct error *string_number(struct view_data *d, const char *text, struct view_numbers *to)
{
	struct key key = {{(uintptr_t)text, 0, 0}};
	uint32_t number = 0;
	struct error *err = text ? hashmap_add(&d->strings, &key, &number) : NULL;

	return err ?: view_numbers_append(to, text ? number + 1 : 0);
}

static struct error *add_frames(const struct profile *p, struct view_data *d)
{
	size_t count = p->frames.count;
	struct error *err =
		view_numbers_reserve(&d->frame_names, count) ?: view_numbers_reserve(&d->frame_files, count);

	err = err ?: view_numbers_reserve(&d->frame_images, count) ?: view_numbers_reserve(&d->frame_lines, count);
	for (size_t i = 0; i < count && !err; i++) {
		const struct frame *f = &p->frames.items[i];

		err = string_number(d, f->name, &d->frame_names);
		err = err ?: string_number(d, f->file, &d->frame_files);
		err = err ?: string_number(d, f->image, &d->frame_images);
		err = err ?: view_numbers_append(&d->frame_lines, f->line);
	}
	return err;
}

static struct error *add_nodes(const struct profile *p, struct view_data *d)
{
	struct error *err = view_numbers_reserve(&d->node_parents, p->nodes.count);

	err = err ?: view_numbers_reserve(&d->node_frames, p->nodes.count);
	for (size_t i = 0; i < p->nodes.count && !err; i++) {
		err = view_numbers_append(&d->node_parents, p->nodes.items[i].parent);
		err = err ?: view_numbers_append(&d->node_frames, p->nodes.items[i].frame);
	}
	return err;
}

static struct error *add_cells(const struct view *v, struct view_data *d)
{
	const struct profile *p = v->profile;
	uint64_t *values = calloc(p->metrics.count + 1, sizeof *values);
	struct error *err = NULL;

	d->cells = calloc(p->metrics.count + 1, sizeof *d->cells);
	if (!values || !d->cells)
		err = &error_no_memory;
	for (size_t i = 0; i < v->row_count && !err; i++) {
		view_values(v, &v->rows[i], values);
		for (size_t m = 0; m < p->metrics.count && !err; m++) {
			if (!values[m])
				continue;
			err = view_numbers_append(&d->cells[m].nodes, v->rows[i].node);
			err = err ?: view_values_append(&d->cells[m].values, (double)values[m]);
		}
	}
	free(values);
	return err;
}

static struct error *thread_number(struct view_data *d, const struct profile_event *e, uint32_t *ret)
{
	struct key key = {{(uintptr_t)e->thread, e->thread ? 0 : e->tid, 0}};

	return hashmap_add(&d->threads, &key, ret);
}

static struct error *add_event(struct view_data *d, struct hashmap *rows, const struct profile_event *e)
{
	uint32_t thread, row, slice = (uint32_t)((e->realtime_ns - d->begin_ns) / d->slice_ns);
	struct view_event_rows *to = &d->events;
	struct error *err = thread_number(d, e, &thread);
	struct key key = {{slice, (uint64_t)e->metric << 32 | (err ? 0 : thread), e->node}};

	err = err ?: hashmap_add(rows, &key, &row);
	if (err)
		return err;
	if (row == to->slices.count) {
		err = view_numbers_append(&to->slices, slice);
		err = err ?: view_numbers_append(&to->threads, thread);
		err = err ?: view_numbers_append(&to->metrics, e->metric);
		err = err ?: view_numbers_append(&to->nodes, e->node);
		err = err ?: view_values_append(&to->counts, 0);
		err = err ?: view_values_append(&to->sums, 0);
	}
	if (!err) {
		to->counts.items[row]++;
		to->sums.items[row] += (double)e->value;
	}
	return err;
}

static struct error *add_events(const struct view *v, struct view_data *d)
{
	const struct profile_event **events;
	struct hashmap rows = {0};
	size_t count;
	struct error *err = view_events(v, &events, &count);

	if (err)
		return err;
	if (count) {
		d->begin_ns = events[0]->realtime_ns;
		d->slice_ns = (events[count - 1]->realtime_ns - d->begin_ns) / VIEW_SLICES + 1;
	}
	for (size_t i = 0; i < count && !err; i++)
		err = add_event(d, &rows, events[i]);
	hashmap_deinit(&rows);
	free(events);
	return err;
}

struct error *view_data_create(const struct view *v, struct view_data *ret)
{
	struct view_data d = {.metric_count = v->profile->metrics.count};
	struct error *err = add_frames(v->profile, &d);

	err = err ?: add_nodes(v->profile, &d);
	err = err ?: add_cells(v, &d);
	err = err ?: add_events(v, &d);
	if (!err) {
		*ret = d;
		return NULL;
	}
	view_data_deinit(&d);
	return err;
}

void view_data_deinit(struct view_data *d)
{
	struct view_numbers *const numbers[] = {&d->frame_names,   &d->frame_files,    &d->frame_images,
						&d->frame_lines,   &d->node_parents,   &d->node_frames,
						&d->events.slices, &d->events.threads, &d->events.metrics,
						&d->events.nodes};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		view_numbers_deinit(numbers[i]);
	for (size_t m = 0; d->cells && m < d->metric_count; m++) {
		view_numbers_deinit(&d->cells[m].nodes);
		view_values_deinit(&d->cells[m].values);
	}
	free(d->cells);
	view_values_deinit(&d->events.counts);
	view_values_deinit(&d->events.sums);
	hashmap_deinit(&d->strings);
	hashmap_deinit(&d->threads);
}

/* ---- packing ---- */

struct packer {
	struct gzip gzip;
	uint64_t len_bytes; /* packed so far */
};

static void pack(struct packer *p, const void *bytes, size_t len_bytes)
{
	p->len_bytes += len_bytes;
	gzip_add(&p->gzip, bytes, len_bytes);
}

static void pack_array(struct packer *p, const void *items, size_t count, size_t item_bytes)
{
	static const uint8_t zeros[8];

	pack(p, items, count * item_bytes);
	if (p->len_bytes % 8)
		pack(p, zeros, 8 - p->len_bytes % 8);
}

static void pack_numbers(struct packer *p, const struct view_numbers *numbers)
{
	pack_array(p, numbers->items, numbers->count, sizeof *numbers->items);
}

static void pack_values(struct packer *p, const struct view_values *values)
{
	pack_array(p, values->items, values->count, sizeof *values->items);
}

static void pack_all(struct packer *p, const struct view_data *d, const char *header)
{
	uint32_t len = (uint32_t)strlen(header);

	pack(p, &len, sizeof len);
	pack_array(p, header, len, 1);
	pack_numbers(p, &d->frame_names);
	pack_numbers(p, &d->frame_files);
	pack_numbers(p, &d->frame_images);
	pack_numbers(p, &d->frame_lines);
	pack_numbers(p, &d->node_parents);
	pack_numbers(p, &d->node_frames);
	for (size_t m = 0; m < d->metric_count; m++) {
		pack_numbers(p, &d->cells[m].nodes);
		pack_values(p, &d->cells[m].values);
	}
	pack_numbers(p, &d->events.slices);
	pack_numbers(p, &d->events.threads);
	pack_numbers(p, &d->events.metrics);
	pack_numbers(p, &d->events.nodes);
	pack_values(p, &d->events.counts);
	pack_values(p, &d->events.sums);
}

struct error *view_data_write(const struct view_data *d, const char *header, FILE *out)
{
	struct packer *p = calloc(1, sizeof *p);
	struct error *err;

	if (!p)
		return &error_no_memory;
	err = gzip_begin(&p->gzip, base64_print, out);
	if (!err) {
		pack_all(p, d, header);
		gzip_end(&p->gzip);
	}
	free(p);
	return err;
}
