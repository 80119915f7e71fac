/*
 * preload.c - libwaymark-heap.so: interposes the malloc family (LD_PRELOAD) and notifies the runtime of every
 * call.
 *
 * It counts every successful call of malloc, calloc, realloc, reallocarray, posix_memalign, aligned_alloc,
 * memalign, valloc and pvalloc with the bytes asked for, and every free. operator new and delete of libstdc++ and
 * libc++ call these, as does an operator of the program's own that takes its memory from malloc: each is counted
 * once, as the malloc call that it is. A realloc is a free and an allocation; one that fails is nothing. Memory that
 * a program's own allocator maps itself is no heap here, and a program that defines malloc itself, or is linked
 * statically, keeps its own; the agent sees to the former (src/agent/clients/allocator_more.c), else missed.c says it.
 *
 * The runtime is found by weak references: in a process without one (a shell that starts the program) this library
 * hands calls through. A runtime that comes later, with a plugin, attaches itself. So does one that is there when a program allocates before
 * the C library has its environment (.preinit_array, of sanitizers): where to record to is not known yet.
 *
 * Where nothing is told of a call, it is handed on by a tail call: the next allocator sees its true caller. LeakSanitizer
 * knows by the caller what the dynamic linker allocates, and reports it as leaked otherwise. The agent stays out of
 * programs of sanitizers, so it is told nothing there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/heap/missed.h"
#include "waymark/runtime.h"

#define API __attribute__((visibility("default")))

#pragma weak wm1_heap_start
#pragma weak wm1_heap_alloc
#pragma weak wm1_heap_alloc_from
#pragma weak wm1_heap_take
#pragma weak wm1_heap_put_back
#pragma weak wm1_heap_freed

enum {
	EARLY_BYTES = 65536,
	EARLY_ALIGN = 16,
};

/* The next allocator. Written once, by resolve, before is_resolved. */
static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
	WM1_HEAP_ALLOCATOR(MEMBER)
} next;
static _Atomic int resolve_state; /* 0 not begun, 1 at it, 2 done */

static const struct wm1_heap_client direct = {wm1_heap_start, wm1_heap_alloc, wm1_heap_take, wm1_heap_put_back,
					      wm1_heap_freed};
/* The client's function; NULL: it has none. Written before `client`. */
static void (*alloc_from)(void *, size_t, const void *, enum wm1_heap_function);
/* NULL: no runtime in this process. Written by resolve or by the runtime's constructor. */
static _Atomic(const struct wm1_heap_client *) client;

/* Serves what dlsym itself asks for while the next allocator is looked up; never given back. */
static _Alignas(EARLY_ALIGN) char early[EARLY_BYTES];
static _Atomic size_t early_used;

static void *early_alloc(size_t size_bytes)
{
	size_t need = (size_bytes + EARLY_ALIGN - 1) & ~(size_t)(EARLY_ALIGN - 1);
	size_t at;

	if (need < size_bytes || need > EARLY_BYTES)
		return NULL;
	at = atomic_fetch_add(&early_used, need);
	return at + need <= EARLY_BYTES ? early + at : NULL;
}

static bool is_early(const void *block)
{
	return (uintptr_t)block - (uintptr_t)early < EARLY_BYTES;
}

#define RESOLVE(result, name, parameters) next.name = (__typeof(next.name))dlsym(RTLD_NEXT, #name);

static _Atomic bool is_loaded; /* all libraries that come with the program */

static void start_client(const struct wm1_heap_client *found)
{
	const struct wm1_heap_client *none = NULL;

	found->start();
	if (atomic_compare_exchange_strong(&client, &none, found) && atomic_load(&is_loaded) && !&wm1_agent)
		missed_say();
}

/* True when the next allocator can be called. False inside its own look-up. */
static bool resolve(void)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&resolve_state, &none, 1))
		return none == 2;
	WM1_HEAP_ALLOCATOR(RESOLVE)
	atomic_store_explicit(&resolve_state, 2, memory_order_release);
	if (&wm1_agent && wm1_agent.unfit())
		return true;
	if (&wm1_agent)
		alloc_from = wm1_agent.heap_alloc_from;
	else if (wm1_heap_start && wm1_heap_alloc && wm1_heap_take && wm1_heap_put_back && wm1_heap_freed)
		alloc_from = wm1_heap_alloc_from;
	if (alloc_from && environ)
		start_client(&wm1_agent ? &wm1_agent.heap : &direct);
	return true;
}

static inline bool is_resolved(void);

/* A program with a malloc of its own does not come in here otherwise. */
__attribute__((constructor)) static void look_at_program(void)
{
	bool is_client = is_resolved() && atomic_load(&client);

	atomic_store(&is_loaded, true);
	if (is_client && !&wm1_agent)
		missed_say();
}

static inline bool is_resolved(void)
{
	return __builtin_expect(atomic_load_explicit(&resolve_state, memory_order_acquire) == 2, 1) || resolve();
}

static inline const struct wm1_heap_client *runtime(void)
{
	return atomic_load_explicit(&client, memory_order_acquire);
}

