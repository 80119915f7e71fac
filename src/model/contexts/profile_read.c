/*
 * profile_read.c - a .wmk file into a profile. Equal contexts are summed by their numbers first, so each is decoded once; prefixes
 * are decoded once each, from the root outwards, whatever stands on them. Frames of images are numbers of the profile after the first
 * time. All of it is paid from profile_spend, so that no file takes longer than its size allows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "base/order.h"
#include "model/base/heap_classes.h"
#include "model/contexts/profile_read.h"
#include "model/contexts/context.h"
#include "model/contexts/image_functions.h"
#include "model/contexts/library_buffer.h"
#include "model/contexts/prefix_below.h"
#include "model/contexts/reading_notes.h"
#include "model/contexts/recorded_graph.h"
#include "model/contexts/task_frames.h"
#include "model/contexts/thread_frames.h"
#include "model/contexts/thread_names.h"
#include "waymark/abi.h"

enum {
	PROGRESS_EVERY = 1 << 16, /* records */
	WARNINGS_MAX = 20,        /* different reasons kept for contexts that cannot be decoded */
	FRAME_CACHE_ENTRIES = 1 << 16,
	BYTES_A_FRAME = 16, /* of text that is read once more; it costs what a frame does */
};

enum heap_metric {
	HEAP_BYTES,
	HEAP_ALLOCATIONS,
	HEAP_LIVE,
	HEAP_LIVE_COUNT,
	HEAP_PEAK,
	HEAP_LEAKED,
	HEAP_TEMPORARY,
	HEAP_METRICS,
};

static const struct metric heap_metrics[HEAP_METRICS] = {
	[HEAP_BYTES] = {.name = "bytes", .unit = UNIT_BYTES, .is_of_heap = true},
	[HEAP_ALLOCATIONS] = {.name = "allocations", .unit = UNIT_COUNT, .is_of_heap = true},
	[HEAP_LIVE] = {.name = "live", .unit = UNIT_BYTES, .is_of_heap = true},
	[HEAP_LIVE_COUNT] = {.name = "live-allocations", .unit = UNIT_COUNT, .is_of_heap = true},
	[HEAP_PEAK] = {.name = "peak", .unit = UNIT_BYTES, .is_of_heap = true},
	[HEAP_LEAKED] = {.name = "leaked", .unit = UNIT_BYTES, .is_of_heap = true},
	[HEAP_TEMPORARY] = {.name = "temporary", .unit = UNIT_COUNT, .is_of_heap = true},
};

/* Metrics of processes that told which blocks could be reached at their end. */
static const struct metric reach_metrics[] = {
	{.name = "lost", .unit = UNIT_BYTES, .is_of_heap = true},
	{.name = "lost-allocations", .unit = UNIT_COUNT, .is_of_heap = true},
	{.name = "reachable", .unit = UNIT_BYTES, .is_of_heap = true},
	{.name = "reachable-allocations", .unit = UNIT_COUNT, .is_of_heap = true},
};

/* Metrics of forked children that inherited blocks. */
static const struct metric inherited_metrics[] = {
	{.name = "inherited", .unit = UNIT_BYTES, .is_of_heap = true},
	{.name = "inherited-live", .unit = UNIT_BYTES, .is_of_heap = true},
};

/* Where in the tree a prefix ends: NODE_BAD when it cannot be decoded. */
#define NODE_BAD UINT32_MAX
VEC_DECLARE(u32_vec, uint32_t);

/* A context of an event, and where in the tree it is. */
struct event_context {
	struct context_key key;
	bool is_sample;
	uint32_t node;
};
VEC_DECLARE(event_context_vec, struct event_context);

struct cached_frame {
	struct frame frame; /* by its pointers: images keep one text for a name. name NULL: free */
	uint32_t number;
};

struct gather {
	struct profile *p;
	const struct wmk_file *w;
	struct process process;
	uint32_t roots[WM_PREFIX_FIRST]; /* node + 1; 0: not asked for yet */
	uint32_t *prefix_nodes;          /* the same by place of the prefix in the file (wmk_node_place) */
	struct prefix_below stood_on;    /* by prefixes that are resolved */
	struct slotmap context_map;      /* of contexts, by key */
	struct event_context_vec contexts;
	struct hashmap name_map;    /* number of an event's name -> index in name_groups */
	struct u32_vec name_groups; /* its metrics: count and sum */
	struct cached_frame *cache;
	struct thread_name_vec threads; /* for profiles that keep events */
	struct frame_vec frames;        /* scratch */
	struct u32_vec chain;           /* scratch */
	uint32_t links;                 /* tasks that are being decoded, one inside of another */
	const struct profile_progress *progress;
	uint64_t last_event_ns; /* after the start */
	uint64_t done;
};

