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
 * With WAYMARK_HEAP=every, or BYTES, each allocation or one for about that many bytes (chance.h) is told to the client that walks
 * stacks (wm1_heap_walk). It gets the caller's registers: the functions that were called have a frame pointer.
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
#include <sys/auxv.h>
#include <unistd.h>

#include "runtime/heap/chance.h"
#include "runtime/heap/missed.h"
#include "runtime/heap/sieve.h"
#include "waymark/run.h"
#include "waymark/runtime.h"

#define API __attribute__((visibility("default")))

#pragma weak wm1_heap_start
#pragma weak wm1_heap_alloc
#pragma weak wm1_heap_alloc_from
#pragma weak wm1_heap_take
#pragma weak wm1_heap_put_back
#pragma weak wm1_heap_freed
#pragma weak wm1_heap_free

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
/* The client's functions that are not in its table; NULL: it has none. Written before `client`. */
static void (*alloc_from)(void *, size_t, const void *, enum wm1_heap_function);
static void (*forget)(void *); /* take and freed in one */
/* NULL: no runtime in this process. Written by resolve or by the runtime's constructor, once the next allocator can be called. */
static _Atomic(const struct wm1_heap_client *) client;

/* Who walks; NULL: nobody does. It stays. */
static _Atomic(const struct wm1_heap_walked *) walker;
static bool is_every; /* each allocation is told to it. Written before it is */
static _Thread_local struct chance chance __attribute__((tls_model("initial-exec")));
static struct sieve sieve; /* of sampled blocks */

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

static bool is_asked_for_every(void)
{
	const char *text = environ ? getenv("WAYMARK_HEAP") : NULL;

	return text && strncmp(text, WM1_HEAP_EVERY, strlen(WM1_HEAP_EVERY)) == 0;
}

/* WAYMARK_HEAP=BYTES, or BYTES:SEED. */
static bool is_asked_for_samples(uint64_t *ret_interval, uint64_t *ret_seed)
{
	const char *text = environ ? getenv("WAYMARK_HEAP") : NULL;
	char *end = NULL;
	unsigned long long interval = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;

	if (!interval || interval > CHANCE_INTERVAL_MAX || (*end && *end != ':'))
		return false;
	if (ret_interval)
		*ret_interval = interval;
	if (ret_seed && *end)
		*ret_seed = strtoull(end + 1, NULL, 10);
	return true;
}

/*
 * `waymark run` brings it for a program that has no recorder. In others, which that program starts, it records only what has an image that it knows:
 * of what it hands over there, the first, at its start, is not taken.
 */
static bool is_runtime_preloaded(void)
{
	const char *list = environ ? getenv("LD_PRELOAD") : NULL;

	return !&wm1_keeper && list && strstr(list, "/libwaymark-rt.so");
}

/* NULL: the instance whose functions the others are has none, whatever another one in the process has. */
static void (*forget_of_instance(void))(void *)
{
	Dl_info takes, forgets;

	if (!wm1_heap_free || !dladdr((const void *)wm1_heap_take, &takes) ||
	    !dladdr((const void *)wm1_heap_free, &forgets) || takes.dli_fbase != forgets.dli_fbase)
		return NULL;
	return wm1_heap_free;
}

/* True when the next allocator can be called. False inside its own look-up. */
static bool resolve(void)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&resolve_state, &none, 1))
		return none == 2;
	WM1_HEAP_ALLOCATOR(RESOLVE)
	atomic_store_explicit(&resolve_state, 2, memory_order_release);
	if ((&wm1_agent && wm1_agent.unfit()) || is_asked_for_samples(NULL, NULL))
		return true;
	if (is_asked_for_every()) {
		is_every = true;
		atomic_store(&walker, wm1_heap_walked_early ? wm1_heap_walked_early() : NULL);
		return true;
	}
	if (&wm1_agent) {
		alloc_from = wm1_agent.heap_alloc_from;
	} else if (wm1_heap_start && wm1_heap_alloc && wm1_heap_take && wm1_heap_put_back && wm1_heap_freed &&
		   !is_runtime_preloaded()) {
		alloc_from = wm1_heap_alloc_from;
		forget = forget_of_instance();
	}
	if (alloc_from && environ)
		start_client(&wm1_agent ? &wm1_agent.heap : &direct);
	return true;
}

static inline bool is_resolved(void);

