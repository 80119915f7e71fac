/*
 * helper.c - a thread by the clone system call. Its memory:
 *
 *      .---------.--------------------------------.---------------------.
 *      |  stack  | variables of the two libraries | record of a thread  |
 *      '---------'--------------------------------'---------------------'
 *                                                 ^ %fs
 *
 * Variables are below %fs at the same distance in each thread; the record has what compiled code reads there: its own address, and the guards.
 */
#include "sampler/helper.h"

#include <linux/futex.h>
#include <linux/sched.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "recorder/process.h"
#include "recorder/sys.h"
#include "recorder/thread.h"
#include "sampler/host.h"

enum {
	STACK_BYTES = 64 << 10,
	RECORD_BYTES = 4096, /* the C library's is smaller */
	PAGE_BYTES = 4096,
	PARTS = 2,
	WAIT_NS = 1000000000,
	SLICE_NS = 10000000,
};

/* What compiled code knows of the record (tcbhead_t of glibc). */
struct record {
	const void *self;
	const void *unused;
	const void *thread;
	uint64_t state[2];
	uint64_t stack_guard;
	uint64_t pointer_guard;
};

/* Initial values of one library's variables. */
struct part {
	uintptr_t off; /* below %fs */
	const void *bytes;
	size_t len_bytes;
};

/* Written by helper_init, and by who starts it. */
static struct part parts[PARTS];
static uint32_t part_count;
static size_t room_bytes; /* for variables */
static char *memory;
static void (*run)(void);
/* The kernel writes it: the thread's number, and 0 when it has ended. */
static _Atomic uint32_t tid;
static _Atomic uint32_t is_stopping;

long helper_clone(uint64_t flags, void *stack, _Atomic uint32_t *parent_tid, _Atomic uint32_t *child_tid, void *tls,
		  void (*fn)(void)) __attribute__((visibility("hidden")));
/* The new thread has no caller. */
__asm__(".text\n"
	".hidden helper_clone\n"
	".type helper_clone, @function\n"
	"helper_clone:\n"
	"	.cfi_startproc\n"
	"	movq %rcx, %r10\n"
	"	movl $56, %eax\n"
	"	syscall\n"
	"	testq %rax, %rax\n"
	"	jz 1f\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	.cfi_def_cfa rsp, 8\n"
	"1:	xorl %ebp, %ebp\n"
	"	callq *%r9\n"
	"	xorl %edi, %edi\n"
	"	movl $60, %eax\n"
	"	syscall\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	".size helper_clone, . - helper_clone\n");

static bool has_address(const struct dl_phdr_info *info, const void *address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && (uintptr_t)address - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			return true;
	}
	return false;
}

/*
 * The loader does not know where this thread has the variables of a library that was opened late. They are then this library's, which are all zero at
 * first, and near the recorder's.
 */
static void add_part(const struct dl_phdr_info *info, const ElfW(Phdr) * p)
{
	struct part *part = &parts[part_count++];

	if (info->dlpi_tls_data)
		part->off = (uintptr_t)__builtin_thread_pointer() - (uintptr_t)info->dlpi_tls_data;
	else
		part->off = (uintptr_t)__builtin_thread_pointer() - (uintptr_t)&wmrt_local + p->p_memsz;
	part->bytes = (const void *)(info->dlpi_addr + p->p_vaddr); /* NOLINT(performance-no-int-to-ptr) */
	part->len_bytes = p->p_filesz;
	if (part->off > room_bytes)
		room_bytes = part->off;
}

static int look_at(struct dl_phdr_info *info, size_t len_bytes, void *data)
{
	if (len_bytes < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof info->dlpi_tls_data ||
	    (!has_address(info, (const void *)look_at) && !has_address(info, host)))
		return 0;
	for (int i = 0; i < info->dlpi_phnum && part_count < PARTS; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_TLS)
			continue;
		if (!info->dlpi_tls_data && (p->p_filesz || host_is_program()))
			*(bool *)data = false;
		add_part(info, p);
	}
	return 0;
}

bool helper_init(void)
{
	bool is_known = true;

	if (memory)
		return true;
	part_count = 0;
	room_bytes = 0;
	dl_iterate_phdr(look_at, &is_known);
	if (!is_known)
		return false;
	room_bytes = (room_bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
	memory = wmrt_map_memory(STACK_BYTES + room_bytes + RECORD_BYTES);
	return memory != NULL;
}

static struct record *new_record(void)
{
	char *fs = memory + STACK_BYTES + room_bytes;
	struct record *record = (void *)fs;

	memset(memory + STACK_BYTES, 0, room_bytes + RECORD_BYTES);
	for (uint32_t i = 0; i < part_count; i++)
		memcpy(fs - parts[i].off, parts[i].bytes, parts[i].len_bytes);
	record->self = record->thread = record;
	__asm__("movq %%fs:40, %0" : "=r"(record->stack_guard));
	__asm__("movq %%fs:48, %0" : "=r"(record->pointer_guard));
	return record;
}

/* The copy of the process's descriptors keeps pipes open. */
static void begin(void)
{
	if (wmrt_sys3(SYS_close_range, 0, UINT32_MAX, 0) != 0)
		return;
	wmrt_sys3(SYS_prctl, PR_SET_NAME, (long)"waymark", 0);
	host->own_files();
	run();
}

bool helper_start(void (*fn)(void))
{
	enum {
		FLAGS = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
			CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
	};
	uint64_t mask;
	long rc;

	helper_wait();
	if (!memory || atomic_load(&tid))
		return false;
	atomic_store(&is_stopping, 0);
	run = fn;
	mask = wmrt_block_signals();
	rc = helper_clone(FLAGS, memory + STACK_BYTES, &tid, &tid, new_record(), begin);
	wmrt_unblock_signals(mask);
	return rc > 0;
}

uint32_t helper_tid(void)
{
	return atomic_load(&tid);
}

static void wait_while(_Atomic uint32_t *word, uint32_t value, uint64_t ns, int private)
{
	struct timespec limit = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	wmrt_sys6(SYS_futex, (long)word, FUTEX_WAIT | private, value, (long)&limit, 0, 0);
}

void helper_sleep(uint64_t ns)
{
	wait_while(&is_stopping, 0, ns, FUTEX_PRIVATE_FLAG);
}

bool helper_is_to_end(void)
{
	return atomic_load(&is_stopping);
}

void helper_stop(void)
{
	if (!atomic_load(&tid))
		return;
	atomic_store(&is_stopping, 1);
	wmrt_sys6(SYS_futex, (long)&is_stopping, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
}

void helper_wait(void)
{
	uint32_t number;

	/* The kernel wakes who waits for the other kind of futex. */
	for (int i = 0; i < WAIT_NS / SLICE_NS && (number = atomic_load(&tid)) && atomic_load(&is_stopping); i++)
		wait_while(&tid, number, SLICE_NS, 0);
}

void helper_forget(void)
{
	atomic_store(&tid, 0);
}