/* Interns a frame of an image, whose strings do not move while the file is read. NODE_BAD: it is of Waymark itself. */
static struct error *frame_number(struct gather *g, const struct frame *frame, uint32_t *ret)
{
	uint64_t hash = slotmap_hash((uintptr_t)frame->name ^ (uint64_t)(uintptr_t)frame->file << 20,
				     (uint64_t)frame->line << 32 | frame->column << 5 | frame->flags);
	struct cached_frame *cached = &g->cache[hash % FRAME_CACHE_ENTRIES];
	const struct frame *f = &cached->frame;
	struct error *err = NULL;

	if (f->name != frame->name || f->link_name != frame->link_name || f->file != frame->file ||
	    f->image != frame->image || f->line != frame->line || f->column != frame->column ||
	    f->flags != frame->flags) {
		profile_spend_most(g->p, (strlen(frame->name) + (frame->file ? strlen(frame->file) : 0) +
					  (frame->image ? strlen(frame->image) : 0)) /
						 BYTES_A_FRAME);
		cached->number = NODE_BAD;
		err = frame->image && recorded_is_own(frame->image)
			      ? NULL
			      : profile_intern_frame(g->p, frame, &cached->number);
		cached->frame = err ? (struct frame){0} : *frame;
	}
	*ret = cached->number;
	return err;
}

/* Waymark's own frames are in no context. *ret_is_own: the last one was such a frame. */
static struct error *add_program_frames(struct gather *g, uint32_t node, bool *ret_is_own, uint32_t *ret)
{
	struct error *err;

	if (g->p->nodes.items[node].depth + g->frames.count > g->p->max_depth)
		return error_create(ERROR_OVERFLOW, "deeper than %zu frames (--max-depth)", g->p->max_depth);
	err = profile_spend(g->p, g->frames.count + 1);
	for (size_t i = 0; i < g->frames.count && !err; i++) {
		uint32_t number;

		err = frame_number(g, &g->frames.items[i], &number);
		*ret_is_own = number == NODE_BAD;
		if (!err && !*ret_is_own)
			err = profile_add_node(g->p, node, number, &node);
	}
	if (!err)
		*ret = node;
	return err;
}

static struct error *add_frames(struct gather *g, uint32_t node, uint32_t *ret)
{
	bool is_own;

	return add_program_frames(g, node, &is_own, ret);
}

static struct error *append_task(struct gather *g, const struct wmk_node *node, uint32_t *ret);

/* A thread that was created in a task. */
static void drop_creation(const struct gather *g, uint32_t *tree)
{
	const struct tree_node *node = &g->p->nodes.items[*tree];

	if (*tree && task_frames_is_creation(&g->p->frames.items[node->frame]))
		*tree = node->parent;
}

static struct error *append_prefix(struct gather *g, uint32_t prefix, uint32_t parent_node, uint32_t *ret)
{
	struct wmk_node node;
	struct context_below below;
	uint32_t history = 0; /* of each of equal pushes */
	uint32_t tree = parent_node;
	struct error *err;

	g->frames.count = 0;
	if (prefix < WM_PREFIX_FIRST) {
		err = context_append_root(prefix, &g->frames);
		return err ? err : add_frames(g, 0, ret);
	}
	err = context_find_node(&g->process, prefix, &node);
	if (!err && node.site == WM_SITE_TASK)
		return append_task(g, &node, ret);
	if (!err)
		err = prefix_below_get(&g->stood_on, node.parent, &below);
	if (!err && node.site == WM_SITE_THREAD && below.is_task)
		drop_creation(g, &tree);
	for (uint32_t i = 0; i < node.run && !err; i++) {
		if (i < 2) { /* the first stands on what is below, each other on its twin */
			struct wmk_node once = node;

			if (node.site >= WM_SITE_FIRST)
				once.run = 1;
			if (i)
				below.history.now = history;
			history = below.history.now;
			g->frames.count = 0;
			err = context_append_run(&g->process, &below, &once, g->p->max_depth, &g->frames);
		}
		if (!err)
			err = add_frames(g, tree, &tree);
	}
	if (err)
		return err;
	prefix_below_keep(&g->stood_on, prefix, below.history);
	*ret = tree;
	return NULL;
}

/* Where the node of a prefix is kept; NULL: there is no such prefix. */
static uint32_t *prefix_slot(struct gather *g, uint32_t prefix)
{
	size_t place;

	if (prefix < WM_PREFIX_FIRST)
		return &g->roots[prefix];
	return wmk_node_place(g->w, prefix, &place) ? &g->prefix_nodes[place] : NULL;
}

