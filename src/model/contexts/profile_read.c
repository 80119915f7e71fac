/*
 * profile_read.c - a .wmk file into a profile. Equal contexts are summed by their numbers first, so each is decoded once; prefixes
 * are decoded once each, from the root outwards, whatever stands on them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/contexts/profile.h"
#include "model/contexts/recorded_graph.h"
#include "model/contexts/thread_names.h"
#include "waymark/abi.h"

enum {
	PROGRESS_EVERY = 1 << 16, /* records */
	WARNINGS_MAX = 20,        /* different reasons kept for contexts that cannot be decoded */
};

enum heap_metric {
	HEAP_BYTES,
	HEAP_ALLOCATIONS,
	HEAP_LIVE,
	HEAP_LIVE_COUNT,
	HEAP_PEAK,
	HEAP_LEAKED,
	HEAP_INHERITED,
	HEAP_INHERITED_LIVE,
	HEAP_METRICS,
};

static const struct metric heap_metrics[HEAP_METRICS] = {
	[HEAP_BYTES] = {.name = "bytes", .unit = UNIT_BYTES},
	[HEAP_ALLOCATIONS] = {.name = "allocations", .unit = UNIT_COUNT},
	[HEAP_LIVE] = {.name = "live", .unit = UNIT_BYTES},
	[HEAP_LIVE_COUNT] = {.name = "live-allocations", .unit = UNIT_COUNT},
	[HEAP_PEAK] = {.name = "peak", .unit = UNIT_BYTES, .is_maximum = true},
	[HEAP_LEAKED] = {.name = "leaked", .unit = UNIT_BYTES},
	[HEAP_INHERITED] = {.name = "inherited", .unit = UNIT_BYTES},
	[HEAP_INHERITED_LIVE] = {.name = "inherited-live", .unit = UNIT_BYTES},
};

/* Where in the tree a prefix ends: NODE_BAD when it cannot be decoded. */
#define NODE_BAD UINT32_MAX
VEC_DECLARE(u32_vec, uint32_t);

struct gather {
	struct profile *p;
	const struct wmk_file *w;
	struct process process;
	struct hashmap prefix_map; /* prefix -> index into prefix_nodes */
	struct u32_vec prefix_nodes;
	struct hashmap context_map; /* (id, prefix and site, epoch) -> index into nodes */
	struct u32_vec nodes;
	struct thread_name_vec threads; /* for profiles that keep events */
	struct u32_vec name_metrics;    /* triples: name, metric of its count, metric of its sum */
	struct frame_vec frames;        /* scratch */
	struct u32_vec chain;           /* scratch */
	uint32_t unknown;               /* node of [unknown], 0 until needed */
	const struct profile_progress *progress;
	uint64_t done;
};

static struct error *add_frames(struct gather *g, uint32_t node, uint32_t *ret)
{
	struct error *err = NULL;

	if (g->p->nodes.items[node].depth + g->frames.count > g->p->max_depth)
		return error_create(ERROR_OVERFLOW, "deeper than %zu frames (--max-depth)", g->p->max_depth);
	for (size_t i = 0; i < g->frames.count && !err; i++)
		err = profile_add_frame(g->p, node, &g->frames.items[i], &node);
	if (!err)
		*ret = node;
	return err;
}

/* What a capture or push above `prefix` stands on. */
static struct error *get_below(const struct gather *g, uint32_t prefix, struct context_below *ret)
{
	struct wmk_node node;
	struct error *err;

	if (prefix < WM_PREFIX_FIRST) {
		*ret = (struct context_below){.is_root = true, .root = prefix};
		return NULL;
	}
	err = context_find_node(&g->process, prefix, &node);
	if (!err)
		*ret = context_above(&node);
	return err;
}

static struct error *append_prefix(struct gather *g, uint32_t prefix, uint32_t parent_node, uint32_t *ret)
{
	struct wmk_node node;
	struct context_below below;
	uint32_t tree = parent_node;
	struct error *err;

	g->frames.count = 0;
	if (prefix < WM_PREFIX_FIRST) {
		err = context_append_root(prefix, &g->frames);
		return err ? err : add_frames(g, 0, ret);
	}
	err = context_find_node(&g->process, prefix, &node);
	if (!err)
		err = get_below(g, node.parent, &below);
	for (uint32_t i = 0; i < node.run && !err; i++) {
		if (i < 2) { /* the first stands on what is below, each other on its twin */
			struct wmk_node once = node;

			if (node.site >= WM_SITE_FIRST)
				once.run = 1;
			g->frames.count = 0;
			err = context_append_run(&g->process, &below, &once, g->p->max_depth, &g->frames);
		}
		if (!err)
			err = add_frames(g, tree, &tree);
	}
	if (!err)
		*ret = tree;
	return err;
}

