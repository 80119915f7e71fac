/* loader.c - what is done when the loader calls its empty function for debuggers, which leads to the agent (patch_loader). */
#include "agent/follow/loader.h"

#include <link.h>

#include "agent/program/points.h"
#include "agent/os/state.h"
#include "agent/context/discover.h"
#include "agent/threads/entry.h"
#include "agent/program/image.h"
#include "agent/threads/lock.h"
#include "agent/patch/patch_entry.h"
#include "agent/program/program.h"
#include "agent/program/record.h"
#include "agent/follow/signal.h"
#include "agent/follow/slots.h"
#include "agent/threads/stop.h"
#include "agent/threads/threads.h"
#include "agent/context/walk.h"
#include "recorder/interpose.h"
#include "recorder/process.h"

extern const char agent_loader_entry[] __attribute__((visibility("hidden")));
/* Called by loader_entry.S. */
void agent_loader(struct agent_saved *saved);

typedef int (*close_fn)(void *handle);

static _Atomic(void *) next_close;
/* Written once. */
static bool is_hooked;

void loader_after_fork(void)
{
	agent_is_unloading = false;
}

/* Threads that do not come back to it. One that cannot be stopped is not looked at before it is known again. */
static void strand(const struct agent_image *image)
{
	bool is_stopped = stop_others();

	threads_for_each(r) {
		const struct unwind_regs *from = atomic_load(&r->regs);
		struct unwind_regs regs;

		if (!is_stopped || !stop_has(r) || !from)
			continue;
		regs = walk_thread_regs(r, from);
		walk_strand(&regs, r->state, image->low, image->high);
	}
}

static void forget(struct agent_image *image)
{
	agent_program_forget(image);
	discover_forget(image->low, image->high);
	record_forget(image->low, image->high);
	points_forget_range(image->low, image->high);
	signal_forget(image->low, image->high);
	walk_forget();
	strand(image);
}

void loader_sweep(void)
{
	agent_image_sweep(forget);
	discover_forget_unlisted();
}

/* In any namespace. */
static bool is_deleting(void)
{
	if (_r_debug.r_version < 2)
		return _r_debug.r_state == RT_DELETE;
	for (const struct r_debug_extended *r = (const struct r_debug_extended *)&_r_debug; r; r = r->r_next)
		if (r->base.r_state == RT_DELETE)
			return true;
	return false;
}

__attribute__((used)) void agent_loader(struct agent_saved *saved)
{
	struct agent_guard guard;
	struct unwind_regs regs;

	saved->number = (uintptr_t)agent_ret;
	/* The agent itself opens what is open already. */
	if (agent_thread.in_agent)
		return;
	wmrt_check_fork();
	agent_saved_regs(saved, _r_debug.r_brk, (uintptr_t)saved->stack, &regs);
	agent_lock_at(&guard, &(struct lock_place){.regs = &regs});
	agent_is_unloading = is_deleting();
	if (agent_is_on && !agent_is_unloading) {
		slots_late();
		loader_sweep();
	}
	agent_unlock_at_entry(&guard);
}

bool loader_start(void)
{
	uintptr_t at = _r_debug.r_brk;
	struct agent_image *image = agent_image_at(at);

	is_hooked = image && patch_loader(image, at, (uintptr_t)agent_loader_entry);
	return is_hooked;
}

/* ---- where that function is a debugger's ---- */

static int own_dlclose(void *handle)
{
	close_fn next = (close_fn)wmrt_next(&next_close, "dlclose", (void *)own_dlclose);
	struct agent_guard guard;
	int rc;

	if (is_hooked || !agent_is_on || agent_thread.in_agent)
		return next(handle);
	rc = next(handle);
	agent_lock(&guard);
	loader_sweep();
	agent_unlock(&guard);
	return rc;
}

WMRT_INTERPOSE(dlclose, own_dlclose);
