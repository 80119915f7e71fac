/* lock.c - a futex lock of three states (Drepper, "Futexes are tricky", mutex 2). */
#include "agent/threads/lock.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "agent/os/state.h"
#include "agent/threads/stop.h"
#include "agent/threads/threads.h"
#include "recorder/sys.h"

enum {
	ASIDE_NS = 1000000,
	ASIDE_MAX = 10,
};

static _Atomic uint32_t word; /* 0 free, 1 taken, 2 taken and waited for */
/* Under the lock. */
struct agent_lock_stats agent_lock_stats;
static uint64_t taken_ns;

static uint64_t cpu_ns(void)
{
	struct timespec ts = {0, 0};

	wmrt_sys3(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&ts, 0);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A thread that comes here over and over waits where it keeps the agent from leaving least (life/attach.c), and lets a child of vfork have the lock. */
static void stand_aside(void)
{
	const struct timespec ts = {0, ASIDE_NS};

	wmrt_sys3(SYS_nanosleep, (long)&ts, 0, 0);
}

static void futex(int op, uint32_t value)
{
	wmrt_sys6(SYS_futex, (long)&word, op | FUTEX_PRIVATE_FLAG, value, 0, 0, 0);
}

void agent_lock_at(struct agent_guard *guard, const struct lock_place *place)
{
	struct thread_record *r;
	uint32_t was = 0;

	guard->is_nested = agent_thread.is_forking || __atomic_load_n(&agent_is_seccomp_frozen, __ATOMIC_ACQUIRE);
	if (guard->is_nested)
		return;
	guard->signal_mask = wmrt_block_signals();
	threads_join();
	r = agent_thread.record;
	if (r) {
		r->is_interrupted = place->is_interrupted;
		r->pc_kind = place->pc_kind;
		r->pc_number = place->pc_number;
		atomic_store(&r->is_vfork_child, agent_thread.vforking != 0);
		atomic_store(&r->regs, place->regs);
		atomic_store(&r->phase, THREAD_WAITS);
		stop_notice();
		if ((place->pc_kind == THREAD_PC_SITE || place->pc_kind == THREAD_PC_FUNCTION) && agent_leaves())
			stand_aside();
	}
	if (!atomic_compare_exchange_strong_explicit(&word, &was, 1, memory_order_acquire, memory_order_relaxed)) {
		if (was != 2)
			was = atomic_exchange_explicit(&word, 2, memory_order_acquire);
		while (was != 0) {
			futex(FUTEX_WAIT, 2);
			was = atomic_exchange_explicit(&word, 2, memory_order_acquire);
		}
	}
	agent_thread.in_agent++;
	if (agent_lock_stats.is_counted)
		taken_ns = cpu_ns();
}

bool agent_lock_is_taken(void)
{
	return atomic_load(&word) != 0;
}

void agent_lock(struct agent_guard *guard)
{
	static const struct lock_place unknown;

	agent_lock_at(guard, &unknown);
}

/* Who takes the lock next may have seen this thread wait, but not after it was let go of. */
void agent_unlock(const struct agent_guard *guard)
{
	struct thread_record *r = agent_thread.record;
	bool gives_way = stop_is_for_child();
	/* The thread that unloads (walk.c): the next one to walk would stop it again before it has gone on. */
	bool hinders = agent_is_unloading && stop_is_on();

	stop_end();
	if (guard->is_nested)
		return;
	if (agent_lock_stats.is_counted && taken_ns) {
		agent_lock_stats.count++;
		agent_lock_stats.ns += cpu_ns() - taken_ns;
	}
	agent_thread.in_agent--;
	if (r) {
		atomic_store(&r->regs, NULL);
		atomic_store(&r->phase, THREAD_RUNS);
	}
	if (atomic_exchange_explicit(&word, 0, memory_order_release) == 2)
		futex(FUTEX_WAKE, 1);
	for (int i = 0; gives_way && i < ASIDE_MAX && stop_child_waits(); i++)
		stand_aside();
	if (hinders)
		stand_aside();
	wmrt_unblock_signals(guard->signal_mask);
}

void agent_lock_yield(const struct agent_guard *guard, const struct lock_place *place)
{
	struct agent_guard blocked = {.signal_mask = ~wmrt_process.unblocked, .is_nested = guard->is_nested};

	agent_unlock(&blocked);
	wmrt_sys3(SYS_sched_yield, 0, 0, 0);
	agent_lock_at(&blocked, place);
}

void agent_unlock_at_entry(const struct agent_guard *guard)
{
	struct agent_guard none = {.signal_mask = ~wmrt_process.unblocked};

	if (!agent_thread.is_on_alternate || agent_thread.has_late_mask || guard->is_nested) {
		agent_unlock(guard);
		return;
	}
	agent_thread.late_mask = guard->signal_mask;
	agent_thread.has_late_mask = 1;
	agent_unlock(&none);
}

/* Called by entry_point.inc: the first while the program's vector registers are not saved yet, the second when they are put back. */
void agent_block_early(void) __attribute__((used, visibility("hidden"), target("general-regs-only")));
void agent_unblock_late(void) __attribute__((used, visibility("hidden"), target("general-regs-only")));

void agent_block_early(void)
{
	uint64_t all = ~UINT64_C(0), was = 0;

	if (agent_thread.has_late_mask)
		return;
	agent_thread.is_stepped = wmrt_stop_steps();
	wmrt_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&was, sizeof all, 0, 0);
	agent_thread.late_mask = was;
	agent_thread.has_late_mask = 1;
}

void agent_unblock_late(void)
{
	uint64_t mask = agent_thread.late_mask;
	bool is_stepped = agent_thread.is_stepped;

	agent_thread.has_late_mask = 0;
	agent_thread.is_stepped = false;
	wmrt_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
	if (is_stepped)
		wmrt_step_again();
}

/* Of the thread that forks; a child has a copy. */
static struct agent_guard fork_guard;

void agent_lock_for_fork(const struct lock_place *place)
{
	struct agent_guard guard;

	agent_lock_at(&guard, place);
	fork_guard = guard;
	agent_thread.is_forking = true;
}

void agent_lock_forget_place(void)
{
	if (agent_thread.record)
		atomic_store(&agent_thread.record->regs, NULL);
}

void agent_unlock_after_fork(void)
{
	struct agent_guard guard = fork_guard;

	agent_thread.is_forking = false;
	agent_unlock(&guard);
}

/* What was counted is the parent's, and the thread's clock begins anew. */
static void forget_counts(void)
{
	agent_lock_stats.count = agent_lock_stats.ns = taken_ns = 0;
}

void agent_unlock_in_child(void)
{
	forget_counts();
	agent_unlock_after_fork();
}

void agent_lock_after_fork(void)
{
	forget_counts();
	atomic_store(&word, 0);
}
