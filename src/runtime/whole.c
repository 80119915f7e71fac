/*
 * whole.c - what a whole runtime has that the part which keeps contexts has not: a recorder, for a sampler and for programs that have that part alone.
 */
#include "runtime/whole.h"

#include <dlfcn.h>
#include <stddef.h>

#include "recorder/agent.h"
#include "recorder/table.h"
#include "runtime/clients.h"
#include "runtime/contexts/origin.h"
#include "runtime/heap/heap.h"

extern void *dlsym(void *handle, const char *name) __attribute__((weak));

const struct wm1_recorder *wm1_recorder(void)
{
	return &wmrt_recorder;
}

const struct wm1_heap_records *wm1_heap_records(void)
{
	return &wmrt_heap_records;
}

/* Something is behind this image that it interposes. A library that came later is behind all. */
static int is_in_front(void)
{
	return dlsym && dlsym(RTLD_NEXT, "sigaction");
}

const struct wm1_whole wm1_whole = {
	.register_image = wmrt_own_register,
	.is_in_front = is_in_front,
	.grow = wmrt_own_grow,
	.drop_tails = wmrt_own_drop_tails,
	.push_deferred = wmrt_own_push_deferred,
	.put_back = wmrt_own_put_back,
	.signal_prefix = wmrt_signal_prefix,
	.task_root = wmrt_task_root,
	.coroutine_prefix = wmrt_coroutine_prefix,
};

/* The program's part, which may be one without a recorder. */
static void attach(void)
{
	if (&wm1_keeper)
		wm1_keeper.attach(&wm1_whole);
}

const struct wmrt_client wmrt_whole = {.start = attach};
