/*
 * sites.c - places in a table that only grows, found by hash without a lock.
 */
#include "sampler/walk/sites.h"

#include <stdatomic.h>
#include <string.h>

#include "native/maps.h"
#include "recorder/code.h"
#include "recorder/config.h"
#include "recorder/index.h"
#include "recorder/short_lock.h"
#include "recorder/sys.h"
#include "recorder/text.h"
#include "waymark/recorder.h"

enum {
	PLACES_PER_PAGE = 4096,
	PAGES_MAX = 4096,
};

/* A place in the code: of a site, or where a function begins. */
struct place {
	uint64_t address;
	uint32_t image;   /* its number; 0: none */
	uint32_t kind;    /* enum wmk_site_kind; UINT32_MAX: a function */
	const char *name; /* WMK_SITE_FOREIGN: what is called; else NULL */
	uint32_t number;
};

/* Written by sites_init. */
static const struct wm1_recorder *own;

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
	static _Alignas(64) struct maps_walk walk;
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
			code_image = own->image(NULL, find_jitdump() ?: "[code]", WMK_IMAGE_CODE);
		return code_image;
	}
	record = atomic_load(&image->record);
	if (!record) {
		record = own->image(image->ehdr, image->path ? image->path : wmrt_config()->program, WMK_IMAGE_BINARY) +
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
	p.number = own->function(image_record(image), start - (image ? (uintptr_t)image->ehdr : 0), NULL);
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
	p->number = function ? own->site(function, p->kind, (uint32_t)(p->address - start), 0, p->name) : 0;
	if (p->number)
		add_place(p);
	return p->number;
}

/* ---- sites ---- */

/* Of a frame that has called, the address is that of the call's last byte. */
uint32_t sites_of_frame(const struct walk_frame *frame, enum wmk_site_kind kind, const char *name)
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

void sites_init(const struct wm1_recorder *recorder)
{
	own = recorder;
}

void sites_after_fork(void)
{
	atomic_store(&lock, 0);
}