static void remember_prefix(struct gather *g, uint32_t prefix, uint32_t node)
{
	uint32_t *slot = prefix_slot(g, prefix);

	if (slot)
		*slot = node == NODE_BAD ? NODE_BAD : node + 1;
}

static bool recall_prefix(struct gather *g, uint32_t prefix, uint32_t *ret)
{
	const uint32_t *slot = prefix_slot(g, prefix);

	if (!slot || !*slot)
		return false;
	*ret = *slot == NODE_BAD ? NODE_BAD : *slot - 1;
	return true;
}

/* The prefixes from `prefix` down to one that is known already, is a root or a task; innermost first. */
static struct error *collect_chain(struct gather *g, uint32_t prefix)
{
	uint32_t known;
	struct error *err;

	g->chain.count = 0;
	for (;;) {
		struct wmk_node node;

		if (recall_prefix(g, prefix, &known))
			return NULL;
		err = u32_vec_append(&g->chain, prefix);
		if (err || prefix < WM_PREFIX_FIRST)
			return err;
		err = context_find_node(&g->process, prefix, &node);
		if (!err && g->chain.count > g->w->place_count[WMK_NODES])
			err = error_create(ERROR_FORMAT, "damaged: the prefixes of %s go in a circle", g->w->name);
		if (err || node.site == WM_SITE_TASK)
			return err;
		prefix = node.parent;
	}
}

/* Takes err; NULL unless memory is short. */
static struct error *count_failure(struct gather *g, struct error *err)
{
	struct error *failed;

	if (err->code == ERROR_NO_MEMORY)
		return err;
	profile_spend_most(g->p, strlen(err->message) / BYTES_A_FRAME + 1);
	failed = profile_warn(g->p, g->p->warnings.count < WARNINGS_MAX ? err->message : "and other reasons");
	error_destroy(err);
	return failed;
}

/* *ret is NODE_BAD when the prefix cannot be decoded; why is then told once. */
static struct error *resolve_prefix(struct gather *g, uint32_t prefix, uint32_t *ret)
{
	uint32_t node = 0;
	struct error *err = collect_chain(g, prefix);
	struct error *failed = NULL;
	size_t i = g->chain.count;

	if (!err && i) {
		struct wmk_node record;

		if (g->chain.items[i - 1] >= WM_PREFIX_FIRST && wmk_find_node(g->w, g->chain.items[i - 1], &record) &&
		    record.site != WM_SITE_TASK)
			recall_prefix(g, record.parent, &node);
	} else if (!err) {
		recall_prefix(g, prefix, &node);
	}
	while (!err && i-- > 0) {
		if (node != NODE_BAD)
			err = append_prefix(g, g->chain.items[i], node, &node);
		if (!err)
			remember_prefix(g, g->chain.items[i], node);
	}
	if (err) { /* all of the chain that is not known is bad */
		failed = count_failure(g, err);
		for (i = 0; i < g->chain.count; i++)
			if (!recall_prefix(g, g->chain.items[i], &node))
				remember_prefix(g, g->chain.items[i], NODE_BAD);
		node = NODE_BAD;
	}
	*ret = node;
	return failed;
}

static struct error *get_unknown(struct gather *g, uint32_t *ret)
{
	struct frame frame = {.name = "[unknown]", .link_name = "[unknown]", .flags = FRAME_FOREIGN};

	return profile_add_frame(g->p, 0, &frame, ret);
}

/*
 * A sample falls on any instruction of a line: where in the line would only make several contexts of one. Other captures are calls, which
 * are worth telling apart.
 */
static struct error *decode_leaf(struct gather *g, const struct context_key *key, bool is_sample, uint32_t base,
				 uint32_t *ret)
{
	static const struct frame own = {.name = "[waymark]", .link_name = "[waymark]", .flags = FRAME_FOREIGN};
	struct context_below below;
	bool is_own = false;
	struct error *err = prefix_below_get(&g->stood_on, key->prefix, &below);

	g->frames.count = 0;
	if (!err)
		err = context_append_leaf(&g->process, &below, key->epoch, key->id, key->site, &g->frames);
	if (!err && is_sample && g->frames.count && !g->p->keeps_columns)
		g->frames.items[g->frames.count - 1].column = 0;
	err = err ?: add_program_frames(g, base, &is_own, ret);
	return err || !is_own ? err : profile_add_frame(g->p, *ret, &own, ret);
}

