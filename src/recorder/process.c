/*
 * process.c - fork detection, the lock, the state of the process and of each thread.
 *
 * Forks are noticed lazily, by a page that the kernel wipes in the child: so a raw clone() is noticed too, and a child
 * that only calls exec pays nothing. A child of vfork shares the parent's memory, page included, and is taken for the
 * parent. Where the kernel cannot wipe (before 4.14) the process id is compared instead; there a child of vfork that
 * records is taken for a forked one, and the parent goes on in a further file.
 */
#include "recorder/process.h"

#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

#include "recorder/client.h"
#include "recorder/sys.h"
#include "recorder/thread.h"

/* is_alive stays 0 in this one: wmrt_fork_slow then compares process ids. */
static struct wmrt_fork_page fallback_page;

struct wmrt_process wmrt_process = {.page = &fallback_page};
_Thread_local struct wmrt_local wmrt_local __attribute__((tls_model("initial-exec")));

static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	wmrt_sys6(SYS_futex, (long)word, op | FUTEX_PRIVATE_FLAG, value, 0, 0, 0);
}

static _Atomic uint32_t *lock_word(void)
{
	return &atomic_load_explicit(&wmrt_process.page, memory_order_acquire)->lock;
}

/* The three-state futex lock (Drepper, "Futexes are tricky", mutex 2). */
static void lock_take(_Atomic uint32_t *word)
{
	uint32_t was = 0;

	if (atomic_compare_exchange_strong_explicit(word, &was, 1, memory_order_acquire, memory_order_relaxed))
		return;
	if (was != 2)
		was = atomic_exchange_explicit(word, 2, memory_order_acquire);
	while (was != 0) {
		futex(word, FUTEX_WAIT, 2);
		was = atomic_exchange_explicit(word, 2, memory_order_acquire);
	}
}

#ifndef WMRT_TEXT
#define WMRT_TEXT ".text"
#endif

/* An unwinder passes at every instruction: what compilers make of these themselves has no call frame information between push and pop. */
__asm__(".pushsection " WMRT_TEXT "\n"
	".globl wmrt_stop_steps, wmrt_step_again\n"
	".hidden wmrt_stop_steps, wmrt_step_again\n"
	".type wmrt_stop_steps, @function\n"
	".type wmrt_step_again, @function\n"
	"wmrt_stop_steps:\n"
	"	.cfi_startproc\n"
	"	xorl %eax, %eax\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	testb $1, 1(%rsp)\n" /* the trap flag */
	"	jnz 1f\n"
	"	popq %rdx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"1:	.cfi_adjust_cfa_offset 8\n"
	"	andb $0xfe, 1(%rsp)\n"
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	movl $1, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size wmrt_stop_steps, . - wmrt_stop_steps\n"
	"wmrt_step_again:\n"
	"	.cfi_startproc\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	orb $1, 1(%rsp)\n"
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size wmrt_step_again, . - wmrt_step_again\n"
	".popsection\n");

uint64_t wmrt_block_signals(void)
{
	uint64_t all = ~wmrt_process.unblocked;
	uint64_t was = 0;

	if (wmrt_process.is_sealed && !wmrt_local.blocks)
		return 0;
	/* No handler comes between this and the end of what is inside of it. */
	if (wmrt_local.blocks) {
		wmrt_local.blocks++;
		return all;
	}
	if (wmrt_stop_steps())
		wmrt_local.is_stepped = true;
	wmrt_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&was, sizeof all, 0, 0);
	wmrt_local.blocks = 1;
	return was;
}

void wmrt_unblock_signals(uint64_t mask)
{
	/* None: the recorder was sealed, and blocked nothing. */
	if (!wmrt_local.blocks)
		return;
	wmrt_local.blocks--;
	if (!wmrt_local.blocks) {
		bool is_stepped = wmrt_local.is_stepped && !(mask >> (SIGTRAP - 1) & 1);

		if (WMRT_UNLIKELY(is_stepped))
			wmrt_local.is_stepped = false;
		wmrt_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
		if (WMRT_UNLIKELY(is_stepped))
			wmrt_step_again();
	}
}

void wmrt_lock(struct wmrt_guard *guard)
{
	guard->is_sealed = wmrt_process.is_sealed;
	if (guard->is_sealed)
		return;
	guard->signal_mask = wmrt_block_signals();
	lock_take(lock_word());
}

bool wmrt_lock_is_taken(void)
{
	return atomic_load(lock_word()) != 0;
}

void wmrt_unlock(const struct wmrt_guard *guard)
{
	_Atomic uint32_t *word = lock_word();

	if (guard->is_sealed)
		return;
	if (atomic_exchange_explicit(word, 0, memory_order_release) == 2)
		futex(word, FUTEX_WAKE, 1);
	wmrt_unblock_signals(guard->signal_mask);
}

void wmrt_lock_after_fork(void)
{
	atomic_store(lock_word(), 0);
	atomic_store(&atomic_load(&wmrt_process.page)->mapping_lock, 0);
}

/* First use in the process: puts the wiped page in place. */
static void start(void)
{
	struct wmrt_fork_page *expected = &fallback_page;
	struct wmrt_fork_page *page = wmrt_map_memory(4096);

	if (!page)
		return;
	if (wmrt_sys3(SYS_madvise, (long)page, 4096, MADV_WIPEONFORK) != 0) {
		wmrt_unmap(page, 4096);
		return;
	}
	atomic_store(&page->is_alive, 1);
	if (!atomic_compare_exchange_strong(&wmrt_process.page, &expected, page))
		wmrt_unmap(page, 4096);
}

static void after_fork(uint32_t pid)
{
	wmrt_process.pid = pid;
	wmrt_process.generation++;
	for (int i = 0; i < WMRT_PARTS; i++) {
		const struct wmrt_part *part = atomic_load(&wmrt_process.parts[i]);

		if (part && part->after_fork)
			part->after_fork();
	}
}

void wmrt_renew(void)
{
	struct wmrt_guard guard;

	wmrt_check_fork();
	wmrt_lock(&guard);
	after_fork(wmrt_process.pid);
	wmrt_unlock(&guard);
}

__attribute__((cold)) void wmrt_fork_slow(void)
{
	struct wmrt_guard guard;
	struct wmrt_fork_page *page;
	uint32_t generation = wmrt_process.generation;
	bool is_forked;

	if (wmrt_process.is_sealed)
		return;
	if (!wmrt_process.pid) {
		wmrt_process.pid = wmrt_getpid();
		start();
	}
	page = atomic_load(&wmrt_process.page);
	if (atomic_load(&page->is_alive) || (page == &fallback_page && wmrt_process.pid == wmrt_getpid()))
		return;
	wmrt_lock(&guard);
	if (page == &fallback_page) {
		if (wmrt_process.pid != wmrt_getpid())
			after_fork(wmrt_getpid());
	} else if (!atomic_load(&page->is_alive)) {
		after_fork(wmrt_getpid());
		atomic_store_explicit(&page->is_alive, 1, memory_order_release);
	}
	is_forked = wmrt_process.generation != generation;
	wmrt_unlock(&guard);
	if (is_forked)
		for (const struct wmrt_client *const *c = wmrt_clients; *c; c++)
			if ((*c)->after_fork)
				(*c)->after_fork();
}

bool wmrt_is_vfork_child(void)
{
	if (wmrt_process.is_sealed)
		return false;
	wmrt_check_fork();
	return wmrt_getpid() != wmrt_process.pid;
}
