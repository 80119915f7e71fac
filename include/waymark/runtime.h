/*
 * runtime.h - the functions of libwaymark-rt that instrumented code and the heap client call.
 *
 * All are exported with default visibility and may be preempted: the first definition in the process's symbol order
 * (the executable's, when it is instrumented) is the one active instance, whichever images carry a copy.
 *
 * Every function may be called from any thread and from a signal handler, keeps errno, never allocates with malloc, is
 * no cancellation point and never ends the process.
 */
#ifndef WAYMARK_RUNTIME_H
#define WAYMARK_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "paths.h"

#define WM1_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#define WM1_TLS thread_local
#else
#define WM1_TLS _Thread_local
#endif

struct wm_context;

WM1_EXPORT extern WM1_TLS struct wm1_thread wm1_thread_state __attribute__((tls_model("initial-exec")));

/*
 * Called by a push when wm1_thread_state.top is at a segment boundary or NULL. Returns a free entry that may be
 * written and after which top may be set; does not set top. Never fails: without memory it returns an entry of a
 * discard segment, and captures say WM_PREFIX_LOST until the stack is back below it.
 */
WM1_EXPORT struct wm1_entry *wm1_grow(void) __attribute__((preserve_most, cold));

/*
 * Takes off the pushes of tail calls whose frame had its return address at return_slot, and puts back the id from
 * before the first of them: what the function at the end of such a chain does before it returns to a caller that cannot.
 */
WM1_EXPORT void wm1_drop_tails(uint64_t return_slot) __attribute__((preserve_most, cold));

/*
 * Pushes the call of foreign code that is in progress, if its push was put off; else does nothing. The entry has the stack pointer
 * of the call, at which wm1_put_back takes it off.
 */
WM1_EXPORT void wm1_push_deferred(void) __attribute__((preserve_most, cold));

/*
 * Takes off the push that was made at this stack pointer, and what was left above it; puts back the id from before. The push is on
 * top but where a segment begins, where a call left entries behind, or where the program has switched stacks by itself. When the
 * entry is not there any more, the id is one that no function has: contexts decode as unknown, never as wrong.
 */
WM1_EXPORT void wm1_put_back(uint64_t sp) __attribute__((preserve_most, cold));

/* Gives the image its site_base. An image seen before (same build id and meta_key) gets the number it had. An image of
 * another ABI version gets numbers that belong to no recorded image: its contexts decode as unknown, never as wrong. */
WM1_EXPORT void wm1_register(struct wm1_image *image);
WM1_EXPORT void wm1_unregister(struct wm1_image *image);

/*
 * main of a program with hybrid encoding has been entered: frame is where the caller's stack ends (CFA), from which offsets count. Returns the id
 * at which main starts; of a second activation one that no function has: contexts decode as unknown, never as wrong.
 */
WM1_EXPORT uint64_t wm1_hybrid_main(uint64_t frame);

/* The compiler rewrites wm_capture() and wm_event() to these; site is a site number of the process. */
WM1_EXPORT struct wm_context wm1_capture(uint32_t site);
WM1_EXPORT void wm1_event(uint32_t site, const char *name, uint64_t value);

/* wm_task_begin and wm_task_end (waymark.h). here: the context of the call. */
WM1_EXPORT void wm1_task_begin(const struct wm_context *enqueued, const struct wm_context *here);
WM1_EXPORT void wm1_task_end(void);

/* Tasks of the active instance, for contexts that somebody else has found (libwaymark-sample.so). */
struct wm1_tasks {
	void (*begin)(const struct wm_context *enqueued, const struct wm_context *here);
	void (*end)(void);
	struct wm_context (*in_task)(struct wm_context context); /* that of the running thread, in its task */
};
WM1_EXPORT const struct wm1_tasks *wm1_tasks(void) __attribute__((weak));

/*
 * The heap client (libwaymark-heap.so) notifies the active instance of every successful allocation and, before the block
 * goes back to the allocator, of every free. wm1_heap_take forgets the block and returns what is needed to put it back,
 * for a realloc that may fail.
 */