/* Where in the tree a context is that is kept as a node. */
static struct error *resolve_capture(struct gather *g, uint32_t number, uint32_t *ret)
{
	struct wmk_node node;
	struct error *err = NULL;

	if (recall_prefix(g, number, ret))
		return *ret == NODE_BAD ? error_create(ERROR_FORMAT, "a context of a task cannot be decoded") : NULL;
	err = context_find_node(&g->process, number, &node);
	if (!err)
		err = resolve_prefix(g, node.site == WM_SITE_TASK ? number : node.parent, ret);
	if (!err && *ret == NODE_BAD)
		err = error_create(ERROR_FORMAT, "a context of a task cannot be decoded");
	if (err || node.site == WM_SITE_TASK)
		return err;
	err = decode_leaf(g, &(struct context_key){node.id, node.parent, node.site, node.epoch},
			  node.epoch == WM_EPOCH_WALKED, *ret, ret);
	if (!err)
		remember_prefix(g, number, *ret);
	return err;
}

static struct error *join_task(struct gather *g, const struct wmk_node *node, uint32_t *ret)
{
	uint32_t plain = 0, begun = 0, enqueued = 0;
	struct error *err = resolve_capture(g, node->parent, &plain);

	if (!err && !g->p->folds_tasks)
		err = resolve_capture(g, (uint32_t)(node->id >> 32), &begun);
	if (!err && !g->p->folds_tasks)
		err = resolve_capture(g, (uint32_t)node->id, &enqueued);
	if (!err && !g->p->folds_tasks)
		return task_frames_join(g->p, plain, begun, enqueued, ret);
	*ret = plain;
	return err;
}

/* A task stands on nothing but its node: what that names is decoded apart. */
static struct error *append_task(struct gather *g, const struct wmk_node *node, uint32_t *ret)
{
	struct u32_vec chain = g->chain;
	struct error *err;

	g->chain = (struct u32_vec){0};
	g->links++;
	if (node->run != 1)
		err = error_create(ERROR_FORMAT, "damaged: a task, %" PRIu32 " times", node->run);
	else if (g->links > WM_TASK_LINKS_MAX)
		err = error_create(ERROR_FORMAT, "damaged: tasks in more than %d others", WM_TASK_LINKS_MAX);
	else
		err = join_task(g, node, ret);
	g->links--;
	u32_vec_deinit(&g->chain);
	g->chain = chain;
	return err;
}

static struct error *decode_alone(struct gather *g, const struct context_key *context, bool is_sample, uint32_t *ret)
{
	uint32_t base;
	struct error *err;

	if (!g->p->frames_left) {
		err = count_failure(g, profile_spend(g->p, 1));
		return err ? err : get_unknown(g, ret);
	}
	err = resolve_prefix(g, context->prefix, &base);
	if (err)
		return err;
	if (base == NODE_BAD)
		return get_unknown(g, ret);
	err = decode_leaf(g, context, is_sample, base, ret);
	if (!err)
		return NULL;
	err = count_failure(g, err);
	return err ? err : get_unknown(g, ret);
}

/* Where in the tree a capture is. */
static struct error *decode_context(struct gather *g, const struct context_key *context, bool is_sample, uint32_t *ret)
{
	const struct profile_source *s = &g->p->sources.items[g->p->sources.count - 1];
	struct error *err = decode_alone(g, context, is_sample, ret);

	if (err || !g->p->group_label)
		return err;
	profile_spend_most(g->p, g->p->nodes.items[*ret].depth);
	return thread_frames_add_label(g->p, *ret, g->p->group_label, profile_source_label(s, g->p->group_label), ret);
}

static uint64_t hash_key(const struct context_key *key)
{
	return slotmap_hash(key->id ^ (uint64_t)key->epoch << 40, (uint64_t)key->prefix << 32 | key->site);
}

static uint64_t hash_context(const void *keys, uint32_t number)
{
	return hash_key(&((const struct event_context *)keys + number)->key);
}

static bool is_context(const void *keys, uint32_t number, const void *key)
{
	const struct event_context *c = (const struct event_context *)keys + number, *wanted = key;

	return c->key.id == wanted->key.id && c->key.prefix == wanted->key.prefix && c->key.site == wanted->key.site &&
	       c->key.epoch == wanted->key.epoch && c->is_sample == wanted->is_sample;
}

/* Finds a context that may come again and again. */
static struct error *find_context(struct gather *g, const struct context_key *context, bool is_sample, uint32_t *ret)
{
	struct event_context new = {.key = *context, .is_sample = is_sample};
	uint32_t *slot;
	struct error *err = slotmap_reserve(&g->context_map, hash_context, g->contexts.items);

