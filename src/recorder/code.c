/*
 * code.c - the tables of recorded code: functions, sites, and functions, calls and commits of epochs.
 *
 * A table is a list of chunks of records of one size and a count, which is in private memory. A chunk is of the file, or memory
 * that the file takes over when it is made (wmrt_file_inherit): before there is a file, and in a forked child that has none yet.
 * Such a child shares the chunks with its parent, which goes on in them, so it first makes the chunk its own into which it
 * appends (wmrt_file_own).
 *
 * Records refer to earlier ones of other tables. So the tables are copied in that order, and what fails once fails ever after.
 */
#include "recorder/code.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "recorder/chunkdir.h"
#include "recorder/clock.h"
#include "recorder/config.h"
#include "recorder/file.h"
#include "recorder/image.h"
#include "recorder/process.h"
#include "recorder/strtab.h"

struct table {
	struct wmrt_chunkdir *chunks;
	uint64_t count; /* whole records */
	enum wmk_kind kind;
	uint32_t record_bytes;
	uint32_t first;         /* number of the first record; of sites each chunk has its own */
	bool is_last_inherited; /* the chunk that the next record goes into is of another process, too */
};

/* Under the lock, in the order in which they refer to each other. */
enum {
	FUNCTIONS,
	SITES,
	EPOCH_FUNCTIONS,
	EPOCH_EDGES,
	EPOCHS,
	TABLES,
};

