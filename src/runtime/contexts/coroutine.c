/*
 * coroutine.c - makecontext and swapcontext: a context stack for every stack.
 *
 * Coroutines that shared their thread's context stack would overwrite each other's entries. So what makecontext makes
 * starts on a stack of entries of its own, whose root is the context in which makecontext was called; swapcontext keeps
 * (id, top) in its frame on the stack that it leaves. A stack of entries belongs to the memory that makecontext was
 * given: when that is used again, the coroutine that ran on it before is gone.
 *
 * Coroutines that switch with assembly of their own (boost.context) are not known here.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/clients.h"
#include "recorder/agent.h"
#include "recorder/image.h"
#include "recorder/index.h"
#include "recorder/interpose.h"
#include "runtime/contexts/origin.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "runtime/contexts/stack.h"

enum {
	MAX_ARGUMENTS = 16,
	MAX_COROUTINES = 1 << 20, /* stacks at different addresses; more share their thread's entries */
	PAGE_COROUTINES = 256,
};

/* Written by makecontext of the stack's owner, read by the coroutine. */
struct coroutine {
	uintptr_t stack; /* ss_sp */
	struct wm1_entry *top;
	void (*entry)(void);
	long arguments[MAX_ARGUMENTS];
};

typedef void (*entry_fn)(long, long, long, long, long, long, long, long, long, long, long, long, long, long, long,
			 long);
typedef void (*make_fn)(ucontext_t *, void (*)(void), int, ...);
typedef int (*swap_fn)(ucontext_t *, const ucontext_t *);

/* libc.a's names, for static programs: `waymark cc` asks the linker for them. */
extern void __makecontext(ucontext_t *context, void (*entry)(void), int count, ...) __attribute__((weak));
extern int __swapcontext(ucontext_t *from, const ucontext_t *to) __attribute__((weak));

static _Atomic(void *) next_make;
static _Atomic(void *) next_swap;

/* Coroutine number n (from 1) is pages[n / PAGE][n % PAGE]. Pages are added under the lock. */
static struct wmrt_index by_stack;
static _Atomic(struct coroutine *) pages[MAX_COROUTINES / PAGE_COROUTINES];
static _Atomic uint32_t count = 1;

static void own_makecontext(ucontext_t *context, void (*entry)(void), int argument_count, ...);
static int own_swapcontext(ucontext_t *from, const ucontext_t *to);

static make_fn real_make(void)
{
	make_fn next = (make_fn)wmrt_next(&next_make, "makecontext", (void *)own_makecontext);

	return next ? next : __makecontext;
}

static swap_fn real_swap(void)
{
	swap_fn next = (swap_fn)wmrt_next(&next_swap, "swapcontext", (void *)own_swapcontext);

	return next ? next : __swapcontext;
}

static struct coroutine *coroutine_at(uint32_t number)
{
	struct coroutine *page = atomic_load_explicit(&pages[number / PAGE_COROUTINES], memory_order_acquire);

	return page ? &page[number % PAGE_COROUTINES] : NULL;
}

static bool stack_matches(const void *key, uint32_t number)
{
	return coroutine_at(number)->stack == *(const uintptr_t *)key;
}

/* NULL without memory. */
static struct coroutine *coroutine_new(uintptr_t stack, uint64_t hash)
{
	uint32_t number = atomic_fetch_add(&count, 1);
	struct coroutine *coroutine;
	struct coroutine *page;
	struct wmrt_guard guard;

	if (number >= MAX_COROUTINES)
		return NULL;
	wmrt_lock(&guard);
	if (!coroutine_at(number)) {
		page = wmrt_map_memory(PAGE_COROUTINES * sizeof *page);
		atomic_store_explicit(&pages[number / PAGE_COROUTINES], page, memory_order_release);
	}
	wmrt_unlock(&guard);
	coroutine = coroutine_at(number);
	if (!coroutine)
		return NULL;
	coroutine->stack = stack;
	coroutine->top = wmrt_stack_new(WM_PREFIX_LOST);
	if (!coroutine->top)
		return NULL;
	number = wmrt_index_add(&by_stack, hash, stack_matches, &stack, number);
	return number ? coroutine_at(number) : NULL;
}

static struct coroutine *coroutine_of(uintptr_t stack)
{
	uint64_t hash = wmrt_hash(stack, 0);
	uint32_t number = wmrt_index_find(&by_stack, hash, stack_matches, &stack);

	return number ? coroutine_at(number) : coroutine_new(stack, hash);
}

/* A coroutine may come back on another thread: the address of the state must be found anew. A handler finds either stack, not half of it. */
static __attribute__((noinline)) void begin_state(struct wm1_thread kept)
{
	volatile struct wm1_thread *thread = &wm1_thread_state;

	thread->deferred_sp = 0;
	thread->id = kept.id;
	thread->top = kept.top;
	thread->history = kept.history;
	thread->deferred_site = kept.deferred_site;
	thread->deferred_sp = kept.deferred_sp;
}

/* The coroutine's first function. */
static void enter(struct coroutine *coroutine)
{
	const long *a = coroutine->arguments;
	entry_fn entry = (entry_fn)coroutine->entry;

	begin_state((struct wm1_thread){.top = coroutine->top, .history = WM1_HISTORY_NONE});
	/* More arguments than it takes do no harm in this calling convention. */
	entry(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15]);
}

/* The number is for captures, the copy for readers of memory: a core has no recording. */
static void begin_stack(struct wm1_entry *first)
{
	uint32_t prefix;

	wm1_push_deferred();
	prefix = wmrt_coroutine_prefix();
	wmrt_stack_begin(first, prefix, wmrt_origin_of_coroutine(prefix));
}

static void own_makecontext(ucontext_t *context, void (*entry)(void), int argument_count, ...)
{
	struct coroutine *coroutine = NULL;
	long arguments[MAX_ARGUMENTS] = {0};
	va_list ap;
	int i;

	va_start(ap, argument_count);
	for (i = 0; i < argument_count && i < MAX_ARGUMENTS; i++)
		arguments[i] = va_arg(ap, long);
	va_end(ap);
	if (wmrt_agent()) {
		wmrt_agent()->make_context(__builtin_return_address(0), context, entry, argument_count, arguments);
		return;
	}
	if (wmrt_is_active() && argument_count <= MAX_ARGUMENTS)
		coroutine = coroutine_of((uintptr_t)context->uc_stack.ss_sp);
	if (!coroutine) {
		const long *a = arguments;

		real_make()(context, entry, argument_count, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9],
			    a[10], a[11], a[12], a[13], a[14], a[15]);
		return;
	}
	begin_stack(coroutine->top);
	coroutine->entry = entry;
	for (i = 0; i < MAX_ARGUMENTS; i++)
		coroutine->arguments[i] = arguments[i];
	real_make()(context, (void (*)(void))(void *)enter, 1, coroutine);
}

static int own_swapcontext(ucontext_t *from, const ucontext_t *to)
{
	struct wm1_thread kept = wm1_thread_state;
	int rc = real_swap()(from, to);

	begin_state(kept);
	return rc;
}

WMRT_INTERPOSE(makecontext, own_makecontext);
WMRT_INTERPOSE(swapcontext, own_swapcontext);

static void start(void)
{
	real_make();
	real_swap();
}

const struct wmrt_client wmrt_coroutines = {.start = start};
