/*
 * tick.c - what comes with the agent's signal (native/libc_signals.h): a stop, a tick of a thread's timer, or what is not the agent's. A tick
 * samples, and looks whether a new epoch is due.
 */
#include "agent/clients/tick.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "native/libc_signals.h"
#include "agent/threads/timers.h"
#include "agent/program/program.h"
#include "agent/program/image.h"
#include "agent/os/options.h"
#include "agent/os/state.h"
#include "agent/context/capture.h"
#include "agent/clients/clients.h"
#include "agent/code/code.h"
#include "agent/epoch/epoch.h"
#include "agent/threads/lock.h"
#include "agent/threads/own_stack.h"
#include "native/restart.h"
#include "agent/os/log.h"
#include "agent/context/segment.h"
#include "agent/threads/stop.h"
#include "agent/threads/thread.h"
#include "recorder/bus.h"
#include "recorder/clock.h"
#include "recorder/file.h"
#include "recorder/process.h"
#include "recorder/sys.h"

enum {
	MOST_WAIT_NS = 64000000,
	WAIT_NS_PER_CALL = 500, /* times what it takes to read a counter */
};

/* Under the agent's lock, but for in_agent, which any thread counts. */
static struct {
	uint64_t samples;
	uint64_t unknown;  /* whose context could not be found */
	uint64_t in_agent; /* while the agent itself ran */
} tick_stats;

static uint64_t waited_ns, wait_ns = TIMERS_EPOCH_NS; /* from one look at the counters to the next */
static uint32_t edges_seen;                           /* at the last one */

static void log_unknown(const struct unwind_regs *regs)
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
	log_line(&text);
}

static void take_sample(const struct unwind_regs *regs)
{
	struct agent_sample sample = {.regs = regs, .time_ns = timers_take_time()};

	tick_stats.samples++;
	if (!capture_at(regs, &sample.context, &sample.point)) {
		tick_stats.unknown++;
		if (agent_options.is_verbose)
			log_unknown(regs);
		return;
	}
	agent_clients_on_sample(&sample);
}

static uint64_t least_wait_ns(void)
{
	uint64_t ns = agent_program.call_count * WAIT_NS_PER_CALL;

	return ns < TIMERS_EPOCH_NS ? TIMERS_EPOCH_NS : ns < MOST_WAIT_NS ? ns : MOST_WAIT_NS;
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

	waited_ns += timers_period_ns();
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
	return agent_image_is_own(agent_image_find(pc), pc);
}

/* The recording has the numbers however the process ends. */
static void publish(void)
{
	struct wmk_header *header = wmrt_file_open() ? wmrt_file_header() : NULL;

	if (!header)
		return;
	header->sample_period_ns = timers_period_ns();
	header->samples = tick_stats.samples;
	header->samples_unknown = tick_stats.unknown;
	header->samples_in_agent = tick_stats.in_agent;
	agent_clients_publish(header);
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
	if (agent_clients_sample())
		take_sample(regs);
	count_down(regs);
	if (agent_clients_sample())
		publish();
	agent_unlock(&guard);
}

/* All signals are blocked. */
static void on_tick(int number, siginfo_t *info, void *data)
{
	struct unwind_regs regs;
	uint64_t began_ns;
	uintptr_t outer;

	if (agent_is_seccomp_frozen || stop_on_signal(info, data))
		return;
	if (info->si_code != SI_TIMER) {
		libc_signal_pass_on(number, info, data);
		return;
	}
	if (agent_thread.is_bus_unseen)
		wmrt_bus_unblock(data);
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
		timers_take_time(); /* the agent's: it is in no sample */
		return;
	}
	began_ns = wmrt_now_ns();
	wmrt_check_fork();
	outer = wmrt_bus_open(__builtin_frame_address(0));
	/* For a stack of the agent's. */
	agent_thread_begin();
	own_stack_call(tick, &regs);
	wmrt_bus_close(outer);
	agent_thread.is_tick_late = wmrt_now_ns() - began_ns >= timers_period_ns();
}

void tick_init(void)
{
	libc_signal_init(TICK_SIGNAL, on_tick);
}

void tick_reset(void)
{
	memset(&tick_stats, 0, sizeof tick_stats);
	agent_clients_reset();
}

void tick_add_numbers(struct wmrt_text *text)
{
	wmrt_text_number(text, tick_stats.samples, 10, 1);
	wmrt_text_add(text, " samples, ");
	wmrt_text_number(text, tick_stats.unknown, 10, 1);
	wmrt_text_add(text, " unknown, ");
	wmrt_text_number(text, tick_stats.in_agent, 10, 1);
	wmrt_text_add(text, " in the agent");
	agent_clients_add_numbers(text);
}

void tick_stop(void)
{
	timers_delete();
	waited_ns = edges_seen = 0;
	wait_ns = TIMERS_EPOCH_NS;
	libc_signal_give_back(TICK_SIGNAL, stop_is_any_asked());
}
