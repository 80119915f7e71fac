/*
 * crash_context.c - the exact calling context of each thread of a program that has contexts, too (include/waymark/abi.h): the
 * thread's id and context stack are read from memory and decoded as a capture is.
 *
 *      TLS of the thread                  context stack                    text
 *      wm1_thread_state: id, top -------> (id, site) ... (id, site)  --->  main;work;[qsort];compare
 *
 * Below the stack of a thread or a coroutine are copies of those of its creators (struct wm1_origin).
 *
 * The id is that of the innermost function that takes part, unless that one has pushed for a call in progress: then the
 * entry's stack pointer lies in its frame, and the entry decides. Between two calls the id may be another one, which the
 * stack corrects (crash_innermost.h). Unlike the stack a context has functions that left by a tail call.
 *
 * Which site numbers an image has: from its struct wm1_image, found by the key of its metadata.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "snapshot/image/elf.h"
#include "model/crash/crash_build.h"
#include "model/crash/crash_context.h"
#include "model/crash/crash_innermost.h"
#include "waymark/abi.h"

enum {
	ENTRIES_MAX = 1 << 20,
	FRAMES_MAX = 1 << 22,
	SHOWN_MAX = 64, /* functions of a context that are shown at each end */
};

static const char state_name[] = "wm1_thread_state";

/* In memory; and where the pushes behind it are. */
struct origin {
	struct wm1_origin head;
	uint64_t pushes;
};

VEC_DECLARE(entry_vec, struct wm1_entry);
VEC_DECLARE(origin_vec, struct origin);

/* The context stack of a thread. */
struct thread_stack {
	struct wm1_thread state;
	struct entry_vec entries;  /* innermost first */
	struct origin_vec origins; /* what they stand on: its creator's first; none: root */
	uint32_t root;
};

struct contexts {
	struct crash *c;
	struct image_cache *cache;
	struct process process;
	struct image **images; /* [module_count]; NULL: has none */
	int64_t state_off;     /* of the thread's state, from its thread pointer */
};

/* ---- images ---- */

/* The image's struct wm1_image, by its key, in a piece of its data. */
static bool find_registered(const uint8_t *bytes, size_t len_bytes, uint64_t key, struct wm1_image *ret)
{
	for (size_t off = 0; off + sizeof *ret <= len_bytes; off += 8) {
		memcpy(ret, bytes + off, sizeof *ret);
		if (ret->meta_key == key && ret->abi_version == WM1_ABI_VERSION && ret->site_base >= WM_SITE_FIRST)
			return true;
	}
	return false;
}

struct registered {
	const struct snapshot *s;
	const struct snapshot_module *m;
	uint64_t key;
	bool is_found;
	struct wm1_image image;
};

static bool visit(void *data, const struct snapshot_section *section)
{
	struct registered *r = data;
	uint8_t *bytes;

	if (!section->is_data || section->len_bytes > r->m->end - r->m->start)
		return true;
	bytes = malloc(section->len_bytes + 1);
	r->is_found = bytes && snapshot_read(r->s, section->address, bytes, section->len_bytes) &&
		      find_registered(bytes, section->len_bytes, r->key, &r->image);
	free(bytes);
	return !r->is_found;
}

static bool read_registered(const struct snapshot *s, const struct snapshot_module *m, uint64_t key,
			    struct wm1_image *ret)
{
	struct registered r = {.s = s, .m = m, .key = key};

	snapshot_sections_each(m, visit, &r);
	*ret = r.image;
	return r.is_found;
}

static int by_base(const void *a, const void *b)
{
	const struct process_image *x = a, *y = b;

	return compare_u64(x->site_base, y->site_base);
}

static struct error *find_images(struct contexts *x)
{
	const struct snapshot *s = x->c->stopped;
	struct error *err = NULL;

	x->images = calloc((size_t)s->module_count + 1, sizeof *x->images);
	x->process.images = calloc((size_t)s->module_count + 1, sizeof *x->process.images);
	if (!x->images || !x->process.images)
		return &error_no_memory;
	for (uint32_t i = 0; i < s->module_count && !err; i++) {
		const struct snapshot_module *m = &s->modules[i];
		struct object_wanted wanted = {.path = m->file, .build_id = m->build_id};
		struct cached_image *cached;
		struct wm1_image registered;

		if (!m->file || m->path[0] == '[')
			continue;
		err = image_cache_get(x->cache, &wanted, &cached);
		if (err || !cached->image || !read_registered(s, m, cached->image->meta.key, &registered))
			continue;
		x->images[i] = cached->image;
		x->process.images[x->process.image_count++] = (struct process_image){
			.site_base = registered.site_base,
			.site_count = registered.site_count,
			.image = cached->image,
		};
	}
	if (x->process.image_count)
		qsort(x->process.images, x->process.image_count, sizeof *x->process.images, by_base);
	return err;
}