	if (err)
		return err;
	slot = slotmap_find(&g->context_map, hash_key(context), is_context, g->contexts.items, &new);
	if (!*slot) {
		err = decode_context(g, context, is_sample, &new.node) ?: event_context_vec_append(&g->contexts, new);
		if (err)
			return err;
		*slot = ++g->context_map.count;
	}
	*ret = g->contexts.items[*slot - 1].node;
	return NULL;
}

static void tell_progress(struct gather *g)
{
	if (g->progress && g->done++ % PROGRESS_EVERY == 0)
		g->progress->report(g->progress->data, g->done,
				    g->w->whole_count[WMK_EVENTS] + g->w->whole_count[WMK_HEAP]);
}

const char *profile_heap_metric(size_t index)
{
	if (index < HEAP_METRICS)
		return heap_metrics[index].name;
	index -= HEAP_METRICS;
	if (index < sizeof reach_metrics / sizeof *reach_metrics)
		return reach_metrics[index].name;
	index -= sizeof reach_metrics / sizeof *reach_metrics;
	return index < sizeof inherited_metrics / sizeof *inherited_metrics ? inherited_metrics[index].name : NULL;
}

static bool is_heap_metric(const char *name)
{
	const char *heap_name;

	for (size_t i = 0; (heap_name = profile_heap_metric(i)); i++)
		if (strcmp(heap_name, name) == 0)
			return true;
	return heap_class_is_metric(name);
}

/* Samples: how many, and the time that their values are where a period is known. */
static const struct sample_kind {
	struct metric metrics[2];
	size_t count_off, period_off; /* in the header */
} sample_kinds[] = {
#define SAMPLES(number, time, samples, period)                                          \
	{{{.name = (number), .unit = UNIT_COUNT}, {.name = (time), .unit = UNIT_TIME}}, \
	 offsetof(struct wmk_header, samples),                                          \
	 offsetof(struct wmk_header, period)}
	SAMPLES("samples", "cpu", samples, sample_period_ns),
	SAMPLES("wall:samples", "wall", wall_samples, wall_period_ns),
	SAMPLES("off-cpu:samples", "off-cpu", wall_samples, wall_period_ns),
};

static uint64_t header_field(const struct gather *g, size_t off)
{
	uint64_t ret;

	memcpy(&ret, (const char *)&g->w->header + off, sizeof ret);
	return ret;
}

/* NULL: no tick of a timer made that event. */
static const struct sample_kind *sample_kind_of(const struct gather *g, uint32_t name)
{
	const char *text = g->w->header.samples || g->w->header.wall_samples ? wmk_find_string(g->w, name) : NULL;

	for (size_t i = 0; text && i < sizeof sample_kinds / sizeof *sample_kinds; i++)
		if (strcmp(text, sample_kinds[i].metrics[1].name) == 0 && header_field(g, sample_kinds[i].count_off))
			return &sample_kinds[i];
	return NULL;
}

/* How often, and the sum of the values. */
static struct error *add_event_metrics(struct profile *p, const char *name, bool is_of_calls, uint32_t *ret)
{
	char *count_name = NULL, *sum_name = NULL;
	struct error *err = &error_no_memory;

	if (asprintf(&count_name, "%s%s", is_heap_metric(name) ? "event:" : "", name) < 0)
		return err;
	if (asprintf(&sum_name, "%s:sum", count_name) >= 0) {
		const struct metric metrics[] = {{.name = count_name, .unit = UNIT_COUNT, .is_of_calls = is_of_calls},
						 {.name = sum_name, .unit = UNIT_VALUE, .is_of_calls = is_of_calls}};

		err = profile_add_metrics(p, metrics, 2, ret);
		free(sum_name);
	}
	free(count_name);
	return err;
}

/* The metrics NAME (how often) and NAME:sum (of values) of an event name, found once per file. */
static struct error *event_metrics(struct gather *g, uint32_t name, uint32_t *ret)
{
	uint32_t number;
	const char *text;
	struct error *err = hashmap_add(&g->name_map, &(struct key){{name, 0, 0}}, &number);

	if (!err && number == g->name_groups.count) {
		const struct sample_kind *kind = sample_kind_of(g, name);

		text = wmk_find_string(g->w, name);
		err = kind && header_field(g, kind->period_off)
			      ? profile_add_metrics(g->p, kind->metrics, 2, ret)
			      : add_event_metrics(g->p, text ? text : "(name not recorded)", !kind, ret);
		if (!err)
			err = u32_vec_append(&g->name_groups, *ret);
	}
	if (!err)
		*ret = g->name_groups.items[number];
	return err;
}