static struct error *remember_prefix(struct gather *g, uint32_t prefix, uint32_t node)
{
	struct key key = {{prefix, 0, 0}};
	uint32_t number;
	struct error *err = hashmap_add(&g->prefix_map, &key, &number);

	if (!err && number == g->prefix_nodes.count)
		err = u32_vec_append(&g->prefix_nodes, node);
	return err;
}

static bool recall_prefix(const struct gather *g, uint32_t prefix, uint32_t *ret)
{
	struct key key = {{prefix, 0, 0}};
	uint32_t number;

	if (!hashmap_find(&g->prefix_map, &key, &number))
		return false;
	*ret = g->prefix_nodes.items[number];
	return true;
}

/* The prefixes from `prefix` down to one that is known already or is a root; innermost first. */
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
		if (err)
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

		if (g->chain.items[i - 1] >= WM_PREFIX_FIRST && wmk_find_node(g->w, g->chain.items[i - 1], &record))
			recall_prefix(g, record.parent, &node);
	} else if (!err) {
		recall_prefix(g, prefix, &node);
	}
	while (!err && i-- > 0) {
		if (node != NODE_BAD)
			err = append_prefix(g, g->chain.items[i], node, &node);
		if (!err)
			err = remember_prefix(g, g->chain.items[i], node);
	}
	if (err) { /* all of the chain that is not known is bad */
		node = NODE_BAD;
		failed = count_failure(g, err);
		for (i = 0; i < g->chain.count && !failed; i++)
			failed = remember_prefix(g, g->chain.items[i], NODE_BAD);
	}
	*ret = node;
	return failed;
}

static struct error *get_unknown(struct gather *g, uint32_t *ret)
{
	struct frame frame = {.name = "[unknown]", .link_name = "[unknown]", .flags = FRAME_FOREIGN};

	return profile_add_frame(g->p, 0, &frame, ret);
}

static struct error *decode_leaf(struct gather *g, const struct context_key *key, uint32_t base, uint32_t *ret)
{
	struct context_below below;
	struct error *err = get_below(g, key->prefix, &below);

	g->frames.count = 0;
	if (!err)
		err = context_append_leaf(&g->process, &below, key->epoch, key->id, key->site, &g->frames);
	return err ? err : add_frames(g, base, ret);
}

/* Where in the tree a capture is. */
static struct error *find_context(struct gather *g, const struct context_key *context, uint32_t *ret)
{
	struct key key = {{context->id, (uint64_t)context->prefix << 32 | context->site, context->epoch}};
	uint32_t number, base, node;
	struct error *err = hashmap_add(&g->context_map, &key, &number);

	if (err)
		return err;
	if (number < g->nodes.count) {
		*ret = g->nodes.items[number];
		return NULL;
	}
	err = resolve_prefix(g, context->prefix, &base);
	if (err)
		return err;
	if (base == NODE_BAD) {
		err = get_unknown(g, &node);
	} else {
		err = decode_leaf(g, context, base, &node);
		if (err) {
			err = count_failure(g, err);
			if (!err)
				err = get_unknown(g, &node);
		}
	}
	if (!err)
		err = u32_vec_append(&g->nodes, node);
	if (!err)
		*ret = node;
	return err;
}

static void tell_progress(struct gather *g)
{
	if (g->progress && g->done++ % PROGRESS_EVERY == 0)
		g->progress->report(g->progress->data, g->done,
				    g->w->whole_count[WMK_EVENTS] + g->w->whole_count[WMK_HEAP]);
}

const char *profile_heap_metric(size_t index)
{
	return index < HEAP_METRICS ? heap_metrics[index].name : NULL;
}

static bool is_heap_metric(const char *name)
{
	for (int i = 0; i < HEAP_METRICS; i++)
		if (strcmp(heap_metrics[i].name, name) == 0)
			return true;
	return false;
}

static struct error *add_event_metrics(struct profile *p, const char *name, uint32_t *ret_count, uint32_t *ret_sum)
{
	char *count_name = NULL, *sum_name = NULL;
	struct error *err = &error_no_memory;

	if (asprintf(&count_name, "%s%s", is_heap_metric(name) ? "event:" : "", name) < 0)
		return err;
	if (asprintf(&sum_name, "%s:sum", count_name) >= 0) {
		err = profile_add_metric(p, count_name, UNIT_COUNT, false, ret_count);
		if (!err)
			err = profile_add_metric(p, sum_name, UNIT_VALUE, false, ret_sum);
		free(sum_name);
	}
	free(count_name);
	return err;
}