/* The next allocator can be called, and there is nobody to tell. */
static inline bool is_untold(void)
{
	return is_resolved() && !runtime();
}

/* The call that the program made. */
struct call {
	const void *return_address;
	enum wm1_heap_function function;
};

#define CALLED(function) ((struct call){__builtin_return_address(0), function})

static void *tell_alloc(void *block, size_t size_bytes, struct call call)
{
	const struct wm1_heap_client *to = runtime();

	if (block && to) {
		if (alloc_from)
			alloc_from(block, size_bytes, call.return_address, call.function);
		else
			to->alloc(block, size_bytes);
	}
	return block;
}

static void *alloc(size_t size_bytes, struct call call)
{
	return is_resolved() ? tell_alloc(next.malloc(size_bytes), size_bytes, call) : early_alloc(size_bytes);
}

void wm1_heap_attach(const struct wm1_heap_client *found)
{
	if (is_resolved())
		start_client(found);
}

API void *malloc(size_t size_bytes)
{
	if (is_untold())
		return next.malloc(size_bytes);
	return alloc(size_bytes, CALLED(WM1_HEAP_MALLOC));
}

API void *calloc(size_t count, size_t size_bytes)
{
	size_t total;

	if (is_untold())
		return next.calloc(count, size_bytes);
	if (__builtin_mul_overflow(count, size_bytes, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	/* The early store is zero: it is never used twice. */
	return is_resolved() ? tell_alloc(next.calloc(count, size_bytes), total, CALLED(WM1_HEAP_CALLOC))
			     : early_alloc(total);
}

API void free(void *block)
{
	const struct wm1_heap_client *to;

	if (!block || is_early(block) || !is_resolved())
		return;
	/* Forgotten first: once it is free, another thread may get it. */
	to = runtime();
	if (to)
		to->freed(to->take(block));
	next.free(block);
}

static void *move_early(void *block, size_t size_bytes, struct call call)
{
	size_t left = (size_t)(early + EARLY_BYTES - (char *)block);
	void *moved = alloc(size_bytes, call);

	if (moved)
		memcpy(moved, block, size_bytes < left ? size_bytes : left);
	return moved;
}

static void *resize(void *block, size_t size_bytes, struct call call)
{
	const struct wm1_heap_client *to;
	struct wm1_heap_block taken;
	void *moved;

	if (!block)
		return alloc(size_bytes, call);
	if (is_early(block) || !is_resolved())
		return move_early(block, size_bytes, call);
	to = runtime();
	if (!to)
		return next.realloc(block, size_bytes);
	taken = to->take(block);
	moved = next.realloc(block, size_bytes);
	if (!moved && size_bytes) {
		to->put_back(block, taken);
		return NULL;
	}
	to->freed(taken);
	return tell_alloc(moved, size_bytes, call);
}

API void *realloc(void *block, size_t size_bytes)
{
	if (is_untold() && !is_early(block))
		return next.realloc(block, size_bytes);
	return resize(block, size_bytes, CALLED(WM1_HEAP_REALLOC));
}

/* Not handed on: libc's calls realloc, which would be counted twice. */
API void *reallocarray(void *block, size_t count, size_t size_bytes)
{
	size_t total;

	if (__builtin_mul_overflow(count, size_bytes, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	if (is_untold() && !is_early(block))
		return next.realloc(block, total);
	return resize(block, total, CALLED(WM1_HEAP_REALLOCARRAY));
}

API int posix_memalign(void **block, size_t alignment, size_t size_bytes)
{
	int rc;

	if (is_untold())
		return next.posix_memalign(block, alignment, size_bytes);
	if (!is_resolved())
		return ENOMEM;
	rc = next.posix_memalign(block, alignment, size_bytes);
	if (rc == 0)
		tell_alloc(*block, size_bytes, CALLED(WM1_HEAP_POSIX_MEMALIGN));
	return rc;
}

API void *aligned_alloc(size_t alignment, size_t size_bytes)
{
	if (is_untold())
		return next.aligned_alloc(alignment, size_bytes);
	return is_resolved() ? tell_alloc(next.aligned_alloc(alignment, size_bytes), size_bytes,
					  CALLED(WM1_HEAP_ALIGNED_ALLOC))
			     : NULL;
}

API void *memalign(size_t alignment, size_t size_bytes)
{
	if (is_untold())
		return next.memalign(alignment, size_bytes);
	return is_resolved() ? tell_alloc(next.memalign(alignment, size_bytes), size_bytes, CALLED(WM1_HEAP_MEMALIGN))
			     : NULL;
}

API void *valloc(size_t size_bytes)
{
	if (is_untold())
		return next.valloc(size_bytes);
	return is_resolved() ? tell_alloc(next.valloc(size_bytes), size_bytes, CALLED(WM1_HEAP_VALLOC)) : NULL;
}

API void *pvalloc(size_t size_bytes)
{
	if (is_untold())
		return next.pvalloc(size_bytes);
	return is_resolved() ? tell_alloc(next.pvalloc(size_bytes), size_bytes, CALLED(WM1_HEAP_PVALLOC)) : NULL;
}