struct wm1_heap_block {
	uint64_t size_bytes;
	uint32_t record; /* 0: the block was not known */
	uint32_t count; /* allocations of that size that it stands for: 1, unless it was sampled. Earlier versions do not set it */
};
/* The functions of an allocator, as X(result, name, parameters). */
#define WM1_HEAP_ALLOCATOR(X)                             \
	X(void, free, (void *))                           \
	X(void *, malloc, (size_t))                       \
	X(void *, calloc, (size_t, size_t))               \
	X(void *, realloc, (void *, size_t))              \
	X(void *, reallocarray, (void *, size_t, size_t)) \
	X(int, posix_memalign, (void **, size_t, size_t)) \
	X(void *, aligned_alloc, (size_t, size_t))        \
	X(void *, memalign, (size_t, size_t))             \
	X(void *, valloc, (size_t))                       \
	X(void *, pvalloc, (size_t))
/* Which of them the program called. */
enum wm1_heap_function {
	WM1_HEAP_MALLOC,
	WM1_HEAP_CALLOC,
	WM1_HEAP_REALLOC,
	WM1_HEAP_REALLOCARRAY,
	WM1_HEAP_POSIX_MEMALIGN,
	WM1_HEAP_ALIGNED_ALLOC,
	WM1_HEAP_MEMALIGN,
	WM1_HEAP_VALLOC,
	WM1_HEAP_PVALLOC,
	WM1_HEAP_FUNCTIONS,
};
WM1_EXPORT void wm1_heap_start(void);
WM1_EXPORT void wm1_heap_alloc(void *block, size_t size_bytes);
/* Records the block with the caller's return address, by which an agent finds the context. Instances of earlier versions do not have it. */
WM1_EXPORT void wm1_heap_alloc_from(void *block, size_t size_bytes, const void *return_address,
				    enum wm1_heap_function function);
WM1_EXPORT struct wm1_heap_block wm1_heap_take(void *block);
WM1_EXPORT void wm1_heap_put_back(void *block, struct wm1_heap_block taken);
WM1_EXPORT void wm1_heap_freed(struct wm1_heap_block taken);
/* The two in one, for most blocks are given back at once. Instances of earlier versions do not have it. */
WM1_EXPORT void wm1_heap_free(void *block);

struct wm1_heap_client {
	void (*start)(void);
	void (*alloc)(void *block, size_t size_bytes);
	struct wm1_heap_block (*take)(void *block);
	void (*put_back)(void *block, struct wm1_heap_block taken);
	void (*freed)(struct wm1_heap_block taken);
};
/* Defined by libwaymark-heap.so: an instance that was loaded later (with a plugin) hands itself over. */
WM1_EXPORT void wm1_heap_attach(const struct wm1_heap_client *client) __attribute__((weak));

/* The caller of a function, once the call has returned. */
struct wm1_caller {
	uintptr_t pc, sp, rbp;
};
/*
 * Allocations in contexts of walks (WAYMARK_HEAP, run.h). libwaymark-heap.so tells of each, or of one for about that many
 * bytes, which stands for `count` allocations of its size, and of the frees of those. Then it tells nothing to instances of the runtime.
 */
struct wm1_heap_walked {
	void (*alloc)(void *block, size_t size_bytes, uint32_t count, const struct wm1_caller *caller,
		      enum wm1_heap_function function);
	struct wm1_heap_block (*take)(void *block);
	void (*put_back)(void *block, struct wm1_heap_block taken);
	void (*freed)(struct wm1_heap_block taken); /* record 0: of a block that was not told of, where each is */
};
/* Defined by libwaymark-heap.so. Once a process: allocations are told of from here on. */
WM1_EXPORT void wm1_heap_walk(const struct wm1_heap_walked *client) __attribute__((weak));
/* Defined by libwaymark-sample.so: whom to tell of each allocation before it has begun. NULL: nobody. */
WM1_EXPORT const struct wm1_heap_walked *wm1_heap_walked_early(void) __attribute__((weak));

/* The records of the heap, for contexts that somebody else has found (libwaymark-sample.so). */
struct wm1_heap_records {
	int (*start)(uint64_t interval_bytes); /* 0: every allocation is told. Returns 0 if nothing can be recorded */
	void (*alloc)(void *block, size_t size_bytes, uint32_t count, struct wm_context context);
	struct wm1_heap_block (*take)(void *block);
	void (*put_back)(void *block, struct wm1_heap_block taken);
	void (*freed)(struct wm1_heap_block taken);
};
/* Of the active instance, wherever it is. */
WM1_EXPORT const struct wm1_heap_records *wm1_heap_records(void) __attribute__((weak));

