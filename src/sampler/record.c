/* record.c - prefixes: each frame is pushed on that of its caller. */
#include "sampler/record.h"

#include <stdatomic.h>
#include <sys/auxv.h>

#include "sampler/host.h"
#include "sampler/walk/sites.h"
#include "waymark/abi.h"

enum {
	ENTRY_BYTES = 64, /* of the program's entry function */
};

/* Of this library, or of the program's runtime. */
static bool is_ours(const struct walk_frame *frame)
{
	return frame->image && (frame->image->is_own || host_has_code(frame->pc - (frame->flags & WALK_RETURN)));
}

static uint64_t id_of(const struct walk_frame *frame)
{
	return frame->flags & WALK_GUESSED ? WM_WALKED_GUESSED : 0;
}

static uint32_t push(const struct walk_frame *frame, uint32_t prefix)
{
	uint32_t site;

	/* What is interrupted in this library was called from the frame before. */
	if (!is_ours(frame)) {
		site = sites_of_frame(frame, frame->flags & WALK_RETURN ? WMK_SITE_CALL : WMK_SITE_CAPTURE, NULL);
		if (!site)
			return WM_PREFIX_LOST;
		prefix = host->intern(prefix, WM_EPOCH_WALKED, id_of(frame), site, 1);
	}
	if (frame->flags & WALK_SIGNAL && prefix != WM_PREFIX_LOST)
		prefix = host->intern(prefix, WM_EPOCH_WALKED, 0, WM_SITE_SIGNAL, 1);
	return prefix;
}

/* It stays where it is. */
static const struct sampler_image *libc_image(void)
{
	static _Atomic(const struct sampler_image *) known;
	const struct sampler_image *image = atomic_load_explicit(&known, memory_order_relaxed);

	if (!image) {
		image = sampler_image_at((uintptr_t)getauxval);
		atomic_store_explicit(&known, image, memory_order_relaxed);
	}
	return image;
}

/* Frames of a walk, from the outermost one on. */
struct frames {
	const uint64_t *pc;
	struct sampler_image *const *image;
	ptrdiff_t step_bytes; /* to the next frame's */
	size_t count;
};

static const struct sampler_image *image_of(const struct frames *f, size_t i)
{
	return *(struct sampler_image *const *)(const void *)((const char *)f->image + (ptrdiff_t)i * f->step_bytes);
}

/*
 * How many of the outermost frames run before main and before a thread's function, and are the same everywhere: the C library's between the
 * program's entry and main, and what is outside of the function here that called the thread's; or, where none here did (watch.h), the C
 * library's own. is_thread: the walk ends where a thread begins.
 */
static size_t count_outer(const struct frames *f, bool is_thread)
{
	const struct sampler_image *libc = libc_image();
	size_t outer = 0;

	for (size_t i = 0; i + 1 < f->count; i++) {
		const struct sampler_image *image = image_of(f, i);

		if (image && image->is_own)
			return i + 1;
		if (!image || image != libc)
			break;
	}
	if (!is_thread) {
		if (f->count <= 2 || *f->pc - getauxval(AT_ENTRY) >= ENTRY_BYTES)
			return 0;
		outer = 1;
	}
	while (outer + 1 < f->count && image_of(f, outer) == libc)
		outer++;
	return outer;
}

static size_t count_own(const struct walk *walk, bool is_thread)
{
	const struct walk_frame *outermost = &walk->frames[walk->count - 1];
	struct frames f = {&outermost->pc, &outermost->image, -(ptrdiff_t)sizeof *outermost, walk->count};

	return walk->count - count_outer(&f, is_thread);
}

/* How many of the outermost frames were the last walk's, and their prefix. */
static size_t recall(const struct walk *walk, size_t first, size_t count, uint32_t root, struct record_memory *memory,
		     uint32_t *prefix)
{
	size_t same = 0;

	*prefix = root;
	if (root != memory->root)
		memory->count = 0;
	memory->root = root;
	for (size_t i = count; i-- > first + 1 && same < memory->count; same++) {
		const struct record_known *known = &memory->known[same];

		if (known->pc != walk->frames[i].pc || known->image != walk->frames[i].image ||
		    known->flags != walk->frames[i].flags)
			break;
		*prefix = known->prefix;
	}
	memory->count = same;
	return same;
}

