/*
 * thread_words.c - reads a thread's words and context stack from memory: segments, entries, the copies of its creators.
 */
#include "model/crash/thread_words.h"

#include <string.h>

enum {
	ENTRIES_MAX = 1 << 20,
	FRAMES_MAX = 1 << 22,
};

static bool word_read(const struct thread_reader *x, uint64_t address, void *ret, size_t len_bytes)
{
	return x->code.read(x->code.data, address, ret, len_bytes);
}

/* ---- the context stack ---- */

/* Entries, innermost first, and the prefix they stand on, 0 where that is not noted; a coroutine's stack has an origin of its own.
 * *ret is false where memory is not there or makes no sense. */
static struct error *read_stack(const struct thread_reader *x, uint64_t top, struct thread_entry_vec *entries,
				uint32_t *ret_root, uint64_t *ret_origin, bool *ret)
{
	uint64_t at = top - sizeof(struct wm1_entry);
	struct wm1_entry e;

	*ret = false;
	while (entries->count < ENTRIES_MAX) {
		struct error *err;

		if (!word_read(x, at, &e, sizeof e))
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
		err = thread_entry_vec_append(entries, e);
		if (err)
			return err;
		at -= sizeof e;
	}
	return NULL;
}

/* A call of foreign code whose push has been put off, as an entry. It may have been pushed just now. */
static struct error *add_deferred(struct thread_words *words)
{
	const struct wm1_thread *state = &words->state;
	const struct wm1_entry *last = words->entries.count ? &words->entries.items[0] : NULL;
	const struct wm1_entry e = {
		.id = state->id, .sp = state->deferred_sp, .site = state->deferred_site, .history = state->history};
	struct error *err;

	if (!e.sp || (last && last->sp == e.sp && last->site == e.site))
		return NULL;
	err = thread_entry_vec_append(&words->entries, e);
	if (err)
		return err;
	memmove(&words->entries.items[1], &words->entries.items[0], (words->entries.count - 1) * sizeof e);
	words->entries.items[0] = e;
	return NULL;
}

/* Those of a thread's creator, of its creator and so on, innermost first; *ret is false where memory makes no sense. */
static struct error *read_origins(const struct thread_reader *x, const struct wm1_origin *at,
				  struct thread_origin_vec *origins, bool *ret)
{
	uint64_t pushes = 0;

	origins->count = 0;
	*ret = true;
	while (at && *ret) {
		struct thread_origin origin = {.pushes = (uint64_t)(uintptr_t)(at + 1)};
		struct error *err;

		*ret = word_read(x, (uint64_t)(uintptr_t)at, &origin.head, sizeof origin.head);
		if (!*ret)
			return NULL;
		pushes += origin.head.push_count;
		*ret = origin.head.push_count < ENTRIES_MAX && pushes < ENTRIES_MAX && origins->count < ENTRIES_MAX;
		err = thread_origin_vec_append(origins, origin);
		if (err)
			return err;
		at = origin.head.creator;
	}
	return NULL;
}

/* The frames of the context in which a thread or a coroutine was created, and [thread]. */
static struct error *decode_origin(const struct thread_reader *x, const struct thread_origin *origin,
				   struct context_below *below, struct frame_vec *frames)
{
	static const struct wmk_node thread = {.site = WM_SITE_THREAD, .run = 1};
	struct error *err = NULL;

	for (uint64_t i = 0; i < origin->head.push_count && !err; i++) {
		struct wm1_push push;
		struct wmk_node node;

		if (!word_read(x, origin->pushes + i * sizeof push, &push, sizeof push))
			return error_create(ERROR_FORMAT, "memory of the thread's creator is not there");
		node = (struct wmk_node){.id = push.id, .site = push.site, .run = push.run};
		err = node.run ? context_append_run(&x->process, below, &node, FRAMES_MAX, frames)
			       : error_create(ERROR_FORMAT, "damaged: a push that is none");
	}
	return err || origin->head.is_coroutine ? err
						: context_append_run(&x->process, below, &thread, FRAMES_MAX, frames);
}

