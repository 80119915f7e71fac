/* threads.c - the list of threads. */
#include "agent/threads/threads.h"

#include "recorder/process.h"
#include "recorder/sys.h"

enum {
	PAGE_BYTES = 4096,
};

_Atomic(struct thread_record *) threads_all;
_Atomic uint32_t threads_coming;
static _Atomic uint32_t process;

uint32_t threads_pid(void)
{
	uint32_t pid = atomic_load_explicit(&process, memory_order_relaxed);

	if (!pid) {
		pid = wmrt_getpid();
		atomic_store_explicit(&process, pid, memory_order_relaxed);
	}
	return pid;
}

static struct thread_record *take_free(uint32_t tid)
{
	threads_for_each(r) {
		uint32_t none = 0;

		if (!atomic_load_explicit(&r->tid, memory_order_relaxed) &&
		    atomic_compare_exchange_strong(&r->tid, &none, tid))
			return r;
	}
	return NULL;
}

static struct thread_record *add_new(uint32_t tid)
{
	struct thread_record *r = wmrt_map_memory(PAGE_BYTES), *first = r, *head = atomic_load(&threads_all);
	size_t count = PAGE_BYTES / sizeof *r;

	if (!r)
		return NULL;
	atomic_store(&r->tid, tid);
	for (size_t i = 0; i + 1 < count; i++)
		r[i].next = &r[i + 1];
	do
		r[count - 1].next = head;
	while (!atomic_compare_exchange_weak(&threads_all, &head, first));
	return r;
}

bool threads_join_of(struct agent_thread *thread, uint32_t tid)
{
	struct thread_record *r;

	if (thread->record)
		return true;
	threads_pid();
	r = take_free(tid);
	if (!r)
		r = add_new(tid);
	if (!r)
		return false;
	r->state = thread;
	/* Another record has this thread's number: that thread has ended. */
	threads_for_each(other)
		if (other != r && atomic_load(&other->tid) == tid)
			atomic_store(&other->is_gone, true);
	thread->record = r;
	return true;
}

bool threads_join(void)
{
	uint64_t mask;
	bool ret;

	if (WMRT_LIKELY(agent_thread.record))
		return true;
	mask = wmrt_block_signals();
	ret = threads_join_of(&agent_thread, wmrt_gettid());
	wmrt_unblock_signals(mask);
	return ret;
}

/* Its memory may be another thread's by now: only the record is looked at. */
static void release(struct thread_record *r)
{
	thread_timer_stop(&r->timer);
	wmrt_unmap(r->stack, r->stack_bytes);
	r->stack = NULL;
	r->state = NULL;
	r->is_skipped = false;
	atomic_store(&r->regs, NULL);
	atomic_store(&r->phase, THREAD_RUNS);
	atomic_store(&r->stopped_in, 0);
	atomic_store(&r->is_unresponsive, false);
	atomic_store(&r->is_gone, false);
	atomic_store(&r->asked, 0);
	atomic_store(&r->heard, 0);
	atomic_store(&r->tid, 0);
}

/* The first thread stays in the kernel's list when it has ended, so its record does here. */
uint32_t threads_sweep(void)
{
	uint32_t count = 0;

	threads_for_each(r) {
		uint32_t tid = atomic_load(&r->tid);

		if (!tid || r == agent_thread.record)
			continue;
		if (atomic_load(&r->is_gone) ? tid != threads_pid() : !wmrt_thread_is_alive(threads_pid(), tid))
			release(r);
		else
			count++;
	}
	return count;
}

/* Timers are not inherited. */
void threads_after_fork(void)
{
	struct thread_record *own = agent_thread.record;

	atomic_store(&process, wmrt_getpid());
	atomic_store(&threads_coming, 0);
	threads_for_each(r) {
		r->timer.is_made = false;
		if (r != own && atomic_load(&r->tid))
			release(r);
	}
	if (!own)
		return;
	atomic_store(&own->tid, wmrt_gettid());
	/* Signals that had not come are the parent's. */
	atomic_store(&own->heard, atomic_load(&own->asked));
}

/* Sections of what follow/create.c and life/start.c have threads run first; tests leave the latter out. */
extern const char __start_agent_bases[] __attribute__((visibility("hidden")));
extern const char __stop_agent_bases[] __attribute__((visibility("hidden")));
extern const char __start_agent_main[] __attribute__((weak, visibility("hidden")));
extern const char __stop_agent_main[] __attribute__((weak, visibility("hidden")));

bool threads_is_base(uintptr_t pc)
{
	return pc >= (uintptr_t)__start_agent_bases && pc <= (uintptr_t)__stop_agent_bases;
}

bool threads_is_main(uintptr_t pc)
{
	return pc >= (uintptr_t)__start_agent_main && pc <= (uintptr_t)__stop_agent_main;
}
