/*
 * mapping.c - remembers which pages are mappings of a recording, and replaces them by memory.
 *
 *      tops[address >> 34]        leaf: 16 GiB of addresses, a bit a page
 *     .--------------------.     .---------------------------------------.
 *     | NULL               |     | is_file    page is mapped from a file |
 *     | leaf            ---|---->| is_memory  page was, and is memory now|
 *     | ...                |     '---------------------------------------'
 *     '--------------------'
 *
 * A thread that faults while another one repairs finds its page in is_memory and just goes on. All changes are made under a lock of
 * their own, with signals blocked: a repair must never put memory over a place that was unmapped meanwhile and is the program's now.
 * The lock is in the page that a fork wipes (process.h). The general lock may be held by the thread that faults, and is not taken here.
 */
#include "recorder/mapping.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "recorder/file.h"
#include "recorder/process.h"
#include "recorder/sys.h"

enum {
	PAGE_SHIFT = 12,
	LEAF_SHIFT = 34,
	ADDRESS_BITS = 47,
	TOPS = 1 << (ADDRESS_BITS - LEAF_SHIFT),
	LEAF_PAGES = 1 << (LEAF_SHIFT - PAGE_SHIFT),
	WORDS = LEAF_PAGES / 64,
};

struct leaf {
	_Atomic uint64_t is_file[WORDS];
	_Atomic uint64_t is_memory[WORDS];
};

/* Writer: who holds the lock. Never freed. */
static _Atomic(struct leaf *) tops[TOPS];

struct held {
	uint64_t signal_mask;
	_Atomic uint32_t *word;
};

/* The kernel blocks SIGBUS while its handler repairs; the other signals' handlers may touch a mapping, too. */
static void lock(struct held *held)
{
	uint32_t free = 0;

	held->signal_mask = wmrt_block_signals();
	held->word = &atomic_load_explicit(&wmrt_process.page, memory_order_acquire)->mapping_lock;
	while (!atomic_compare_exchange_weak_explicit(held->word, &free, 1, memory_order_acquire,
						      memory_order_relaxed)) {
		free = 0;
		wmrt_sys3(SYS_sched_yield, 0, 0, 0);
	}
}

static void unlock(const struct held *held)
{
	atomic_store_explicit(held->word, 0, memory_order_release);
	wmrt_unblock_signals(held->signal_mask);
}

static struct leaf *leaf_of(uintptr_t address)
{
	return address >> ADDRESS_BITS ? NULL : atomic_load(&tops[address >> LEAF_SHIFT]);
}

static struct leaf *leaf_make(uintptr_t address)
{
	struct leaf *leaf = leaf_of(address);

	if (leaf || address >> ADDRESS_BITS)
		return leaf;
	leaf = wmrt_map_memory(sizeof *leaf);
	atomic_store(&tops[address >> LEAF_SHIFT], leaf);
	return leaf;
}

static bool has(const _Atomic uint64_t *bits, uintptr_t address)
{
	uint32_t page = (uint32_t)(address >> PAGE_SHIFT) % LEAF_PAGES;

	return atomic_load(&bits[page / 64]) >> page % 64 & 1;
}

static void set(_Atomic uint64_t *bits, uintptr_t address, bool is_set)
{
	uint32_t page = (uint32_t)(address >> PAGE_SHIFT) % LEAF_PAGES;
	uint64_t bit = UINT64_C(1) << page % 64;

	if (is_set)
		atomic_fetch_or(&bits[page / 64], bit);
	else
		atomic_fetch_and(&bits[page / 64], ~bit);
}

/* Under the lock. False: without memory for it the pages are not known. */
static bool note(void *at, size_t len_bytes, bool is_file)
{
	uintptr_t address = (uintptr_t)at, end = address + len_bytes;

	for (; address < end; address += 1 << PAGE_SHIFT) {
		struct leaf *leaf = is_file ? leaf_make(address) : leaf_of(address);

		if (!leaf && is_file)
			return false;
		if (!leaf)
			continue;
		set(leaf->is_file, address, is_file);
		set(leaf->is_memory, address, false);
	}
	return true;
}

void *wmrt_mapping_new(void *at, size_t len_bytes, int fd, uint64_t off)
{
	struct held held;
	void *mapped;

	lock(&held);
	mapped = wmrt_map(at, len_bytes, 1, fd, off);
	/* There is nothing in the file to be read ahead, only pages of zeros to be made that may never be used. */
	if (mapped)
		wmrt_sys3(SYS_madvise, (long)mapped, (long)len_bytes, MADV_RANDOM);
	if (mapped && !note(mapped, len_bytes, true)) {
		note(mapped, len_bytes, false);
		if (at)
			wmrt_map(at, len_bytes, 0, -1, 0);
		else
			wmrt_unmap(mapped, len_bytes);
		mapped = NULL;
	}
	unlock(&held);
	return mapped;
}

void wmrt_mapping_drop(void *at, size_t len_bytes)
{
	struct held held;

	if (!at)
		return;
	lock(&held);
	note(at, len_bytes, false);
	wmrt_unmap(at, len_bytes);
	unlock(&held);
}

void wmrt_mapping_move(void *from, void *to, size_t len_bytes)
{
	struct leaf *leaf;
	struct held held;
	bool is_file;

	lock(&held);
	leaf = leaf_of((uintptr_t)from);
	is_file = leaf && has(leaf->is_file, (uintptr_t)from);
	note(from, len_bytes, false);
	wmrt_sys6(SYS_mremap, (long)from, (long)len_bytes, (long)len_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (long)to, 0);
	note(to, len_bytes, is_file);
	unlock(&held);
}

void wmrt_mapping_clear(void *at, size_t len_bytes)
{
	struct held held;

	lock(&held);
	note(at, len_bytes, false);
	wmrt_map(at, len_bytes, 0, -1, 0);
	unlock(&held);
}

/* Under the lock: the pages of one word, a run of neighbours at a time. */
static void clear_word(struct leaf *leaf, uint32_t word, uintptr_t base)
{
	uint64_t bits = atomic_load(&leaf->is_file[word]);

	for (uint32_t first = 0, end; first < 64; first = end + 1) {
		uint64_t run = 0;

		for (end = first; end < 64 && bits >> end & 1; end++)
			run |= UINT64_C(1) << end;
		/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
		if (!run || !wmrt_map((void *)(base + ((uintptr_t)first << PAGE_SHIFT)),
				      (size_t)(end - first) << PAGE_SHIFT, 0, -1, 0))
			continue;
		atomic_fetch_and(&leaf->is_file[word], ~run);
		atomic_fetch_or(&leaf->is_memory[word], run);
	}
}

/* Under the lock. */
static void clear_all(void)
{
	for (uintptr_t top = 0; top < TOPS; top++) {
		struct leaf *leaf = atomic_load(&tops[top]);

		for (uint32_t word = 0; leaf && word < WORDS; word++)
			clear_word(leaf, word, top << LEAF_SHIFT | (uintptr_t)word << (PAGE_SHIFT + 6));
	}
}

void wmrt_mapping_clear_all(void)
{
	struct held held;

	lock(&held);
	clear_all();
	unlock(&held);
}

bool wmrt_mapping_repair(uintptr_t address)
{
	struct leaf *leaf = leaf_of(address);
	struct held held;
	bool is_repaired;

	if (!leaf || !(has(leaf->is_file, address) || has(leaf->is_memory, address)))
		return false;
	lock(&held);
	if (has(leaf->is_file, address)) {
		wmrt_file_lost();
		clear_all();
	}
	is_repaired = has(leaf->is_memory, address);
	unlock(&held);
	return is_repaired;
}