/* ---- the context stack ---- */

/* Entries, innermost first, and the prefix they stand on, 0 where that is not noted; a coroutine's stack has an origin of its own.
 * *ret is false where memory is not there or makes no sense. */
static struct error *read_stack(const struct contexts *x, uint64_t top, struct entry_vec *entries, uint32_t *ret_root,
				uint64_t *ret_origin, bool *ret)
{
	const struct snapshot *s = x->c->stopped;
	uint64_t at = top - sizeof(struct wm1_entry);
	struct wm1_entry e;

	*ret = false;
	while (entries->count < ENTRIES_MAX) {
		struct error *err;

		if (!snapshot_read(s, at, &e, sizeof e))
			return NULL;
		if (at % WM1_SEGMENT_BYTES == 0) { /* slot 0: the segment's own */
			uint64_t previous = e.sp;

			if (previous) {
				at = previous + WM1_SEGMENT_BYTES - sizeof e;
				continue;
			}
			*ret_root = e.prefix;
			*ret_origin = (uint64_t)e.below << 32 | e.site;
			*ret = true;
			return NULL;
		}
		if (!e.run &&
		    e.prefix) { /* nothing goes on from there: a handler's, or that of a native method of Java's */
			*ret_root = e.prefix;
			*ret = true;
			return NULL;
		}
		err = entry_vec_append(entries, e);
		if (err)
			return err;
		at -= sizeof e;
	}
	return NULL;
}

/* A call of foreign code whose push has been put off, as an entry. It may have been pushed just now. */
static struct error *add_deferred(struct thread_stack *stack)
{
	const struct wm1_thread *state = &stack->state;
	const struct wm1_entry *last = stack->entries.count ? &stack->entries.items[0] : NULL;
	const struct wm1_entry e = {.id = state->id, .sp = state->deferred_sp, .site = state->deferred_site};
	struct error *err;

	if (!e.sp || (last && last->sp == e.sp && last->site == e.site))
		return NULL;
	err = entry_vec_append(&stack->entries, e);
	if (err)
		return err;
	memmove(&stack->entries.items[1], &stack->entries.items[0], (stack->entries.count - 1) * sizeof e);
	stack->entries.items[0] = e;
	return NULL;
}

/* Those of a thread's creator, of its creator and so on, innermost first; *ret is false where memory makes no sense. */
static struct error *read_origins(const struct contexts *x, const struct wm1_origin *at, struct origin_vec *origins,
				  bool *ret)
{
	uint64_t pushes = 0;

	origins->count = 0;
	*ret = true;
	while (at && *ret) {
		struct origin origin = {.pushes = (uint64_t)(uintptr_t)(at + 1)};
		struct error *err;

		*ret = snapshot_read(x->c->stopped, (uint64_t)(uintptr_t)at, &origin.head, sizeof origin.head);
		if (!*ret)
			return NULL;
		pushes += origin.head.push_count;
		*ret = origin.head.push_count < ENTRIES_MAX && pushes < ENTRIES_MAX && origins->count < ENTRIES_MAX;
		err = origin_vec_append(origins, origin);
		if (err)
			return err;
		at = origin.head.creator;
	}
	return NULL;
}

/* The frames of the context in which a thread or a coroutine was created, and [thread]. */
static struct error *decode_origin(const struct contexts *x, const struct origin *origin, struct context_below *below,
				   struct frame_vec *frames)
{
	static const struct wmk_node thread = {.site = WM_SITE_THREAD, .run = 1};
	struct error *err = NULL;

