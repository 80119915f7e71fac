/*
 * thread.c - maps context stacks and finds native ones.
 *
 * A native stack of N bytes makes at most N / 16 pushes (a return address and an aligned frame each), so a context stack of 2 N
 * bytes is never full: the native stack overflows first, as it does without the agent. Pages are taken as they are written.
 */
#include "agent/threads/thread.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "native/maps.h"
#include "agent/os/state.h"
#include "agent/threads/threads.h"
#include "recorder/sys.h"
#include "waymark/abi.h"

_Thread_local struct agent_thread agent_thread __attribute__((tls_model("initial-exec"))) = {.id = AGENT_FOREIGN_ID};

enum {
	LEAST_BYTES = 16 << 20,
	GUARD_BYTES = 4096,
	AGENT_STACK_BYTES = 256 << 10,
};
static const size_t MOST_BYTES = (size_t)8 << 30;

bool agent_thread_stack(struct agent_thread *thread, uintptr_t sp, uintptr_t *ret_low, uintptr_t *ret_high)
{
	struct maps_range range;

	if (sp < thread->stack_low || sp >= thread->stack_high) {
		if (!maps_find(sp, &range))
			return false;
		thread->stack_low = range.low;
		thread->stack_high = range.high;
	}
	/* A stack that grows has more pages now than when it was looked up. */
	*ret_low = sp < thread->stack_low ? sp : thread->stack_low;
	*ret_high = thread->stack_high;
	return true;
}

static size_t stack_bytes(uintptr_t native_bytes)
{
	struct rlimit limit = {native_bytes, native_bytes};
	size_t bytes;

	if (!native_bytes)
		wmrt_sys6(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0);
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > MOST_BYTES / 2)
		return MOST_BYTES;
	bytes = 2 * (size_t)limit.rlim_cur;
	return bytes < LEAST_BYTES ? LEAST_BYTES : (bytes + 4095) & ~(size_t)4095;
}

bool agent_thread_begin_of(struct agent_thread *thread)
{
	struct thread_record *record = thread->record;
	size_t bytes;
	long at;

	if (thread->top)
		return true;
	if (thread->base) {
		thread->top = thread->base + 1;
		return true;
	}
	if (!record)
		return false;
	bytes = stack_bytes(thread->creation);
	/* entries | guard | guard | the agent's stack */
	at = wmrt_sys6(SYS_mmap, 0, (long)(bytes + 2 * GUARD_BYTES + AGENT_STACK_BYTES), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at < 0 && at > -4096)
		return false;
	wmrt_sys3(SYS_mprotect, at + (long)bytes, 2 * GUARD_BYTES, PROT_NONE);
	wmrt_own_memory((uintptr_t)at, (uintptr_t)at + bytes + 2 * GUARD_BYTES + AGENT_STACK_BYTES);
	record->stack = (void *)at; /* NOLINT(performance-no-int-to-ptr) */
	record->stack_bytes = bytes + 2 * GUARD_BYTES + AGENT_STACK_BYTES;
	thread->base = record->stack;
	thread->first = thread->base;
	thread->base->prefix = record->tid == wmrt_getpid() ? WM_PREFIX_PROCESS : WM_PREFIX_THREAD;
	thread->base->frame_slot = UINT64_MAX;
	thread->tid = record->tid;
	thread->agent_stack = (char *)record->stack + record->stack_bytes;
	thread->top = thread->base + 1;
	return true;
}

bool agent_thread_begin(void)
{
	return !agent_is_seccomp_frozen && threads_join() && agent_thread_begin_of(&agent_thread);
}

void agent_thread_reset(void)
{
	volatile struct agent_thread *thread = &agent_thread;

	thread->id = AGENT_FOREIGN_ID;
	thread->root = 0;
	thread->outer = NULL;
	thread->landing = 0;
	thread->is_on_alternate = false;
	thread->base = thread->first;
	if (thread->first && thread->first->below) {
		thread->first->prefix = thread->first->below;
		thread->first->below = 0;
	}
	thread->top = thread->first ? thread->first + 1 : NULL;
}

void agent_thread_set_base(uint32_t prefix)
{
	if (agent_thread_begin())
		agent_thread.first->prefix = prefix;
}

void agent_thread_set_first(uint32_t prefix)
{
	struct agent_entry *first = agent_thread.first;

	if (!first || first->prefix == prefix)
		return;
	first->below = first->prefix;
	first->prefix = prefix;
}