/* The prefix of what is outside of the frame `first`. */
static uint32_t push_callers(const struct walk *walk, size_t first, size_t count, uint32_t root,
			     struct record_memory *memory)
{
	uint32_t prefix;
	size_t same = recall(walk, first, count, root, memory, &prefix);

	for (size_t i = count - same; i-- > first + 1;) {
		const struct walk_frame *frame = &walk->frames[i];

		prefix = push(frame, prefix);
		if (prefix == WM_PREFIX_LOST)
			break;
		memory->known[memory->count++] = (struct record_known){frame->pc, frame->image, frame->flags, prefix};
	}
	return prefix;
}

bool record_walk(const struct walk *walk, uint32_t root, struct record_memory *memory, wm_context *ret)
{
	size_t count = count_own(walk, root == WM_PREFIX_THREAD), first = 0;
	uint32_t prefix;

	/* A walk from a call into this library begins here. */
	while (first + 1 < count && is_ours(&walk->frames[first]))
		first++;
	prefix = push_callers(walk, first, count, root, memory);
	if (prefix == WM_PREFIX_LOST)
		return false;
	*ret = (wm_context){.id = id_of(&walk->frames[first]),
			    .prefix = prefix,
			    .site = sites_of_frame(&walk->frames[first], WMK_SITE_CAPTURE, NULL),
			    .epoch = WM_EPOCH_WALKED};
	return ret->site != 0;
}

bool record_call(const struct walk *walk, uintptr_t return_address, const char *name, uint32_t root,
		 struct record_memory *memory, wm_context *ret)
{
	size_t count = count_own(walk, root == WM_PREFIX_THREAD), first = 0;
	const struct walk_frame *caller;
	uint32_t prefix, site;

	while (first < walk->count && walk->frames[first].pc != return_address)
		first++;
	if (first == walk->count)
		return false;
	/* What runs before main and before a thread's function calls, too. */
	if (first >= count)
		count = first + 1;
	caller = &walk->frames[first];
	prefix = push_callers(walk, first, count, root, memory);
	site = prefix == WM_PREFIX_LOST ? 0 : sites_of_frame(caller, WMK_SITE_FOREIGN, name);
	if (!site)
		return false;
	prefix = host->intern(prefix, WM_EPOCH_WALKED, id_of(caller), site, 1);
	*ret = (wm_context){.prefix = prefix, .site = WM_SITE_FOREIGN, .epoch = WM_EPOCH_WALKED};
	return prefix != WM_PREFIX_LOST;
}

/* ---- of a trail ---- */

enum {
	FUNCTION_SHIFT = 56, /* above addresses */
	PLAIN_CALL = 0xff,   /* no function of the allocator */
};

/* The prefix of a frame that has called, or of its call of the function `name`. */
static uint32_t new_prefix(const struct trail_frame *frame, const char *name, uint32_t below)
{
	struct walk_frame f = {frame->row.pc, frame->row.image, WALK_RETURN};
	uint32_t site;

	if (!name)
		return push(&f, below);
	site = sites_of_frame(&f, WMK_SITE_FOREIGN, name);
	return site ? host->intern(below, WM_EPOCH_WALKED, 0, site, 1) : WM_PREFIX_LOST;
}

/* A handler that leaves by siglongjmp in between leaves none there. */
static inline void put_call(struct trail_call *place, uint64_t call, uint32_t below, uint32_t prefix)
{
	__atomic_store_n(&place->call, 0, __ATOMIC_RELAXED);
	atomic_signal_fence(memory_order_seq_cst);
	place->below = below;
	place->prefix = prefix;
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_store_n(&place->call, call, __ATOMIC_RELAXED);
}

static inline uint32_t find_call(const struct trail_call *set, uint64_t call, uint32_t below)
{
	for (int i = 0; i < TRAIL_WAYS; i++)
		if (set[i].call == call && set[i].below == below)
			return set[i].prefix;
	return 0;
}

/* With signals blocked. */
static void add_call(struct trail_call *set, uint64_t call, uint32_t below, uint32_t prefix)
{
	for (int i = TRAIL_WAYS - 1; i > 0; i--)
		set[i] = set[i - 1];
	*set = (struct trail_call){call, below, prefix};
}

