/*
 * crash_context.c - the exact calling context of each thread of a program that has contexts, too (include/waymark/abi.h): the
 * thread's id and context stack are read from memory (thread_words.h), and mean what the code says that they mean where the thread stands
 * (thread_stop.h). Unlike the stack a context has functions that left by a tail call, and it is there when the stack is not.
 *
 * Which site numbers an image has: from its struct wm1_image, found by the key of its metadata.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/text.h"
#include "snapshot/image/elf.h"
#include "snapshot/source/source.h"
#include "model/crash/crash_build.h"
#include "model/crash/crash_context.h"
#include "model/crash/thread_stop.h"
#include "waymark/abi.h"

enum {
	SHOWN_MAX = 64, /* functions of a context that are shown at each end */
};

static const char state_name[] = "wm1_thread_state";

struct contexts {
	struct crash *c;
	struct image_cache *cache;
	struct image **images; /* [module_count]; NULL: has none */
	struct thread_reader reader;
	struct stop_flows *flows;
};

/* ---- images ---- */

/* The image's struct wm1_image, by its key, in a piece of its data. */
static bool find_registered(const uint8_t *bytes, size_t len_bytes, uint64_t key, struct wm1_image *ret)
{
	for (size_t off = 0; off + sizeof *ret <= len_bytes; off += 8) {
		memcpy(ret, bytes + off, sizeof *ret);
		if (ret->meta_key == key && ret->abi_version == WM1_ABI_VERSION && ret->site_base >= WM_SITE_FIRST &&
		    ret->site_base < WM1_SITE_NOWHERE)
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
	x->reader.process.images = calloc((size_t)s->module_count + 1, sizeof *x->reader.process.images);
	if (!x->images || !x->reader.process.images)
		return &error_no_memory;
	for (uint32_t i = 0; i < s->module_count && !err; i++) {
		const struct snapshot_module *m = &s->modules[i];
		struct object_wanted wanted = {.path = m->file, .build_id = m->build_id};
		struct cached_image *cached;
		struct wm1_image registered;

		if (!m->file || m->path[0] == '[')
			continue;
		err = image_cache_get(x->cache, &wanted, &cached);
		/* Offsets of the stack are in captures only. */
		if (!err && cached->image && cached->image->meta.is_hybrid) {
			err = crash_note(x->c,
					 "%s: has hybrid encoding (--wm-hybrid): a core does not tell its contexts",
					 m->file);
			continue;
		}
		if (err || !cached->image || !read_registered(s, m, cached->image->meta.key, &registered))
			continue;
		x->images[i] = cached->image;
		x->reader.process.images[x->reader.process.image_count++] = (struct process_image){
			.site_base = registered.site_base,
			.site_count = registered.site_count,
			.image = cached->image,
		};
	}
	if (x->reader.process.image_count)
		qsort(x->reader.process.images, x->reader.process.image_count, sizeof *x->reader.process.images,
		      by_base);
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

/* ---- what the code is read by ---- */

static bool read_memory(void *data, uint64_t address, void *ret, size_t len_bytes)
{
	const struct contexts *x = data;

	return snapshot_read(x->c->stopped, address, ret, len_bytes);
}

static bool find_code(void *data, uint64_t address, struct word_function *ret)
{
	const struct contexts *x = data;
	struct snapshot_function f;

	if (!snapshot_function_at(x->c->stopped, address, &f))
		return false;
	*ret = (struct word_function){f.name, f.start, f.end};
	return true;
}

static struct image *image_of(void *data, uint64_t address)
{
	const struct contexts *x = data;
	const uint32_t module = snapshot_module_at(x->c->stopped, address);

	return module < x->c->stopped->module_count ? x->images[module] : NULL;
}

/* ---- threads ---- */

/* The frame that the context ends in. Helpers of ours may stand above it. */
static struct crash_frame *frame_of(struct crash_thread *t, const struct thread_stop *stop)
{
	const char *name = stop->image ? stop->image->meta.functions[stop->function].link_name : stop->name;
	struct crash_frame *first = NULL;

	for (uint32_t i = 0; i < t->frame_count; i++) {
		struct crash_frame *f = &t->frames[i];

		if (f->machine < &t->machine->frames[stop->frame] || f->is_inlined)
			continue;
		if (!first)
			first = f;
		if (text_equal(f->function, name))
			return f;
		if (f->machine > first->machine + 1)
			break;
	}
	return first;
}

static struct error *note_failure(struct contexts *x, const struct crash_thread *t, struct error *why)
{
	struct error *err;

	if (why->code == ERROR_NO_MEMORY)
		return why;
	err = crash_note(x->c, "thread %d: its calling context is not known: %s", (int)t->machine->tid, why->message);
	error_destroy(why);
	return err;
}

/* No frame is of a function that takes part, and there may be more of them: the pushes are known. */
static struct error *decode_pushes(struct contexts *x, struct crash_thread *t, const struct thread_words *words,
				   struct frame_vec *frames)
{
	const bool is_foreign = words->state.deferred_sp != 0;
	struct context_below below;
	struct error *err = thread_words_decode(&x->reader, words, &below, frames);

	if (!err && is_foreign)
		return context_append_leaf(&x->reader.process, &below, WM_EPOCH_COMPILED, 0, WM_SITE_FOREIGN, frames);
	if (!err)
		err = frame_vec_append(frames, (struct frame){.name = "[not known]", .link_name = "[not known]"});
	return err ? err
		   : crash_note(
			     x->c,
			     "thread %d: what its last push called is not known, since the program counter is in no function that takes part and the stack cannot be read",
			     (int)t->machine->tid);
}

static struct error *decode_words(struct contexts *x, struct crash_thread *t, struct thread_words *words,
				  struct frame_vec *frames)
{
	const struct snapshot_thread *machine = t->machine;
	struct crash_frame *at = t->frame_count ? &t->frames[0] : NULL;
	struct thread_stop stop;
	bool is_found;
	struct error *err =
		thread_stop_find(&x->reader, x->flows, machine->frames, machine->frame_count, words, &stop, &is_found);

	if (err || !at || (!is_found && !machine->cut) || (!is_found && !words->entries.count))
		return err;
	if (is_found) {
		at = frame_of(t, &stop);
		err = thread_stop_decode(&x->reader, &stop, words, frames);
	} else {
		err = decode_pushes(x, t, words, frames);
	}
	if (!err && at)
		err = print(x->c, frames, &at->context);
	return err;
}

static struct error *decode_thread(struct contexts *x, struct crash_thread *t)
{
	struct thread_words words = {0};
	struct frame_vec frames = {0};
	bool is_read;
	struct error *err = thread_words_read(&x->reader, t->machine->thread_pointer,
					      t->machine->tid == x->c->stopped->pid, &words, &is_read);

	if (!err && is_read)
		err = decode_words(x, t, &words, &frames);
	if (err)
		err = note_failure(x, t, err);
	thread_words_deinit(&words);
	frame_vec_deinit(&frames);
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
	struct error *err;

	if (!snapshot_tls_find(c->stopped, state_name, &x.reader.code.state_off))
		return NULL;
	x.reader.code.data = &x;
	x.reader.code.read = read_memory;
	x.reader.code.find = find_code;
	x.reader.image_of = image_of;
	err = stop_flows_create(&x.flows);
	if (!err)
		err = find_images(&x);
	for (uint32_t i = 0; i < c->thread_count && !err && x.reader.process.image_count; i++)
		err = decode_thread(&x, &c->threads[i]);
	if (!err && !x.reader.process.image_count && has_agent(c->stopped))
		err = crash_note(
			c,
			"the process ran under an agent, which has its contexts: its recording has those of samples and events");
	c->notes = crash_builder(c)->notes.items;
	c->note_count = (uint32_t)crash_builder(c)->notes.count;
	stop_flows_destroy(x.flows);
	process_deinit(&x.reader.process);
	free(x.images);
	return err;
}
