/*
 * process.h - what the runtime knows of the process: did the process fork, the one lock.
 *
 * The lock is for what is rare (new chunk, new string, new image, new file). All signals are blocked while it is
 * held, so no handler can find its own thread holding it, and it lives in a page that the kernel wipes in a forked
 * child, so a child never inherits it taken. What is frequent (captures, interning, claiming event slots, what
 * clients count) takes no lock.
 */
#ifndef WM_RECORDER_PROCESS_H
#define WM_RECORDER_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WMRT_LIKELY(x) __builtin_expect(!!(x), 1)
#define WMRT_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* One page, wiped in a forked child (MADV_WIPEONFORK): is_alive 0 means a fork happened. */
struct wmrt_fork_page {
	_Atomic uint32_t is_alive;
	_Atomic uint32_t lock;         /* futex: 0 free, 1 taken, 2 taken and waited for */
	_Atomic uint32_t mapping_lock; /* mapping.c */
};

/* What keeps records in memory, in the order in which these refer to each other. */
enum wmrt_part_kind {
	WMRT_PART_FILE,
	WMRT_PART_STRINGS,
	WMRT_PART_NODES,
	WMRT_PART_IMAGES,
	WMRT_PART_CODE,
	WMRT_PARTS,
};

/* Under the lock. NULL: there is nothing to do. */
struct wmrt_part {
	void (*after_fork)(void); /* in the child, whose file has nothing yet */
	void (*begin_file)(
		void); /* writes into a new file what was there before: in a forked child, all that it inherited */
};

/* Written at start and after a fork under the lock; read anywhere. */
struct wmrt_process {
	_Atomic(struct wmrt_fork_page *) page;
	_Atomic(const struct wmrt_part *) parts[WMRT_PARTS]; /* NULL: it keeps nothing yet */
	uint32_t pid;
	uint32_t generation; /* grows with every fork that was noticed */
	bool is_sealed;      /* nothing is recorded any more, and no system call made for it */
	uint64_t unblocked; /* signals that wmrt_block_signals leaves alone: SIGBUS, once it has a handler that repairs (handlers.c) */
	void *main_thread; /* address of the main thread's wmrt_local, NULL: not known */
};
extern struct wmrt_process wmrt_process __attribute__((visibility("hidden")));

struct wmrt_guard {
	uint64_t signal_mask;
	bool is_sealed; /* nothing was taken */
};

/* To be called before the part keeps anything, each time. */
static inline void wmrt_part_add(enum wmrt_part_kind kind, const struct wmrt_part *part)
{
	atomic_store_explicit(&wmrt_process.parts[kind], part, memory_order_release);
}

void wmrt_fork_slow(void);

/* Or may have: some kernels do not tell. */
static inline bool wmrt_is_forked(void)
{
	struct wmrt_fork_page *page = atomic_load_explicit(&wmrt_process.page, memory_order_acquire);

	return !atomic_load_explicit(&page->is_alive, memory_order_acquire);
}

/* To be called before anything that touches the file, a shared mapping or a cached thread id. */
static inline void wmrt_check_fork(void)
{
	if (WMRT_UNLIKELY(wmrt_is_forked()))
		wmrt_fork_slow();
}

/* True in a child of vfork: it runs in the memory of a process that is not it. */
bool wmrt_is_vfork_child(void);
/* In a forked child, before it has threads: the lock is free, also where the kernel did not wipe it. */
void wmrt_lock_after_fork(void);

/* The file is whole: what is recorded from now on goes into a new one, as in a forked child. No other thread runs. */
void wmrt_renew(void);

/*
 * A program may have set the trap flag, to step itself: the signal of a step that is blocked ends it. Takes the flag away, before signals are
 * blocked; true: it was set, and is to be set again (wmrt_step_again) once they are not.
 */
bool wmrt_stop_steps(void);
void wmrt_step_again(void);

/* All of them but wmrt_process.unblocked; gives the mask to put back. One inside of another makes no system call. */
uint64_t wmrt_block_signals(void);
void wmrt_unblock_signals(uint64_t mask);
void wmrt_lock(struct wmrt_guard *guard);
/* Somebody holds it. Of use where all other threads stand still. */
bool wmrt_lock_is_taken(void);
void wmrt_unlock(const struct wmrt_guard *guard);

#endif
