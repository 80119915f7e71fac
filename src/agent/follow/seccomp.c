/* seccomp.c - before the program is under a filter of system calls that it asks for (recorder/filter.h), the agent leaves. */
#include "agent/follow/seccomp.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/threads/timers.h"
#include "agent/os/state.h"
#include "agent/threads/lock.h"
#include "agent/os/log.h"
#include "agent/threads/thread.h"
#include "agent/threads/threads.h"
#include "recorder/bus.h"
#include "recorder/file.h"
#include "recorder/filter.h"
#include "recorder/mapping.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "waymark/wmk.h"

enum {
	NAP_NS = 200000,
	NAPS = 50,
};
/* Reserved only: as large as a context stack is at most. */
static const size_t STACK_BYTES = (size_t)8 << 30;

static struct agent_entry *shared_stack;

void seccomp_lend_stack(void)
{
	struct agent_thread *thread = &agent_thread;

	thread->base = thread->first = shared_stack;
	thread->top = thread->base + 1;
}

static bool reserve_stack(void)
{
	long at = wmrt_sys6(SYS_mmap, 0, (long)STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at < 0 && at > -4096)
		return false;
	shared_stack = (struct agent_entry *)at; /* NOLINT(performance-no-int-to-ptr) */
	shared_stack->frame_slot = UINT64_MAX;
	return true;
}

static void say(const char *path)
{
	char line[512];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: process ");
	wmrt_text_number(&text, wmrt_getpid(), 10, 1);
	wmrt_text_add(&text, " asks for a seccomp filter, under which the agent cannot work: its recording ends here");
	if (path) {
		wmrt_text_add(&text, ", whole: ");
		wmrt_text_add(&text, path);
	}
	log_always(&text);
}

static bool is_any_inside(void)
{
	threads_for_each(r)
		if (r != agent_thread.record && atomic_load(&r->tid) && !atomic_load(&r->is_gone) &&
		    (atomic_load(&r->phase) == THREAD_WAITS || atomic_load(&r->regs)))
			return true;
	return false;
}

/* Other threads may be on their way out of the agent, and the filter may be for them, too. */
static void wait_for_others(void)
{
	const struct timespec nap = {0, NAP_NS};
	bool is_alone = !atomic_load(&threads_all) || !atomic_load(&threads_all)->next;

	for (int i = 0; !is_alone && i < NAPS && (is_any_inside() || i < 2); i++)
		wmrt_sys6(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
}

void wmrt_before_filter(void)
{
	struct agent_guard guard;
	bool is_mine;

	if (!agent_is_on || agent_thread.in_agent)
		return;
	agent_lock(&guard);
	is_mine = agent_is_on && reserve_stack();
	if (is_mine) {
		timers_delete();
		agent_is_on = false;
		say(wmrt_file_path());
		wmrt_file_close(WMK_FLAG_FILTERED);
		wmrt_bus_give_back();
		agent_is_seccomp_frozen = true;
	}
	agent_unlock(&guard);
	if (!is_mine)
		return;
	wait_for_others();
	wmrt_seal();
	wmrt_mapping_clear_all();
}
