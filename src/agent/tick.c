/*
 * tick.c - the timer's handler. The signal is one that programs cannot use: glibc keeps it for setuid in all threads, whose handler is
 * called for what is not the timer's.
 */
#include "agent/tick.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "agent/capture.h"
#include "agent/cells.h"
#include "agent/check.h"
#include "agent/epoch.h"
#include "agent/jump.h"
#include "agent/lock.h"
#include "agent/options.h"
#include "agent/say.h"
#include "agent/segment.h"
#include "agent/thread.h"
#include "recorder/event.h"
#include "recorder/file.h"
#include "recorder/sys.h"
#include "agent/code.h"

enum {
	TICK_SIGNAL = 33, /* SIGSETXID of glibc */
	EPOCH_TICKS_NS = 2000000,
};
static const uint64_t MOST_EPOCH_NS = 1000000000;

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
static int timer = -1; /* of the kernel */
static uint64_t period_ns, until_epoch_ns, wait_ns = EPOCH_TICKS_NS;

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

static void look_for_epoch(const struct unwind_regs *regs)
{
	if (code_is_frozen())
		return;
	if (!epoch_is_due()) {
		wait_ns = wait_ns < MOST_EPOCH_NS ? wait_ns * 2 : wait_ns;
		return;
	}
	if (!capture_is_between(regs) || !segment_is_between() || exception_is_thrown()) {
		epoch_stats.put_off++;
		return;
	}
	if (epoch_begin(regs))
		wait_ns = wait_ns < MOST_EPOCH_NS ? wait_ns + wait_ns / 2 : wait_ns;
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

static void on_tick(int number, siginfo_t *info, void *data)
{
	struct unwind_regs regs;
	struct agent_guard guard;

	if (info->si_code != SI_TIMER) {
		if (previous.handler)
			previous.handler(number, info, data);
		return;
	}
	unwind_regs_of_signal(data, &regs);
	if (agent_thread.in_agent || is_in_agent(regs.pc)) {
		tick_stats.in_agent++;
		return;
	}
	wmrt_check_fork();
	agent_lock(&guard);
	segment_leave_gone(&regs);
	code_hold(regs.pc);
	if (agent_options.sample_hz || agent_options.is_checked)
		sample(&regs);
	until_epoch_ns = until_epoch_ns > period_ns ? until_epoch_ns - period_ns : 0;
	if (!until_epoch_ns) {
		look_for_epoch(&regs);
		until_epoch_ns = wait_ns;
	}
	code_hold(0);
	if (agent_options.sample_hz || agent_options.is_checked)
		publish();
	agent_unlock(&guard);
}

static bool install(void)
{
	struct kernel_action action = {.handler = on_tick,
				       .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | 0x04000000, /* SA_RESTORER */
				       .restorer = agent_tick_return,
				       .mask = ~UINT64_C(0)};

	return wmrt_sys6(SYS_rt_sigaction, TICK_SIGNAL, (long)&action, (long)&previous, 8, 0, 0) == 0;
}

bool tick_start(void)
{
	struct sigevent event;
	struct itimerspec spec;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = TICK_SIGNAL;
	event._sigev_un._tid = (int)wmrt_gettid();
	period_ns = agent_options.sample_hz ? 1000000000u / agent_options.sample_hz : EPOCH_TICKS_NS;
	spec = (struct itimerspec){{(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)},
				   {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)}};
	until_epoch_ns = 0;
	wait_ns = EPOCH_TICKS_NS;
	return install() &&
	       wmrt_sys3(SYS_timer_create, agent_options.is_wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID,
			 (long)&event, (long)&timer) == 0 &&
	       wmrt_sys6(SYS_timer_settime, timer, 0, (long)&spec, 0, 0, 0) == 0;
}

void tick_stop(void)
{
	const uint64_t set = UINT64_C(1) << (TICK_SIGNAL - 1);
	const struct timespec now = {0, 0};

	if (timer < 0)
		return;
	wmrt_sys3(SYS_timer_delete, timer, 0, 0);
	timer = -1;
	/* One that came and was not delivered would do what the signal does without the handler. */
	while (wmrt_sys6(SYS_rt_sigtimedwait, (long)&set, 0, (long)&now, sizeof set, 0, 0) == TICK_SIGNAL)
		;
	wmrt_sys6(SYS_rt_sigaction, TICK_SIGNAL, (long)&previous, 0, 8, 0, 0);
}
