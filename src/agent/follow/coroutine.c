/*
 * coroutine.c - contexts of ucontext_t.
 *
 * swapcontext keeps the running segment (segment.h) in its frame on the stack that it leaves, and puts it back when that goes on.
 * A context that getcontext made goes on in the program: it lands in the agent (land.h).
 *
 * A context stack belongs to the memory that makecontext was given: when that is used again, what ran on it before is gone.
 */
#include "agent/follow/coroutine.h"

#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "agent/os/state.h"
#include "agent/code/cells.h"
#include "agent/context/discover.h"
#include "agent/context/here.h"
#include "agent/follow/land.h"
#include "agent/threads/lock.h"
#include "agent/os/memory.h"
#include "agent/context/segment.h"
#include "agent/os/words.h"
#include "recorder/interpose.h"
#include "recorder/sys.h"
#include "waymark/abi.h"

enum {
	KIND_MAKECONTEXT = 103, /* of here_call */
	MAX_ARGUMENTS = 16,
	GUARD_BYTES = 4096,
	HANDLERS_BYTES = 1 << 20,      /* for what handlers push that run on another stack */
	ADOPTED_STACK_BYTES = 8 << 20, /* of one whose size is not known */
	END_STACK_WORDS = 128,
};

typedef void (*entry_fn)(long, long, long, long, long, long, long, long, long, long, long, long, long, long, long,
			 long);
typedef void (*make_fn)(ucontext_t *, void (*)(void), int, ...);
typedef int (*swap_fn)(ucontext_t *, const ucontext_t *);
typedef int (*set_fn)(const ucontext_t *);

/* In a mapping of its own, which its context stack follows. Written by makecontext, read by the coroutine. */
struct coroutine {
	uintptr_t low, high; /* its native stack */
	uintptr_t root;      /* 0: it has not run */
	size_t bytes;        /* of the mapping */
	void (*entry)(void);
	const ucontext_t *link;
	long arguments[MAX_ARGUMENTS];
	struct agent_entry entries[];
};

static _Atomic(void *) next_make;
static _Atomic(void *) next_swap;
static _Atomic(void *) next_set;

/* Under the agent's lock. */
static struct words by_stack; /* number by the low end of the native stack */
static struct coroutine **coroutines;
static size_t coroutine_count, coroutine_capacity;

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

/* ---- their context stacks ---- */

/* As many entries as the native stack has room for calls that push (thread.c). */
static struct coroutine *map_coroutine(uintptr_t low, size_t stack_bytes)
{
	size_t bytes =
		(sizeof(struct coroutine) + 2 * stack_bytes + HANDLERS_BYTES + GUARD_BYTES + 4095) & ~(size_t)4095;
	long at = wmrt_sys6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct coroutine *coroutine = (struct coroutine *)at; /* NOLINT(performance-no-int-to-ptr) */

	if (at < 0 && at > -4096)
		return NULL;
	wmrt_sys3(SYS_mprotect, at + (long)bytes - GUARD_BYTES, GUARD_BYTES, PROT_NONE);
	coroutine->low = low;
	coroutine->high = low + stack_bytes;
	coroutine->bytes = bytes;
	return coroutine;
}

/* The one of that stack, made when there is none or its stack was smaller. NULL without memory. */
static struct coroutine *coroutine_on(uintptr_t low, size_t stack_bytes)
{
	uint32_t number;

	if (!words_find(&by_stack, low, &number)) {
		if (!agent_reserve((void **)&coroutines, &coroutine_capacity, coroutine_count + 1,
				   sizeof(struct coroutine *)))
			return NULL;
		number = (uint32_t)coroutine_count;
		coroutines[number] = map_coroutine(low, stack_bytes);
		if (!coroutines[number] || !words_set(&by_stack, low, number))
			return NULL;
		coroutine_count++;
	} else if (coroutines[number]->high - low < stack_bytes) {
		struct coroutine *larger = map_coroutine(low, stack_bytes);

		if (!larger)
			return NULL;
		wmrt_sys3(SYS_munmap, (long)coroutines[number], (long)coroutines[number]->bytes, 0);
		coroutines[number] = larger;
	}
	coroutines[number]->high = low + stack_bytes;
	return coroutines[number];
}

bool coroutine_find(uintptr_t sp, struct agent_entry **ret_base, uintptr_t *ret_root)
{
	for (size_t i = coroutine_count; i-- > 0;) {
		struct coroutine *coroutine = coroutines[i];

		if (!coroutine->root || sp < coroutine->low || sp >= coroutine->high)
			continue;
		*ret_base = coroutine->entries;
		*ret_root = coroutine->root;
		return true;
	}
	return false;
}

