/*
 * trace.c - records which sequences of blocks the activations of each function went through, in the file WMTRACE_FILE.
 *
 * All processes and images of a run share one mapping of the file, so nothing is lost when they are killed, and sums over
 * processes come by themselves. Without locks: lists grow by compare-and-swap, counts by atomic adds; signal handlers may
 * interrupt anything. In a forked child the activations that the forking thread has open begin once more.
 */
#include "trace.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	OPEN_MAX = 256, /* functions that one thread has had open */
};

/* Of one thread: activations begun less those finished. */
struct open {
	uint64_t record;
	int64_t count;
};

static char *file; /* set once; the first of several mappings wins */
static __thread struct open *open_functions;

__attribute__((noreturn)) static void fail(const char *what)
{
	if (write(2, what, strlen(what)) < 0)
		_exit(98);
	_exit(99);
}

static void *map(void)
{
	char *mapped = __atomic_load_n(&file, __ATOMIC_ACQUIRE);
	if (mapped)
		return mapped;
	const char *name = getenv("WMTRACE_FILE");
	int fd = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	if (fd < 0 || ftruncate(fd, (off_t)WMTRACE_FILE_BYTES))
		fail("trace: cannot open WMTRACE_FILE\n");
	mapped = mmap(NULL, WMTRACE_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	if (mapped == MAP_FAILED)
		fail("trace: cannot map WMTRACE_FILE\n");
	char *none = NULL;
	if (!__atomic_compare_exchange_n(&file, &none, mapped, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		munmap(mapped, WMTRACE_FILE_BYTES);
		mapped = none;
	}
	return mapped;
}

static void *at(uint64_t off)
{
	return file + off;
}

static uint64_t take(uint64_t len_bytes)
{
	struct wmtrace_file *header = map();
	len_bytes = (len_bytes + 7) / 8 * 8;
	uint64_t off = __atomic_fetch_add(&header->used_bytes, len_bytes, __ATOMIC_RELAXED) + sizeof *header;
	if (off + len_bytes > WMTRACE_FILE_BYTES)
		fail("trace: the file is full\n");
	return off;
}

static struct wmtrace_record *record_of(struct wmtrace_function *f)
{
	struct wmtrace_file *header = map();
	uint64_t off = __atomic_load_n(&f->record, __ATOMIC_ACQUIRE);
	if (off)
		return at(off);
	uint64_t fresh = 0;
	uint64_t head = __atomic_load_n(&header->functions, __ATOMIC_ACQUIRE);
	for (;;) {
		for (off = head; off; off = ((struct wmtrace_record *)at(off))->next)
			if (!strcmp(((struct wmtrace_record *)at(off))->name, f->name))
				break;
		if (off)
			break;
		if (!fresh) {
			fresh = take(sizeof(struct wmtrace_record) + strlen(f->name) + 1);
			strcpy(((struct wmtrace_record *)at(fresh))->name, f->name);
		}
		((struct wmtrace_record *)at(fresh))->next = head;
		if (__atomic_compare_exchange_n(&header->functions, &head, fresh, 0, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
			off = fresh;
			break;
		}
	}
	__atomic_store_n(&f->record, off, __ATOMIC_RELEASE);
	return at(off);
}

static uint64_t child_of(uint64_t *first, uint64_t block)
{
	uint64_t fresh = 0;
	uint64_t head = __atomic_load_n(first, __ATOMIC_ACQUIRE);
	for (;;) {
		for (uint64_t off = head; off; off = ((struct wmtrace_node *)at(off))->next)
			if (((struct wmtrace_node *)at(off))->block == block)
				return off;
		if (!fresh) {
			fresh = take(sizeof(struct wmtrace_node));
			((struct wmtrace_node *)at(fresh))->block = block;
		}
		((struct wmtrace_node *)at(fresh))->next = head;
		if (__atomic_compare_exchange_n(first, &head, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return fresh;
	}
}

static void add_open(struct wmtrace_record *record, int64_t n)
{
	if (!open_functions) {
		void *fresh = mmap(NULL, OPEN_MAX * sizeof *open_functions, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (fresh == MAP_FAILED)
			fail("trace: no memory\n");
		struct open *none = NULL;
		if (!__atomic_compare_exchange_n(&open_functions, &none, fresh, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			munmap(fresh, OPEN_MAX * sizeof *open_functions);
	}
	uint64_t key = (uint64_t)((char *)record - file);
	for (uint64_t i = 0; i < OPEN_MAX; i++) {
		struct open *o = &open_functions[(key / 8 + i) % OPEN_MAX];
		uint64_t seen = 0;
		if (__atomic_load_n(&o->record, __ATOMIC_RELAXED) != key &&
		    !__atomic_compare_exchange_n(&o->record, &seen, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
		    seen != key)
			continue;
		__atomic_fetch_add(&o->count, n, __ATOMIC_RELAXED);
		return;
	}
	fail("trace: too many functions in one thread\n");
}

static void begin_in_child(void)
{
	for (int i = 0; open_functions && i < OPEN_MAX; i++)
		if (open_functions[i].record)
			__atomic_fetch_add(&((struct wmtrace_record *)at(open_functions[i].record))->begun,
					   (uint64_t)open_functions[i].count, __ATOMIC_RELAXED);
}

__attribute__((constructor(101))) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, begin_in_child);
}

void wmtrace_enter(struct wmtrace_activation *a, struct wmtrace_function *f)
{
	struct wmtrace_record *record = record_of(f);
	a->node = 0;
	add_open(record, 1);
	__atomic_fetch_add(&record->begun, 1, __ATOMIC_RELAXED);
}

static void count(uint64_t node)
{
	__atomic_fetch_add(&((struct wmtrace_node *)at(node))->count, 1, __ATOMIC_RELAXED);
}

/* What was under way when the call returned again was left where it was. */
void wmtrace_again(struct wmtrace_activation *a, struct wmtrace_function *f)
{
	if (a->node) {
		count(a->node);
		add_open(record_of(f), -1);
		__atomic_fetch_add(&record_of(f)->finished, 1, __ATOMIC_RELAXED);
	}
	wmtrace_enter(a, f);
}

static int is_back(const struct wmtrace_function *f, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < f->back_count; i++)
		if (f->back[2 * i] == from && f->back[2 * i + 1] == to)
			return 1;
	return 0;
}

void wmtrace_block(struct wmtrace_activation *a, struct wmtrace_function *f, uint32_t block)
{
	struct wmtrace_record *record = record_of(f);
	if (a->node && is_back(f, a->from, block)) {
		count(a->node);
		a->node = 0;
	}
	uint64_t *first = a->node ? &((struct wmtrace_node *)at(a->node))->first : &record->first;
	a->node = child_of(first, block);
	__atomic_fetch_add(&((struct wmtrace_node *)at(a->node))->entered, 1, __ATOMIC_RELAXED);
	a->from = block;
}

void wmtrace_end(struct wmtrace_activation *a, struct wmtrace_function *f, uint32_t how)
{
	struct wmtrace_record *record = record_of(f);
	if (!a->node)
		fail("trace: the end of no path\n");
	count(a->node);
	a->node = 0;
	if (how == WMTRACE_JUMP)
		return;
	add_open(record, -1);
	__atomic_fetch_add(&record->finished, 1, __ATOMIC_RELAXED);
}
