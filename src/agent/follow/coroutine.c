/*
 * coroutine.c - contexts of ucontext_t.
 *
 * swapcontext keeps the running segment (segment.h) in its frame on the stack that it leaves, and puts it back when that goes on.
 * A context that getcontext made goes on in the program: it lands in the agent (resume.h).
 *
 * A context stack belongs to the memory that makecontext was given: when that is used again, what ran on it before is gone.
 */
#include "agent/follow/coroutine.h"

#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "agent/context/coroutine_stacks.h"
#include "agent/threads/segments.h"
#include "agent/os/state.h"
#include "agent/context/discover.h"
#include "agent/context/caller_context.h"
#include "agent/follow/resume.h"
#include "agent/threads/lock.h"
#include "agent/context/segment.h"
#include "recorder/interpose.h"
#include "recorder/sys.h"
#include "waymark/abi.h"

enum {
	KIND_MAKECONTEXT = 103, /* of caller_call */
	END_STACK_WORDS = 128,
};

typedef void (*entry_fn)(long, long, long, long, long, long, long, long, long, long, long, long, long, long, long,
			 long);
typedef void (*make_fn)(ucontext_t *, void (*)(void), int, ...);
typedef int (*swap_fn)(ucontext_t *, const ucontext_t *);
typedef int (*set_fn)(const ucontext_t *);

static _Atomic(void *) next_make;
static _Atomic(void *) next_swap;
static _Atomic(void *) next_set;

static void own_makecontext(ucontext_t *context, void (*entry)(void), int argument_count, ...);
static int own_swapcontext(ucontext_t *from, const ucontext_t *to);
static int own_setcontext(const ucontext_t *to);

static make_fn real_make(void)
{
	return (make_fn)wmrt_next(&next_make, "makecontext", (void *)own_makecontext);
}

static swap_fn real_swap(void)
{
	return (swap_fn)wmrt_next(&next_swap, "swapcontext", (void *)own_swapcontext);
}

static set_fn real_set(void)
{
	return (set_fn)wmrt_next(&next_set, "setcontext", (void *)own_setcontext);
}

/* ---- those from before the agent ---- */

static void nothing(void)
{
}

/* Where libc makes a context's function return to. */
static void find_end(void)
{
	uintptr_t stack[END_STACK_WORDS] = {0};
	ucontext_t context;

	memset(&context, 0, sizeof context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof stack;
	real_make()(&context, nothing, 0);
	coroutine_stacks_end_at(*(const uintptr_t *)context.uc_mcontext.gregs[REG_RSP]); /* NOLINT */
}

/* ---- what they run ---- */

/* A coroutine runs this first. */
static void enter(struct coroutine *coroutine)
{
	const long *a = coroutine->arguments;
	entry_fn entry = (entry_fn)coroutine->entry;

	coroutine->root = (uintptr_t)__builtin_frame_address(0) + sizeof(uintptr_t);
	segments_begin(&agent_thread, coroutine->entries, coroutine->root, NULL);
	/* More arguments than it takes do no harm in this calling convention. */
	entry(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15]);
	agent_thread.id = AGENT_FOREIGN_ID;
	if (coroutine->link)
		own_setcontext(coroutine->link);
}

/* The coroutine that is to run entry on the context's stack, which begins with the context of the call. NULL without memory. */
static struct coroutine *prepare(const ucontext_t *context, void (*entry)(void), const void *return_address)
{
	wm_context here = caller_call((uintptr_t)return_address, KIND_MAKECONTEXT, "makecontext");
	struct coroutine *coroutine;
	struct agent_guard guard;

	agent_lock(&guard);
	coroutine = coroutine_stack_on((uintptr_t)context->uc_stack.ss_sp, context->uc_stack.ss_size);
	if (coroutine) {
		coroutine->entries[0] = (struct agent_entry){.frame_slot = UINT64_MAX, .prefix = here.prefix};
		coroutine->entry = entry;
		coroutine->link = context->uc_link;
		coroutine->root = 0;
		discover_entry((uintptr_t)entry);
	}
	agent_unlock(&guard);
	return coroutine;
}

void coroutine_make(const void *return_address, void *made, void (*entry)(void), int argument_count,
		    const long *arguments)
{
	const long *a = arguments;
	struct coroutine *coroutine = NULL;
	ucontext_t *context = made;

	if (agent_is_on && agent_thread.base && argument_count <= COROUTINE_MAX_ARGUMENTS)
		coroutine = prepare(context, entry, return_address);
	if (!coroutine) {
		real_make()(context, entry, argument_count, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9],
			    a[10], a[11], a[12], a[13], a[14], a[15]);
		return;
	}
	for (int i = 0; i < COROUTINE_MAX_ARGUMENTS; i++)
		coroutine->arguments[i] = a[i];
	real_make()(context, (void (*)(void))(void *)enter, 1, coroutine);
}

static void own_makecontext(ucontext_t *context, void (*entry)(void), int argument_count, ...)
{
	long a[COROUTINE_MAX_ARGUMENTS] = {0};
	va_list ap;

	va_start(ap, argument_count);
	for (int i = 0; i < argument_count && i < COROUTINE_MAX_ARGUMENTS; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	coroutine_make(__builtin_return_address(0), context, entry, argument_count, a);
}

/* ---- switching ---- */

/* What to give to libc for `to`: itself where it goes on in the agent, which knows its context; else a copy that lands. */
static const ucontext_t *landing(const ucontext_t *to, ucontext_t *copy)
{
	uintptr_t pc = (uintptr_t)to->uc_mcontext.gregs[REG_RIP];

	if (agent_image_is_own(agent_image_find(pc), pc))
		return to;
	*copy = *to;
	copy->uc_mcontext.gregs[REG_RIP] = (greg_t)resume_at(pc, 1);
	return copy;
}

/* A coroutine may come back on another thread: the address of the state must be found anew. */
static __attribute__((noinline)) void put_back(const struct agent_segment *left)
{
	struct unwind_regs regs;

	segment_regs_here(&regs);
	segment_return(left, &regs);
}

static int own_swapcontext(ucontext_t *from, const ucontext_t *to)
{
	struct agent_segment left;
	ucontext_t copy;
	int rc;

	if (!agent_is_on || !agent_thread.base)
		return real_swap()(from, to);
	segments_leave(NULL, agent_epoch(), &left);
	rc = real_swap()(from, landing(to, &copy));
	put_back(&left);
	return rc;
}

static int own_setcontext(const ucontext_t *to)
{
	ucontext_t copy;

	return real_set()(agent_is_on && agent_thread.base ? landing(to, &copy) : to);
}

WMRT_INTERPOSE(makecontext, own_makecontext);
WMRT_INTERPOSE(swapcontext, own_swapcontext);
WMRT_INTERPOSE(setcontext, own_setcontext);

void coroutine_start(void)
{
	real_make();
	real_swap();
	real_set();
	find_end();
}