static struct error *keep_event(struct gather *g, const struct wmk_event *event, const char *thread, uint32_t node,
				uint32_t metric)
{
	const struct wmk_header *h = &g->w->header;
	struct profile_event kept = {
		.realtime_ns = event->time_ns - h->start_monotonic_ns + h->start_realtime_ns,
		.value = event->value,
		.metric = metric,
		.source = (uint32_t)g->p->sources.count - 1,
		.node = node,
		.tid = event->tid,
	};
	struct error *err = NULL;

	if (!g->p->keeps_events)
		return NULL;
	if (thread)
		err = profile_copy_string(g->p, thread, &kept.thread);
	return err ? err : profile_event_vec_append(&g->p->events, kept);
}

static struct error *place_below_thread(struct gather *g, const struct wmk_event *event, const char *thread,
					uint32_t *node)
{
	if (!g->p->keeps_threads)
		return NULL;
	profile_spend_most(g->p, g->p->nodes.items[*node].depth);
	return thread_frames_add(g->p, *node, event->tid, thread, node);
}

static struct error *add_event(struct gather *g, const struct wmk_event *event, const char *thread)
{
	const struct context_key key = {event->id, event->prefix, event->site, event->epoch};
	uint64_t realtime_ns = event->time_ns - g->w->header.start_monotonic_ns + g->w->header.start_realtime_ns;
	uint32_t node, metrics;
	struct error *err = event_metrics(g, event->name, &metrics);

	if (err)
		return err;
	if (!profile_takes(g->p, realtime_ns, event->tid, thread)) {
		g->p->filtered_events++;
		return NULL;
	}
	return find_context(g, &key, sample_kind_of(g, event->name) != NULL, &node) ?:
	       place_below_thread(g, event, thread, &node) ?:
	       profile_add_values(g->p, node, metrics, (uint64_t[]){1, event->value}) ?:
	       keep_event(g, event, thread, node, metrics);
}

static struct error *gather_events(struct gather *g)
{
	struct wmk_walk walk = {0};
	struct wmk_event event;
	bool has_threads = g->p->keeps_events || g->p->keeps_threads || g->p->filter;
	struct error *err = has_threads ? thread_names_read(g->w, &g->threads) : NULL;

	while (!err && wmk_next_event(g->w, &walk, &event)) {
		const char *thread =
			has_threads ? thread_names_find(&g->threads, g->w, event.tid, event.time_ns) : NULL;

		tell_progress(g);
		if (event.time_ns - g->w->header.start_monotonic_ns > g->last_event_ns &&
		    event.time_ns > g->w->header.start_monotonic_ns)
			g->last_event_ns = event.time_ns - g->w->header.start_monotonic_ns;
		err = add_event(g, &event, thread);
	}
	return err;
}

/* A sum counts if all of its time does; that of a merged file has none. */
static bool takes_sum(const struct gather *g, const struct wmk_sum *s, const char *thread)
{
	uint64_t to_realtime = g->w->header.start_realtime_ns - g->w->header.start_monotonic_ns;

	if (!g->p->filter)
		return true;
	return s->end_ns && profile_takes(g->p, s->start_ns + to_realtime, s->tid, thread) &&
	       profile_takes(g->p, s->end_ns + to_realtime, s->tid, thread);
}

static struct error *add_sum(struct gather *g, const struct wmk_sum *s, const char *thread)
{
	const struct context_key key = {s->id, s->prefix, s->site, s->epoch};
	const struct wmk_event event = {.tid = s->tid};
	struct profile_source *source = &g->p->sources.items[g->p->sources.count - 1];
	uint64_t start_ns = g->w->header.start_monotonic_ns;
	uint32_t node, metrics;
	struct error *err = event_metrics(g, s->name, &metrics);

	if (err)
		return err;
	source->event_count += s->count;
	if (s->end_ns > start_ns && s->end_ns - start_ns > g->last_event_ns)
		g->last_event_ns = s->end_ns - start_ns;
	if (!takes_sum(g, s, thread)) {
		g->p->filtered_events += s->count;
		return NULL;
	}
	source->summed_events += s->count;
	return find_context(g, &key, sample_kind_of(g, s->name) != NULL, &node) ?:
	       place_below_thread(g, &event, thread, &node) ?:
	       profile_add_values(g->p, node, metrics, (uint64_t[]){s->count, s->value});
}

/* After gather_events, which reads the names of threads. */
static struct error *gather_sums(struct gather *g)
{
	struct wmk_walk walk = {0};
	struct wmk_sum sum;
	struct error *err = NULL;