/*
 * Path counters (paths.h). enter: a table for this thread, stored to *slot; never fails: without memory it is one whose counts
 * are discarded and reported as dropped. miss: counts the path of r, which is not among the pairs; may put it there (HASH).
 * residual: the same for a path outside a plan, together with the calling context when site is not 0.
 */
WM1_EXPORT uint64_t *wm1_path_enter(const struct wm1_path_function *function, uint64_t **slot)
	__attribute__((preserve_most, cold));
WM1_EXPORT void wm1_path_miss(const struct wm1_path_function *function, uint64_t *table, uint64_t r)
	__attribute__((preserve_most));
WM1_EXPORT void wm1_path_residual(const struct wm1_path_function *function, uint64_t *table, uint64_t r, uint32_t site)
	__attribute__((preserve_most, cold));

/*
 * The agent's (libwaymark-agent.so by `waymark run`), where it is in front of every instance: then it is the active one, whichever comes
 * first, and the others hand over to it what they are called for. Contexts are those of its encoding, of all code of the process: what
 * the instrumented code keeps in wm1_thread_state goes on and means nothing.
 */
struct wm1_agent {
	void (*register_image)(
		struct wm1_image *image); /* its wm1_register, by which an instance knows whether it is the agent */
	/* As wm_capture, wm_event and wm_token, of the point behind which the caller goes on. */
	struct wm_context (*capture)(const void *return_address);
	void (*event)(const void *return_address, const char *name, uint64_t value);
	int (*token)(const struct wm_context *c, char *buf, size_t size);
	/* As makecontext, with 16 words of arguments. */
	void (*make_context)(const void *return_address, void *context, void (*entry)(void), int argument_count,
			     const long *arguments);
	/* As wm1_path_enter and so on. */
	uint64_t *(*path_enter)(const struct wm1_path_function *function, uint64_t **slot);
	void (*path_miss)(uint64_t *table, uint64_t r);
	void (*path_residual)(const void *return_address, uint64_t *table, uint64_t r, uint32_t site);
	struct wm1_heap_client heap;
	void (*heap_alloc_from)(void *block, size_t size_bytes, const void *return_address,
				enum wm1_heap_function function);
	const char *(*unfit)(void); /* returns NULL, or why the agent stays out of this process: it is told nothing */
};
WM1_EXPORT extern const struct wm1_agent wm1_agent __attribute__((weak));

/* An instance of the runtime. A program that has one without this does not know the agent. */
struct wm1_runtime {
	/* &wm1_agent as the dynamic linker has bound it: what the instance hands over to. NULL: it does not. */
	const struct wm1_agent *(*agent)(void);
	const char *text_low; /* its code, [low, high) */
	const char *text_high;
};
WM1_EXPORT extern const struct wm1_runtime wm1_runtime __attribute__((weak));

/*
 * A program that records nothing by itself has only the part of the runtime that keeps contexts (src/runtime/alone.c). A whole runtime comes
 * with libwaymark-rt.so:
 *
 *      in front of libc    `waymark run --heap` preloads it: the program hands all over to it
 *      behind libc         a shared library built with Waymark needs it, or a plugin brings it: the program keeps the contexts, it records them
 */
struct wm1_whole {
	void (*register_image)(struct wm1_image *image);
	int (*is_in_front)(void); /* of libc's functions, that is: those that it interposes are reached */
	struct wm1_entry *(*grow)(void)__attribute__((preserve_most));
	void (*drop_tails)(uint64_t return_slot) __attribute__((preserve_most));
	void (*push_deferred)(void) __attribute__((preserve_most));
	void (*put_back)(uint64_t sp) __attribute__((preserve_most));
	/* Numbers of the recording, for what a stack stands on (src/runtime/contexts/origin.h). */
	uint32_t (*signal_prefix)(struct wm1_entry *entry);
	uint32_t (*task_root)(void);
	uint32_t (*coroutine_prefix)(void);
};
WM1_EXPORT extern const struct wm1_whole wm1_whole __attribute__((weak));

struct wm1_keeper {
	void (*attach)(const struct wm1_whole *
			       whole); /* in the constructor of one that came with a library: it learns of the images */
};
/* Of programs. Beside it there is a wm1_recorder where the program's runtime is whole. */
WM1_EXPORT extern const struct wm1_keeper wm1_keeper __attribute__((weak));

#ifdef __cplusplus
}
#endif
#endif
