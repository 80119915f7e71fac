/*
 * bbmap.c - section .llvm_bb_addr_map, one record a function (u8, u64 and uleb128 numbers):
 *
 *     version u8                        2; 1 has no ids
 *     features u8                       FEATURE_*
 *     [range_count]                     MULTI_RANGE; else one range
 *     for each range { base u64  block_count
 *             for each block { [id]  offset - end of the block before  bytes  BLOCK_* bits } }
 *     [entry_count]                     ENTRY_COUNT
 *     for each block { [frequency]  [successor_count { id probability }] }     FREQUENCY, PROBABILITIES
 *
 * The linker has put addresses in; of a function that it discarded they are 0.
 */
#include "format/bbmap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "base/order.h"
#include "base/vec.h"

enum {
	VERSION_MIN = 1,
	VERSION_MAX = 2,
};

enum {
	FEATURE_ENTRY_COUNT = 1 << 0,
	FEATURE_FREQUENCY = 1 << 1,
	FEATURE_PROBABILITIES = 1 << 2,
	FEATURE_MULTI_RANGE = 1 << 3,
	FEATURE_ALL = (1 << 4) - 1,
};

enum {
	BLOCK_RETURNS = 1 << 0,
	BLOCK_TAIL_CALLS = 1 << 1,
	BLOCK_LANDING_PAD = 1 << 2,
	BLOCK_FALLS_THROUGH = 1 << 3,
	BLOCK_INDIRECT = 1 << 4,
	BLOCK_ALL = (1 << 5) - 1,
};

enum {
	RANGE_MIN_BYTES = 9,
	BLOCK_MIN_BYTES = 3,
	SUCCESSOR_MIN_BYTES = 2,
};

struct named_block {
	uint32_t id;
	uint32_t index;
};

VEC_DECLARE(function_vec, struct bbmap_function);
VEC_DECLARE(range_vec, struct bbmap_range);
VEC_DECLARE(block_vec, struct bbmap_block);
VEC_DECLARE(id_vec, struct named_block);

struct reader {
	struct cursor c;
	struct arena *arena;
	struct function_vec functions;
	struct range_vec ranges;
	struct block_vec blocks; /* of the function at work */
	struct id_vec ids;       /* its blocks' ids; sorted once all are known */
	uint8_t version;
	uint8_t features;
};

void bbmap_deinit(struct bbmap *m)
{
	arena_deinit(&m->arena);
	*m = (struct bbmap){0};
}

static struct error *read_count(struct reader *r, size_t min_bytes, const char *what, uint32_t *ret)
{
	struct cursor at = r->c;
	uint32_t count;
	struct error *err = cursor_uleb32(&r->c, &count);

	if (!err && count > cursor_left(&r->c) / min_bytes)
		err = cursor_error(&at, "%" PRIu32 " %s cannot fit in the %zu bytes left: the section is damaged",
				   count, what, cursor_left(&r->c));
	if (!err)
		*ret = count;
	return err;
}

static struct error *read_version(struct reader *r)
{
	struct cursor at = r->c;
	struct error *err = cursor_u8(&r->c, &r->version);

	if (!err && (r->version < VERSION_MIN || r->version > VERSION_MAX))
		err = cursor_error(
			&at, "version %u of basic block addresses, versions %d and %d are read: build with LLVM 19",
			r->version, VERSION_MIN, VERSION_MAX);
	if (!err)
		err = cursor_u8(&r->c, &r->features);
	if (!err && (r->features & ~FEATURE_ALL || (r->version < 2 && r->features)))
		err = cursor_error(&at, "features 0x%x of basic block addresses are not known: build with LLVM 19",
				   r->features);
	return err;
}

/* *end is where the block before it ends, as an address. */
static struct error *read_block(struct reader *r, uint64_t *end)
{
	struct cursor at = r->c;
	struct named_block name = {.index = (uint32_t)r->blocks.count};
	uint32_t gap, bytes, bits;
	struct bbmap_block b;
	struct error *err = NULL;

