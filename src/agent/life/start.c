/*
 * start.c - the agent comes in before the program's constructors and main: __libc_start_main is ours, and calls main through a function that
 * says where it came from. Constructors of libraries have run by then.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/follow/create.h"
#include "agent/follow/stub_calls.h"
#include "native/libc_signals.h"
#include "native/namespaces.h"
#include "agent/threads/timers.h"
#include "agent/context/segment.h"
#include "agent/os/state.h"
#include "agent/clients/clients.h"
#include "agent/code/code.h"
#include "agent/follow/coroutine.h"
#include "agent/context/discover.h"
#include "agent/threads/entry.h"
#include "agent/epoch/epoch.h"
#include "native/exec.h"
#include "agent/follow/fork_log.h"
#include "agent/follow/jump.h"
#include "native/libc.h"
#include "agent/follow/loader.h"
#include "agent/threads/lock.h"
#include "agent/os/memory.h"
#include "agent/os/options.h"
#include "native/unfit_here.h"
#include "agent/program/program.h"
#include "agent/program/no_callback.h"
#include "agent/program/record.h"
#include "native/restart.h"
#include "agent/os/log.h"
#include "agent/follow/slots.h"
#include "native/stay_out.h"
#include "agent/threads/stop.h"
#include "agent/threads/thread.h"
#include "agent/threads/threads.h"
#include "agent/clients/tick.h"
#include "recorder/client.h"
#include "recorder/code.h"
#include "recorder/file.h"
#include "recorder/filter.h"
#include "recorder/handlers.h"
#include "recorder/run.h"
#include "recorder/sys.h"
#include "recorder/task.h"
#include "runtime/heap/heap.h"
#include "runtime/paths/paths.h"
#include "waymark/agent.h"

typedef int (*main_fn)(int, char **, char **);
typedef int (*start_fn)(main_fn, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

enum {
	FIRST_EPOCH = 1,
};

/* What is stood in front of. */
static void look_up(void)
{
	wmrt_run_tell_agent(WMK_AGENT_NOT_BEGUN, wmrt_file_header);
	libc_start();
	wmrt_handlers_start();
	wmrt_handlers_block(TICK_MASK);
	wmrt_bus_start();
	wmrt_filter_start();
	jump_start();
	agent_clients_look_up();
	exception_start();
	exec_start();
	namespaces_start();
	cancel_start();
	coroutine_start();
	create_start();
	restart_start();
}

/* In the recorder's constructor. */
static void before_main(void)
{
	agent_clients_pause();
	if (stay_out(unfit_here()))
		agent_is_seccomp_frozen = true;
	else
		look_up();
	agent_clients_resume();
}

/* The child writes code through a file that is the parent's memory until it has its own. */
static void renew(void)
{
	stop_after_fork();
	threads_after_fork();
	if (!agent_is_on)
		return;
	loader_after_fork();
	fork_log_after_fork();
	code_reopen();
}

static void before_fork(void)
{
	struct unwind_regs regs;

	segment_regs_here(&regs);
	agent_lock_for_fork(&(struct lock_place){.regs = &regs});
	if (agent_is_on && !agent_is_seccomp_frozen)
		fork_log_before_fork(&regs);
	agent_lock_forget_place();
}

static void after_fork_in_child(void)
{
	if (!agent_is_seccomp_frozen)
		renew();
	agent_unlock_in_child();
	/* It may know all that it calls, and not come to the agent again: its timer is to run. */
	wmrt_check_fork();
}

/* In a child: what the parent had of its own. One of _Fork or clone has not come by the above. */
static void after_fork(void)
{
	if (threads_pid() != wmrt_getpid()) {
		agent_lock_after_fork();
		renew();
	}
	tick_reset();
	epoch_take_counts();
	epoch_stats.pushes = epoch_stats.ns = 0;
	if (agent_is_on)
		timers_start();
}

bool agent_watch_forks(void)
{
	return pthread_atfork(before_fork, agent_unlock_after_fork, after_fork_in_child) == 0;
}

