/*
 * start.c - the sampler comes into a program before main, and into threads that pthread_create and thrd_create make.
 *
 * WAYMARK_SAMPLE says what is asked for (sample_rates_parse); WAYMARK_HEAP asks for sampled allocations (heap.c). Without both the library does
 * nothing until attach.c is called.
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unwind.h>

#include "native/exec.h"
#include "native/libc.h"
#include "native/restart.h"
#include "native/libc_signals.h"
#include "native/namespaces.h"
#include "native/stay_out.h"
#include "native/unfit_here.h"
#include "recorder/bus.h"
#include "recorder/client.h"
#include "recorder/file.h"
#include "recorder/filter.h"
#include "recorder/handlers.h"
#include "recorder/interpose.h"
#include "recorder/process.h"
#include "recorder/run.h"
#include "recorder/sys.h"
#include "recorder/task.h"
#include "runtime/heap/heap.h"
#include "sampler/alone.h"
#include "sampler/guest.h"
#include "sampler/heap.h"
#include "sampler/host.h"
#include "sampler/walk/images.h"
#include "sampler/walk/memory.h"
#include "sampler/sample.h"
#include "waymark/abi.h"

typedef void *(*run_fn)(void *);

/* Written by the creator, unmapped by the thread. */
struct start {
	union {
		run_fn run;
		thrd_start_t run_c11;
	};
	void *argument;
	uint32_t root;
};

static _Atomic(void *) next_create, next_create_c11;

/* ---- in the new thread ---- */

static struct start begin(void *data)
{
	struct start start = *(struct start *)data;

	wmrt_unmap(data, sizeof start);
	sample_begin_thread(start.root);
	return start;
}

/* Called by thread_entry.S. */
void *sampler_thread(void *data);
int sampler_thread_c11(void *data);
_Unwind_Reason_Code sampler_thread_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
					       struct _Unwind_Exception *exception, struct _Unwind_Context *context);

__attribute__((used)) void *sampler_thread(void *data)
{
	struct start start = begin(data);
	void *result = start.run(start.argument);

	sample_end_thread();
	return result;
}

__attribute__((used)) int sampler_thread_c11(void *data)
{
	struct start start = begin(data);
	int result = start.run_c11(start.argument);

	sample_end_thread();
	return result;
}

/*
 * pthread_exit or a cancellation ends the thread: the unwinder asks the frame below it what is to be done. A cleanup handler of C would need
 * sigsetjmp, in whose place a sanitizer has its own, or libgcc.
 */
__attribute__((used)) _Unwind_Reason_Code sampler_thread_personality(int version, _Unwind_Action actions,
								     _Unwind_Exception_Class kind,
								     struct _Unwind_Exception *exception,
								     struct _Unwind_Context *context)
{
	(void)version, (void)kind, (void)exception, (void)context;
	if (actions & _UA_CLEANUP_PHASE)
		sample_end_thread();
	return _URC_CONTINUE_UNWIND;
}

/* thread_entry.S */
void *sampler_thread_entry(void *data);
int sampler_thread_c11_entry(void *data);

/* ---- in its creator ---- */

static struct start *start_new(void *argument)
{
	struct start *start = sample_is_on() ? wmrt_map_memory(sizeof *start) : NULL;

	if (!start)
		return NULL;
	start->argument = argument;
	start->root = sample_thread_root();
	return start;
}

static int own_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, run_fn run, void *argument)
{
	int (*next)(pthread_t *, const pthread_attr_t *, run_fn, void *) =
		wmrt_next(&next_create, "pthread_create", (void *)own_pthread_create);
	struct start *start = start_new(argument);
	int rc;

	if (!start)
		return next(thread, attributes, run, argument);
	start->run = run;
	rc = next(thread, attributes, sampler_thread_entry, start);
	if (rc != 0)
		wmrt_unmap(start, sizeof *start);
	return rc;
}

