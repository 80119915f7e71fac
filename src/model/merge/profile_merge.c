/*
 * profile_merge.c - adds up path counts, heap records and events: everything is a number in a hash map, so adding a file costs what it holds, however many there
 * were before.
 */
#include "model/merge/profile_merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/merge/profile_merge_model.h"
#include "waymark/abi.h"

static const char several_programs[] = "several programs";

struct error *merge_create(struct merge **ret)
{
	struct merge *m = calloc(1, sizeof *m);

	if (!m)
		return &error_no_memory;
	arena_init(&m->arena);
	m->next_site = WM_SITE_FIRST;
	m->header.flags = WMK_FLAG_CLOSED | WMK_FLAG_MERGED;
	*ret = m;
	return NULL;
}

void merge_destroy(struct merge *m)
{
	if (!m)
		return;
	hashmap_deinit(&m->runs);
	merge_name_vec_deinit(&m->run_files);
	merge_image_vec_deinit(&m->images);
	merge_code_deinit(&m->code);
	hashmap_deinit(&m->epochs);
	hashmap_deinit(&m->nodes);
	hashmap_deinit(&m->contexts);
	hashmap_deinit(&m->functions);
	merge_function_vec_deinit(&m->function_totals);
	hashmap_deinit(&m->counts);
	merge_count_vec_deinit(&m->count_values);
	hashmap_deinit(&m->events);
	merge_event_vec_deinit(&m->event_values);
	hashmap_deinit(&m->heaps);
	merge_heap_vec_deinit(&m->heap_values);
	arena_deinit(&m->arena);
	free(m);
}

void merge_get_rest(const struct merge *m, struct merge_rest *ret)
{
	*ret = m->rest;
}