/* Of a frame in an image that may go: another one may be there later. */
static uint32_t prefix_in_image(struct trail *t, const struct trail_frame *frame, uint64_t call, const char *name,
				uint32_t below, bool may_make)
{
	struct trail_next *next = trail_next(t, call, below);
	uint32_t prefix;

	if (next->call == call && next->below == below && next->image == frame->row.image)
		return next->prefix;
	prefix = may_make ? new_prefix(frame, name, below) : 0;
	if (prefix && prefix != WM_PREFIX_LOST)
		*next = (struct trail_next){call, frame->row.image, below, prefix};
	return prefix;
}

/* Of the frame `at`. function: a number of it, with a name; PLAIN_CALL without. 0: it is not known, and may not be made. */
static inline uint32_t prefix_of(struct trail *t, size_t at, uint32_t function, const char *name, uint32_t below,
				 bool may_make)
{
	const struct trail_frame *frame = &t->frames[at];
	uint64_t call = frame->row.pc | (uint64_t)function << FUNCTION_SHIFT;
	uint64_t path = function == PLAIN_CALL ? frame->path : trail_path(frame->path, function);
	struct trail_call *near = trail_near(t, at, path), *set;
	uint32_t prefix;

	if (near->call == call && near->below == below)
		return near->prefix;
	if (frame->row.may_go)
		return prefix_in_image(t, frame, call, name, below, may_make);
	set = trail_calls(t, path);
	prefix = find_call(set, call, below);
	if (!prefix && may_make) {
		prefix = new_prefix(frame, name, below);
		if (prefix != WM_PREFIX_LOST)
			add_call(set, call, below, prefix);
	}
	if (prefix && prefix != WM_PREFIX_LOST)
		put_call(near, call, below, prefix);
	return prefix;
}

/* Of another root, or with other frames that are left out, all prefixes are others. Returns from which frame on they are not known. */
static size_t settle_outer(struct trail *t, uint32_t root)
{
	size_t from = t->kept, outer = t->outer;

	if (t->kept < t->outer + 2) {
		struct frames f = {&t->frames->row.pc, &t->frames->row.image, sizeof *t->frames, t->count};

		outer = count_outer(&f, root == WM_PREFIX_THREAD);
	}
	if (root != t->root || outer != t->outer)
		from = 0;
	t->root = root;
	t->outer = outer;
	/* The innermost frame of the last walk had no prefix; that of this one may have one, of another call from the same place. */
	if (from && !t->frames[from - 1].prefix)
		from--;
	return from < t->count ? from : t->count - 1;
}

enum record_result record_trail(struct trail *t, uint32_t root, uint32_t function, const char *name, bool may_make,
				wm_context *ret)
{
	size_t from = settle_outer(t, root), i;
	uint32_t prefix = from ? t->frames[from - 1].prefix : root;

	for (i = from; i + 1 < t->count; i++) {
		if (i >= t->outer)
			prefix = prefix_of(t, i, PLAIN_CALL, NULL, prefix, may_make);
		/* What is known so far is not looked at again. */
		t->kept = i;
		if (!prefix)
			return RECORD_NEW;
		if (prefix == WM_PREFIX_LOST) {
			t->count = 0;
			return RECORD_LOST;
		}
		t->frames[i].prefix = prefix;
	}
	t->kept = i;
	prefix = prefix_of(t, i, function, name, prefix, may_make);
	*ret = (wm_context){.prefix = prefix, .site = WM_SITE_FOREIGN, .epoch = WM_EPOCH_WALKED};
	return !prefix ? RECORD_NEW : prefix == WM_PREFIX_LOST ? RECORD_LOST : RECORD_OK;
}

uint32_t record_thread(const wm_context *creator)
{
	bool is_in_task = creator->epoch != WM_EPOCH_WALKED; /* it is a node already */
	uint32_t prefix = is_in_task ? creator->prefix
				     : host->intern(creator->prefix, WM_EPOCH_WALKED, creator->id, creator->site, 1);

	return prefix == WM_PREFIX_LOST ? prefix : host->intern(prefix, WM_EPOCH_WALKED, 0, WM_SITE_THREAD, 1);
}