	for (uint64_t i = 0; i < origin->head.push_count && !err; i++) {
		struct wm1_push push;
		struct wmk_node node;

		if (!snapshot_read(x->c->stopped, origin->pushes + i * sizeof push, &push, sizeof push))
			return error_create(ERROR_FORMAT, "memory of the thread's creator is not there");
		node = (struct wmk_node){.id = push.id, .site = push.site, .run = push.run};
		err = node.run ? context_append_run(&x->process, below, &node, FRAMES_MAX, frames)
			       : error_create(ERROR_FORMAT, "damaged: a push that is none");
	}
	return err || origin->head.is_coroutine ? err
						: context_append_run(&x->process, below, &thread, FRAMES_MAX, frames);
}

/* Decodes the base of the thread's pushes: frames of its creators, or those of a root alone. */
static struct error *decode_base(const struct contexts *x, const struct thread_stack *stack,
				 struct context_below *below, struct frame_vec *frames)
{
	struct error *err = NULL;
	size_t i = stack->origins.count;

	*below = (struct context_below){.is_root = true, .root = stack->root};
	if (!i && stack->root >= WM_PREFIX_FIRST)
		return frame_vec_append(frames,
					(struct frame){.name = "[Java]", .link_name = "[Java]", .flags = FRAME_ROOT});
	if (!i)
		return context_append_root(stack->root, frames);
	if (!stack->origins.items[i - 1].head.creator) {
		below->root = stack->origins.items[i - 1].head.root;
		if (below->root >= WM_PREFIX_FIRST) /* a handler's, with what it interrupted, which the recording has */
			below->root = WM_PREFIX_SIGNAL;
		err = context_append_root(below->root, frames);
	}
	while (i-- > 0 && !err)
		err = decode_origin(x, &stack->origins.items[i], below, frames);
	return err;
}

/* Frames of all pushes, outermost first, and what stands on them. */
static struct error *decode_pushes(const struct contexts *x, const struct thread_stack *stack,
				   struct context_below *below, struct frame_vec *frames)
{
	const struct entry_vec *entries = &stack->entries;
	struct error *err = decode_base(x, stack, below, frames);

	for (size_t i = entries->count; i-- > 0 && !err;) {
		err = context_append_piece(&x->process, below, WM_EPOCH_COMPILED, entries->items[i].id,
					   entries->items[i].site, frames);
		*below = (struct context_below){.site = entries->items[i].site & ~WM1_SITE_ELIDED};
	}
	return err;
}

/* ---- text ---- */

static size_t run_length(const struct frame_vec *frames, size_t at)
{
	const char *name = frames->items[at].name;
	size_t end = at + 1;

	while (end < frames->count && name && frames->items[end].name && strcmp(frames->items[end].name, name) == 0)
		end++;
	return end - at;
}

/* "main;f (3 times);g": outermost first, as folded stacks are written. */
static struct error *print(struct crash *c, const struct frame_vec *frames, const char **ret)
{
	size_t shown = 0, run;
	struct buffer text = {0};
	struct error *err;

	for (size_t i = 0; i < frames->count; i += run, shown++) {
		run = run_length(frames, i);
		if (shown == SHOWN_MAX && frames->count - i > SHOWN_MAX) {
			run = frames->count - i - SHOWN_MAX;
			buffer_printf(&text, ";[%zu more]", run);
			continue;
		}
		buffer_printf(&text, "%s%s", i ? ";" : "", frames->items[i].name ? frames->items[i].name : "?");
		if (run > 1)
			buffer_printf(&text, " (%zu times)", run);
	}
	err = buffer_error(&text);
	if (!err)
		*ret = arena_strndup(&c->arena, (const char *)text.bytes, text.len_bytes);
	buffer_deinit(&text);
	return err ? err : *ret ? NULL : &error_no_memory;
}

/* The stack that control is on may be the thread's own, then it stands on what created the thread; a coroutine's, which
 * stands on what made the coroutine; or that of a handler. */
static struct error *read_thread(const struct contexts *x, const struct crash_thread *t, struct thread_stack *stack,
				 bool *ret)
{
	const struct snapshot *s = x->c->stopped;
	const struct wm1_thread *state = &stack->state;
	struct error *err = NULL;
	uint64_t origin = 0;

	*ret = snapshot_read(s, t->machine->thread_pointer + (uint64_t)x->state_off, &stack->state,
			     sizeof stack->state);
	if (*ret)
		err = read_origins(x, state->origin, &stack->origins, ret);
	if (!err && *ret && state->top)
		err = read_stack(x, (uint64_t)(uintptr_t)state->top, &stack->entries, &stack->root, &origin, ret);
	if (!err && *ret && origin)
		err = read_origins(x, origin == WM1_ORIGIN_NONE ? NULL : (const struct wm1_origin *)(uintptr_t)origin,
				   &stack->origins, ret);
	if (!err && *ret)
		err = add_deferred(stack);
	if (err || !*ret)
		return err;
	if (!origin && stack->root > WM_PREFIX_THREAD &&
	    (!state->origin || stack->root != stack->origins.items[0].head.prefix))
		stack->origins.count = 0;
	if (!stack->root)
		stack->root = t->machine->tid == s->pid ? WM_PREFIX_PROCESS : WM_PREFIX_THREAD;
	return NULL;
}