/* The metrics NAME (how often) and NAME:sum (of values) of an event name, found once per file. */
static struct error *event_metrics(struct gather *g, uint32_t name, uint32_t *ret_count, uint32_t *ret_sum)
{
	const char *text = wmk_find_string(g->w, name);
	struct error *err;

	for (size_t i = 0; i < g->name_metrics.count; i += 3) {
		if (g->name_metrics.items[i] == name) {
			*ret_count = g->name_metrics.items[i + 1];
			*ret_sum = g->name_metrics.items[i + 2];
			return NULL;
		}
	}
	err = add_event_metrics(g->p, text ? text : "(name not recorded)", ret_count, ret_sum);
	if (!err)
		err = u32_vec_append(&g->name_metrics, name);
	if (!err)
		err = u32_vec_append(&g->name_metrics, *ret_count);
	return err ? err : u32_vec_append(&g->name_metrics, *ret_sum);
}

static struct error *keep_event(struct gather *g, const struct wmk_event *event, uint32_t node, uint32_t metric)
{
	const struct wmk_header *h = &g->w->header;
	struct profile_event kept = {
		.realtime_ns = event->time_ns - h->start_monotonic_ns + h->start_realtime_ns,
		.value = event->value,
		.name = g->p->metrics.items[metric].name,
		.node = node,
		.tid = event->tid,
	};

	const char *thread;
	struct error *err = NULL;

	if (!g->p->keeps_events)
		return NULL;
	thread = thread_names_find(&g->threads, g->w, event->tid, event->time_ns);
	if (thread)
		err = profile_copy_string(g->p, thread, &kept.thread);
	return err ? err : profile_event_vec_append(&g->p->events, kept);
}

static struct error *gather_events(struct gather *g)
{
	struct wmk_walk walk = {0};
	struct wmk_event event;
	struct error *err = g->p->keeps_events ? thread_names_read(g->w, &g->threads) : NULL;

	while (!err && wmk_next_event(g->w, &walk, &event)) {
		const struct context_key key = {event.id, event.prefix, event.site, event.epoch};
		uint32_t node, count, sum;

		tell_progress(g);
		err = find_context(g, &key, &node) ?:
		      event_metrics(g, event.name, &count, &sum) ?:
		      profile_add_value(g->p, node, count, 1) ?:
		      profile_add_value(g->p, node, sum, event.value) ?:
		      keep_event(g, &event, node, count);
	}
	return err;
}

static struct error *add_heap_metrics(struct profile *p, uint32_t metrics[HEAP_METRICS], int count)
{
	struct error *err = NULL;

	for (int i = 0; i < count && !err; i++)
		err = profile_add_metric(p, heap_metrics[i].name, heap_metrics[i].unit, heap_metrics[i].is_maximum,
					 &metrics[i]);
	return err;
}

static uint64_t left_of(uint64_t all, uint64_t freed)
{
	return all > freed ? all - freed : 0;
}

/*
 * What a process that ended had not freed is leaked; of one that was killed it is only live. Blocks that a child inherited
 * are its parent's in all metrics but their own and, since they took room in both, the peak.
 */
static struct error *add_heap_record(struct gather *g, const uint32_t metrics[HEAP_METRICS], int count,
				     const struct wmk_heap *h)
{
	uint64_t live = left_of(h->bytes, h->freed_bytes);
	uint64_t values[HEAP_METRICS] = {[HEAP_BYTES] = h->bytes,
					 [HEAP_ALLOCATIONS] = h->count,
					 [HEAP_LIVE] = live,
					 [HEAP_LIVE_COUNT] = left_of(h->count, h->freed_count),
					 [HEAP_PEAK] = h->peak_bytes,
					 [HEAP_INHERITED] = h->inherited_bytes,
					 [HEAP_INHERITED_LIVE] = left_of(h->inherited_bytes, h->inherited_freed_bytes)};
	const struct context_key key = {h->id, h->prefix, h->site, h->epoch};
	uint32_t node;
	struct error *err = find_context(g, &key, &node);

	if (g->w->header.flags & (WMK_FLAG_CLOSED | WMK_FLAG_LEFT))
		values[HEAP_LEAKED] = live;
	for (int i = 0; i < count && !err; i++)
		err = profile_add_value(g->p, node, metrics[i], values[i]);
	return err;
}

static struct error *gather_heap(struct gather *g)
{
	/* The metrics of what is inherited are for children that did inherit. */
	bool has_inherited = g->p->sources.items[g->p->sources.count - 1].inherited_count;
	int count = has_inherited ? HEAP_METRICS : HEAP_INHERITED;
	uint32_t metrics[HEAP_METRICS];
	struct wmk_walk walk = {0};
	struct wmk_heap record;
	struct error *err;

