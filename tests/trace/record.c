/*
 * record.c - appends what happens to the thread's log in the file WMREC_FILE (record.h). Linked into each image; all of them share
 * the file, and a thread has the same log in all.
 *
 * No locks: a thread takes the next place by one instruction, so a signal handler that interrupts it takes the one behind.
 */
#include "record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *file; /* set once; the first of several mappings wins */
static __thread struct wmrec_thread *self;
static __thread struct wmrec_event *events;

__attribute__((noreturn)) static void fail(const char *what)
{
	if (write(2, what, strlen(what)) < 0)
		_exit(98);
	_exit(99);
}

static void map(void)
{
	const char *name = getenv("WMREC_FILE");
	int fd = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	if (fd < 0 || ftruncate(fd, (off_t)WMREC_FILE_BYTES))
		fail("record: cannot open WMREC_FILE\n");
	char *mapped = mmap(NULL, WMREC_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	if (mapped == MAP_FAILED)
		fail("record: cannot map WMREC_FILE\n");
	char *none = NULL;
	if (!__atomic_compare_exchange_n(&file, &none, mapped, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		munmap(mapped, WMREC_FILE_BYTES);
}

static struct wmrec_file *header(void)
{
	if (!__atomic_load_n(&file, __ATOMIC_ACQUIRE))
		map();
	return (struct wmrec_file *)file;
}

__attribute__((noinline)) static void find_thread(void)
{
	struct wmrec_thread *threads = header()->threads;
	uint64_t tid = (uint64_t)syscall(SYS_gettid);
	int i = 0;
	for (; i < WMREC_THREADS; i++) {
		uint64_t owner = 0;
		if (__atomic_compare_exchange_n(&threads[i].tid, &owner, tid, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    owner == tid)
			break;
	}
	if (i == WMREC_THREADS)
		fail("record: too many threads\n");
	events = (struct wmrec_event *)(file + WMREC_LOGS_OFF + (uint64_t)i * WMREC_LOG_BYTES);
	self = &threads[i];
}

static uint64_t add(enum wmrec_kind kind, uint64_t what, uint64_t id)
{
	if (!self)
		find_thread();
	uint64_t n = __atomic_fetch_add(&self->event_count, 1, __ATOMIC_RELAXED);
	if (n >= WMREC_LOG_BYTES / sizeof *events)
		fail("record: the log is full\n");
	struct wmrec_event *e = &events[n];
	e->what = (uint32_t)what;
	e->id = id;
	__atomic_store_n(&e->kind, (uint32_t)kind, __ATOMIC_RELEASE);
	return n + 1;
}

__attribute__((noinline)) static uint64_t add_function(struct wmrec_function *f)
{
	struct wmrec_file *h = header();
	const uint64_t pairs_bytes = 2 * sizeof *f->back * (uint64_t)f->back_count;
	uint64_t len_bytes = sizeof(struct wmrec_record) + pairs_bytes + strlen(f->name) + 1;
	len_bytes = (len_bytes + 15) / 16 * 16;
	uint64_t off = __atomic_fetch_add(&h->names_used_bytes, len_bytes, __ATOMIC_RELAXED) + WMREC_NAMES_OFF;
	if (off + len_bytes > WMREC_LOGS_OFF)
		fail("record: too many functions\n");
	struct wmrec_record *r = (struct wmrec_record *)(file + off);
	r->block_count = f->block_count;
	r->back_count = f->back_count;
	memcpy(r->back, f->back, pairs_bytes);
	strcpy((char *)r->back + pairs_bytes, f->name);
	uint64_t next = __atomic_load_n(&h->functions, __ATOMIC_RELAXED);
	do
		r->next = next;
	while (!__atomic_compare_exchange_n(&h->functions, &next, off, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	__atomic_store_n(&f->number, off, __ATOMIC_RELEASE);
	return off;
}

uint64_t wmrec_enter(struct wmrec_function *f, const char *return_address)
{
	uint64_t number = __atomic_load_n(&f->number, __ATOMIC_ACQUIRE);
	if (!number)
		number = add_function(f);
	return add(WMREC_ENTER, number / 16, (uint64_t)return_address + 8);
}

void wmrec_block(uint64_t activation, uint32_t block)
{
	add(WMREC_BLOCK, block, activation);
}

void wmrec_call(uint64_t activation, uint32_t call)
{
	add(WMREC_CALL, call, activation);
}

void wmrec_end(uint64_t activation, uint32_t how)
{
	add(WMREC_END, how, activation);
}