static int own_thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
	int (*next)(thrd_t *, thrd_start_t, void *) =
		wmrt_next(&next_create_c11, "thrd_create", (void *)own_thrd_create);
	struct start *start = start_new(argument);
	int rc;

	if (!start)
		return next(thread, run, argument);
	start->run_c11 = run;
	rc = next(thread, sampler_thread_c11_entry, start);
	if (rc != thrd_success)
		wmrt_unmap(start, sizeof *start);
	return rc;
}

WMRT_INTERPOSE(pthread_create, own_pthread_create);
WMRT_INTERPOSE(thrd_create, own_thrd_create);

/* ---- the process ---- */

/* SIGBUS alone comes by here (handlers.h); with allocations, all do: a handler may allocate where sigsuspend and its kin block SIGBUS. */
void wmrt_handle(int sig, siginfo_t *info, void *context)
{
	wmrt_handler_fn handler = wmrt_handler_of(sig, info, context);
	uintptr_t outer;

	if (!handler)
		return;
	if (sig == SIGBUS || !sample_is_on()) {
		handler(sig, info, context);
		return;
	}
	outer = wmrt_bus_open(__builtin_frame_address(0));
	handler(sig, info, context);
	wmrt_bus_close(outer);
}

void exec_begins(void)
{
	if (!wmrt_is_vfork_child())
		sample_pause();
}

void exec_failed(void)
{
	if (!wmrt_is_vfork_child())
		sample_resume();
}

static struct sample_rates rates;

static void look_up(void)
{
	heap_pause(true);
	/* `waymark attach` may ask for something. */
	if (!sample_rates_parse(getenv("WAYMARK_SAMPLE"), &rates) && !heap_is_asked()) {
		wmrt_handlers_stay_out();
		wmrt_handlers_start();
		return;
	}
	/* Their allocator is their own. */
	if (stay_out(heap_is_asked() ? unfit_here() : NULL))
		return;
	libc_start();
	memory_start();
	host_find();
	wmrt_run_tell_agent(WMK_AGENT_NOT_BEGUN, host->header);
	wmrt_next(&next_create, "pthread_create", (void *)own_pthread_create);
	wmrt_next(&next_create_c11, "thrd_create", (void *)own_thrd_create);
	wmrt_handlers_start();
	if (!heap_is_asked())
		wmrt_handlers_only_bus();
	wmrt_handlers_block(TICK_MASK);
	if (host_is_program())
		wmrt_bus_share(); /* its runtime repairs faults in the recording */
	else
		wmrt_bus_start();
	wmrt_filter_start();
	restart_start();
	alone_start();
	exec_start();
	namespaces_start();
}

static enum wmk_agent begin_process(void)
{
	if (pthread_atfork(NULL, NULL, sample_after_fork) != 0 || !sample_init(&rates, false))
		return WMK_AGENT_NO_MEMORY;
	if (!sample_begin_thread(WM_PREFIX_PROCESS) || !sample_start_waits())
		return WMK_AGENT_NO_TIMER;
	if (!heap_is_asked())
		return WMK_AGENT_OK;
	sampler_images_start();
	return heap_start();
}

static void attach(void)
{
	if (wmrt_process.is_sealed)
		return;
	if (!sample_rates_parse(getenv("WAYMARK_SAMPLE"), &rates) && !heap_is_asked())
		pthread_atfork(NULL, NULL, guest_after_fork);
	else
		wmrt_run_tell_agent(begin_process(), host->header);
	heap_pause(false);
}

/* At exit: waits up to now are in the recording. */
static __attribute__((destructor)) void leave(void)
{
	if (!wmrt_process.is_sealed && !wmrt_is_vfork_child())
		waits_end();
}

enum {
	FIRST_UNITS = 6, /* of strings, images, functions, sites, prefixes, and events or allocations */
};
static const struct wmrt_client sampler = {.first_units = FIRST_UNITS, .start = look_up, .attach = attach};
const struct wmrt_client *const wmrt_clients[] = {&sampler, &wmrt_heap_files, &wmrt_task_client, NULL};