/* The function itself, after its callers; unless it has pushed: then the push has both. */
static struct error *decode_innermost(const struct contexts *x, const struct crash_thread *t,
				      const struct thread_stack *stack, const struct crash_innermost *f,
				      struct context_below below, struct frame_vec *frames)
{
	const uint64_t top = (uint64_t)(uintptr_t)stack->state.top;
	struct wm1_entry dropped;
	struct crash_state state = {
		.id = stack->state.id,
		.last = stack->entries.count ? &stack->entries.items[0] : NULL,
		.below = below,
	};
	struct error *err;

	if (crash_innermost_has_pushed(f, &x->process, state.last))
		return NULL;
	if (f->function == UINT32_MAX)
		return error_create(ERROR_NOT_FOUND, "there are several functions of the innermost one's name");
	if (top % WM1_SEGMENT_BYTES && snapshot_read(x->c->stopped, top, &dropped, sizeof dropped))
		state.dropped = &dropped;
	err = crash_innermost_append(x->c, x->images, &x->process, t, f, &state, frames);
	return err || f->is_entered ? err
				    : frame_vec_append(frames, (struct frame){.name = f->frame->name,
									      .link_name = f->frame->function});
}

static struct error *decode_stack(struct contexts *x, struct crash_thread *t, const struct thread_stack *stack,
				  const struct crash_innermost *f)
{
	struct context_below below;
	struct frame_vec frames = {0};
	struct error *err = decode_pushes(x, stack, &below, &frames);

	if (!err)
		err = decode_innermost(x, t, stack, f, below, &frames);
	if (!err)
		err = print(x->c, &frames, &f->frame->context);
	else if (err->code != ERROR_NO_MEMORY) {
		struct error *why = err;

		err = crash_note(x->c, "thread %d: its calling context cannot be decoded: %s", (int)t->machine->tid,
				 why->message);
		error_destroy(why);
	}
	frame_vec_deinit(&frames);
	return err;
}

static struct error *decode_thread(struct contexts *x, struct crash_thread *t)
{
	struct thread_stack stack = {0};
	struct crash_innermost f;
	bool is_read;
	struct error *err;

	if (!crash_innermost_find(x->c, x->images, t, &f))
		return NULL;
	err = read_thread(x, t, &stack, &is_read);
	if (!err && is_read)
		err = decode_stack(x, t, &stack, &f);
	entry_vec_deinit(&stack.entries);
	origin_vec_deinit(&stack.origins);
	return err;
}

/* Compiled code hands over to it: its images are not registered, and what it keeps of its contexts means nothing. */
static bool has_agent(const struct snapshot *s)
{
	for (uint32_t i = 0; i < s->module_count; i++) {
		const char *slash = strrchr(s->modules[i].path, '/');

		if (slash && strncmp(slash + 1, "libwaymark-agent", strlen("libwaymark-agent")) == 0)
			return true;
	}
	return false;
}

struct error *crash_find_contexts(struct crash *c, struct image_cache *cache)
{
	struct contexts x = {.c = c, .cache = cache};
	struct error *err = NULL;

	if (!snapshot_tls_find(c->stopped, state_name, &x.state_off))
		return NULL;
	err = find_images(&x);
	for (uint32_t i = 0; i < c->thread_count && !err && x.process.image_count; i++)
		err = decode_thread(&x, &c->threads[i]);
	if (!err && !x.process.image_count && has_agent(c->stopped))
		err = crash_note(
			c,
			"the process ran under an agent, which has its contexts: its recording has those of samples and events");
	c->notes = crash_builder(c)->notes.items;
	c->note_count = (uint32_t)crash_builder(c)->notes.count;
	process_deinit(&x.process);
	free(x.images);
	return err;
}