	if (r->version >= 2)
		err = cursor_uleb32(&r->c, &name.id);
	else
		name.id = name.index;
	if (!err)
		err = cursor_uleb32(&r->c, &gap);
	if (!err)
		err = cursor_uleb32(&r->c, &bytes);
	if (!err)
		err = cursor_uleb32(&r->c, &bits);
	if (err)
		return err;
	b = (struct bbmap_block){.len_bytes = bytes,
				 .is_landing_pad = (bits & BLOCK_LANDING_PAD) != 0,
				 .falls_through = (bits & BLOCK_FALLS_THROUGH) != 0,
				 .is_end = (bits & (BLOCK_RETURNS | BLOCK_TAIL_CALLS)) != 0};
	if (bits & ~(uint32_t)BLOCK_ALL || __builtin_add_overflow(*end, gap, &b.address) ||
	    __builtin_add_overflow(b.address, bytes, end))
		return cursor_error(&at, "block %zu of a function is not possible: the section is damaged",
				    r->blocks.count);
	err = block_vec_append(&r->blocks, b);
	return err ? err : id_vec_append(&r->ids, name);
}

static struct error *read_range(struct reader *r)
{
	struct bbmap_range range = {.first_block = (uint32_t)r->blocks.count, .function = (uint32_t)r->functions.count};
	struct error *err = cursor_u64(&r->c, &range.start);

	range.end = range.start;
	if (!err)
		err = read_count(r, BLOCK_MIN_BYTES, "blocks", &range.block_count);
	for (uint32_t i = 0; i < range.block_count && !err; i++)
		err = read_block(r, &range.end);
	return err ? err : range_vec_append(&r->ranges, range);
}

static int compare_ids(const void *a, const void *b)
{
	const struct named_block *x = a, *y = b;

	return compare_u64(x->id, y->id);
}

static struct error *sort_ids(struct reader *r, const struct cursor *at)
{
	if (r->ids.count)
		qsort(r->ids.items, r->ids.count, sizeof *r->ids.items, compare_ids);
	for (size_t i = 1; i < r->ids.count; i++)
		if (r->ids.items[i].id == r->ids.items[i - 1].id)
			return cursor_error(at, "two blocks with id %" PRIu32 ": the section is damaged",
					    r->ids.items[i].id);
	return NULL;
}

static struct error *read_successor(struct reader *r, uint32_t *ret)
{
	struct cursor at = r->c;
	struct named_block key = {0};
	const struct named_block *found;
	uint32_t probability;
	struct error *err = cursor_uleb32(&r->c, &key.id);

	if (!err)
		err = cursor_uleb32(&r->c, &probability);
	if (err)
		return err;
	found = bsearch(&key, r->ids.items, r->ids.count, sizeof key, compare_ids);
	if (!found)
		return cursor_error(&at, "a way to block %" PRIu32 ", which is not there: the section is damaged",
				    key.id);
	*ret = found->index;
	return NULL;
}

static struct error *read_successors(struct reader *r, struct bbmap_block *b)
{
	struct error *err = read_count(r, SUCCESSOR_MIN_BYTES, "successors", &b->successor_count);

	if (err)
		return err;
	b->successors = arena_calloc(r->arena, b->successor_count, sizeof *b->successors);
	if (!b->successors)
		return &error_no_memory;
	for (uint32_t i = 0; i < b->successor_count && !err; i++)
		err = read_successor(r, &b->successors[i]);
	return err;
}

static struct error *read_profile(struct reader *r)
{
	uint64_t ignored;
	struct error *err = NULL;

	if (r->features & FEATURE_ENTRY_COUNT)
		err = cursor_uleb128(&r->c, &ignored);
	for (size_t i = 0; i < r->blocks.count && !err; i++) {
		if (r->features & FEATURE_FREQUENCY)
			err = cursor_uleb128(&r->c, &ignored);
		if (!err && r->features & FEATURE_PROBABILITIES)
			err = read_successors(r, &r->blocks.items[i]);
	}
	return err;
}

/* The ranges from first_range on are its own; of a discarded one they go again. */
static struct error *keep_function(struct reader *r, size_t first_range)
{
	struct bbmap_function f = {.block_count = (uint32_t)r->blocks.count,
				   .has_successors = (r->features & FEATURE_PROBABILITIES) != 0};

	if (!r->ranges.items[first_range].start || !r->blocks.count) {
		r->ranges.count = first_range;
		return NULL;
	}
	f.address = r->ranges.items[first_range].start;
	f.blocks = arena_copy(r->arena, r->blocks.items, r->blocks.count, sizeof *f.blocks);
	return f.blocks ? function_vec_append(&r->functions, f) : &error_no_memory;
}

