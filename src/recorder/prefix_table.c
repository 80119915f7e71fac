/*
 * prefix_table.c - the prefix table: nodes (parent, epoch, id, site, run) in NODES chunks of the file, found through an index in
 * memory.
 *
 * A node is written whole, then added to the index; who loses the race for the same key gives its node up (state 2).
 * So no one ever waits for a node that is half-written. A node is never changed: a prefix number means the same for
 * the life of the process and, in its forked children, of theirs.
 */
#include "recorder/prefix_table.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "recorder/chunkdir.h"
#include "recorder/file.h"
#include "recorder/index.h"
#include "recorder/memo.h"
#include "recorder/process.h"
#include "waymark/abi.h"

enum {
	STATE_WHOLE = 1,
	STATE_GIVEN_UP = 2,
};

struct node_key {
	uint64_t id;
	uint32_t parent;
	uint32_t site;
	uint32_t run;
	uint32_t epoch;
};

static struct wmrt_index node_index;
static struct wmrt_memo
	node_memo; /* of the last nodes that were asked for, so that most questions do not read the nodes */
static struct wmrt_chunkdir node_chunks;
/* Nodes claimed so far; in private memory, so that a forked child knows what it inherited. */
static _Atomic uint64_t node_count;
/* There was no room: nothing more is interned. */
static _Atomic bool is_full;

static struct wmk_node *node_at(uint32_t number)
{
	struct wmrt_place place = wmrt_place_of(number, sizeof(struct wmk_node));
	struct wmk_chunk_header *chunk = wmrt_chunkdir_get(&node_chunks, place.order);

	return chunk ? (struct wmk_node *)(void *)wmrt_chunk_body(chunk) + place.i : NULL;
}

static inline bool node_matches(const void *key, uint32_t number)
{
	const struct node_key *k = key;
	const struct wmk_node *node = node_at(number - WM_PREFIX_FIRST);

	return node->id == k->id && node->parent == k->parent && node->site == k->site && node->run == k->run &&
	       node->epoch == k->epoch;
}

static uint64_t node_hash(const struct node_key *k)
{
	uint64_t hash = wmrt_hash(k->id, (uint64_t)k->parent << 32 | k->site);

	return wmrt_hash(hash, (uint64_t)k->epoch << 32 | k->run);
}

/* A node that the parent had not finished when it forked is none of the child's. */
static void copy_nodes(char *to, const char *from, uint32_t len_bytes)
{
	struct wmk_node *out = (struct wmk_node *)(void *)to;
	const struct wmk_node *in = (const struct wmk_node *)(const void *)from;
	uint32_t i;

	for (i = 0; i < len_bytes / sizeof *out; i++) {
		uint32_t state = __atomic_load_n(&in[i].state, __ATOMIC_ACQUIRE);

		if (state == STATE_WHOLE)
			out[i] = in[i];
		out[i].state = state == STATE_WHOLE ? STATE_WHOLE : STATE_GIVEN_UP;
	}
}

static void begin_file(void)
{
	uint64_t count = atomic_load(&node_count);
	uint64_t i = 0;

	for (uint32_t order = 0; i < count && i < UINT32_MAX; order++) {
		struct wmk_chunk_header *chunk = wmrt_chunkdir_get(&node_chunks, order);
		uint64_t capacity = wmrt_chunk_capacity(order, sizeof(struct wmk_node));
		uint64_t n = count - i < capacity ? count - i : capacity;

		if (chunk && !wmrt_file_inherit(chunk, WMK_NODES, wmrt_chunk_units(order), WM_PREFIX_FIRST + i,
						(uint32_t)(n * sizeof(struct wmk_node)), copy_nodes))
			wmrt_file_drop(offsetof(struct wmk_header, dropped_prefixes));
		i += capacity;
	}
}

static const struct wmrt_part part = {.begin_file = begin_file};

/* Makes the chunk that node i lies in. */
static void add_chunk(uint32_t i)
{
	uint32_t order = wmrt_place_of(i, sizeof(struct wmk_node)).order;
	struct wmk_chunk_header *chunk;
	struct wmrt_guard guard;

	wmrt_lock(&guard);
	wmrt_part_add(WMRT_PART_NODES, &part);
	if (!wmrt_chunkdir_get(&node_chunks, order)) {
		chunk = wmrt_file_chunk(WMK_NODES, wmrt_chunk_units(order),
					WM_PREFIX_FIRST + wmrt_chunk_start(order, sizeof(struct wmk_node)), 0);
		if (!chunk || !wmrt_chunkdir_set(&node_chunks, order, chunk))
			atomic_store(&is_full, true);
	}
	wmrt_unlock(&guard);
}