	while (!err && wmk_next_sum(g->w, &walk, &sum)) {
		tell_progress(g);
		err = add_sum(g, &sum,
			      g->threads.count ? thread_names_find(&g->threads, g->w, sum.tid, sum.end_ns) : NULL);
	}
	return err;
}

static uint64_t left_of(uint64_t all, uint64_t freed)
{
	return all > freed ? all - freed : 0;
}

/* Blocks that a child inherited are its parent's in all metrics but these and, since they took room in both, the peak. */
static struct error *add_inherited(struct gather *g, const struct wmk_heap_sum *h, uint32_t node)
{
	struct profile_source *s = &g->p->sources.items[g->p->sources.count - 1];
	uint64_t live = left_of(h->inherited_bytes, h->inherited_freed_bytes);
	uint32_t metrics;
	struct error *err;

	if (!h->inherited_count)
		return NULL;
	s->inherited_count += h->inherited_count;
	s->inherited_bytes += h->inherited_bytes;
	s->inherited_live_bytes += live;
	err = profile_add_metrics(g->p, inherited_metrics, 2, &metrics);
	return err ? err : profile_add_values(g->p, node, metrics, (uint64_t[]){h->inherited_bytes, live});
}

static struct error *add_reach(struct gather *g, const struct wmk_heap_sum *s, uint32_t node)
{
	uint32_t metrics;
	struct error *err;

	if (!s->lost_count && !s->reachable_count)
		return NULL;
	err = profile_add_metrics(g->p, reach_metrics, sizeof reach_metrics / sizeof *reach_metrics, &metrics);
	return err ? err
		   : profile_add_values(g->p, node, metrics,
					(uint64_t[]){s->lost_bytes, s->lost_count, s->reachable_bytes,
						     s->reachable_count});
}

static struct error *add_classes(struct gather *g, const struct wmk_heap_sum *s, uint32_t node)
{
	if (!g->p->keeps_classes)
		return NULL;
	return heap_classes_add(g->p, node, s->size_class, s->count, s->bytes, g->w->header.heap_interval_bytes)
		       ?: heap_classes_add_lives(g->p, node, s->lives);
}

/* Blocks that a process had not freed are leaked if it ended, and only live if it was killed. */
static struct error *add_heap_sum(struct gather *g, uint32_t metrics, const struct wmk_heap_sum *s)
{
	uint64_t live = left_of(s->bytes, s->freed_bytes);
	uint64_t values[HEAP_METRICS] = {[HEAP_BYTES] = s->bytes,
					 [HEAP_ALLOCATIONS] = s->count,
					 [HEAP_LIVE] = live,
					 [HEAP_LIVE_COUNT] = left_of(s->count, s->freed_count),
					 [HEAP_PEAK] = s->at_peak_bytes,
					 [HEAP_TEMPORARY] = s->temporary_count};
	const struct context_key key = {s->id, s->prefix, s->site, s->epoch};
	uint32_t node;
	struct error *err = decode_context(g, &key, false, &node);

	g->p->sources.items[g->p->sources.count - 1].has_walked_heap |= s->epoch == WM_EPOCH_WALKED;
	if (!err && live && s->flags & WMK_HEAP_SUM_ENDED && !library_buffer_is(g->p, node))
		values[HEAP_LEAKED] = live;
	return err ?: profile_add_values(g->p, node, metrics, values) ?: add_inherited(g, s, node) ?: add_reach(g, s, node) ?: add_classes(g, s, node);
}

static struct error *gather_heap_times(struct gather *g)
{
	struct wmk_walk walk = {0};
	struct wmk_heap_time record;
	uint64_t start = g->w->header.start_monotonic_ns;
	struct error *err = NULL;

	while (!err && wmk_next_heap_time(g->w, &walk, &record))
		err = profile_heap_time_vec_append(
			&g->p->heap_times, (struct profile_heap_time){.source = (uint32_t)g->p->sources.count - 1,
								      .after_ns = left_of(record.time_ns, start),
								      .live = record.live_bytes,
								      .low = record.low_bytes,
								      .high = record.high_bytes});
	return err;
}

static struct error *gather_heap_sums(struct gather *g, uint32_t metrics)
{
	struct wmk_walk walk = {0};
	struct wmk_heap_sum sum;
	struct error *err = NULL;

	while (!err && wmk_next_heap_sum(g->w, &walk, &sum)) {
		tell_progress(g);
		err = add_heap_sum(g, metrics, &sum);
	}
	return err;
}

static struct error *gather_heap(struct gather *g)
{
	struct wmk_walk walk = {0};
	struct wmk_heap record;
	uint64_t at_peak = 0;
	uint32_t metrics;
	struct error *err;