/* A program with a malloc of its own does not come in here otherwise. */
__attribute__((constructor)) static void look_at_program(void)
{
	bool is_client = is_resolved() && (atomic_load(&client) || atomic_load(&walker));

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

static inline const struct wm1_heap_walked *walks(void)
{
	return atomic_load_explicit(&walker, memory_order_acquire);
}

/* The next allocator can be called, and there is nobody to tell. *ret: how many allocations this one stands for; 0: it is not told of. */
static inline bool is_untold(size_t size_bytes, uint32_t *ret)
{
	if (!is_resolved() || runtime())
		return false;
	*ret = !walks() ? 0 : is_every ? 1 : chance_of(&chance, size_bytes);
	return !*ret;
}

/* There is nobody to tell of its free. */
static inline bool is_unknown(const void *block)
{
	return is_every ? !walks() : !sieve_may_have(&sieve, block);
}

/* The call that the program made. */
struct call {
	struct wm1_caller caller;
	enum wm1_heap_function function;
	uint32_t count; /* that who walks is told; 0: it is not */
};

#define CALLED(function, count) ((struct call){caller_of(__builtin_frame_address(0)), function, count})

/* frame: a frame pointer, at which there are the caller's and the return address. */
static inline __attribute__((always_inline)) struct wm1_caller caller_of(const uintptr_t *frame)
{
	return (struct wm1_caller){frame[1], (uintptr_t)(frame + 2), frame[0]};
}

static inline __attribute__((always_inline)) void *tell_client(const struct wm1_heap_client *to, void *block,
							       size_t size_bytes, const void *return_address,
							       enum wm1_heap_function function)
{
	if (!block)
		return NULL;
	if (__builtin_expect(alloc_from != NULL, 1))
		alloc_from(block, size_bytes, return_address, function);
	else
		to->alloc(block, size_bytes);
	return block;
}

static void *tell_alloc(void *block, size_t size_bytes, struct call call)
{
	const struct wm1_heap_client *to = runtime();

	if (block && call.count) {
		/* First: as soon as it is recorded, the block counts. */
		if (!is_every)
			sieve_add(&sieve, block);
		walks()->alloc(block, size_bytes, call.count, &call.caller, call.function);
	} else if (to) {
		tell_client(to, block, size_bytes, (const void *)call.caller.pc, call.function);
	}
	return block;
}

static void *alloc(size_t size_bytes, struct call call)
{
	return is_resolved() ? tell_alloc(next.malloc(size_bytes), size_bytes, call) : early_alloc(size_bytes);
}

void wm1_heap_attach(const struct wm1_heap_client *found)
{
	static _Atomic bool is_started;
	bool is_start = !atomic_exchange(&is_started, true);

	if (is_resolved() && !is_every && !is_asked_for_samples(NULL, NULL) && !(is_start && is_runtime_preloaded()))
		start_client(found);
}

void wm1_heap_walk(const struct wm1_heap_walked *found)
{
	const struct wm1_heap_walked *none = NULL;
	uint64_t interval, seed;

	memcpy(&seed, (const void *)getauxval(AT_RANDOM), sizeof seed); /* NOLINT(performance-no-int-to-ptr) */
	if (!is_resolved() || runtime())
		return;
	/* The first allocation may have come before the environment. */
	is_every = is_asked_for_every();
	if (!is_every && !is_asked_for_samples(&interval, &seed))
		return;
	if (!is_every)
		chance_start(interval, seed);
	if (atomic_compare_exchange_strong(&walker, &none, found) && atomic_load(&is_loaded))
		missed_say();
}

API void *malloc(size_t size_bytes)
{
	const struct wm1_heap_client *to = runtime();
	uint32_t stands_for = 0;

	if (to)
		return tell_client(to, next.malloc(size_bytes), size_bytes, __builtin_return_address(0),
				   WM1_HEAP_MALLOC);
	if (is_untold(size_bytes, &stands_for))
		return next.malloc(size_bytes);
	return alloc(size_bytes, CALLED(WM1_HEAP_MALLOC, stands_for));
}

API void *calloc(size_t count, size_t size_bytes)
{
	const struct wm1_heap_client *to = runtime();
	size_t total = 0;
	bool is_over = __builtin_mul_overflow(count, size_bytes, &total);
	uint32_t stands_for = 0;

	if (to && !is_over)
		return tell_client(to, next.calloc(count, size_bytes), total, __builtin_return_address(0),
				   WM1_HEAP_CALLOC);
	if (is_untold(is_over ? 0 : total, &stands_for))
		return next.calloc(count, size_bytes);
	if (is_over) {
		errno = ENOMEM;
		return NULL;
	}
	/* The early store is zero: it is never used twice. */
	return is_resolved() ? tell_alloc(next.calloc(count, size_bytes), total, CALLED(WM1_HEAP_CALLOC, stands_for))
			     : early_alloc(total);
}

static struct wm1_heap_block take_told(const void *block)
{
	struct wm1_heap_block taken = walks()->take((void *)block);

	if (taken.record && !is_every)
		sieve_remove(&sieve, block);
	return taken;
}

static void tell_freed(struct wm1_heap_block taken)
{
	if (taken.record || is_every)
		walks()->freed(taken);
}

static __attribute__((noinline)) void free_told(const void *block)
{
	tell_freed(take_told(block));
}

API void free(void *block)
{
	const struct wm1_heap_client *to = runtime();

	if (!block || is_early(block) || (!to && !is_resolved()))
		return;
	/* Forgotten first: once it is free, another thread may get it. */
	if (to && forget)
		forget(block);
	else if (to)
		to->freed(to->take(block));
	else if (!is_unknown(block))
		free_told(block);
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

static __attribute__((noinline)) void *resize_told(void *block, size_t size_bytes, struct call call)
{
	struct wm1_heap_block taken = take_told(block);
	void *moved = next.realloc(block, size_bytes);

	if (moved || !size_bytes) {
		tell_freed(taken);
	} else if (taken.record) {
		if (!is_every)
			sieve_add(&sieve, block);
		walks()->put_back(block, taken);
	}
	return tell_alloc(moved, size_bytes, call);
}

/* A block that the next allocator has given. */
static void *resize_known(const struct wm1_heap_client *to, void *block, size_t size_bytes, const void *return_address,
			  enum wm1_heap_function function)
{
	struct wm1_heap_block taken = to->take(block);
	void *moved = next.realloc(block, size_bytes);

	if (!moved && size_bytes) {
		to->put_back(block, taken);
		return NULL;
	}
	to->freed(taken);
	return tell_client(to, moved, size_bytes, return_address, function);
}

static void *resize(void *block, size_t size_bytes, struct call call)
{
	const struct wm1_heap_client *to = runtime();

	if (!block)
		return alloc(size_bytes, call);
	if (is_early(block) || !is_resolved())
		return move_early(block, size_bytes, call);
	if (to)
		return resize_known(to, block, size_bytes, (const void *)call.caller.pc, call.function);
	if (!is_unknown(block))
		return resize_told(block, size_bytes, call);
	return tell_alloc(next.realloc(block, size_bytes), size_bytes, call);
}

API void *realloc(void *block, size_t size_bytes)
{
	const struct wm1_heap_client *to = runtime();
	uint32_t stands_for = 0;

	if (to && block && !is_early(block))
		return resize_known(to, block, size_bytes, __builtin_return_address(0), WM1_HEAP_REALLOC);
	if (is_untold(size_bytes, &stands_for) && !is_early(block) && is_unknown(block))
		return next.realloc(block, size_bytes);
	return resize(block, size_bytes, CALLED(WM1_HEAP_REALLOC, stands_for));
}

/* Not handed on: libc's calls realloc, which would be counted twice. */
API void *reallocarray(void *block, size_t count, size_t size_bytes)
{
	uint32_t stands_for = 0;
	size_t total;

	if (__builtin_mul_overflow(count, size_bytes, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	if (is_untold(total, &stands_for) && !is_early(block) && is_unknown(block))
		return next.realloc(block, total);
	return resize(block, total, CALLED(WM1_HEAP_REALLOCARRAY, stands_for));
}

API int posix_memalign(void **block, size_t alignment, size_t size_bytes)
{
	uint32_t stands_for = 0;
	int rc;

	if (is_untold(size_bytes, &stands_for))
		return next.posix_memalign(block, alignment, size_bytes);
	if (!is_resolved())
		return ENOMEM;
	rc = next.posix_memalign(block, alignment, size_bytes);
	if (rc == 0)
		tell_alloc(*block, size_bytes, CALLED(WM1_HEAP_POSIX_MEMALIGN, stands_for));
	return rc;
}

API void *aligned_alloc(size_t alignment, size_t size_bytes)
{
	uint32_t stands_for = 0;

	if (is_untold(size_bytes, &stands_for))
		return next.aligned_alloc(alignment, size_bytes);
	return is_resolved() ? tell_alloc(next.aligned_alloc(alignment, size_bytes), size_bytes,
					  CALLED(WM1_HEAP_ALIGNED_ALLOC, stands_for))
			     : NULL;
}

API void *memalign(size_t alignment, size_t size_bytes)
{
	uint32_t stands_for = 0;

	if (is_untold(size_bytes, &stands_for))
		return next.memalign(alignment, size_bytes);
	return is_resolved() ? tell_alloc(next.memalign(alignment, size_bytes), size_bytes,
					  CALLED(WM1_HEAP_MEMALIGN, stands_for))
			     : NULL;
}

API void *valloc(size_t size_bytes)
{
	uint32_t stands_for = 0;

	if (is_untold(size_bytes, &stands_for))
		return next.valloc(size_bytes);
	return is_resolved() ? tell_alloc(next.valloc(size_bytes), size_bytes, CALLED(WM1_HEAP_VALLOC, stands_for))
			     : NULL;
}

API void *pvalloc(size_t size_bytes)
{
	uint32_t stands_for = 0;

	if (is_untold(size_bytes, &stands_for))
		return next.pvalloc(size_bytes);
	return is_resolved() ? tell_alloc(next.pvalloc(size_bytes), size_bytes, CALLED(WM1_HEAP_PVALLOC, stands_for))
			     : NULL;
}
