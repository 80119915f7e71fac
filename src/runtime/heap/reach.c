/*
 * reach.c - marks blocks from the roots on. Ranges that are no roots, such as the recorder's own memory, are kept sorted, and are cut out of
 * each map of /proc/self/maps:
 *
 *      a map        |----------------------------------------------------------|
 *      no roots          [block]   [block][block]      [arena of glibc        ]
 *      looked at    |----|     |---|            |------|                      |
 *
 * Between blocks of the heap of sbrk and of the arenas of glibc lie freed blocks, whose old pointers are none. An arena is known by its
 * head (glibc/malloc/arena.c, struct heap_info) at a multiple of 64 MB below a block whose own head says so. The main arena, in glibc's variables,
 * has addresses of freed chunks; where a chunk begins there may still be the last 8 bytes of the block before it (malloc.c, struct malloc_chunk).
 */
#include "runtime/heap/reach.h"

#include <fcntl.h>
#include <stdbool.h>

#include "recorder/sys.h"

enum {
	BUFFER_BYTES = 1 << 16,
	MAPS_BYTES = 1 << 14,
	PAGE_BYTES = 4096,
	RANGES_MAX = 2048,
	DIGIT_BITS = 16,
	DIGITS = 1 << DIGIT_BITS,
	LAST = UINT32_MAX,   /* next: of the first block of the list */
	ARENA_FLAG = 1 << 2, /* in the size in front of a block: it is of an arena */
};

static const uintptr_t ARENA_BYTES = UINT64_C(64) << 20; /* HEAP_MAX_SIZE */
static const uint64_t PAGE_IS_THERE = UINT64_C(3) << 62; /* in memory, or swapped out */

struct range {
	uintptr_t low, high;
};

/* One mapping. */
struct scratch {
	uint64_t words[BUFFER_BYTES / sizeof(uint64_t)];
	uint64_t pages[BUFFER_BYTES / PAGE_BYTES];
	char maps[MAPS_BYTES];
	struct range ranges[RANGES_MAX];
	uint32_t counts[DIGITS];
};

struct look {
	struct reach_block *blocks;
	size_t count;
	struct scratch *scratch;
	size_t range_count;
	long memory, pagemap; /* descriptors */
	uint32_t list;        /* of blocks that are to be looked through: a number + 1, or LAST */
	bool is_of_libc;      /* what is looked through */
	bool is_unread;
};

static size_t blocks_bytes(size_t count)
{
	return 2 * (count + 1) * sizeof(struct reach_block);
}

struct reach_block *wmrt_reach_blocks_create(size_t count)
{
	return wmrt_map_memory(blocks_bytes(count));
}

void wmrt_reach_blocks_destroy(struct reach_block *blocks, size_t count)
{
	wmrt_unmap(blocks, blocks_bytes(count));
}

/* By 16 bits of the address after 16 bits: there are 48. */
static void sort(struct reach_block *blocks, size_t count, uint32_t *counts)
{
	struct reach_block *from = blocks, *to = blocks + count + 1;

	for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct reach_block *was = from;
		size_t at = 0;

		for (size_t i = 0; i < DIGITS; i++)
			counts[i] = 0;
		for (size_t i = 0; i < count; i++)
			counts[from[i].address >> shift & (DIGITS - 1)]++;
		for (size_t i = 0; i < DIGITS; i++) {
			size_t n = counts[i];

			counts[i] = (uint32_t)at;
			at += n;
		}
		for (size_t i = 0; i < count; i++)
			to[counts[from[i].address >> shift & (DIGITS - 1)]++] = from[i];
		from = to;
		to = was;
	}
}

static inline uintptr_t end_of(const struct reach_block *b)
{
	return b->address + b->size_bytes + !b->size_bytes;
}