	if (!g->w->whole_count[WMK_HEAP] && !g->w->whole_count[WMK_HEAP_SUMS] && !(g->w->header.flags & WMK_FLAG_HEAP))
		return NULL;
	if (g->w->header.version < WMK_VERSION_HEAP)
		return note_old_heap(g->p, g->w);
	if (g->p->filter)
		return profile_note_no_heap(g->p, g->w->name);
	err = profile_add_metrics(g->p, heap_metrics, HEAP_METRICS, &metrics);
	for (uint32_t i = 0; !err && g->w->header.heap_interval_bytes && i < HEAP_METRICS; i++)
		g->p->metrics.items[metrics + i].is_estimate = true;
	while (!err && wmk_next_heap(g->w, &walk, &record)) {
		const struct wmk_heap_sum as_sum = wmk_sum_of_heap(g->w, &record);

		tell_progress(g);
		at_peak += as_sum.at_peak_bytes;
		err = add_heap_sum(g, metrics, &as_sum);
	}
	if (!err && g->w->header.heap_reach)
		err = profile_add_metrics(g->p, reach_metrics, sizeof reach_metrics / sizeof *reach_metrics,
					  &(uint32_t){0});
	if (g->w->header.flags & WMK_FLAG_MERGED)
		return err ?: gather_heap_sums(g, metrics);
	return err ? err : note_peak(g->p, g->w, at_peak) ?: gather_heap_times(g);
}

/* All of them in one piece. */
static struct error *copy_labels(struct profile *p, const struct wmk_file *w, const char **ret)
{
	size_t off = 0;
	char *copy;

	while (wmk_next_label(w, &off))
		;
	if (!off)
		return NULL;
	copy = arena_calloc(&p->arena, off + 1, 1);
	if (!copy)
		return &error_no_memory;
	memcpy(copy, w->bytes + WMK_LABELS_OFF, off);
	*ret = copy;
	return NULL;
}

static struct error *add_source(struct profile *p, const struct wmk_file *w)
{
	const struct wmk_header *h = &w->header;
	struct profile_source s = {.header = *h,
				   .end = recording_end(w->name, h),
				   .has_heap = h->flags & WMK_FLAG_HEAP,
				   .has_paths = w->whole_count[WMK_PATHS] || w->whole_count[WMK_PATH_COUNTS],
				   .event_count = w->whole_count[WMK_EVENTS],
				   .heap_count = w->whole_count[WMK_HEAP] + w->whole_count[WMK_HEAP_SUMS],
				   .uncommitted = w->uncommitted};
	struct error *err = profile_copy_string(p, w->name, &s.path) ?: copy_labels(p, w, &s.labels);

	if (!err && w->truncated)
		err = profile_copy_string(p, w->truncated, &s.truncated);
	return err ? err : profile_source_vec_append(&p->sources, s);
}

static void gather_deinit(struct gather *g)
{
	process_deinit(&g->process);
	free(g->prefix_nodes);
	prefix_below_deinit(&g->stood_on);
	free(g->cache);
	slotmap_deinit(&g->context_map);
	event_context_vec_deinit(&g->contexts);
	hashmap_deinit(&g->name_map);
	u32_vec_deinit(&g->name_groups);
	thread_name_vec_deinit(&g->threads);
	frame_vec_deinit(&g->frames);
	u32_vec_deinit(&g->chain);
}

struct error *profile_add_file(struct profile *p, const struct wmk_file *w, struct image_cache *cache,
			       const struct profile_progress *progress)
{
	struct gather g = {.p = p, .w = w, .progress = progress};
	struct error *err;

	profile_allow(p, w->len_bytes);
	g.cache = calloc(FRAME_CACHE_ENTRIES, sizeof *g.cache);
	g.prefix_nodes = calloc(wmk_node_places(w), sizeof *g.prefix_nodes); /* most of its pages are never touched */
	err = g.cache && g.prefix_nodes ? process_init(&g.process, w, cache) : &error_no_memory;
	if (!err)
		err = prefix_below_init(&g.stood_on, &g.process);
	if (!err)
		err = add_source(p, w) ?: note_agent(p, w) ?: gather_heap(&g) ?: gather_events(&g) ?: gather_sums(&g) ?: note_recycled(p, w) ?: note_unnamed(p, &g.process);
	if (!err && p->keeps_functions)
		err = image_functions_add(p, &g.process);
	if (!err)
		p->sources.items[p->sources.count - 1].last_event_ns = g.last_event_ns;
	gather_deinit(&g);
	return err;
}