/* Claims a node; NULL with no room. */
static struct wmk_node *node_new(uint32_t *number)
{
	uint64_t i;
	struct wmk_node *node;

	if (atomic_load_explicit(&is_full, memory_order_relaxed) || !wmrt_file_open())
		return NULL;
	i = atomic_fetch_add(&node_count, 1);
	if (i >= UINT32_MAX - WM_PREFIX_FIRST) {
		atomic_store(&is_full, true);
		return NULL;
	}
	*number = (uint32_t)i + WM_PREFIX_FIRST;
	node = node_at((uint32_t)i);
	if (!node) {
		add_chunk((uint32_t)i);
		node = node_at((uint32_t)i);
	}
	return node;
}

static void node_publish(struct wmk_node *node, uint32_t number, uint32_t state)
{
	struct wmrt_place place = wmrt_place_of(number - WM_PREFIX_FIRST, sizeof *node);

	__atomic_store_n(&node->state, state, __ATOMIC_RELEASE);
	wmrt_chunk_raise_used(wmrt_chunkdir_get(&node_chunks, place.order), (place.i + 1) * (uint32_t)sizeof *node);
}

static __attribute__((noinline)) uint32_t intern_new(const struct node_key *key, uint64_t hash)
{
	uint32_t number = 0;
	uint32_t found;
	struct wmk_node *node = node_new(&number);

	if (!node) {
		wmrt_file_drop(offsetof(struct wmk_header, dropped_prefixes));
		return WM_PREFIX_LOST;
	}
	node->id = key->id;
	node->parent = key->parent;
	node->site = key->site;
	node->run = key->run;
	node->epoch = key->epoch;
	node_publish(node, number, STATE_WHOLE);
	found = wmrt_index_add(&node_index, hash, node_matches, key, number);
	if (found == number)
		return number;
	__atomic_store_n(&node->state, STATE_GIVEN_UP, __ATOMIC_RELEASE);
	if (found)
		return found;
	wmrt_file_drop(offsetof(struct wmk_header, dropped_prefixes));
	return WM_PREFIX_LOST;
}

static inline struct wmrt_memo_key memo_key_of(const struct node_key *k)
{
	return (struct wmrt_memo_key){{k->id, (uint64_t)k->parent << 32 | k->site, (uint64_t)k->epoch << 32 | k->run}};
}

/* The upper bits of a product, on which all bits have a say. */
static inline uint64_t memo_hash_of(const struct wmrt_memo_key *key)
{
	return (key->words[0] << 16 ^ key->words[1] ^ key->words[2] << 11) * UINT64_C(0x9e3779b97f4a7c15) >> 48;
}

static __attribute__((noinline)) uint32_t intern(uint32_t parent, uint32_t epoch, uint64_t id, uint32_t site,
						 uint32_t run)
{
	struct node_key key = {id, parent, site, run, epoch};
	struct wmrt_memo_key memo_key = memo_key_of(&key);
	uint64_t hash = node_hash(&key);
	uint32_t number = wmrt_index_find(&node_index, hash, node_matches, &key);

	if (!number)
		number = intern_new(&key, hash);
	if (number != WM_PREFIX_LOST)
		wmrt_memo_set(&node_memo, memo_hash_of(&memo_key), &memo_key, number);
	return number;
}

uint32_t wmrt_intern(uint32_t parent, uint32_t epoch, uint64_t id, uint32_t site, uint32_t run)
{
	struct wmrt_memo_key memo_key = memo_key_of(&(struct node_key){id, parent, site, run, epoch});
	uint32_t number = wmrt_memo_find(&node_memo, memo_hash_of(&memo_key), &memo_key);

	return WMRT_LIKELY(number) ? number : intern(parent, epoch, id, site, run);
}

bool wmrt_prefix_read(uint32_t prefix, struct wmk_node *ret)
{
	uint32_t i = prefix - WM_PREFIX_FIRST;
	const struct wmk_node *node;

	if (prefix < WM_PREFIX_FIRST || i >= atomic_load_explicit(&node_count, memory_order_acquire))
		return false;
	node = node_at(i);
	if (!node || __atomic_load_n(&node->state, __ATOMIC_ACQUIRE) != STATE_WHOLE)
		return false;
	*ret = *node;
	return true;
}
