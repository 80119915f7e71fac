/*
 * tick.c - the timer's handler. The signal is one that programs cannot use: glibc keeps it for setuid in all threads, whose handler is
 * called for what is not the timer's.
 */
#include "agent/clients/tick.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "agent/program/program.h"
#include "agent/program/image.h"
#include "agent/os/options.h"
#include "agent/os/state.h"
#include "agent/context/capture.h"
#include "agent/code/cells.h"
#include "agent/clients/check.h"
#include "agent/code/code.h"
#include "agent/epoch/epoch.h"
#include "agent/threads/lock.h"
#include "agent/threads/own_stack.h"
#include "native/restart.h"
#include "agent/os/say.h"
#include "agent/context/segment.h"
#include "agent/threads/stop.h"
#include "agent/threads/thread.h"
#include "agent/threads/threads.h"
#include "recorder/bus.h"
#include "recorder/event.h"
#include "recorder/file.h"
#include "recorder/process.h"
#include "recorder/sys.h"

enum {
	EPOCH_TICKS_NS = 2000000,
	MOST_WAIT_NS = 64000000,
	WAIT_NS_PER_CALL = 500, /* times what it takes to read a counter */
};

struct tick_stats tick_stats;

typedef void (*handler_fn)(int, siginfo_t *, void *);

/* As the kernel has it. */
struct kernel_action {
	handler_fn handler;
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static struct kernel_action previous;
static uint64_t period_ns, waited_ns, wait_ns = EPOCH_TICKS_NS; /* from one look at the counters to the next */
static uint32_t edges_seen;                                     /* at the last one */

__asm__(".text\n"
	".hidden agent_tick_return\n"
	"agent_tick_return:\n"
	"	movq $15, %rax\n"
	"	syscall\n");
extern void agent_tick_return(void);

static void say_unknown(const struct unwind_regs *regs)
{
	char line[256];
	struct wmrt_text text = {line, sizeof line, 0};
	const struct agent_image *image = agent_image_find(regs->pc);
	struct code_stub stub = {0};

	wmrt_text_add(&text, "waymark: unknown context at ");
	wmrt_text_number(&text, regs->pc - (image ? image->bias : 0), 16, 1);
	if (code_find_stub(regs->pc, &stub)) {
		wmrt_text_add(&text, " in stub kind ");
		wmrt_text_number(&text, stub.kind, 10, 1);
	}
	wmrt_text_add(&text, " id ");
	wmrt_text_number(&text, agent_thread.id, 16, 1);
	say_line(&text);
}

static void sample(const struct unwind_regs *regs)
{
	struct capture_point point;
	wm_context context;

	tick_stats.samples++;
	if (!capture_at(regs, &context, &point)) {
		tick_stats.unknown++;
		if (agent_options.is_verbose)
			say_unknown(regs);
		return;
	}
	if (agent_options.is_checked)
		check_point(regs, &point);
	if (agent_options.sample_hz)
		wmrt_event(context, "cpu", 1);
}

static uint64_t least_wait_ns(void)
{
	uint64_t ns = agent_program.call_count * WAIT_NS_PER_CALL;

	return ns < EPOCH_TICKS_NS ? EPOCH_TICKS_NS : ns < MOST_WAIT_NS ? ns : MOST_WAIT_NS;
}

/* False: there is to be one, at a better moment. */
static bool look_for_epoch(const struct unwind_regs *regs)
{
	if (!epoch_is_due() && !agent_options.is_restless) {
		wait_ns = wait_ns < MOST_WAIT_NS ? wait_ns * 2 : wait_ns;
		return true;
	}
	if (!capture_is_between(regs) || !segment_is_between(&agent_thread)) {
		epoch_stats.put_off++;
		return false;
	}
	epoch_begin();
	wait_ns = least_wait_ns();
	return true;
}

/* A tick of any thread. What was found since the last look may be hot. */
static void count_down(const struct unwind_regs *regs)
{
	uint32_t edges = agent_program.encoder.graph.edge_count;

	waited_ns += period_ns;
	if (waited_ns < (edges == edges_seen ? wait_ns : least_wait_ns()) && !agent_options.is_restless)
		return;
	if (edges != edges_seen)
		wait_ns = least_wait_ns();
	edges_seen = edges;
	waited_ns = look_for_epoch(regs) ? 0 : wait_ns;
}

/* A signal that came while the agent held its lock is delivered when it lets go. */
static bool is_in_agent(uintptr_t pc)
{
	const struct agent_image *image = agent_image_find(pc);
	uint32_t site;

	return image && image->kind == AGENT_IMAGE_OWN && !cells_find(pc, &site);
}

/* The recording has the numbers however the process ends. */
static void publish(void)
{
	struct wmk_header *header = wmrt_file_open() ? wmrt_file_header() : NULL;

	if (!header)
		return;
	header->samples = tick_stats.samples;
	header->samples_unknown = tick_stats.unknown;
	header->samples_in_agent = tick_stats.in_agent;
	header->samples_checked = tick_stats.checked;
	header->samples_agreed = tick_stats.agreed;
	header->samples_unchecked = tick_stats.unchecked;
}

static uint64_t now_ns(void)
{
	struct timespec ts = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* data: the registers of what was interrupted. */
static void tick(void *data)
{
	const struct unwind_regs *regs = data;
	struct agent_guard guard;

	agent_lock_at(&guard, &(struct lock_place){.regs = regs, .is_interrupted = true});
	if (!agent_is_on) { /* a detach came between */
		agent_unlock(&guard);
		return;
	}
	segment_leave_gone(regs);
	if (agent_options.sample_hz || agent_options.is_checked)
		sample(regs);
	count_down(regs);
	if (agent_options.sample_hz || agent_options.is_checked)
		publish();
	agent_unlock(&guard);
}

/* All signals are blocked. */
static void on_tick(int number, siginfo_t *info, void *data)
{
	struct unwind_regs regs;
	uint64_t began_ns;

	if (agent_is_sealed || stop_on_signal(info, data))
		return;
	if (info->si_code != SI_TIMER) {
		if (previous.handler)
			previous.handler(number, info, data);
		return;
	}
	if (agent_thread.is_bus_unseen)
		bus_unblock(data);
	agent_thread.is_bus_unseen = false;
	restart_call(data);
	if (agent_leaves())
		return;
	unwind_regs_of_signal(data, &regs);
	/* One that came due while the last was worked on is the agent's time, too; without this a deep stack, walked in each, would leave the
	 * program no time. */
	if (agent_thread.in_agent || is_in_agent(regs.pc) || agent_thread.is_tick_late) {
		agent_thread.is_tick_late = false;
		tick_stats.in_agent++;
		return;
	}
	began_ns = now_ns();
	wmrt_check_fork();
	/* For a stack of the agent's. */
	agent_thread_begin();
	own_stack_call(tick, &regs);
	agent_thread.is_tick_late = now_ns() - began_ns >= period_ns;
}

bool tick_keep_signal(void)
{
	struct kernel_action action = {.handler = on_tick,
				       .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | 0x04000000, /* SA_RESTORER */
				       .restorer = agent_tick_return,
				       .mask = ~wmrt_process.unblocked};
	struct kernel_action now = {.flags = 0};

	if (wmrt_sys6(SYS_rt_sigaction, TICK_SIGNAL, 0, (long)&now, 8, 0, 0) != 0)
		return false;
	if (now.handler == on_tick)
		return true;
	previous = now;
	return wmrt_sys6(SYS_rt_sigaction, TICK_SIGNAL, (long)&action, 0, 8, 0, 0) == 0;
}

/* The kernel's number of the clock of CPU time of any thread of the process. */
static clockid_t clock_of(uint32_t tid)
{
	enum {
		PER_THREAD = 4,
		SCHEDULED = 2,
	};

	return agent_options.is_wall ? CLOCK_MONOTONIC : (clockid_t)(~tid << 3 | PER_THREAD | SCHEDULED);
}

static struct itimerspec period(void)
{
	struct timespec each = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)};

