/*
 * create.c - pthread_create and thrd_create: a thread begins in the context in which it is created.
 *
 *      pthread_create(work, argument)                    the new thread
 *        origin of this point                              origin -> wm1_thread_state, start is free again
 *        start = {work, argument, origin}                  jump to work(argument)
 *        the next pthread_create(begin, start)
 *
 * The call of the user's function is the last thing that `begin` does, a jump: no frame of ours is on the thread's stack.
 * Where there is no context to hand on, the user's function is what starts. Threads that the C library creates for itself (of
 * timers with SIGEV_THREAD, getaddrinfo_a, aio) do not come by here: their root is [thread] alone.
 */
#include <pthread.h>
#include <stddef.h>
#include <threads.h>

#include "runtime/clients.h"
#include "recorder/image.h"
#include "recorder/interpose.h"
#include "runtime/contexts/origin.h"
#include "runtime/contexts/stack.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "waymark/runtime.h"

enum {
	PAGE_BYTES = 4096,
};

typedef void *(*run_fn)(void *);
typedef int (*create_fn)(pthread_t *, const pthread_attr_t *, run_fn, void *);
typedef int (*create_c11_fn)(thrd_t *, thrd_start_t, void *);

/* The arguments of a thread that does not run yet: written by its creator, read by itself. */
struct start {
	struct start *next; /* free ones, under the lock */
	union {
		run_fn run;
		thrd_start_t run_c11;
	};
	void *argument;
	struct wm1_origin *origin;
};

/* libc.a's names, for static programs: `waymark cc` asks the linker for them. */
extern int __pthread_create(pthread_t *, const pthread_attr_t *, run_fn, void *) __attribute__((weak));
extern int __thrd_create(thrd_t *, thrd_start_t, void *) __attribute__((weak));

static _Atomic(void *) next_create;
static _Atomic(void *) next_create_c11;
static struct start *unused;

static int own_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, run_fn run, void *argument);
static int own_thrd_create(thrd_t *thread, thrd_start_t run, void *argument);

static create_fn real_create(void)
{
	create_fn next = (create_fn)wmrt_next(&next_create, "pthread_create", (void *)own_pthread_create);

	return next ? next : __pthread_create;
}

static create_c11_fn real_create_c11(void)
{
	create_c11_fn next = (create_c11_fn)wmrt_next(&next_create_c11, "thrd_create", (void *)own_thrd_create);

	return next ? next : __thrd_create;
}

/* Under the lock. */
static void add_page(void)
{
	struct start *page = wmrt_map_memory(PAGE_BYTES);
	size_t i;

	for (i = 0; page && i < PAGE_BYTES / sizeof *page; i++) {
		page[i].next = unused;
		unused = &page[i];
	}
}

/* NULL: there is no context to hand on, or no memory. */
static struct start *start_new(void *argument)
{
	struct wm1_origin *origin = wmrt_is_active() ? wmrt_origin_here() : NULL;
	struct wmrt_guard guard;
	struct start *start;

	if (!origin)
		return NULL;
	wmrt_lock(&guard);
	if (!unused)
		add_page();
	start = unused;
	if (start)
		unused = start->next;
	wmrt_unlock(&guard);
	if (start) {
		start->argument = argument;
		start->origin = origin;
	}
	return start;
}

static void start_free(struct start *start)
{
	struct wmrt_guard guard;

	wmrt_lock(&guard);
	start->next = unused;
	unused = start;
	wmrt_unlock(&guard);
}

/* In the new thread, before anything else of the program. */
static __attribute__((noinline)) void take_origin(struct start *start)
{
	wm1_thread_state.origin = start->origin;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	wmrt_stack.base_prefix = 0; /* a handler may have needed it already */
	start_free(start);
}

static void *begin(void *data)
{
	struct start *start = data;
	run_fn run = start->run;
	void *argument = start->argument;

	take_origin(start);
	return run(argument);
}

static int begin_c11(void *data)
{
	struct start *start = data;
	thrd_start_t run = start->run_c11;
	void *argument = start->argument;

	take_origin(start);
	return run(argument);
}

static int own_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, run_fn run, void *argument)
{
	struct start *start = start_new(argument);
	int rc;

	if (!start)
		return real_create()(thread, attributes, run, argument);
	start->run = run;
	rc = real_create()(thread, attributes, begin, start);
	if (rc != 0)
		start_free(start);
	return rc;
}

static int own_thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
	struct start *start = start_new(argument);
	int rc;

	if (!start)
		return real_create_c11()(thread, run, argument);
	start->run_c11 = run;
	rc = real_create_c11()(thread, begin_c11, start);
	if (rc != thrd_success)
		start_free(start);
	return rc;
}

WMRT_INTERPOSE(pthread_create, own_pthread_create);
WMRT_INTERPOSE(thrd_create, own_thrd_create);

static void start(void)
{
	real_create();
	real_create_c11();
}

const struct wmrt_client wmrt_creators = {.start = start};