static struct wmrt_chunkdir dirs[TABLES];
#define TABLE(number, of, record) \
	[number] = {.chunks = &dirs[number], .kind = WMK_##number, .record_bytes = sizeof(struct record), .first = of}
static struct table tables[TABLES] = {
	TABLE(FUNCTIONS, 1, wmk_function),
	TABLE(SITES, 0, wmk_site),
	TABLE(EPOCH_FUNCTIONS, 0, wmk_epoch_function),
	TABLE(EPOCH_EDGES, 0, wmk_epoch_edge),
	TABLE(EPOCHS, 0, wmk_epoch),
};

/* Under the lock. */
static bool is_closed;      /* something failed */
static uint64_t drop_count; /* here, and before the fork in the processes that this one comes from */
/* Written under the lock by who calls begin and end, and in a forked child; read by who may call. */
static bool is_batch;
static struct wmrt_guard batch_guard;

static void fail(void)
{
	is_closed = true;
	drop_count++;
	wmrt_file_drop(offsetof(struct wmk_header, dropped_code));
}

/* How many of the first `count` records of the table are in the chunk of that order. */
static uint32_t count_in(const struct table *t, uint32_t order)
{
	uint64_t before = wmrt_chunk_start(order, t->record_bytes);
	uint64_t n = t->count <= before ? 0 : t->count - before;
	uint32_t capacity = wmrt_chunk_capacity(order, t->record_bytes);

	return n < capacity ? (uint32_t)n : capacity;
}

static bool has_header(const struct wmrt_chunk *chunk)
{
	return chunk && atomic_load(&chunk->header);
}

/* False: not all of it found room. */
static bool copy_table(struct table *t)
{
	struct wmrt_chunk *chunk;

	for (uint32_t order = 0; has_header(chunk = wmrt_chunkdir_at(t->chunks, order)); order++)
		if (!wmrt_file_inherit(chunk->header, t->kind, wmrt_chunk_units(order), chunk->first,
				       count_in(t, order) * t->record_bytes, NULL))
			return false;
	t->is_last_inherited = false;
	return true;
}

static void begin_file(void)
{
	struct wmk_header *header = wmrt_file_header();

	__atomic_fetch_add(&header->dropped_code, drop_count, __ATOMIC_RELAXED);
	for (int i = 0; i < TABLES; i++)
		if (!copy_table(&tables[i])) {
			fail();
			break;
		}
}

static void after_fork(void)
{
	is_batch = false;
	for (int i = 0; i < TABLES; i++)
		tables[i].is_last_inherited = true;
}

static const struct wmrt_part part = {after_fork, begin_file};

static void take_lock(struct wmrt_guard *guard)
{
	wmrt_check_fork(); /* ends what another thread had begun in the parent */
	if (is_batch)
		return;
	wmrt_config();
	wmrt_lock(guard);
	wmrt_part_add(WMRT_PART_CODE, &part);
}

static void give_lock(const struct wmrt_guard *guard)
{
	if (!is_batch)
		wmrt_unlock(guard);
}

void wmrt_code_begin(void)
{
	take_lock(&batch_guard);
	is_batch = true;
}

void wmrt_code_end(void)
{
	if (!is_batch)
		return;
	is_batch = false;
	wmrt_unlock(&batch_guard);
}

/* The number of the first record of a new chunk. Those of a whole chunk of sites are taken at once, so that images that are
 * registered in between take none out of their middle. */
static bool first_number(const struct table *t, uint32_t order, uint32_t *ret)
{
	if (t->kind == WMK_SITES)
		*ret = wmrt_image_take_sites(wmrt_chunk_capacity(order, t->record_bytes));
	else
		*ret = t->first + (uint32_t)wmrt_chunk_start(order, t->record_bytes);
	return t->kind != WMK_SITES || *ret != 0;
}

/* The chunk of the next record; NULL with no room. */
static struct wmrt_chunk *last_chunk(struct table *t)
{
	struct wmrt_place place = wmrt_place_of(t->count, t->record_bytes);
	uint32_t order = place.order, units = wmrt_chunk_units(order), first;
	struct wmrt_chunk *chunk = wmrt_chunkdir_at(t->chunks, order);
	struct wmk_chunk_header *header;

	if (has_header(chunk) && t->is_last_inherited &&
	    !wmrt_file_own(chunk->header, units, chunk->first, place.i * t->record_bytes))
		return NULL;
	t->is_last_inherited = false;
	if (has_header(chunk))
		return chunk;
	if (!first_number(t, order, &first))
		return NULL;
	header = wmrt_file_chunk_or_memory(t->kind, units, first);
	chunk = header ? wmrt_chunkdir_set(t->chunks, order, header) : NULL;
	if (chunk)
		chunk->first = first;
	return chunk;
}

/* Appends a record, whose last word is its state. False, and counted: no room. *number: of the record. */
static bool append(struct table *t, const void *record, uint32_t *number)
{
	uint32_t state_off = t->record_bytes - (uint32_t)sizeof(uint32_t);
	uint32_t i = wmrt_place_of(t->count, t->record_bytes).i;
	struct wmrt_chunk *chunk;
	char *place;

	if (is_closed || t->count >= UINT32_MAX - WMK_CHUNK_BYTES || (!wmrt_file_header() && !wmrt_file_run()))
		chunk = NULL;
	else
		chunk = last_chunk(t);
	if (!chunk) {
		fail();
		return false;
	}
	place = wmrt_chunk_body(chunk->header) + (size_t)i * t->record_bytes;
	memcpy(place, record, state_off);
	__atomic_store_n((uint32_t *)(void *)(place + state_off), 1, __ATOMIC_RELEASE);
	wmrt_chunk_raise_used(chunk->header, (i + 1) * t->record_bytes);
	*number = (uint32_t)chunk->first + i;
	t->count++;
	return true;
}

/* Under the lock. The record of that number, as it was appended; NULL: there is none. */
static void *find_record(struct table *t, uint32_t number)
{
	struct wmrt_chunk *chunk;

	for (uint32_t order = 0; has_header(chunk = wmrt_chunkdir_at(t->chunks, order)); order++)
		if (number >= chunk->first && number - chunk->first < count_in(t, order))
			return wmrt_chunk_body(chunk->header) + (number - chunk->first) * t->record_bytes;
	return NULL;
}

/* Takes the lock, and appends unless something that the record needs is missing. False on failure. */
static bool add(struct table *t, const void *record, bool is_known)
{
	struct wmrt_guard guard;
	uint32_t number;
	bool is_added;

	take_lock(&guard);
	if (!is_known)
		fail();
	is_added = is_known && append(t, record, &number);
	give_lock(&guard);
	return is_added;
}

/* Under the lock. s may be NULL. False: the string found no room. */
static bool add_string(const char *s, uint32_t *ret)
{
	*ret = s ? wmrt_string_locked(s) : WMK_NO_STRING;
	return !s || *ret != WMRT_STRING_NONE;
}

uint32_t wmrt_code_image(const void *ehdr, const char *path, enum wmk_image_kind kind)
{
	const struct wmrt_image *image;
	struct wmrt_guard guard;

	take_lock(&guard);
	image = is_closed ? NULL : wmrt_image_recorded_locked(ehdr, path, kind);
	if (!image)
		fail();
	give_lock(&guard);
	return image ? image->number : WMRT_CODE_NO_IMAGE;
}

/* record: all but the strings, which are the method's. */
static uint32_t add_function(struct wmk_function *record, const struct wmrt_method *strings)
{
	struct wmrt_guard guard;
	uint32_t number = 0;

	take_lock(&guard);
	if (is_closed || record->image == WMRT_CODE_NO_IMAGE || !add_string(strings->name, &record->name) ||
	    !add_string(strings->owner, &record->owner) || !add_string(strings->descriptor, &record->descriptor) ||
	    !add_string(strings->file, &record->file))
		fail();
	else if (!append(&tables[FUNCTIONS], record, &number))
		number = 0;
	give_lock(&guard);
	return number;
}

uint32_t wmrt_code_function(uint32_t image, uint64_t address, const char *name)
{
	return add_function(&(struct wmk_function){.address = address, .image = image},
			    &(struct wmrt_method){.name = name});
}

uint32_t wmrt_code_method(uint32_t image, const struct wmrt_method *method)
{
	return add_function(&(struct wmk_function){.image = image, .line = method->line}, method);
}

bool wmrt_code_method_renew(uint32_t function, uint32_t image, const struct wmrt_method *method)
{
	struct wmk_function new = {.image = image, .line = method->line}, *record;
	struct wmrt_guard guard;
	bool ret;

	take_lock(&guard);
	record = find_record(&tables[FUNCTIONS], function);
	ret = record && image != WMRT_CODE_NO_IMAGE && add_string(method->name, &new.name) &&
	      add_string(method->owner, &new.owner) && add_string(method->descriptor, &new.descriptor) &&
	      add_string(method->file, &new.file);
	if (ret)
		memcpy(record, &new, offsetof(struct wmk_function, state));
	give_lock(&guard);
	return ret;
}

void wmrt_code_site_set_line(uint32_t site, uint32_t line)
{
	struct wmrt_guard guard;
	struct wmk_site *record;

	take_lock(&guard);
	record = find_record(&tables[SITES], site);
	if (record)
		record->line = line;
	give_lock(&guard);
}

/* record: all but the name. */
static uint32_t add_site(struct wmk_site *record, const char *name)
{
	struct wmrt_guard guard;
	uint32_t number = 0;

	take_lock(&guard);
	if (is_closed || !record->function || !add_string(name, &record->name))
		fail();
	else if (!append(&tables[SITES], record, &number))
		number = 0;
	give_lock(&guard);
	return number;
}

uint32_t wmrt_code_site(uint32_t function, enum wmk_site_kind kind, uint32_t position, uint32_t flags, const char *name)
{
	return add_site(&(struct wmk_site){.function = function, .kind = kind, .position = position, .flags = flags},
			name);
}

uint32_t wmrt_code_method_site(uint32_t method, enum wmk_site_kind kind, uint32_t position, uint32_t line,
			       const char *name)
{
	return add_site(&(struct wmk_site){.function = method, .kind = kind, .position = position, .line = line}, name);
}

bool wmrt_code_epoch_function(uint32_t epoch, uint32_t function, uint64_t contexts, uint64_t restart, uint32_t flags)
{
	const struct wmk_epoch_function record = {
		.contexts = contexts, .restart = restart, .epoch = epoch, .function = function, .flags = flags};

	return add(&tables[EPOCH_FUNCTIONS], &record, function != 0);
}

bool wmrt_code_epoch_edge(uint32_t epoch, uint32_t site, uint32_t callee, enum wmk_edge_kind kind, uint64_t addend)
{
	const struct wmk_epoch_edge record = {
		.addend = addend, .epoch = epoch, .site = site, .callee = callee, .kind = kind};

	return add(&tables[EPOCH_EDGES], &record, site != 0 && callee != 0);
}

static bool commit(const struct wmk_epoch *epoch)
{
	struct wmk_epoch record = *epoch;

	record.start_ns = wmrt_now_ns();
	return add(&tables[EPOCHS], &record, true);
}

bool wmrt_code_epoch_commit(uint32_t epoch, uint32_t function_count, uint32_t edge_count)
{
	return commit(&(struct wmk_epoch){.epoch = epoch, .function_count = function_count, .edge_count = edge_count});
}

bool wmrt_code_epoch_commit_ranks(uint32_t epoch, uint32_t base, uint32_t function_count, uint32_t edge_count)
{
	return commit(&(struct wmk_epoch){.epoch = epoch,
					  .function_count = function_count,
					  .edge_count = edge_count,
					  .base = base,
					  .flags = WMK_EPOCH_RANKS});
}
