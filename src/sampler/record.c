/*
 * record.c - numbers of sites by address, and prefixes.
 *
 * A site is recorded when it is met first: a function by where its FDE begins, and the place in it. Its number is found by image and
 * address, without a lock.
 */
#include "sampler/record.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "native/maps.h"
#include "recorder/code.h"
#include "recorder/config.h"
#include "recorder/index.h"
#include "recorder/sys.h"
#include "recorder/text.h"
#include "sampler/host.h"
#include "recorder/short_lock.h"
#include "waymark/abi.h"

enum {
	PLACES_PER_PAGE = 4096,
	PAGES_MAX = 4096,
	ENTRY_BYTES = 64, /* of the program's entry function */
};

/* A place in the code: of a site, or where a function begins. */
struct place {
	uint64_t address;
	uint32_t image;   /* its number; 0: none */
	uint32_t kind;    /* enum wmk_site_kind; UINT32_MAX: a function */
	const char *name; /* WMK_SITE_FOREIGN: what is called; else NULL */
	uint32_t number;
};

static _Atomic(struct place *) pages[PAGES_MAX];
static uint32_t place_count; /* under the lock; numbers begin at 1 */
static struct wmrt_index index_of;
static _Atomic uint32_t lock;
static uint32_t code_image = WMRT_CODE_NO_IMAGE; /* of code that was made at run time */

static struct place *place_at(uint32_t number)
{
	return atomic_load_explicit(&pages[number / PLACES_PER_PAGE], memory_order_acquire) + number % PLACES_PER_PAGE;
}

static bool is_place(const void *key, uint32_t number)
{
	const struct place *wanted = key, *p = place_at(number);

	return p->address == wanted->address && p->image == wanted->image && p->kind == wanted->kind &&
	       p->name == wanted->name;
}

static uint64_t hash_place(const struct place *p)
{
	return wmrt_hash(p->address, (uint64_t)p->image << 32 | p->kind);
}

static struct place *find_place(const struct place *p)
{
	uint32_t number = wmrt_index_find(&index_of, hash_place(p), is_place, p);

	return number ? place_at(number) : NULL;
}

/* Under the lock. */
static bool add_place(const struct place *p)
{
	uint32_t number = place_count + 1, page = number / PLACES_PER_PAGE;

	if (page >= PAGES_MAX)
		return false;
	if (!atomic_load(&pages[page])) {
		struct place *new = wmrt_map_memory(PLACES_PER_PAGE * sizeof *new);

		if (!new)
			return false;
		atomic_store_explicit(&pages[page], new, memory_order_release);
	}
	*place_at(number) = *p;
	place_count = number;
	return wmrt_index_add(&index_of, hash_place(p), is_place, p, number) != 0;
}

/* ---- under the lock ---- */

/* A virtual machine that writes a jitdump for perf has mapped it. NULL: this one has not. Valid until the next call. */
static const char *find_jitdump(void)
{
	static struct maps_walk walk;
	static struct maps_range range;
	char name[64];
	struct wmrt_text text = {name, sizeof name, 0};
	size_t len, path_len;
	bool is_found = false;

	wmrt_text_add(&text, "/jit-");
	wmrt_text_number(&text, wmrt_getpid(), 10, 1);
	wmrt_text_add(&text, ".dump");
	len = text.len;
	if (!maps_open(&walk))
		return NULL;
	while (!is_found && maps_next(&walk, &range)) {
		path_len = strlen(range.path);
		is_found = path_len >= len && strcmp(range.path + path_len - len, name) == 0;
	}
	maps_close(&walk);
	return is_found ? range.path : NULL;
}

static uint32_t image_record(struct sampler_image *image)
{
	uint32_t record;

	if (!image) {
		if (code_image == WMRT_CODE_NO_IMAGE)
			code_image = host->image(NULL, find_jitdump() ?: "[code]", WMK_IMAGE_CODE);
		return code_image;
	}
	record = atomic_load(&image->record);
	if (!record) {
		record =
			host->image(image->ehdr, image->path ? image->path : wmrt_config()->program, WMK_IMAGE_BINARY) +
			1;
		atomic_store(&image->record, record);
	}
	return record - 1;
}

static uint32_t function_number(struct sampler_image *image, uint64_t start)
{
	struct place p = {start, image ? image->number : 0, UINT32_MAX, NULL, 0};
	const struct place *known = find_place(&p);

	if (known)
		return known->number;
	p.number = host->function(image_record(image), start - (image ? (uintptr_t)image->ehdr : 0), NULL);
	add_place(&p);
	return p.number;
}

static uint32_t new_site(const struct walk_frame *frame, struct place *p)
{
	struct eh_function f;
	uint64_t start = p->address;
	uint32_t function;

	if (frame->image && eh_find(&frame->image->table, start, &f))
		start = f.start;
	function = function_number(frame->image, start);
	p->number = function ? host->site(function, p->kind, (uint32_t)(p->address - start), 0, p->name) : 0;
	if (p->number)
		add_place(p);
	return p->number;
}

/* ---- sites ---- */

/* Of a frame that has called, the address is that of the call's last byte. */
static uint32_t site_of(const struct walk_frame *frame, enum wmk_site_kind kind, const char *name)
{
	struct place p = {frame->pc - (frame->flags & WALK_RETURN), frame->image ? frame->image->number : 0, kind, name,
			  0};
	const struct place *known = find_place(&p);
	uint32_t number;

	if (known)
		return known->number;
	short_lock(&lock);
	known = find_place(&p);
	number = known ? known->number : new_site(frame, &p);
	short_unlock(&lock);
	return number;
}

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
		site = site_of(frame, frame->flags & WALK_RETURN ? WMK_SITE_CALL : WMK_SITE_CAPTURE, NULL);
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

/*
 * How many frames there are without those that run before main and before a thread's function, which are the same everywhere: the C
 * library's between the program's entry and main, and what is outside of the function here that called the thread's; or, where none here did
 * (watch.h), the C library's own. is_thread: the walk ends where a thread begins.
 */
static size_t count_own(const struct walk *walk, bool is_thread)
{
	size_t count = walk->count;
	const struct walk_frame *frames = walk->frames;
	const struct sampler_image *libc = libc_image();

	for (size_t i = count; i > 1; i--) {
		const struct sampler_image *image = frames[i - 1].image;

		if (image && image->is_own)
			return i - 1;
		if (!image || image != libc)
			break;
	}
	if (is_thread)
		count++;
	else if (count <= 2 || frames[count - 1].pc - getauxval(AT_ENTRY) >= ENTRY_BYTES)
		return count;
	for (count--; count > 1 && frames[count - 1].image == libc;)
		count--;
	return count;
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
			    .site = site_of(&walk->frames[first], WMK_SITE_CAPTURE, NULL),
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
	site = prefix == WM_PREFIX_LOST ? 0 : site_of(caller, WMK_SITE_FOREIGN, name);
	if (!site)
		return false;
	prefix = host->intern(prefix, WM_EPOCH_WALKED, id_of(caller), site, 1);
	*ret = (wm_context){.prefix = prefix, .site = WM_SITE_FOREIGN, .epoch = WM_EPOCH_WALKED};
	return prefix != WM_PREFIX_LOST;
}

void record_after_fork(void)
{
	atomic_store(&lock, 0);
}

uint32_t record_thread(const wm_context *creator)
{
	uint32_t prefix = host->intern(creator->prefix, WM_EPOCH_WALKED, creator->id, creator->site, 1);

	return prefix == WM_PREFIX_LOST ? prefix : host->intern(prefix, WM_EPOCH_WALKED, 0, WM_SITE_THREAD, 1);
}
