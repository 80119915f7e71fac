/*
 * create.c - pthread_create and thrd_create: a thread begins in the context in which it is created, with a timer of its own.
 *
 *      pthread_create(work, argument)                 the new thread
 *        prefix = context of this call, [thread]        run_thread: lists itself, base = prefix, timer, hook of work
 *        the next pthread_create(run_thread, start)       work(argument)
 *                                                       what destructors of its data do stands on the base alone
 *
 * Threads that the C library makes for itself (timers with SIGEV_THREAD, getaddrinfo_a, aio) do not come by here: they are listed when
 * they first come to the agent, and stand on [thread] alone.
 */
#include "agent/follow/create.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <threads.h>

#include "agent/threads/timers.h"
#include "agent/os/state.h"
#include "agent/context/discover.h"
#include "agent/context/caller_context.h"
#include "agent/threads/lock.h"
#include "agent/os/memory.h"
#include "agent/program/record.h"
#include "agent/threads/thread.h"
#include "agent/threads/threads.h"
#include "recorder/interpose.h"
#include "recorder/prefix_table.h"
#include "recorder/process.h"
#include "recorder/task.h"
#include "waymark/abi.h"

typedef void *(*run_fn)(void *);
typedef int (*create_fn)(pthread_t *, const pthread_attr_t *, run_fn, void *);
typedef int (*create_c11_fn)(thrd_t *, thrd_start_t, void *);

enum {
	KIND_PTHREAD = 100, /* of caller_call; the heap client's are below */
	KIND_C11 = 101,
	SWEEP_LEAST = 4, /* threads created between two sweeps */
};

/* Written by the creator, read by the thread, which frees it. */
struct start {
	union {
		run_fn run;
		thrd_start_t run_c11;
	};
	void *argument;
	size_t stack_bytes; /* 0: the default */
	uint32_t prefix;
};

static _Atomic(void *) next_create;
static _Atomic(void *) next_create_c11;

static int own_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, run_fn run, void *argument);
static int own_thrd_create(thrd_t *thread, thrd_start_t run, void *argument);

/* ---- in the new thread ---- */

#define IN_BASES __attribute__((section("agent_bases"), noinline))
static void begin(const struct start *start, uintptr_t entry)
{
	struct agent_guard guard;

	wmrt_check_fork();
	agent_lock(&guard);
	atomic_fetch_sub(&threads_coming, 1);
	agent_thread.creation = start->stack_bytes;
	if (agent_thread_begin()) {
		agent_thread_set_base(start->prefix);
		agent_thread_reset();
		if (agent_is_on) {
			discover_entry(entry);
			agent_thread_set_first(record_root(start->prefix, entry));
			timers_start();
		}
	}
	agent_unlock(&guard);
}

static void free_start(struct start *start)
{
	struct agent_guard guard;

	agent_lock(&guard);
	agent_free(start);
	agent_unlock(&guard);
}

/* Also when pthread_exit or a cancellation ended it: its frames are gone, and destructors of its data are to run. */
static void end(void *nothing)
{
	(void)nothing;
	agent_thread_reset();
}

static IN_BASES void *run_thread(void *data)
{
	struct start start = *(struct start *)data;
	void *result;

	begin(&start, (uintptr_t)start.run);
	free_start(data);
	pthread_cleanup_push(end, NULL);
	result = start.run(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

static IN_BASES int run_thread_c11(void *data)
{
	struct start start = *(struct start *)data;
	int result;

	begin(&start, (uintptr_t)start.run_c11);
	free_start(data);
	pthread_cleanup_push(end, NULL);
	result = start.run_c11(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

/* ---- in its creator ---- */

static uint32_t prefix_of(const wm_context *creator)
{
	const wm_context here = wmrt_in_task(*creator);
	uint32_t prefix = agent_is_on && here.prefix != WM_PREFIX_LOST
				  ? wmrt_intern(here.prefix, WM_EPOCH_COMPILED, 0, WM_SITE_THREAD, 1)
				  : WM_PREFIX_THREAD;

	return prefix == WM_PREFIX_LOST ? WM_PREFIX_THREAD : prefix;
}

/* Now and then, so that many threads cost each creation little. Under the agent's lock. */
static void sweep(void)
{
	static uint32_t until;

	if (until-- == 0)
		until = SWEEP_LEAST + threads_sweep() / 4;
}

/* NULL without memory. */
static struct start *start_new(void *argument, const wm_context *creator)
{
	uint32_t prefix = prefix_of(creator);
	struct agent_guard guard;
	struct start *start;

	agent_lock(&guard);
	sweep();
	start = agent_alloc(sizeof *start);
	agent_unlock(&guard);
	if (!start)
		return NULL;
	start->argument = argument;
	start->prefix = prefix;
	atomic_fetch_add(&threads_coming, 1);
	return start;
}

static void start_failed(struct start *start)
{
	atomic_fetch_sub(&threads_coming, 1);
	free_start(start);
}

static int own_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, run_fn run, void *argument)
{
	create_fn next = (create_fn)wmrt_next(&next_create, "pthread_create", (void *)own_pthread_create);
	wm_context here = caller_call((uintptr_t)__builtin_return_address(0), KIND_PTHREAD, "pthread_create");
	struct start *start = agent_is_seccomp_frozen ? NULL : start_new(argument, &here);
	int rc;

	if (!start)
		return next(thread, attributes, run, argument);
	start->run = run;
	if (attributes)
		pthread_attr_getstacksize(attributes, &start->stack_bytes);
	rc = next(thread, attributes, run_thread, start);
	if (rc != 0)
		start_failed(start);
	return rc;
}

static int own_thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
	create_c11_fn next = (create_c11_fn)wmrt_next(&next_create_c11, "thrd_create", (void *)own_thrd_create);
	wm_context here = caller_call((uintptr_t)__builtin_return_address(0), KIND_C11, "thrd_create");
	struct start *start = agent_is_seccomp_frozen ? NULL : start_new(argument, &here);
	int rc;

	if (!start)
		return next(thread, run, argument);
	start->run_c11 = run;
	rc = next(thread, run_thread_c11, start);
	if (rc != thrd_success)
		start_failed(start);
	return rc;
}

WMRT_INTERPOSE(pthread_create, own_pthread_create);
WMRT_INTERPOSE(thrd_create, own_thrd_create);

void create_start(void)
{
	wmrt_next(&next_create, "pthread_create", (void *)own_pthread_create);
	wmrt_next(&next_create_c11, "thrd_create", (void *)own_thrd_create);
}