static const struct wmrt_client agent_client = {.start = before_main, .after_fork = after_fork};
const struct wmrt_client *const wmrt_clients[] = {&agent_client, &wmrt_heap,        &wmrt_heap_files,
						  &wmrt_paths,   &wmrt_task_client, NULL};

static main_fn program_main;

enum wmk_agent agent_start(void)
{
	bool is_new;

	agent_entry_init();
	tick_init();
	fork_log_start();
	if (!code_has_address_space())
		return WMK_AGENT_NO_ROOM;
	if (!agent_images_begin() || !no_callback_init() || !agent_clients_prepare(&is_new))
		return WMK_AGENT_NO_MEMORY;
	if (!code_init(&stub_calls_entries))
		return WMK_AGENT_NO_WRITING;
	adaptive_init(&agent_program.encoder, &agent_allocator, FIRST_EPOCH);
	agent_program.encoder.max_id = AGENT_MAX_ID;
	return record_first_epoch() ? WMK_AGENT_OK : WMK_AGENT_NO_RECORDING;
}

static void add_number(struct wmrt_text *text, const char *name, uint64_t value)
{
	wmrt_text_add(text, name);
	wmrt_text_number(text, value, 10, 1);
}

static void log_numbers(void)
{
	char line[1024];
	struct wmrt_text text = {line, sizeof line, 0};
	const struct agent_program *p = &agent_program;

	add_number(&text, "waymark: functions ", p->instrumented_count);
	add_number(&text, " quiet ", p->no_callback_count);
	add_number(&text, " foreign ", p->foreign_count);
	add_number(&text, " sites ", p->site_count);
	add_number(&text, " calls ", p->call_count);
	add_number(&text, " edges ", p->encoder.graph.edge_count);
	add_number(&text, " epochs ", epoch_stats.count);
	add_number(&text, " max id ", epoch_stats.max_id);
	add_number(&text, " encoding us ", epoch_stats.ns / 1000);
	add_number(&text, " repaired ", epoch_stats.mismatches);
	add_number(&text, " put off ", epoch_stats.put_off);
	add_number(&text, " stops ", stop_stats.count);
	add_number(&text, " us ", stop_stats.ns / 1000);
	add_number(&text, " failed ", stop_stats.failed);
	add_number(&text, " pushes ", epoch_stats.pushes);
	add_number(&text, " entered ", agent_lock_stats.count);
	add_number(&text, " in agent us ", agent_lock_stats.ns / 1000);
	add_number(&text, " taken in ", fork_log_stats.taken);
	add_number(&text, " told ", fork_log_stats.told);
	add_number(&text, " looks ", p->looks);
	log_line(&text);
}

static void log_bytes(void)
{
	char line[256];
	struct wmrt_text text = {line, sizeof line, 0};

	add_number(&text, "waymark: bytes of stubs ", code_stub_bytes());
	add_number(&text, " of tables ", agent_memory_bytes());
	add_number(&text, " of the recording ", wmrt_file_bytes());
	log_line(&text);
}

static void log_foreign(void)
{
	for (size_t i = 0; i < agent_program.function_count; i++) {
		const struct agent_function *f = agent_function(i);
		char line[512];
		struct wmrt_text text = {line, sizeof line, 0};

		if (f->state != AGENT_FUNCTION_FOREIGN || f->image->kind != AGENT_IMAGE_CODE ||
		    agent_function_is_runtime(f))
			continue;
		wmrt_text_add(&text, "waymark: not instrumented: ");
		wmrt_text_add(&text, f->image->path);
		wmrt_text_add(&text, "+0x");
		wmrt_text_number(&text, f->start - f->image->bias, 16, 1);
		wmrt_text_add(&text, ": ");
		wmrt_text_add(&text, f->reason);
		log_line(&text);
	}
}

static void log_samples(void)
{
	char line[512];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: ");
	tick_add_numbers(&text);
	log_line(&text);
}

__attribute__((destructor)) static void finish(void)
{
	struct agent_guard guard;

	if (!agent_is_on || !agent_options.is_verbose)
		return;
	agent_lock(&guard);
	epoch_take_counts();
	log_samples();
	log_numbers();
	log_bytes();
	log_foreign();
	agent_unlock(&guard);
}

