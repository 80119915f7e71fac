/*
 * caller_context.c - contexts of calls into the agent.
 *
 * A context that cannot be found is that of WM_PREFIX_LOST. Before main, and while the agent itself runs, the context is that of the
 * process or thread: code that no instrumented function called.
 */
#include "agent/context/caller_context.h"

#include <string.h>

#include "agent/program/points.h"
#include "agent/os/state.h"
#include "agent/context/capture.h"
#include "agent/code/trampolines.h"
#include "agent/program/image.h"
#include "agent/threads/lock.h"
#include "agent/threads/own_stack.h"
#include "agent/program/program.h"
#include "agent/program/record.h"
#include "agent/context/segment.h"
#include "agent/threads/thread.h"
#include "agent/os/address_map.h"
#include "recorder/index.h"
#include "recorder/prefix_table.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "waymark/abi.h"

enum {
	OWN_FRAMES_MAX = 16, /* of the agent and the heap client */
	FOUNDS = 4096,
};

static uint32_t present(void)
{
	return __atomic_load_n(&agent_program.encoder.epoch, __ATOMIC_ACQUIRE);
}

/* What the thread's context is a function of, in one epoch. */
struct thread_state {
	uint64_t id;
	uint32_t prefix;
	uint32_t epoch;
};

/* False: it is not known, or a new epoch has begun meanwhile. */
static inline bool read_state(struct thread_state *ret)
{
	const struct agent_thread *thread = &agent_thread;

	ret->epoch = present();
	if (!thread->top || agent_id_is_foreign(thread->id))
		return false;
	ret->id = thread->id;
	ret->prefix = thread->top[-1].prefix;
	if (WMRT_UNLIKELY(!ret->prefix))
		ret->prefix = capture_prefix(thread->base, (size_t)(thread->top - thread->base));
	atomic_signal_fence(memory_order_seq_cst);
	return ret->prefix && ret->epoch == present();
}

/* ---- calls that are tail calls of what the site calls ---- */

/* A context that was found from a state: a site's callee has gone from the stack, so what it did is to be undone. Written under the
 * lock; version is odd meanwhile. Later finds take the place of earlier ones. */
static struct found {
	_Atomic uint32_t version;
	uint32_t generation;
	uintptr_t return_address;
	struct thread_state state;
	wm_context context;
} founds[FOUNDS];
static struct found *found_at(uintptr_t return_address, const struct thread_state *state)
{
	return &founds[wmrt_hash(return_address ^ (uint64_t)state->prefix << 32, state->id) % FOUNDS];
}

