/*
 * count_heap.c - an independent malloc interposer (LD_PRELOAD): totals of calls and bytes in the file COUNT_HEAP names,
 * mapped shared. Written without a look at the heap client: one lock, one table.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "count_heap.h"

#define API __attribute__((visibility("default")))
#define NEXT(name) ((__typeof(&name))dlsym(RTLD_NEXT, #name))

enum {
	SLOTS = 1 << 20,
};

static struct heap_totals *totals;
static struct {
	void *block;
	size_t size;
} *slots;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char early[16384];
static size_t early_used;
static __thread int is_inside;

static void start(void)
{
	const char *path = getenv("COUNT_HEAP");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

	slots = mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd >= 0 && ftruncate(fd, sizeof *totals) == 0)
		totals = mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	else
		totals = mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd >= 0)
		close(fd);
}

static size_t slot_of(void *block)
{
	size_t i = ((uintptr_t)block >> 4) * 0x9e3779b1u % SLOTS;

	while (slots[i].block && slots[i].block != block)
		i = (i + 1) % SLOTS;
	return i;
}

static void added(void *block, size_t size)
{
	size_t i;

	if (!block)
		return;
	pthread_mutex_lock(&mutex);
	if (!totals)
		start();
	i = slot_of(block);
	slots[i].block = block; /* places are not given back: size is marked */
	slots[i].size = size + 1;
	totals->count++;
	totals->bytes += size;
	totals->live += size;
	if (totals->live > totals->peak)
		totals->peak = totals->live;
	pthread_mutex_unlock(&mutex);
}

/* The size + 1, 0 if the block is not known. */
static size_t removed(void *block)
{
	size_t i, size;

	pthread_mutex_lock(&mutex);
	if (!totals)
		start();
	i = slot_of(block);
	size = slots[i].size;
	slots[i].size = 0;
	if (size) {
		totals->freed_count++;
		totals->freed_bytes += size - 1;
		totals->live -= size - 1;
	} else {
		totals->unknown++;
	}
	pthread_mutex_unlock(&mutex);
	return size;
}

static void restored(void *block, size_t size)
{
	size_t i;

	pthread_mutex_lock(&mutex);
	i = slot_of(block);
	slots[i].size = size;
	if (size) {
		totals->freed_count--;
		totals->freed_bytes -= size - 1;
		totals->live += size - 1;
	} else {
		totals->unknown--;
	}
	pthread_mutex_unlock(&mutex);
}

static void *early_alloc(size_t size)
{
	void *block = early + early_used;

	early_used += (size + 15) / 16 * 16;
	return early_used <= sizeof early ? block : NULL;
}

static int is_early(void *block)
{
	return (char *)block >= early && (char *)block < early + sizeof early;
}

API void *malloc(size_t size)
{
	static void *(*next)(size_t);
	void *block;

	if (!next) {
		if (is_inside)
			return early_alloc(size);
		is_inside = 1;
		next = NEXT(malloc);
		is_inside = 0;
	}
	block = next(size);
	added(block, size);
	return block;
}

API void *calloc(size_t n, size_t size)
{
	static void *(*next)(size_t, size_t);
	void *block;

	if (!next) {
		if (is_inside)
			return early_alloc(n * size);
		is_inside = 1;
		next = NEXT(calloc);
		is_inside = 0;
	}
	block = next(n, size);
	added(block, n * size);
	return block;
}

API void free(void *block)
{
	static void (*next)(void *);

	if (!block || is_early(block))
		return;
	if (!next)
		next = NEXT(free);
	removed(block);
	next(block);
}

API void *realloc(void *block, size_t size)
{
	static void *(*next)(void *, size_t);
	size_t was;
	void *moved;

	if (!block)
		return malloc(size);
	if (!next)
		next = NEXT(realloc);
	was = removed(block);
	moved = next(block, size);
	if (!moved && size)
		restored(block, was);
	added(moved, size);
	return moved;
}

API int posix_memalign(void **block, size_t alignment, size_t size)
{
	int rc = NEXT(posix_memalign)(block, alignment, size);

	if (rc == 0)
		added(*block, size);
	return rc;
}

API void *aligned_alloc(size_t alignment, size_t size)
{
	void *block = NEXT(aligned_alloc)(alignment, size);

	added(block, size);
	return block;
}

API void *memalign(size_t alignment, size_t size)
{
	void *block = NEXT(memalign)(alignment, size);

	added(block, size);
	return block;
}

API void *valloc(size_t size)
{
	void *block = NEXT(valloc)(size);

	added(block, size);
	return block;
}

API void *pvalloc(size_t size)
{
	void *block = NEXT(pvalloc)(size);

	added(block, size);
	return block;
}