/* ---- those from before ---- */

static struct words adopted; /* number by root; not in by_stack */
static uintptr_t end_of_coroutines;

bool coroutine_is_end(uintptr_t pc)
{
	return pc && pc == end_of_coroutines;
}

bool coroutine_is_adopted(const struct agent_entry *base)
{
	for (size_t i = 0; i < coroutine_count; i++)
		if (coroutines[i]->entries == base)
			return !coroutines[i]->high;
	return false;
}

struct agent_entry *coroutine_adopt(uintptr_t root)
{
	struct coroutine *coroutine;
	uint32_t number;

	if (words_find(&adopted, root, &number))
		return coroutines[number]->entries;
	coroutine = map_coroutine(0, ADOPTED_STACK_BYTES);
	number = (uint32_t)coroutine_count;
	if (!coroutine ||
	    !agent_reserve((void **)&coroutines, &coroutine_capacity, coroutine_count + 1, sizeof(struct coroutine *)))
		return NULL;
	coroutine->low = coroutine->high = 0;
	coroutine->root = root;
	coroutine->entries[0] = (struct agent_entry){.key = UINT64_MAX, .prefix = WM_PREFIX_PROCESS};
	if (!words_set(&adopted, root, number))
		return NULL;
	coroutines[coroutine_count++] = coroutine;
	return coroutine->entries;
}

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
	end_of_coroutines = *(const uintptr_t *)context.uc_mcontext.gregs[REG_RSP]; /* NOLINT */
}

/* ---- what they run ---- */

/* A coroutine runs this first. */
static void enter(struct coroutine *coroutine)
{
	const long *a = coroutine->arguments;
	entry_fn entry = (entry_fn)coroutine->entry;

	coroutine->root = (uintptr_t)__builtin_frame_address(0) + sizeof(uintptr_t);
	segment_begin_stack(coroutine->entries, coroutine->root);
	/* More arguments than it takes do no harm in this calling convention. */
	entry(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15]);
	agent_thread.id = AGENT_FOREIGN_ID;
	if (coroutine->link)
		own_setcontext(coroutine->link);
}

/* The coroutine that is to run entry on the context's stack, which begins with the context of the call. NULL without memory. */
static struct coroutine *prepare(const ucontext_t *context, void (*entry)(void), const void *return_address)
{
	wm_context here = here_call((uintptr_t)return_address, KIND_MAKECONTEXT, "makecontext");
	struct coroutine *coroutine;
	struct agent_guard guard;

	agent_lock(&guard);
	coroutine = coroutine_on((uintptr_t)context->uc_stack.ss_sp, context->uc_stack.ss_size);
	if (coroutine) {
		coroutine->entries[0] = (struct agent_entry){.key = UINT64_MAX, .prefix = here.prefix};
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

	if (agent_is_on && agent_thread.base && argument_count <= MAX_ARGUMENTS)
		coroutine = prepare(context, entry, return_address);
	if (!coroutine) {
		real_make()(context, entry, argument_count, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9],
			    a[10], a[11], a[12], a[13], a[14], a[15]);
		return;
	}
	for (int i = 0; i < MAX_ARGUMENTS; i++)
		coroutine->arguments[i] = a[i];
	real_make()(context, (void (*)(void))(void *)enter, 1, coroutine);
}

static void own_makecontext(ucontext_t *context, void (*entry)(void), int argument_count, ...)
{
	long a[MAX_ARGUMENTS] = {0};
	va_list ap;

	va_start(ap, argument_count);
	for (int i = 0; i < argument_count && i < MAX_ARGUMENTS; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	coroutine_make(__builtin_return_address(0), context, entry, argument_count, a);
}

/* ---- switching ---- */

/* What to give to libc for `to`: itself where it goes on in the agent, which knows its context; else a copy that lands. */
static const ucontext_t *landing(const ucontext_t *to, ucontext_t *copy)
{
	uintptr_t pc = (uintptr_t)to->uc_mcontext.gregs[REG_RIP];
	const struct agent_image *image = agent_image_find(pc);
	uint32_t site;

	if (image && image->kind == AGENT_IMAGE_OWN && !cells_find(pc, &site))
		return to;
	*copy = *to;
	copy->uc_mcontext.gregs[REG_RIP] = (greg_t)land_at(pc, 1);
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
	segment_leave(NULL, &left);
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