/* The first block that ends behind the address; count: there is none. */
static size_t block_behind(const struct look *l, uintptr_t address)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (end_of(&l->blocks[middle]) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static long read_at(long fd, void *to, size_t len_bytes, uint64_t off)
{
	return wmrt_sys6(SYS_pread64, fd, (long)to, (long)len_bytes, (long)off, 0, 0);
}

/* glibc's chunk behind the one that the block is in. */
static uintptr_t next_chunk(const struct look *l, const struct reach_block *b)
{
	uint64_t size;

	if (read_at(l->memory, &size, sizeof size, b->address - sizeof size) != sizeof size)
		return 0;
	return b->address - 2 * sizeof size + (size & ~UINT64_C(7));
}

static void look_at(struct look *l, uint64_t word)
{
	size_t i;

	if (!l->count || word < l->blocks[0].address || word >= end_of(&l->blocks[l->count - 1]))
		return;
	i = block_behind(l, word);
	if (i == l->count || word < l->blocks[i].address || l->blocks[i].next)
		return;
	if (l->is_of_libc && word == next_chunk(l, &l->blocks[i]))
		return;
	l->blocks[i].next = l->list;
	l->list = (uint32_t)i + 1;
}

/* Whole words of [low, high), which are at most a buffer. A page that cannot be read is passed over. */
static void read_words(struct look *l, uintptr_t low, uintptr_t high)
{
	while (low < high) {
		long n = read_at(l->memory, l->scratch->words, high - low, low);

		if (n <= 0) {
			l->is_unread |= n == 0;
			low = (low | (PAGE_BYTES - 1)) + 1;
			continue;
		}
		for (size_t i = 0; i < (size_t)n / sizeof(uint64_t); i++)
			look_at(l, l->scratch->words[i]);
		low += (size_t)n;
		low += -low & (sizeof(uint64_t) - 1);
	}
}

static void look_through(struct look *l, uintptr_t low, uintptr_t high)
{
	uint64_t *pages = l->scratch->pages;

	low += -low & (sizeof(uint64_t) - 1);
	high &= ~(uintptr_t)(sizeof(uint64_t) - 1);
	while (low < high) {
		uintptr_t first = low / PAGE_BYTES, end = (low | (BUFFER_BYTES - 1)) + 1;
		size_t count;
		long n;

		end = end < high ? end : high;
		count = (end + PAGE_BYTES - 1) / PAGE_BYTES - first;
		n = high - low < PAGE_BYTES ? 0
					    : read_at(l->pagemap, pages, count * sizeof *pages, first * sizeof *pages);
		for (size_t i = 0; i < count; i++) {
			uintptr_t page = (first + i) * PAGE_BYTES, page_end = page + PAGE_BYTES;

			page = page < low ? low : page;
			if ((size_t)(n < 0 ? 0 : n) < (i + 1) * sizeof *pages || pages[i] & PAGE_IS_THERE)
				read_words(l, page, page_end < end ? page_end : end);
		}
		low = end;
	}
}

/* ---- what are no roots ---- */

static void add_range(struct look *l, uintptr_t low, uintptr_t high)
{
	struct range *ranges = l->scratch->ranges;
	size_t i = l->range_count;

	if (low >= high || i == RANGES_MAX)
		return;
	l->range_count++;
	for (; i && ranges[i - 1].low > low; i--)
		ranges[i] = ranges[i - 1];
	ranges[i] = (struct range){low, high};
}

/* The tables of blocks, what the blocks were copied to, stacks that recorders run on, and what else they have copied. */
static void add_own(struct look *l)
{
	uintptr_t low, high;

	for (size_t i = 0; wmrt_own_memory_at(i, &low, &high); i++)
		add_range(l, low, high);
}

/* The heads of arenas of glibc, in a map. */
static void add_arenas(struct look *l, uintptr_t map_low, uintptr_t map_high)
{
	for (uintptr_t low = (map_low + ARENA_BYTES - 1) & -ARENA_BYTES; low < map_high; low += ARENA_BYTES) {
		size_t i = block_behind(l, low);
		uint64_t head[3], size;

		if (i == l->count || l->blocks[i].address - low >= ARENA_BYTES ||
		    read_at(l->memory, &size, sizeof size, l->blocks[i].address - sizeof size) != sizeof size ||
		    !(size & ARENA_FLAG) || read_at(l->memory, head, sizeof head, low) != sizeof head)
			continue;
		/* The arena, the heap before it of the same arena, the size of this one. */
		size = head[2];
		if (size % PAGE_BYTES == 0 && size <= ARENA_BYTES && l->blocks[i].address < low + size &&
		    low + size <= map_high)
			add_range(l, low, low + size);
	}
}

/* The parts of a map that are in no block and no range. */
static void look_at_map(struct look *l, uintptr_t low, uintptr_t high)
{
	while (low < high) {
		size_t block = block_behind(l, low), range = 0;
		uintptr_t end = high;

		while (range < l->range_count && l->scratch->ranges[range].high <= low)
			range++;
		if (range < l->range_count && l->scratch->ranges[range].low <= low) {
			low = l->scratch->ranges[range].high;
			continue;
		}
		if (block < l->count && l->blocks[block].address <= low) {
			low = end_of(&l->blocks[block]);
			continue;
		}
		if (range < l->range_count && l->scratch->ranges[range].low < end)
			end = l->scratch->ranges[range].low;
		if (block < l->count && l->blocks[block].address < end)
			end = l->blocks[block].address;
		look_through(l, low, end);
		low = end;
	}
}

/* ---- the maps of the process ---- */

struct map {
	uintptr_t low, high;
	bool is_root, is_of_sbrk, is_of_libc;
};

static uintptr_t read_hex(const char **at, const char *end)
{
	uintptr_t value = 0;

	for (; *at < end; (*at)++) {
		char c = **at;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uintptr_t)(c - 'a' + 10);
		else
			break;
	}
	return value;
}