	return (struct itimerspec){each, each};
}

bool tick_start_of(struct thread_record *record)
{
	struct sigevent event;
	struct itimerspec spec;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = TICK_SIGNAL;
	event._sigev_un._tid = (int)atomic_load(&record->tid);
	period_ns = agent_options.sample_hz ? 1000000000u / agent_options.sample_hz : EPOCH_TICKS_NS;
	spec = period();
	if (!tick_keep_signal() || wmrt_sys3(SYS_timer_create, clock_of((uint32_t)event._sigev_un._tid), (long)&event,
					     (long)&record->timer) != 0)
		return false;
	record->has_timer = true;
	return wmrt_sys6(SYS_timer_settime, record->timer, 0, (long)&spec, 0, 0, 0) == 0;
}

bool tick_start(void)
{
	return agent_thread.record && tick_start_of(agent_thread.record);
}

void tick_stop(void)
{
	const uint64_t set = TICK_MASK;
	const struct timespec now = {0, 0};

	for (struct thread_record *r = threads_all; r; r = r->next) {
		if (r->has_timer)
			wmrt_sys3(SYS_timer_delete, r->timer, 0, 0);
		r->has_timer = false;
	}
	waited_ns = edges_seen = 0;
	wait_ns = EPOCH_TICKS_NS;
	/* One that came and was not delivered would do what the signal does without the handler. */
	while (wmrt_sys6(SYS_rt_sigtimedwait, (long)&set, 0, (long)&now, sizeof set, 0, 0) == TICK_SIGNAL)
		;
	wmrt_sys6(SYS_rt_sigaction, TICK_SIGNAL, (long)&previous, 0, 8, 0, 0);
}
