/* memory.c - an allocator of powers of two over mmap. Each block has its size in the 16 bytes before it. */
#include "agent/os/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "recorder/sys.h"

enum {
	HEADER_BYTES = 16,
	LEAST_BITS = 5,
	MOST_BITS = 15,
	CHUNK_BYTES = 1 << 20,
};

struct block {
	size_t size_bytes; /* header included */
	struct block *next;
};
_Static_assert(sizeof(struct block) == HEADER_BYTES, "a block's header");

/* Under the agent's lock. */
static struct {
	struct block *unused[MOST_BITS + 1];
	char *chunk;
	size_t chunk_left;
	size_t mapped_bytes;
} memory;

static struct block *block_of(void *at)
{
	return (struct block *)(void *)((char *)at - HEADER_BYTES);
}

/* It is a mapping of its own, whose bytes nobody has had before. */
static bool is_mapping(size_t block_bytes)
{
	return block_bytes > (size_t)1 << MOST_BITS;
}

static void *map(size_t size_bytes)
{
	void *at = wmrt_map_memory(size_bytes);

	memory.mapped_bytes += at ? size_bytes : 0;
	return at;
}

static struct block *carve(size_t size_bytes)
{
	struct block *block;

	if (memory.chunk_left < size_bytes) {
		memory.chunk = map(CHUNK_BYTES);
		memory.chunk_left = memory.chunk ? CHUNK_BYTES : 0;
		if (!memory.chunk)
			return NULL;
	}
	block = (struct block *)(void *)memory.chunk;
	memory.chunk += size_bytes;
	memory.chunk_left -= size_bytes;
	return block;
}

static struct block *take(size_t total)
{
	unsigned int bits = LEAST_BITS;
	struct block *block;

	if (is_mapping(total)) {
		total = (total + 4095) & ~(size_t)4095;
		block = map(total);
		if (block)
			block->size_bytes = total;
		return block;
	}
	while ((size_t)1 << bits < total)
		bits++;
	block = memory.unused[bits];
	if (block)
		memory.unused[bits] = block->next;
	else
		block = carve((size_t)1 << bits);
	if (block)
		block->size_bytes = (size_t)1 << bits;
	return block;
}

static void *alloc(void *state, size_t size_bytes)
{
	struct block *block;

	(void)state;
	if (size_bytes > SIZE_MAX / 2)
		return NULL;
	block = take(size_bytes + HEADER_BYTES);
	return block ? (char *)block + HEADER_BYTES : NULL;
}

static void release(void *state, void *at)
{
	struct block *block = block_of(at);
	unsigned int bits = LEAST_BITS;

	(void)state;
	if (is_mapping(block->size_bytes)) {
		memory.mapped_bytes -= block->size_bytes;
		wmrt_unmap(block, block->size_bytes);
		return;
	}
	while ((size_t)1 << bits < block->size_bytes)
		bits++;
	block->next = memory.unused[bits];
	memory.unused[bits] = block;
}

static void *grow_mapping(struct block *block, size_t total)
{
	long at;

	total = (total + 4095) & ~(size_t)4095;
	at = wmrt_sys6(SYS_mremap, (long)block, (long)block->size_bytes, (long)total, MREMAP_MAYMOVE, 0, 0);
	if (at < 0)
		return NULL;
	block = (struct block *)at; /* NOLINT(performance-no-int-to-ptr) */
	memory.mapped_bytes += total - block->size_bytes;
	block->size_bytes = total;
	return (char *)block + HEADER_BYTES;
}

static void *resize(void *state, void *at, size_t old_bytes, size_t new_bytes)
{
	void *moved;

	if (at && block_of(at)->size_bytes - HEADER_BYTES >= new_bytes)
		return at;
	if (at && is_mapping(block_of(at)->size_bytes))
		return new_bytes <= SIZE_MAX / 2 ? grow_mapping(block_of(at), new_bytes + HEADER_BYTES) : NULL;
	moved = alloc(state, new_bytes);
	if (!moved || !at)
		return moved;
	memcpy(moved, at, old_bytes < new_bytes ? old_bytes : new_bytes);
	release(state, at);
	return moved;
}

const struct allocator agent_allocator = {.alloc = alloc, .resize = resize, .free = release};

size_t agent_memory_bytes(void)
{
	return memory.mapped_bytes - memory.chunk_left;
}

void *agent_alloc(size_t size_bytes)
{
	void *at = alloc(NULL, size_bytes);

	return at && !is_mapping(block_of(at)->size_bytes) ? memset(at, 0, size_bytes) : at;
}

void agent_free(void *block)
{
	if (block)
		release(NULL, block);
}

int agent_reserve(void **items, size_t *capacity, size_t count, size_t item_bytes)
{
	size_t wanted = *capacity ? *capacity : 64;
	char *moved;

	if (count <= *capacity)
		return 1;
	while (wanted < count)
		wanted *= 2;
	moved = resize(NULL, *items, *capacity * item_bytes, wanted * item_bytes);
	if (!moved)
		return 0;
	if (!is_mapping(block_of(moved)->size_bytes))
		memset(moved + *capacity * item_bytes, 0, (wanted - *capacity) * item_bytes);
	*items = moved;
	*capacity = wanted;
	return 1;
}