static bool ends_with(const char *from, const char *end, const char *what, size_t len)
{
	if ((size_t)(end - from) < len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (end[(ptrdiff_t)i - (ptrdiff_t)len] != what[i])
			return false;
	return true;
}

/* "LOW-HIGH rwxp OFF DEV INODE PATH" */
static struct map read_map(const char *line, const char *end)
{
	static const char heap[] = " [heap]", libc[] = "/libc.so.6";
	const char *at = line;
	struct map map = {0};

	map.low = read_hex(&at, end);
	at += at < end;
	map.high = read_hex(&at, end);
	map.is_root = end - at > 3 && at[1] == 'r' && at[2] == 'w';
	map.is_of_sbrk = ends_with(line, end, heap, sizeof heap - 1);
	map.is_of_libc = ends_with(line, end, libc, sizeof libc - 1);
	return map;
}

/* Calls visit with each map. False: there is no such file. */
static bool each_map(struct look *l, void (*visit)(struct look *l, const struct map *map, uintptr_t stack),
		     uintptr_t stack)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	char *text = l->scratch->maps;
	size_t len = 0;

	if (fd < 0)
		return false;
	for (;;) {
		long n = wmrt_sys3(SYS_read, fd, (long)(text + len), (long)(MAPS_BYTES - len));
		size_t at = 0, end;

		if (n <= 0)
			break;
		len += (size_t)n;
		for (;; at = end + 1) {
			struct map map;

			for (end = at; end < len && text[end] != '\n'; end++)
				;
			if (end == len)
				break;
			map = read_map(text + at, text + end);
			visit(l, &map, stack);
		}
		/* A path has at most 4096 bytes, its line no more than a buffer. */
		for (size_t i = at; i < len; i++)
			text[i - at] = text[i];
		len -= at;
		if (len == MAPS_BYTES)
			len = 0;
	}
	wmrt_sys3(SYS_close, fd, 0, 0);
	return true;
}

static void find_ranges(struct look *l, const struct map *map, uintptr_t stack)
{
	if (map->low <= stack && stack < map->high)
		add_range(l, map->low, stack);
	if (!map->is_root)
		return;
	if (map->is_of_sbrk)
		add_range(l, map->low, map->high);
	else
		add_arenas(l, map->low, map->high);
}

static void find_roots(struct look *l, const struct map *map, uintptr_t stack)
{
	(void)stack;
	l->is_of_libc = map->is_of_libc;
	if (map->is_root)
		look_at_map(l, map->low, map->high);
}

/* Besides this one. */
static bool has_threads(const struct look *l)
{
	struct {
		uint64_t inode;
		int64_t off;
		unsigned short len_bytes;
		unsigned char type;
		char name[];
	} const *entry;
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	size_t tasks = 0;
	long n;

	if (fd < 0)
		return true;
	while ((n = wmrt_sys3(SYS_getdents64, fd, (long)l->scratch->words, BUFFER_BYTES)) > 0) {
		for (long at = 0; at < n; at += entry->len_bytes) {
			entry = (const void *)((const char *)l->scratch->words + at);
			tasks += entry->name[0] != '.';
		}
	}
	wmrt_sys3(SYS_close, fd, 0, 0);
	return tasks != 1;
}

static enum wmk_reach mark(struct look *l, uintptr_t stack)
{
	sort(l->blocks, l->count, l->scratch->counts);
	add_own(l);
	if (!each_map(l, find_ranges, stack) || !each_map(l, find_roots, stack))
		return WMK_REACH_NO_READING;
	l->is_of_libc = false;
	while (l->list != LAST) {
		const struct reach_block *b = &l->blocks[l->list - 1];

		l->list = b->next;
		look_through(l, b->address, b->address + b->size_bytes);
	}
	if (l->is_unread)
		return WMK_REACH_NO_READING;
	return has_threads(l) ? WMK_REACH_THREADS : WMK_REACH_TOLD;
}

enum wmk_reach wmrt_reach_mark(struct reach_block *blocks, size_t count, uintptr_t stack)
{
	struct look l = {.blocks = blocks, .count = count, .list = LAST};
	enum wmk_reach state;

	if (count >= LAST)
		return WMK_REACH_NO_MEMORY;
	l.scratch = wmrt_map_memory(sizeof *l.scratch);
	if (!l.scratch)
		return WMK_REACH_NO_MEMORY;
	l.memory = wmrt_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/mem", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	l.pagemap = wmrt_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	state = l.memory < 0 ? WMK_REACH_NO_READING : mark(&l, stack);
	if (l.memory >= 0)
		wmrt_sys3(SYS_close, l.memory, 0, 0);
	if (l.pagemap >= 0)
		wmrt_sys3(SYS_close, l.pagemap, 0, 0);
	wmrt_unmap(l.scratch, sizeof *l.scratch);
	return state;
}