static void add_count(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

static struct error *add_run(struct adding *a, uint64_t run, const char *file)
{
	struct merge *m = a->m;
	struct key key = {{run, 0, 0}};
	uint32_t number;
	struct error *err = hashmap_add(&m->runs, &key, &number);

	if (err)
		return err;
	if (number < m->run_files.count)
		return error_create(ERROR_MISMATCH,
				    "%s: run %016" PRIx64
				    " is in %s already: it would count twice, leave one of them out",
				    file, run, m->run_files.items[number]);
	return merge_name_vec_append(&m->run_files, file);
}

static struct error *add_runs(struct adding *a)
{
	const char *file = arena_strdup(&a->m->arena, a->w->name);
	struct wmk_walk walk = {0};
	uint64_t run;
	struct error *err = NULL;

	if (!file)
		return &error_no_memory;
	if (!(a->w->header.flags & WMK_FLAG_MERGED))
		return add_run(a, a->w->header.run, file);
	while (!err && wmk_next_run(a->w, &walk, &run))
		err = add_run(a, run, file);
	return err;
}

static void add_samples(struct wmk_header *sum, const struct wmk_header *h)
{
	add_count(&sum->samples, h->samples);
	add_count(&sum->samples_unknown, h->samples_unknown);
	add_count(&sum->samples_in_agent, h->samples_in_agent);
	add_count(&sum->samples_checked, h->samples_checked);
	add_count(&sum->samples_agreed, h->samples_agreed);
	add_count(&sum->samples_unchecked, h->samples_unchecked);
	add_count(&sum->samples_cut, h->samples_cut);
	add_count(&sum->samples_guessed, h->samples_guessed);
	add_count(&sum->wall_samples, h->wall_samples);
	add_count(&sum->heap_cut, h->heap_cut);
	add_count(&sum->heap_guessed, h->heap_guessed);
}

/* The values of samples are times, or they are 1: both cannot be added up. */
static struct error *add_period(const struct adding *a, uint64_t *sum, uint64_t samples_before, uint64_t period,
				uint64_t samples)
{
	if (samples && samples_before && !*sum != !period)
		return error_create(
			ERROR_MISMATCH,
			"%s: the values of its samples are %s, those of files before are not: merge them apart",
			a->w->name, period ? "times" : "no times");
	if (samples && period && (!*sum || period < *sum))
		*sum = period;
	return NULL;
}

static struct error *add_heap_header(struct adding *a)
{
	struct wmk_header *sum = &a->m->header;
	const struct wmk_header *h = &a->w->header;
	struct error *err =
		add_period(a, &sum->sample_period_ns, sum->samples, h->sample_period_ns, h->samples)
			?: add_period(a, &sum->wall_period_ns, sum->wall_samples, h->wall_period_ns, h->wall_samples);

	if (err)
		return err;
	if (h->version >= WMK_VERSION_HEAP)
		sum->flags |= h->flags & WMK_FLAG_HEAP;
	if (h->heap_interval_bytes > sum->heap_interval_bytes)
		sum->heap_interval_bytes = h->heap_interval_bytes;
	if (h->heap_reach > sum->heap_reach)
		sum->heap_reach = h->heap_reach;
	if (h->heap_peak_bytes > sum->heap_peak_bytes)
		sum->heap_peak_bytes = h->heap_peak_bytes;
	add_count(&sum->heap_live_bytes, h->heap_live_bytes);
	add_count(&sum->heap_unknown_frees, h->heap_unknown_frees);
	add_count(&sum->dropped_heap_calls, h->dropped_heap_calls);
	add_count(&sum->dropped_events, h->dropped_events);
	add_count(&sum->missed_programs, h->missed_programs);
	add_count(&sum->replaced_children, h->replaced_children);
	add_count(&sum->replaced_heap_calls, h->replaced_heap_calls);
	return NULL;
}

static void add_header(struct adding *a)
{
	struct wmk_header *sum = &a->m->header;
	const struct wmk_header *h = &a->w->header;

	if (!(h->flags & (WMK_FLAG_CLOSED | WMK_FLAG_LEFT)))
		sum->flags &= ~(uint32_t)WMK_FLAG_CLOSED;
	add_count(&sum->dropped_prefixes, h->dropped_prefixes);
	add_count(&sum->dropped_code, h->dropped_code);
	add_count(&sum->dropped_path_tables, h->dropped_path_tables);
	add_count(&sum->dropped_path_tables, a->w->lost_path_tables);
	add_count(&sum->dropped_paths, h->dropped_paths);
	add_count(&sum->lost_children, h->lost_children);
	add_samples(sum, h);
	if (h->drop_errno && (!sum->drop_errno || h->drop_errno < sum->drop_errno))
		sum->drop_errno = h->drop_errno;
	if (!sum->start_realtime_ns || (h->start_realtime_ns && h->start_realtime_ns < sum->start_realtime_ns))
		sum->start_realtime_ns = h->start_realtime_ns;
	if (a->m->file_count == 0)
		memcpy(sum->program, h->program, sizeof sum->program);
	else if (strcmp(sum->program, h->program) != 0) {
		memset(sum->program, 0, sizeof sum->program);
		memcpy(sum->program, several_programs, sizeof several_programs);
	}
	a->m->rest.events += a->w->whole_count[WMK_EVENTS];
	a->m->file_count++;
}

/* Where it lay and was found differs from machine to machine; its build id does not. */
static bool is_same_image(const struct merge_image *a, const struct wmk_file_image *b)
{
	const struct wmk_image *i = &a->record, *j = &b->record;

	return i->kind == j->kind && i->meta_key == j->meta_key && i->site_count == j->site_count &&
	       i->build_id_bytes == j->build_id_bytes && memcmp(i->build_id, j->build_id, i->build_id_bytes) == 0 &&
	       (i->build_id_bytes || strcmp(a->path, b->path) == 0);
}

static struct error *new_image(struct merge *m, const struct wmk_file_image *image)
{
	struct merge_image new = {.record = image->record, .path = arena_strdup(&m->arena, image->path)};

	if (!new.path)
		return &error_no_memory;
	new.record.load_address = 0;
	new.record.site_base = 0;
	if (new.record.site_count) {
		if (new.record.site_count >= MERGE_SITE_UNKNOWN - m->next_site)
			return error_create(
				ERROR_OVERFLOW,
				"the images of these files have too many call sites to be in one: merge fewer");
		new.record.site_base = m->next_site;
		m->next_site += new.record.site_count;
	}
	return merge_image_vec_append(&m->images, new);
}

static struct error *add_image(struct merge *m, const struct wmk_file_image *image, uint32_t *ret)
{
	struct error *err;

	for (size_t i = 0; i < m->images.count; i++) {
		struct merge_image *known = &m->images.items[i];

		if (!is_same_image(known, image))
			continue;
		/* One of its paths, the same one in whatever order files come. */
		if (*image->path && (!*known->path || strcmp(image->path, known->path) < 0)) {
			known->path = arena_strdup(&m->arena, image->path);
			if (!known->path)
				return &error_no_memory;
		}
		*ret = (uint32_t)i;
		return NULL;
	}
	err = new_image(m, image);
	if (!err)
		*ret = (uint32_t)m->images.count - 1;
	return err;
}

static struct error *add_images(struct adding *a)
{
	struct error *err = NULL;

	a->images = calloc(a->w->place_count[WMK_IMAGES] + 1, sizeof *a->images);
	if (!a->images)
		return &error_no_memory;
	for (uint32_t i = 0; i < a->w->image_count && !err; i++) {
		const struct wmk_file_image *image = &a->w->images[i];

		err = add_image(a->m, image, &a->images[image->record_number]);
	}
	return err;
}

static uint32_t new_image_number(const struct adding *a, uint32_t record_number)
{
	return wmk_image_by_record(a->w, record_number) ? a->images[record_number] : UINT32_MAX;
}

static uint32_t new_site(const struct adding *a, uint32_t site)
{
	uint32_t elided = site & WM1_SITE_ELIDED, code_site;
	const struct wmk_file_image *image;

	site &= ~(uint32_t)WM1_SITE_ELIDED;
	if (site < WM_SITE_FIRST)
		return site | elided;
	if (merge_new_code_site(a, site, &code_site))
		return code_site | elided;
	image = wmk_find_image(a->w, site);
	if (!image)
		return MERGE_SITE_UNKNOWN | elided;
	return (site - image->record.site_base + a->m->images.items[a->images[image->record_number]].record.site_base) |
	       elided;
}

struct link {
	uint32_t prefix;
	struct wmk_node node;
};
VEC_DECLARE(link_vec, struct link);

/* Nodes from prefix down to one whose new number is known, which is *ret. */
static struct error *walk_down(struct adding *a, uint32_t prefix, struct link_vec *links, uint32_t *ret)
{
	for (;;) {
		struct link link = {.prefix = prefix};
		struct key key = {{prefix, 0, 0}};
		uint32_t number;
		struct error *err;

		if (prefix < WM_PREFIX_FIRST) {
			*ret = prefix;
			return NULL;
		}
		if (hashmap_find(&a->prefixes, &key, &number)) {
			*ret = (uint32_t)a->new_prefixes.items[number];
			return NULL;
		}
		if (!wmk_find_node(a->w, prefix, &link.node)) {
			*ret = WM_PREFIX_LOST;
			return NULL;
		}
		if (links->count > a->w->place_count[WMK_NODES])
			return error_create(ERROR_FORMAT,
					    "%s: prefix %" PRIu32 " is its own parent: the file is damaged", a->w->name,
					    prefix);
		err = link_vec_append(links, link);
		if (err)
			return err;
		prefix = link.node.parent;
	}
}

static struct error *new_prefix(struct adding *a, uint32_t prefix, uint32_t *ret);

/* The id of a node of a task has the numbers of two others. */
static struct error *new_task_id(struct adding *a, uint64_t id, uint64_t *ret)
{
	uint32_t begun = WM_PREFIX_LOST, enqueued = WM_PREFIX_LOST;
	struct error *err = NULL;

	if (a->links++ < WM_TASK_LINKS_MAX)
		err = new_prefix(a, (uint32_t)(id >> 32), &begun);
	if (!err && a->links <= WM_TASK_LINKS_MAX)
		err = new_prefix(a, (uint32_t)id, &enqueued);
	a->links--;
	*ret = (uint64_t)begun << 32 | enqueued;
	return err;
}

/* The number of a link's prefix, in what is merged, on that parent's. */
static struct error *add_link(struct adding *a, const struct link *link, uint32_t parent, uint32_t *ret)
{
	struct key node = {{link->node.id, (uint64_t)parent << 32 | new_site(a, link->node.site), 0}};
	struct key known = {{link->prefix, 0, 0}};
	uint32_t prefix, number, epoch;
	struct error *err = merge_new_epoch(a, link->node.epoch, &epoch);

	if (!err && link->node.site == WM_SITE_TASK)
		err = new_task_id(a, link->node.id, &node.words[0]);
	if (err)
		return err;
	node.words[2] = (uint64_t)epoch << 32 | link->node.run;
	err = hashmap_add(&a->m->nodes, &node, &prefix);
	if (err)
		return err;
	if (prefix >= UINT32_MAX - WM_PREFIX_FIRST)
		return error_create(ERROR_OVERFLOW, "these files have too many contexts to be in one: merge fewer");
	prefix += WM_PREFIX_FIRST;
	err = hashmap_add(&a->prefixes, &known, &number);
	if (err)
		return err;
	*ret = prefix;
	return merge_count_vec_append(&a->new_prefixes, prefix);
}

static struct error *new_prefix(struct adding *a, uint32_t prefix, uint32_t *ret)
{
	CLEANUP(link_vec_deinit) struct link_vec links = {0};
	uint32_t parent = 0;
	struct error *err = walk_down(a, prefix, &links, &parent);

	while (!err && links.count)
		err = add_link(a, &links.items[--links.count], parent, &parent);
	if (!err)
		*ret = parent;
	return err;
}

static struct error *add_function(struct adding *a, uint32_t image, uint64_t name_key, uint64_t cfg_key,
				  uint64_t path_count, uint32_t *ret)
{
	struct merge *m = a->m;
	struct key key = {{new_image_number(a, image), name_key, cfg_key}};
	uint32_t number;
	struct error *err = hashmap_add(&m->functions, &key, &number);

	if (!err && number == m->function_totals.count)
		err = merge_function_vec_append(&m->function_totals, (struct merge_function){.path_count = path_count});
	if (err)
		return err;
	if (m->function_totals.items[number].path_count != path_count)
		return error_create(ERROR_FORMAT,
				    "%s: a function has %" PRIu64 " paths, elsewhere %" PRIu64 ": the file is damaged",
				    a->w->name, path_count, m->function_totals.items[number].path_count);
	*ret = number;
	return NULL;
}

/* context: number + 1. */
static struct error *add_path(struct merge *m, uint32_t function, uint16_t flags, uint64_t path, uint32_t context,
			      uint64_t count)
{
	unsigned int part = flags & WMK_PATHS_INHERITED ? MERGE_INHERITED : MERGE_OWN;
	unsigned int residual = flags & WMK_PATHS_RESIDUAL ? MERGE_RESIDUAL : 0;
	struct key key = {
		{(uint64_t)function << MERGE_FUNCTION_SHIFT | part << MERGE_PART_SHIFT | residual, path, context}};
	uint32_t number;
	struct error *err = hashmap_add(&m->counts, &key, &number);

	if (!err && number == m->count_values.count)
		err = merge_count_vec_append(&m->count_values, 0);
	if (err)
		return err;
	add_count(&m->count_values.items[number], count);
	m->function_totals.items[function].has[part] = true;
	return NULL;
}

static struct error *add_table(struct adding *a, const struct wmk_path_table *t)
{
	const struct wmk_paths *r = &t->record;
	unsigned int part = r->flags & WMK_PATHS_INHERITED ? MERGE_INHERITED : MERGE_OWN;
	struct merge_function *f;
	uint32_t function;
	struct error *err = add_function(a, r->image, r->name_key, r->cfg_key, r->path_count, &function);

	if (err)
		return err;
	f = &a->m->function_totals.items[function];
	f->has[part] = true;
	if (!(r->flags & WMK_PATHS_AT_ENTRY))
		add_count(&f->activations[part], t->activations);
	for (uint32_t i = 0; i < r->entry_count && !err; i++) {
		uint64_t path, count;

		if (!wmk_table_count(a->w, t, i, &path, &count))
			continue;
		if (r->flags & WMK_PATHS_AT_ENTRY) /* counted there, where others count what is begun */
			add_count(&f->activations[part], count);
		err = add_path(a->m, function, r->flags & WMK_PATHS_INHERITED, path, 0, count);
	}
	return err;
}

/* The number of a context. */
static struct error *add_context(struct adding *a, uint64_t id, uint32_t old_prefix, uint32_t site, uint32_t old_epoch,
				 uint32_t *ret)
{
	struct key key = {{id, 0, 0}};
	uint32_t prefix, epoch;
	struct error *err = new_prefix(a, old_prefix, &prefix);

	if (!err)
		err = merge_new_epoch(a, old_epoch, &epoch);
	if (err)
		return err;
	key.words[1] = (uint64_t)prefix << 32 | new_site(a, site);
	key.words[2] = epoch;
	return hashmap_add(&a->m->contexts, &key, ret);
}

/* number + 1; 0: none. */
static struct error *add_residual_context(struct adding *a, const struct wmk_path_count *c, uint32_t *ret)
{
	struct error *err;

	*ret = 0;
	if (!(c->flags & WMK_PATHS_RESIDUAL) || c->prefix == WM_PREFIX_NONE)
		return NULL;
	err = add_context(a, c->id, c->prefix, c->site, c->epoch, ret);
	*ret += !err;
	return err;
}

static struct error *add_single(struct adding *a, const struct wmk_path_count *c, uint64_t path)
{
	uint32_t function, context;
	struct error *err = add_function(a, c->image, c->name_key, c->cfg_key, c->path_count, &function);

	if (!err)
		err = add_residual_context(a, c, &context);
	return err ? err : add_path(a->m, function, c->flags, path, context, c->count);
}

static struct error *add_paths(struct adding *a)
{
	struct wmk_walk tables = {0}, singles = {0};
	struct wmk_path_table table;
	struct wmk_path_count single;
	uint64_t path;
	struct error *err = NULL;

	while (!err && wmk_next_path_table(a->w, &tables, &table))
		err = add_table(a, &table);
	while (!err && wmk_next_path_count(a->w, &singles, &single, &path))
		if (single.count)
			err = add_single(a, &single, path);
	return err;
}

static struct error *add_sum(struct adding *a, const struct wmk_sum *s)
{
	uint32_t context, number;
	struct key key = {{0, MERGE_NO_NAME, 0}};
	uint32_t name;
	struct error *err =
		add_context(a, s->id, s->prefix, s->site, s->epoch, &context) ?: merge_add_text(a, s->name, &name);

	if (err)
		return err;
	key.words[0] = context;
	key.words[1] = name;
	err = hashmap_add(&a->m->events, &key, &number);
	if (!err && number == a->m->event_values.count)
		err = merge_event_vec_append(&a->m->event_values, (struct merge_event){0, 0});
	if (err)
		return err;
	add_count(&a->m->event_values.items[number].count, s->count);
	add_count(&a->m->event_values.items[number].value, s->value);
	return NULL;
}

static struct error *add_events(struct adding *a)
{
	struct wmk_walk events = {0}, sums = {0};
	struct wmk_event e;
	struct wmk_sum s;
	struct error *err = NULL;

	while (!err && wmk_next_event(a->w, &events, &e))
		err = add_sum(a, &(struct wmk_sum){.count = 1,
						   .value = e.value,
						   .id = e.id,
						   .prefix = e.prefix,
						   .site = e.site,
						   .name = e.name,
						   .epoch = e.epoch});
	while (!err && wmk_next_sum(a->w, &sums, &s))
		err = add_sum(a, &s);
	return err;
}

/* The context of s is the file's. */
static struct error *add_heap_sum(struct adding *a, const struct wmk_heap_sum *s)
{
	struct merge *m = a->m;
	uint32_t context, number;
	struct wmk_heap_sum *sum;
	struct error *err =
		add_context(a, s->id, s->prefix, s->site, s->epoch, &context)
			?: hashmap_add(&m->heaps, &(struct key){{context, s->flags, s->size_class}}, &number);

	if (!err && number == m->heap_values.count)
		err = merge_heap_vec_append(&m->heap_values,
					    (struct wmk_heap_sum){.flags = s->flags, .size_class = s->size_class});
	if (err)
		return err;
	sum = &m->heap_values.items[number];
	add_count(&sum->count, s->count);
	add_count(&sum->bytes, s->bytes);
	add_count(&sum->freed_count, s->freed_count);
	add_count(&sum->freed_bytes, s->freed_bytes);
	add_count(&sum->inherited_count, s->inherited_count);
	add_count(&sum->inherited_bytes, s->inherited_bytes);
	add_count(&sum->inherited_freed_count, s->inherited_freed_count);
	add_count(&sum->inherited_freed_bytes, s->inherited_freed_bytes);
	add_count(&sum->at_peak_bytes, s->at_peak_bytes);
	add_count(&sum->temporary_count, s->temporary_count);
	add_count(&sum->reachable_count, s->reachable_count);
	add_count(&sum->reachable_bytes, s->reachable_bytes);
	add_count(&sum->lost_count, s->lost_count);
	add_count(&sum->lost_bytes, s->lost_bytes);
	for (size_t i = 0; i < WMK_LIVES; i++)
		add_count(&sum->lives[i], s->lives[i]);
	return NULL;
}

static struct error *add_heap(struct adding *a)
{
	struct wmk_walk records = {0}, sums = {0};
	struct wmk_heap record;
	struct wmk_heap_sum sum;
	struct error *err = NULL;

	while (!err && wmk_next_heap(a->w, &records, &record)) {
		sum = wmk_sum_of_heap(a->w, &record);
		err = add_heap_sum(a, &sum);
	}
	while (!err && wmk_next_heap_sum(a->w, &sums, &sum))
		err = add_heap_sum(a, &sum);
	return err;
}

struct error *merge_add(struct merge *m, const struct wmk_file *w)
{
	struct adding a = {.m = m, .w = w};
	struct error *err;

	err = add_runs(&a) ?: add_images(&a) ?: merge_add_code(&a) ?: add_paths(&a) ?: add_heap(&a) ?: add_events(&a) ?: add_heap_header(&a);
	if (!err)
		add_header(&a);
	free(a.images);
	hashmap_deinit(&a.code_functions);
	hashmap_deinit(&a.code_sites);
	merge_count_vec_deinit(&a.new_functions);
	merge_count_vec_deinit(&a.new_sites);
	hashmap_deinit(&a.prefixes);
	merge_count_vec_deinit(&a.new_prefixes);
	return err;
}