/* Decodes the base of the thread's pushes: frames of its creators, or those of a root alone. */
static struct error *decode_base(const struct thread_reader *x, const struct thread_words *words,
				 struct context_below *below, struct frame_vec *frames)
{
	struct error *err = NULL;
	size_t i = words->origins.count;

	*below = context_on_root(words->root);
	if (!i && words->root >= WM_PREFIX_FIRST)
		return frame_vec_append(frames,
					(struct frame){.name = "[Java]", .link_name = "[Java]", .flags = FRAME_ROOT});
	if (!i)
		return context_append_root(words->root, frames);
	if (!words->origins.items[i - 1].head.creator) {
		below->root = words->origins.items[i - 1].head.root;
		if (below->root >= WM_PREFIX_FIRST) /* a handler's, with what it interrupted, which the recording has */
			below->root = WM_PREFIX_SIGNAL;
		err = context_append_root(below->root, frames);
	}
	while (i-- > 0 && !err)
		err = decode_origin(x, &words->origins.items[i], below, frames);
	below->history = context_history_none;
	return err;
}

struct error *thread_words_decode(const struct thread_reader *x, const struct thread_words *words,
				  struct context_below *below, struct frame_vec *frames)
{
	const struct thread_entry_vec *entries = &words->entries;
	struct error *err = decode_base(x, words, below, frames);

	for (size_t i = entries->count; i-- > 0 && !err;) {
		const struct wm1_entry *e = &entries->items[i];
		const uint32_t marks = e->sp & WM1_SP_MARKS;
		const uint32_t above = marks == WM1_SP_RESTARTS ? WM1_HISTORY_NONE
				       : marks == WM1_SP_SPILLS ? 0
								: e->history;

		below->history.now = e->history;
		err = context_append_piece(&x->process, below, WM_EPOCH_COMPILED, e->id, e->site, frames);
		*below = (struct context_below){.site = e->site & ~WM1_SITE_ELIDED, .history = {above, above}};
	}
	below->history.now = words->state.history;
	return err;
}

/* ---- all of it ---- */

/* The stack that control is on may be the thread's own, then it stands on what created the thread; a coroutine's, which
 * stands on what made the coroutine; or that of a handler. */
struct error *thread_words_read(const struct thread_reader *x, uint64_t thread_pointer, bool is_first,
				struct thread_words *words, bool *ret)
{
	const struct wm1_thread *state = &words->state;
	struct error *err = NULL;
	uint64_t origin = 0;

	*ret = word_read(x, thread_pointer + (uint64_t)x->code.state_off, &words->state, sizeof words->state);
	if (*ret)
		err = read_origins(x, state->origin, &words->origins, ret);
	if (!err && *ret && state->top)
		err = read_stack(x, (uint64_t)(uintptr_t)state->top, &words->entries, &words->root, &origin, ret);
	if (!err && *ret && origin)
		err = read_origins(x, origin == WM1_ORIGIN_NONE ? NULL : (const struct wm1_origin *)(uintptr_t)origin,
				   &words->origins, ret);
	if (!err && *ret)
		err = add_deferred(words);
	if (err || !*ret)
		return err;
	if (!origin && words->root > WM_PREFIX_THREAD &&
	    (!state->origin || words->root != words->origins.items[0].head.prefix))
		words->origins.count = 0;
	if (!words->root)
		words->root = is_first ? WM_PREFIX_PROCESS : WM_PREFIX_THREAD;
	return NULL;
}

void thread_words_deinit(struct thread_words *words)
{
	thread_entry_vec_deinit(&words->entries);
	thread_origin_vec_deinit(&words->origins);
}

void thread_words_drop_below(struct thread_words *words, uint64_t sp)
{
	struct thread_entry_vec *v = &words->entries;
	size_t dropped = 0;

	while (dropped < v->count && v->items[dropped].sp < sp)
		dropped++;
	if (!dropped)
		return;
	v->count -= dropped;
	memmove(v->items, v->items + dropped, v->count * sizeof *v->items);
}