/* Always, for nothing else of the process tells. */
static void log_failure(enum wmk_agent state)
{
	static const char *const reasons[] = {
#define WMK_AGENT_STATE(name, text) text,
		WMK_AGENT_STATES(WMK_AGENT_STATE)
#undef WMK_AGENT_STATE
	};
	char line[512];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: the agent did not start in process ");
	wmrt_text_number(&text, wmrt_getpid(), 10, 1);
	wmrt_text_add(&text, ": ");
	wmrt_text_add(&text, reasons[state]);
	wmrt_text_add(&text, "; its contexts are not recorded");
	log_always(&text);
}

static void log_no_timer(void)
{
	char line[256];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: process ");
	wmrt_text_number(&text, wmrt_getpid(), 10, 1);
	wmrt_text_add(&text, ": the kernel gives no timer (ulimit -i): no samples are taken");
	log_always(&text);
}

static void log_unknown_options(void)
{
	const char *word = agent_options_unknown();
	char line[512];
	struct wmrt_text text = {line, sizeof line, 0};

	if (!word)
		return;
	wmrt_text_add(&text, "waymark: WAYMARK_AGENT: unknown option ");
	while (*word && *word != ',')
		wmrt_text_char(&text, *word++);
	wmrt_text_add(&text, "; known are ");
	wmrt_text_add(&text, wm1_agent_options_known());
	log_always(&text);
}

static void begin(void)
{
	enum wmk_agent state;
	struct agent_guard guard;

	if (agent_is_seccomp_frozen)
		return;
	agent_clients_pause();
	agent_options_read();
	log_open(agent_options.is_verbose || agent_clients_log());
	log_unknown_options();
	agent_lock_stats.is_counted = agent_options.is_verbose;
	agent_lock(&guard);
	state = agent_start();
	if (state == WMK_AGENT_OK && !agent_thread_begin())
		state = WMK_AGENT_NO_MEMORY;
	agent_is_on = state == WMK_AGENT_OK;
	if (agent_is_on) {
		loader_start();
		slots_late_start();
		agent_clients_start();
		agent_thread.id = AGENT_FOREIGN_ID;
		discover_entry((uintptr_t)program_main);
	}
	/* What the last look-up that failed has left: the text is given by the first call, and freed by the second. */
	dlerror();
	dlerror();
	agent_unlock(&guard);
	agent_clients_resume();
	wmrt_run_tell_agent(state, wmrt_file_header);
	if (!agent_is_on) {
		log_failure(state);
		return;
	}
	agent_watch_forks();
	if (!timers_start() && agent_options.clients[WM1_AGENT_sample].number)
		log_no_timer();
}

/* What constructors of the program have left is gone. */
static void enter_main(void)
{
	struct agent_guard guard;

	if (!agent_is_on)
		return;
	agent_lock(&guard);
	if (agent_is_on) {
		agent_thread_reset();
		agent_thread_set_first(record_root(WM_PREFIX_PROCESS, (uintptr_t)program_main));
	}
	agent_unlock(&guard);
}

static __attribute__((section("agent_main"), noinline)) int run_main(int argc, char **argv, char **envp)
{
	int status;

	enter_main();
	status = program_main(argc, argv, envp);
	agent_thread.id = AGENT_FOREIGN_ID;
	if (agent_thread.top) /* what its tail calls have left */
		agent_thread_reset();
	return status;
}

__attribute__((visibility("default"))) int __libc_start_main(main_fn main, int argc, char **argv, void (*init_fn)(void),
							     void (*fini_fn)(void), void (*rtld_fini)(void),
							     void *stack_end);
int __libc_start_main(main_fn main, int argc, char **argv, void (*init_fn)(void), void (*fini_fn)(void),
		      void (*rtld_fini)(void), void *stack_end)
{
	start_fn next = (start_fn)dlsym(RTLD_NEXT, "__libc_start_main");

	program_main = main;
	begin();
	return next(run_main, argc, argv, init_fn, fini_fn, rtld_fini, stack_end);
}