	if (!g->w->whole_count[WMK_HEAP] && !(g->w->header.flags & WMK_FLAG_HEAP))
		return NULL;
	err = add_heap_metrics(g->p, metrics, count);
	while (!err && wmk_next_heap(g->w, &walk, &record)) {
		tell_progress(g);
		err = add_heap_record(g, metrics, count, &record);
	}
	return err;
}

static void add_inherited(const struct wmk_file *w, struct profile_source *s)
{
	struct wmk_walk walk = {0};
	struct wmk_heap h;

	while (wmk_next_heap(w, &walk, &h)) {
		s->inherited_count += h.inherited_count;
		s->inherited_bytes += h.inherited_bytes;
		s->inherited_live_bytes += left_of(h.inherited_bytes, h.inherited_freed_bytes);
	}
}

static struct error *add_source(struct profile *p, const struct wmk_file *w)
{
	const struct wmk_header *h = &w->header;
	struct profile_source s = {.run = h->run,
				   .pid = h->pid,
				   .parent_run = h->parent_run,
				   .end = recording_end(w->name, h),
				   .has_heap = h->flags & WMK_FLAG_HEAP,
				   .event_count = w->whole_count[WMK_EVENTS],
				   .heap_count = w->whole_count[WMK_HEAP],
				   .has_paths = w->whole_count[WMK_PATHS] || w->whole_count[WMK_PATH_COUNTS],
				   .dropped_events = h->dropped_events,
				   .dropped_prefixes = h->dropped_prefixes,
				   .dropped_code = h->dropped_code,
				   .samples = h->samples,
				   .samples_unknown = h->samples_unknown,
				   .samples_in_agent = h->samples_in_agent,
				   .samples_checked = h->samples_checked,
				   .samples_agreed = h->samples_agreed,
				   .samples_unchecked = h->samples_unchecked,
				   .dropped_heap_calls = h->dropped_heap_calls,
				   .drop_errno = h->drop_errno,
				   .lost_children = h->lost_children,
				   .uncommitted = w->uncommitted,
				   .heap_live_bytes = h->heap_live_bytes,
				   .heap_peak_bytes = h->heap_peak_bytes,
				   .heap_unknown_frees = h->heap_unknown_frees};
	struct error *err = profile_copy_string(p, w->name, &s.path);

	add_inherited(w, &s);
	if (!err)
		err = profile_copy_string(p, h->program, &s.program);
	if (!err && w->truncated)
		err = profile_copy_string(p, w->truncated, &s.truncated);
	return err ? err : profile_source_vec_append(&p->sources, s);
}

/* Takes text, malloc'd; NULL: no memory. */
static struct error *take_note(struct profile *p, char *text)
{
	struct error *err = text ? profile_note(p, text) : &error_no_memory;

	free(text);
	return err;
}

/* What the recording lacks because the agent was not there. */
static struct error *note_agent(struct profile *p, const struct wmk_file *w)
{
	uint64_t missed = w->header.missed_programs;
	const char *why = wmk_agent_text(w->header.agent);
	struct error *err = NULL;
	char *text;

	if (why)
		err = take_note(p, asprintf(&text, "%s: the agent did not start: %s; contexts are not known", w->name,
					    why) < 0
					   ? NULL
					   : text);
	if (err || !missed)
		return err;
	return take_note(p,
			 asprintf(&text, "%s: %" PRIu64 " %s not recorded: the agent could not come into %s", w->name,
				  missed, missed == 1 ? "program that it started is" : "programs that it started are",
				  missed == 1 ? "it" : "them") < 0
				 ? NULL
				 : text);
}

/* Files of recorded code that were not found. */
static struct error *note_unnamed(struct profile *p, const struct process *process)
{
	const struct error *why;
	struct error *err = NULL;

	for (size_t i = 0; !err && (why = recorded_why_unnamed(process->recorded, i)) != NULL; i++)
		err = profile_note(p, why->message);
	return err;
}

struct error *profile_add_file(struct profile *p, const struct wmk_file *w, struct image_cache *cache,
			       const struct profile_progress *progress)
{
	struct gather g = {.p = p, .w = w, .progress = progress};
	struct error *err;

	err = process_init(&g.process, w, cache) ?: note_unnamed(p, &g.process) ?: add_source(p, w) ?: note_agent(p, w) ?: gather_heap(&g) ?: gather_events(&g);
	process_deinit(&g.process);
	hashmap_deinit(&g.prefix_map);
	u32_vec_deinit(&g.prefix_nodes);
	hashmap_deinit(&g.context_map);
	u32_vec_deinit(&g.nodes);
	thread_name_vec_deinit(&g.threads);
	u32_vec_deinit(&g.name_metrics);
	frame_vec_deinit(&g.frames);
	u32_vec_deinit(&g.chain);
	return err;
}