static void remember(uintptr_t return_address, const struct thread_state *state, const wm_context *context)
{
	struct found *f = found_at(return_address, state);

	atomic_fetch_add_explicit(&f->version, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	f->generation = atomic_load_explicit(&points_generation, memory_order_relaxed);
	f->return_address = return_address;
	f->state = *state;
	f->context = *context;
	atomic_fetch_add_explicit(&f->version, 1, memory_order_release);
}

static bool is_remembered(uintptr_t return_address, const struct thread_state *state, wm_context *ret)
{
	const struct found *f = found_at(return_address, state);
	uint32_t version = atomic_load_explicit(&f->version, memory_order_acquire);
	bool is_it = f->return_address == return_address && f->state.id == state->id &&
		     f->state.prefix == state->prefix && f->state.epoch == state->epoch &&
		     f->generation == atomic_load_explicit(&points_generation, memory_order_relaxed);

	*ret = f->context;
	atomic_thread_fence(memory_order_acquire);
	return is_it && !(version & 1) && atomic_load_explicit(&f->version, memory_order_relaxed) == version;
}

/* Without the lock. */
static inline bool is_known(uintptr_t return_address, wm_context *ret)
{
	struct thread_state state;
	uint32_t site;

	if (!read_state(&state))
		return false;
	if (WMRT_UNLIKELY(!address_map_find(&points_captures, return_address, &site)))
		return is_remembered(return_address, &state, ret);
	*ret = (wm_context){.id = state.id, .prefix = state.prefix, .site = site, .epoch = state.epoch};
	return true;
}

/* ---- the caller's registers ---- */

static inline __attribute__((always_inline)) void read_registers(struct unwind_regs *ret)
{
	uint64_t words[8] = {0};

	__asm__ volatile("lea	1f(%%rip), %%rax\n\t"
			 "mov	%%rax, (%0)\n\t"
			 "mov	%%rsp, 8(%0)\n\t"
			 "mov	%%rbx, 16(%0)\n\t"
			 "mov	%%rbp, 24(%0)\n\t"
			 "mov	%%r12, 32(%0)\n\t"
			 "mov	%%r13, 40(%0)\n\t"
			 "mov	%%r14, 48(%0)\n\t"
			 "mov	%%r15, 56(%0)\n\t"
			 "1:"
			 :
			 : "r"(words)
			 : "rax", "memory");
	*ret = (struct unwind_regs){.pc = words[0]};
	ret->r[CFI_RSP] = words[1];
	ret->r[CFI_RBX] = words[2];
	ret->r[CFI_RBP] = words[3];
	ret->r[CFI_R12] = words[4];
	ret->r[CFI_R13] = words[5];
	ret->r[CFI_R14] = words[6];
	ret->r[CFI_R15] = words[7];
	ret->known =
		1 << CFI_RSP | 1 << CFI_RBX | 1 << CFI_RBP | 1 << CFI_R12 | 1 << CFI_R13 | 1 << CFI_R14 | 1 << CFI_R15;
}

/* Out of the agent's frames, and the heap client's. */
static bool unwind_to(uintptr_t return_address, struct unwind_regs *regs)
{
	struct unwind_stack stack;
	struct unwind_frame left;

	if (!agent_thread_stack(&agent_thread, regs->r[CFI_RSP], &stack.low, &stack.high))
		return false;
	for (int i = 0; i < OWN_FRAMES_MAX; i++) {
		uintptr_t pc = regs->pc - regs->is_return_address;
		const struct agent_image *image = agent_image_at(pc);

		if (unwind_step(image ? &image->table : NULL, &stack, NULL, regs, &left) != UNWIND_OK)
			return false;
		if (regs->pc == return_address)
			return true;
	}
	return false;
}

static uint32_t site_at(uintptr_t return_address)
{
	uint32_t site;

	return trampoline_find(return_address, &site) ? site : agent_site_returning_to(return_address);
}

static wm_context context_of_root(uint32_t prefix)
{
	return (wm_context){.prefix = prefix};
}

/* Under the lock. */
static bool find(uintptr_t return_address, struct unwind_regs *regs, wm_context *ret)
{
	struct capture_point point;
	struct thread_state was;
	bool is_settled;
	uint32_t site;

	if (!agent_thread_begin() || !unwind_to(return_address, regs))
		return false;
	segment_find_interrupted();
	is_settled = read_state(&was);
	site = site_at(return_address);
	if (site != AGENT_NONE && capture_caller(site, regs->r[CFI_RSP], ret)) {
		enum capture_calls calls_there = capture_site_calls(site);

		if (calls_there == CAPTURE_CALLS_NO_CALLBACK && ret->site)
			address_map_set(&points_captures, return_address, ret->site);
		else if (calls_there == CAPTURE_CALLS_LOUD && is_settled)
			remember(return_address, &was, ret);
		return true;
	}
	if (site != AGENT_NONE) { /* as of the call's instruction */
		regs->pc = agent_site(site)->address;
		regs->is_return_address = false;
	}
	return capture_at(regs, ret, &point);
}

struct finding {
	uintptr_t return_address;
	struct unwind_regs regs;
	wm_context found;
};

static void find_locked(void *data)
{
	struct finding *f = data;
	struct agent_guard guard;

	agent_lock_at(&guard, &(struct lock_place){.regs = &f->regs});
	if (!find(f->return_address, &f->regs, &f->found))
		f->found = context_of_root(WM_PREFIX_LOST);
	agent_unlock(&guard);
}

static __attribute__((noinline)) wm_context find_point(uintptr_t return_address)
{
	struct finding f = {.return_address = return_address};

	read_registers(&f.regs);
	own_stack_call_from(agent_thread.is_on_alternate, find_locked, &f);
	return f.found;
}

bool caller_state(struct caller_state *ret)
{
	struct thread_state state;

	ret->generation = atomic_load_explicit(&points_generation, memory_order_acquire);
	if (WMRT_UNLIKELY(agent_is_seccomp_frozen) || !read_state(&state))
		return false;
	ret->id = state.id;
	ret->prefix = state.prefix;
	ret->epoch = state.epoch;
	return true;
}

static wm_context capture_settled(uintptr_t return_address, bool *ret_is_settled)
{
	wm_context c;

	*ret_is_settled = false;
	if (WMRT_UNLIKELY(agent_is_seccomp_frozen))
		return context_of_root(WM_PREFIX_LOST);
	if (WMRT_LIKELY(is_known(return_address, &c))) {
		*ret_is_settled = true;
		return c;
	}
	if (agent_is_on && !agent_thread.in_agent)
		return find_point(return_address);
	return context_of_root(wmrt_gettid() == wmrt_getpid() ? WM_PREFIX_PROCESS : WM_PREFIX_THREAD);
}

wm_context caller_capture(uintptr_t return_address)
{
	bool is_settled;

	return capture_settled(return_address, &is_settled);
}

/* ---- calls ---- */

struct adding {
	uintptr_t return_address;
	uint64_t key;
	const char *name;
	uint32_t call;
};

static void add_call(void *data)
{
	struct adding *a = data;
	uintptr_t at = a->return_address;
	struct agent_guard guard;
	uint32_t site;

	agent_lock(&guard);
	site = site_at(at);
	if (!address_map_find(&points_calls, a->key, &a->call)) {
		a->call = site == AGENT_NONE
				  ? record_foreign_call(agent_function_at(at - 1), at - 1, a->name)
				  : record_foreign_call(agent_site(site)->function, agent_site(site)->address, a->name);
		if (a->call)
			address_map_set(&points_calls, a->key, a->call);
	}
	agent_unlock(&guard);
}

/* The number of the call of that name that returns there. 0: it is in no function, or there is no room. */
static uint32_t call_at(uintptr_t return_address, uint32_t kind, const char *name)
{
	struct adding a = {return_address, (uint64_t)kind << POINTS_KIND_SHIFT | return_address, name, 0};

	if (WMRT_UNLIKELY(!address_map_find(&points_calls, a.key, &a.call)))
		own_stack_call_from(agent_thread.is_on_alternate, add_call, &a);
	return a.call;
}

wm_context caller_settled_call(uintptr_t return_address, uint32_t kind, const char *name, bool *ret_is_settled)
{
	wm_context c = capture_settled(return_address, ret_is_settled);
	uint32_t call;

	if (WMRT_UNLIKELY(agent_is_seccomp_frozen) || c.site == WM_SITE_FOREIGN)
		return c;
	call = call_at(return_address, kind, name);
	if (WMRT_UNLIKELY(!call))
		return context_of_root(WM_PREFIX_LOST);
	return (wm_context){.prefix = wmrt_intern(c.prefix, c.epoch, c.id, call, 1), .epoch = c.epoch};
}

wm_context caller_call(uintptr_t return_address, uint32_t kind, const char *name)
{
	bool is_settled;

	return caller_settled_call(return_address, kind, name, &is_settled);
}