static struct error *read_function(struct reader *r)
{
	struct cursor at = r->c;
	size_t first_range = r->ranges.count;
	uint32_t range_count = 1;
	struct error *err = read_version(r);

	r->blocks.count = 0;
	r->ids.count = 0;
	if (!err && r->features & FEATURE_MULTI_RANGE)
		err = read_count(r, RANGE_MIN_BYTES, "ranges", &range_count);
	if (!err && !range_count)
		err = cursor_error(&at, "a function without a range: the section is damaged");
	for (uint32_t i = 0; i < range_count && !err; i++)
		err = read_range(r);
	if (!err)
		err = sort_ids(r, &at);
	if (!err)
		err = read_profile(r);
	return err ? err : keep_function(r, first_range);
}

/* A function and where it was in the section: ranges name it by that. */
struct placed_function {
	struct bbmap_function f;
	uint32_t before;
};

static int compare_functions(const void *a, const void *b)
{
	const struct placed_function *x = a, *y = b;

	return compare_u64(x->f.address, y->f.address) ?: compare_u64(x->before, y->before);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct bbmap_range *x = a, *y = b;

	return compare_u64(x->start, y->start) ?: compare_u64(x->function, y->function) ?:
	       compare_u64(x->first_block, y->first_block);
}

/* Sorts functions and ranges into the model. */
static struct error *sort_into(struct reader *r, struct bbmap *m)
{
	size_t count = r->functions.count;
	struct placed_function *placed = calloc(count + 1, sizeof *placed);
	uint32_t *now = calloc(count + 1, sizeof *now); /* index of each after sorting */

	m->functions = arena_calloc(r->arena, count + 1, sizeof *m->functions);
	m->ranges = arena_copy(r->arena, r->ranges.items, r->ranges.count, sizeof *m->ranges);
	if (!placed || !now || !m->functions || !m->ranges) {
		free(placed);
		free(now);
		return &error_no_memory;
	}
	for (size_t i = 0; i < count; i++)
		placed[i] = (struct placed_function){r->functions.items[i], (uint32_t)i};
	qsort(placed, count, sizeof *placed, compare_functions);
	for (size_t i = 0; i < count; i++) {
		m->functions[i] = placed[i].f;
		now[placed[i].before] = (uint32_t)i;
	}
	for (size_t i = 0; i < r->ranges.count; i++)
		m->ranges[i].function = now[m->ranges[i].function];
	m->function_count = count;
	m->range_count = r->ranges.count;
	qsort(m->ranges, m->range_count, sizeof *m->ranges, compare_ranges);
	free(placed);
	free(now);
	return NULL;
}

struct error *bbmap_read(const void *bytes, size_t len_bytes, const char *name, struct bbmap *ret)
{
	struct bbmap parsed = {0};
	struct reader r = {.arena = &parsed.arena};
	struct error *err = NULL;

	arena_init(&parsed.arena);
	cursor_init(&r.c, bytes, len_bytes, name);
	while (!err && cursor_left(&r.c))
		err = read_function(&r);
	if (!err)
		err = sort_into(&r, &parsed);
	function_vec_deinit(&r.functions);
	range_vec_deinit(&r.ranges);
	block_vec_deinit(&r.blocks);
	id_vec_deinit(&r.ids);
	if (err)
		bbmap_deinit(&parsed);
	else
		*ret = parsed;
	return err;
}

/* The last range that starts at or before the address; they do not overlap. */
static const struct bbmap_range *find_range(const struct bbmap *m, uint64_t address)
{
	size_t low = COUNT_UP_TO(m->ranges, m->range_count, start, address);

	return low && address < m->ranges[low - 1].end ? &m->ranges[low - 1] : NULL;
}

const struct bbmap_function *bbmap_find(const struct bbmap *m, uint64_t address, uint32_t *ret_block)
{
	const struct bbmap_range *range = find_range(m, address);
	const struct bbmap_function *f = range ? &m->functions[range->function] : NULL;
	const struct bbmap_block *blocks = f ? f->blocks + range->first_block : NULL;
	/* The last block that begins at or before the address; of empty ones none is wanted. */
	size_t low = f ? COUNT_UP_TO(blocks, range->block_count, address, address) : 0;

	if (!low || address - blocks[low - 1].address >= blocks[low - 1].len_bytes)
		return NULL;
	*ret_block = range->first_block + (uint32_t)low - 1;
	return f;
}
