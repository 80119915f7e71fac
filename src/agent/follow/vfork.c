/*
 * vfork.c - children in their parent's memory: vfork, and clone with CLONE_VM and CLONE_VFORK. What the C library makes of that kind
 * (posix_spawn, system, popen) runs no code of the program before it execs.
 *
 * A child of clone has a stack of its own, and so a segment (segment.h); vfork's goes on in its parent's frames.
 */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>

#include "agent/threads/segments.h"
#include "agent/os/state.h"
#include "agent/context/discover.h"
#include "agent/threads/entry_offsets.h"
#include "agent/context/caller_context.h"
#include "agent/threads/lock.h"
#include "agent/threads/thread.h"
#include "recorder/interpose.h"
#include "recorder/prefix_table.h"
#include "waymark/abi.h"

typedef int (*run_fn)(void *);
typedef int (*clone_fn)(run_fn, void *, int, void *, pid_t *, void *, pid_t *);

_Static_assert(offsetof(struct agent_thread, id) == AGENT_ID_OFFSET &&
		       offsetof(struct agent_thread, top) == AGENT_TOP_OFFSET &&
		       AGENT_TOP_OFFSET == AGENT_ID_OFFSET + 8 &&
		       offsetof(struct agent_thread, base) == AGENT_BASE_OFFSET &&
		       offsetof(struct agent_thread, root) == AGENT_ROOT_OFFSET &&
		       offsetof(struct agent_thread, outer) == AGENT_ROOT_OFFSET + 8 &&
		       offsetof(struct agent_thread, landing) == AGENT_LANDING_OFFSET &&
		       offsetof(struct agent_thread, is_on_alternate) == AGENT_ALTERNATE_OFFSET &&
		       offsetof(struct agent_thread, vforking) == AGENT_VFORKING_OFFSET,
	       "vfork.S knows them");

enum {
	KIND_CLONE = 102, /* of caller_call */
};

static _Atomic(void *) next_clone;

/* vfork.S goes on here when the kernel made no child. */
pid_t agent_vfork_failed(long unused, long error) __attribute__((visibility("hidden"), used));

pid_t agent_vfork_failed(long unused, long error)
{
	(void)unused;
	errno = (int)-error;
	return -1;
}

/* What the child begins with. On its parent's stack, which stands still. */
struct start {
	run_fn run;
	void *argument;
	uint32_t prefix;
};

static int run_child(void *data)
{
	const struct start *start = data;
	struct agent_guard guard;

	if (agent_is_on && agent_thread.base) {
		segments_begin_handler(&agent_thread, NULL, agent_epoch(), start->prefix,
				       (uintptr_t)__builtin_frame_address(0) + sizeof(uintptr_t));
		agent_lock(&guard);
		discover_entry((uintptr_t)start->run);
		agent_unlock(&guard);
	}
	return start->run(start->argument);
}

static int own_clone(run_fn run, void *stack, int flags, void *argument, ...)
{
	clone_fn next = (clone_fn)wmrt_next(&next_clone, "clone", (void *)own_clone);
	bool is_here = (flags & CLONE_VM) && (flags & CLONE_VFORK) && !(flags & CLONE_SETTLS);
	struct start start = {run, argument, WM_PREFIX_THREAD};
	pid_t *parent, *child;
	struct agent_thread was;
	struct agent_entry top;
	wm_context here;
	va_list rest;
	void *tls;
	int pid;

	va_start(rest, argument);
	parent = va_arg(rest, pid_t *);
	tls = va_arg(rest, void *);
	child = va_arg(rest, pid_t *);
	va_end(rest);
	if (!is_here || !agent_is_on || !run)
		return next(run, stack, flags, argument, parent, tls, child);
	here = caller_call((uintptr_t)__builtin_return_address(0), KIND_CLONE, "clone");
	if (here.prefix != WM_PREFIX_LOST)
		start.prefix = wmrt_intern(here.prefix, WM_EPOCH_COMPILED, 0, WM_SITE_THREAD, 1);
	if (start.prefix == WM_PREFIX_LOST)
		start.prefix = WM_PREFIX_THREAD;
	was = agent_thread;
	if (was.top)
		top = was.top[-1];
	agent_thread.vforking++;
	pid = next(run_child, stack, flags, &start, parent, tls, child);
	agent_thread = was;
	if (was.top)
		was.top[-1] = top;
	return pid;
}

WMRT_INTERPOSE(clone, own_clone);
