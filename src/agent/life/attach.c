/*
 * attach.c - the agent comes into a process that runs, and leaves it (`waymark attach`, attach.h).
 *
 * The command has stopped every thread and calls in here on the first one, on a stack of its own, with all signals blocked and no
 * thread in the loader or the allocator. Where the threads are is in the request; the state of each is at a fixed offset from its
 * %fs, also where the C library has made room for it only now (dlopen does so in all threads).
 *
 * Coming: the words through which images reach what the agent interposes (slots.h), signal handlers that are installed, code
 * from the frames of all stacks on, and the contexts that these frames mean. Handlers that run already get a segment each, as if they
 * had been called by signal.c. Where a thread was created is not known: its context stands on [thread].
 *
 * Leaving: the program's bytes, return addresses, words, handlers, the timers. The library stays mapped, for what is still in a stub or
 * returns into one; nothing leads there from the program.
 */
#include <errno.h>
#include <string.h>

#include "agent/threads/timers.h"
#include "agent/os/state.h"
#include "agent/clients/clients.h"
#include "agent/life/attach_handlers.h"
#include "agent/code/trampolines.h"
#include "agent/code/code.h"
#include "agent/life/detach.h"
#include "agent/epoch/epoch.h"
#include "agent/follow/jump.h"
#include "agent/follow/loader.h"
#include "agent/threads/lock.h"
#include "agent/os/memory.h"
#include "agent/os/options.h"
#include "agent/patch/place.h"
#include "agent/program/calls.h"
#include "agent/program/program.h"
#include "agent/program/targets.h"
#include "native/restart.h"
#include "agent/os/log.h"
#include "agent/context/segment.h"
#include "agent/follow/slots.h"
#include "agent/threads/stop.h"
#include "agent/threads/thread.h"
#include "agent/threads/threads.h"
#include "agent/clients/tick.h"
#include "agent/context/walk.h"
#include "base/order.h"
#include "base/sort.h"
#include "native/maps.h"
#include "recorder/clock.h"
#include "recorder/config.h"
#include "recorder/file.h"
#include "recorder/handlers.h"
#include "recorder/image.h"
#include "recorder/process.h"
#include "recorder/run.h"
#include "recorder/text.h"
#include "waymark/abi.h"
#include "waymark/attach.h"
#include "waymark/runtime.h"

WM1_EXPORT void wm1_agent_attach(struct wm1_attach_request *request);
WM1_EXPORT void wm1_agent_detach(struct wm1_attach_request *request);

/* Under the agent's lock. */
static bool is_started;    /* tables are there */
static bool is_watching;   /* what the loader does */
static bool is_attached;   /* this is how the agent came */
static bool is_doubted;    /* what was said of calls in an earlier attach is not what the code does now */
static uint64_t called_ns; /* the request in progress */
static uint64_t left_ns;   /* its */
static struct walk walk;

/* A thread of the process. */
struct stopped {
	uint32_t tid;
	struct agent_thread *state;
	struct unwind_regs regs;
	bool is_in_stub; /* regs say where the program is (place.h) */
};
/* Under the agent's lock: the request's. */
static struct stopped *places;
static size_t places_capacity;
static struct maps_place *stacks; /* by rising address; the second half is for sorting */
static size_t stacks_capacity;

enum {
	LEAST_NS = 12000000, /* for what is done once all threads are known to be in good places */
	LAST_NS = 3000000,   /* and behind what can be left out of it */
	TICKLESS_NS = 100000000,
};
#define LEAVING_NS UINT64_C(1000000000)

/* In struct user_regs_struct. */
enum {
	RIP = 16,
	RSP = 19,
	FS_BASE = 21,
};

static void registers_of(const struct wm1_attach_thread *thread, struct unwind_regs *ret)
{
	static const uint8_t order[] = {CFI_R15, CFI_R14, CFI_R13, CFI_R12, CFI_RBP, CFI_RBX, CFI_R11, CFI_R10,
					CFI_R9,  CFI_R8,  CFI_RAX, CFI_RCX, CFI_RDX, CFI_RSI, CFI_RDI};

	*ret = (struct unwind_regs){.pc = thread->registers[RIP], .known = UNWIND_ALL_KNOWN};
	for (size_t i = 0; i < sizeof order; i++)
		ret->r[order[i]] = thread->registers[i];
	ret->r[CFI_RSP] = thread->registers[RSP];
}

static inline int compare_stacks(const struct maps_place *a, const struct maps_place *b)
{
	return a->address < b->address ? -1 : a->address > b->address;
}
SORT_DECLARE(stack, struct maps_place, compare_stacks);

/*
 * The range of each thread's native stack, which is asked for with every step of a walk: /proc/self/maps is read once, not by each thread.
 * What a thread knows from an earlier attach may be another mapping by now.
 */
static bool find_stacks(size_t count)
{
	if (!agent_reserve((void **)&stacks, &stacks_capacity, 2 * count, sizeof *stacks))
		return false;
	for (size_t i = 0; i < count; i++)
		stacks[i].address = places[i].regs.r[CFI_RSP];
	stack_sort(stacks, count, stacks + count);
	if (!maps_find_all(stacks, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t at = COUNT_UP_TO(stacks, count, address, places[i].regs.r[CFI_RSP]) - 1;

		places[i].state->stack_low = stacks[at].low;
		places[i].state->stack_high = stacks[at].high;
	}
	return true;
}

static struct agent_thread *state_at(uintptr_t fs)
{
	return (struct agent_thread *)(fs + (uintptr_t)AGENT_THREAD_OFFSET(id)); /* NOLINT(performance-no-int-to-ptr) */
}

/* False without memory. */
static bool find_places(const struct wm1_attach_request *r)
{
	if (!agent_reserve((void **)&places, &places_capacity, r->thread_count, sizeof *places))
		return false;
	for (uint64_t i = 0; i < r->thread_count; i++) {
		places[i].tid = (uint32_t)r->threads[i].tid;
		places[i].state = state_at(r->threads[i].registers[FS_BASE]);
		registers_of(&r->threads[i], &places[i].regs);
	}
	return find_stacks(r->thread_count);
}

static void assume_stopped(uint64_t thread_count)
{
	stop_assume();
	for (uint64_t i = 0; i < thread_count; i++)
		if (places[i].state != &agent_thread && places[i].state->record)
			stop_assume_at(places[i].state->record, &places[i].regs);
}

/*
 * Where the first thread is in the program: it may wait for the agent's lock, and takes it now in this call, too.
 */
struct standing {
	const struct unwind_regs *regs;
	uint32_t phase, pc_number;
	uint8_t pc_kind;
	bool is_interrupted;
};

static struct standing standing_of(const struct thread_record *r)
{
	if (!r)
		return (struct standing){.regs = NULL};
	return (struct standing){atomic_load(&r->regs), atomic_load(&r->phase), r->pc_number, r->pc_kind,
				 r->is_interrupted};
}

static void put_standing(struct thread_record *r, const struct standing *standing)
{
	if (!r)
		return;
	r->is_interrupted = standing->is_interrupted;
	r->pc_kind = standing->pc_kind;
	r->pc_number = standing->pc_number;
	atomic_store(&r->regs, standing->regs);
	atomic_store(&r->phase, standing->phase);
}

/* What is to come would keep the process standing still for too long. */
static bool is_near_end(void)
{
	return wmrt_now_ns() - called_ns + LEAST_NS > left_ns;
}

static bool is_at_end(void)
{
	return wmrt_now_ns() - called_ns + LAST_NS > left_ns;
}

static bool is_late(struct wm1_attach_request *r)
{
	r->is_late = is_near_end();
	return r->is_late;
}

/* A thread has been stopped while it had a lock, or while it looks for who catches an exception: it is to go on first, and alone, so that
 * no other takes the lock next. */
static bool is_busy(struct wm1_attach_request *r)
{
	bool ret = agent_lock_is_taken() || wmrt_lock_is_taken();

	for (uint64_t i = 0; i < r->thread_count; i++) {
		uintptr_t fs = r->threads[i].registers[FS_BASE];

		r->threads[i].is_in_the_way = exception_is_thrown(fs) || state_at(fs)->in_agent;
		ret |= r->threads[i].is_in_the_way;
	}
	return ret;
}

static bool is_own(uintptr_t pc)
{
	return agent_image_is_own(agent_image_at(pc), pc);
}

/* The frames go on at places where all bytes may change. is_in_stub: the first one goes on in a stub. */
static bool is_clear(const struct walk *w, bool is_in_stub, bool may_return_here)
{
	struct code_stub stub;

	for (size_t i = is_in_stub; i < w->count; i++) {
		const struct walk_frame *f = &w->frames[i];

		/* Waits and bases of threads do no harm, whether the agent is on or off when they go on. */
		if (!may_return_here && is_own(f->pc) &&
		    (f->is_interrupted || (!restart_is_wait(f->pc) && !threads_is_base(f->pc))))
			return false;
		if (f->is_interrupted && !code_find_stub(f->pc, &stub) && detach_is_inside(f->pc))
			return false;
	}
	return true;
}

/* ---- coming ---- */

static bool start(void)
{
	bool is_new = false;

	if (!is_started) {
		is_started = agent_start() == WMK_AGENT_OK && agent_watch_forks();
		return is_started;
	}
	if (!code_reopen() || !agent_clients_prepare(&is_new))
		return false;
	/* What was unloaded since the detach. */
	loader_sweep();
	if (is_new)
		agent_program_invalidate_no_callback();
	is_doubted |= is_new;
	return true;
}

/* As many entries as its native stack has room for calls that push (thread.c). */
static bool begin_thread(const struct stopped *p)
{
	struct agent_thread *thread = p->state;
	uintptr_t low, high;

	if (!threads_join_of(thread, p->tid))
		return false;
	if (!thread->base && p->tid != threads_pid() && agent_thread_stack(thread, p->regs.r[CFI_RSP], &low, &high))
		thread->creation = high - low;
	return agent_thread_begin_of(thread);
}

/* What it was on in an earlier attach is another recording's. */
static void renew_thread(const struct stopped *p)
{
	struct agent_thread *thread = p->state;

	thread->base = thread->first;
	*thread->base = (struct agent_entry){.frame_slot = UINT64_MAX,
					     .prefix = p->tid == threads_pid() ? WM_PREFIX_PROCESS : WM_PREFIX_THREAD};
	thread->top = thread->base + 1;
	thread->root = 0;
	thread->outer = NULL;
	thread->is_on_alternate = thread->is_unwinding = thread->is_tick_late = false;
	thread->is_bus_unseen = true;
	thread->id = AGENT_LOST_ID;
}

/* A context that is not known now is found by the first capture that can. */
static enum wm1_attach_result enter_code(uint64_t thread_count)
{
	assume_stopped(thread_count);
	if (!slots_take() || !detach_undo(is_doubted) || (!is_watching && !loader_start()))
		return WM1_ATTACH_FAILED;
	is_watching = true;
	is_doubted = false;
	for (uint64_t i = 0; i < thread_count; i++) {
		segment_enter_frame(places[i].state, &places[i].regs);
		if (walk_stack(&walk, &places[i].regs, places[i].state))
			attach_handlers(&walk, places[i].state);
	}
	return epoch_settle(is_at_end) ? WM1_ATTACH_DONE : WM1_ATTACH_AGAIN;
}

static enum wm1_attach_result set_output(struct wm1_attach_request *r)
{
	r->error = 0;
	wmrt_config_set(r->output, r->limit_bytes);
	r->error = -wmrt_config_check();
	return r->error ? WM1_ATTACH_OUTPUT : WM1_ATTACH_DONE;
}

/* Since the agent was there before: what the stub still takes off belongs to that time. */
static bool is_in_stub(uintptr_t pc)
{
	uint32_t site;

	return place_is_stub(pc) || trampoline_find(pc, &site);
}

/* Where all threads may stay while code is written. */
static enum wm1_attach_result inspect_stacks(struct wm1_attach_request *r)
{
	enum wm1_attach_result ret = WM1_ATTACH_DONE;

	for (uint64_t i = 0; i < r->thread_count; i++) {
		struct agent_thread nothing_known = {.id = AGENT_FOREIGN_ID,
						     .stack_low = places[i].state->stack_low,
						     .stack_high = places[i].state->stack_high};

		if (!walk_stack(&walk, &places[i].regs, &nothing_known) || !walk.is_whole)
			ret = WM1_ATTACH_STACK;
		else if (!is_in_stub(places[i].regs.pc) && is_clear(&walk, false, false))
			continue;
		else if (ret == WM1_ATTACH_DONE)
			ret = WM1_ATTACH_AGAIN;
		r->threads[i].is_in_the_way = 1;
	}
	return ret;
}

/* What takes long and changes nothing, from where the last request left it. False: it is late, or there is no memory. */
static bool prepare(void)
{
	for (struct agent_image *image = agent_images_first(); image; image = image->next)
		if (image->kind != AGENT_IMAGE_OWN && !targets_read(image, is_near_end))
			return false;
	return slots_bind(is_near_end);
}

/* Under the agent's lock. What start has read stays read. */
static enum wm1_attach_result enter(struct wm1_attach_request *r)
{
	enum wm1_attach_result result;

	agent_options_parse(r->options);
	if (!start() || !find_places(r))
		return WM1_ATTACH_FAILED;
	if (is_late(r))
		return WM1_ATTACH_AGAIN;
	result = agent_clients_find();
	if (result == WM1_ATTACH_DONE)
		result = inspect_stacks(r);
	if (result != WM1_ATTACH_DONE)
		return result;
	if (!prepare())
		return is_late(r) ? WM1_ATTACH_AGAIN : WM1_ATTACH_FAILED;
	if (is_late(r))
		return WM1_ATTACH_AGAIN;
	threads_sweep();
	for (uint64_t i = 0; i < r->thread_count; i++)
		if (!begin_thread(&places[i]))
			return WM1_ATTACH_FAILED;
	tick_reset();
	for (uint64_t i = 0; i < r->thread_count; i++)
		renew_thread(&places[i]);
	agent_is_on = is_attached = true;
	agent_has_left = false;
	result = enter_code(r->thread_count);
	if (result == WM1_ATTACH_DONE && !agent_clients_attach())
		result = WM1_ATTACH_FAILED;
	if (result == WM1_ATTACH_DONE) {
		wmrt_run_tell_agent(WMK_AGENT_OK, wmrt_file_header);
		wmrt_handlers_take();
		log_open(agent_options.is_verbose || agent_clients_log());
		return result;
	}
	agent_clients_detach();
	detach_code();
	slots_give_back();
	agent_is_on = is_attached = false;
	agent_has_left = true;
	return result;
}

/* A thread without a timer is not sampled. */
static void start_timers(struct wm1_attach_request *r)
{
	for (uint64_t i = 0; i < r->thread_count; i++)
		if (!timers_start_of(places[i].state->record))
			r->error = errno;
}

static enum wm1_attach_result attach(struct wm1_attach_request *r)
{
	struct agent_guard guard;
	struct standing standing;
	struct unwind_regs regs;
	enum wm1_attach_result result;

	if (r->version != WM1_ATTACH_VERSION)
		return WM1_ATTACH_BAD_VERSION;
	if (!wmrt_is_active())
		return WM1_ATTACH_OTHER;
	if (agent_is_on)
		return is_attached ? WM1_ATTACH_ALREADY : WM1_ATTACH_STARTED;
	if (r->is_query)
		return WM1_ATTACH_NOT;
	wmrt_check_fork();
	exception_start();
	if (is_busy(r))
		return WM1_ATTACH_AGAIN;
	result = set_output(r);
	if (result != WM1_ATTACH_DONE)
		return result;
	registers_of(&r->threads[0], &regs);
	standing = standing_of(agent_thread.record);
	agent_lock_at(&guard, &(struct lock_place){.regs = &regs, .is_interrupted = true});
	result = enter(r);
	if (result == WM1_ATTACH_DONE)
		start_timers(r);
	agent_unlock(&guard);
	put_standing(agent_thread.record, &standing);
	return result;
}

void wm1_agent_attach(struct wm1_attach_request *r)
{
	called_ns = wmrt_now_ns();
	left_ns = r->left_ns;
	r->is_late = false;
	r->result = attach(r);
}

/* ---- leaving ---- */

/*
 * A thread in a stub goes on there: what is left of it is the addition, which means nothing any more, and the way to the program's own bytes,
 * which are there again; where it leads into the agent, that does nothing (discover.c).
 */
static bool is_stack_clear(struct stopped *p, bool is_last)
{
	return walk_stack(&walk, &p->regs, p->state) && is_clear(&walk, p->is_in_stub, is_last);
}

/* It waits for the lock in front of a call or a function that the agent does not know: as if it were in the stub that led it there. */
static bool waits_in_stub(const struct stopped *p)
{
	const struct thread_record *r = p->state->record;
	const struct unwind_regs *regs = r ? atomic_load(&r->regs) : NULL;

	/* This call is in the agent as well. */
	return regs && p->state->in_agent == (p->state == &agent_thread) && atomic_load(&r->phase) == THREAD_WAITS &&
	       (r->pc_kind == THREAD_PC_SITE || r->pc_kind == THREAD_PC_FUNCTION);
}

static bool may_leave(struct stopped *p, bool is_last)
{
	struct place place;
	uint32_t site;

	if (waits_in_stub(p)) {
		p->is_in_stub = true;
		p->regs = walk_thread_regs(p->state->record, atomic_load(&p->state->record->regs));
		return is_stack_clear(p, is_last);
	}
	if (trampoline_find(p->regs.pc, &site) || is_own(p->regs.pc))
		return false;
	p->is_in_stub = place_is_stub(p->regs.pc);
	if (p->is_in_stub) {
		if (!place_find(p->regs.pc, p->regs.r[CFI_RSP], &place))
			return false;
		p->regs.pc = place.pc;
		p->regs.r[CFI_RSP] = place.sp;
	}
	return is_stack_clear(p, is_last);
}

static bool is_asked(const struct stopped *p)
{
	return p->state->record && stop_is_asked(p->state->record);
}

/*
 * Who samples and records all the time would seldom be elsewhere. A thread that has waited for a processor has a tick that has waited with it: it
 * would be stopped where that begins, again and again. Should nobody ask again, the agent goes on by itself.
 */
static enum wm1_attach_result leave_later(void)
{
	agent_leaves_until(wmrt_now_ns() + LEAVING_NS);
	timers_put_off(TICKLESS_NS);
	return WM1_ATTACH_AGAIN;
}

/* Under the agent's lock. */
static enum wm1_attach_result leave(struct wm1_attach_request *r)
{
	bool is_any = false;

	if (!find_places(r))
		return WM1_ATTACH_FAILED;
	for (uint64_t i = 0; i < r->thread_count; i++) {
		r->threads[i].is_in_the_way =
			!may_leave(&places[i], r->is_last) || (!r->is_last && is_asked(&places[i]));
		is_any |= r->threads[i].is_in_the_way;
	}
	if (is_any || is_late(r))
		return leave_later();
	assume_stopped(r->thread_count);
	if (!detach_code()) {
		detach_undo(false);
		return WM1_ATTACH_FAILED;
	}
	for (uint64_t i = 0; i < r->thread_count; i++) {
		cancel_give_back(places[i].state, places[i].regs.r[CFI_RSP]);
		if (walk_stack(&walk, &places[i].regs, places[i].state))
			walk_put_back_returns(&walk);
	}
	agent_clients_detach();
	slots_give_back();
	code_close();
	stop_close();
	return WM1_ATTACH_DONE;
}

static void end_recording(struct wm1_attach_request *r)
{
	struct wmrt_text text = {r->output, sizeof r->output, 0};
	const char *path = wmrt_file_path();

	r->output[0] = '\0';
	if (path)
		wmrt_text_add(&text, path);
	wmrt_file_close(WMK_FLAG_DETACHED);
	wmrt_renew();
}

/* All threads are stopped, perhaps with the lock. */
static enum wm1_attach_result stay(void)
{
	agent_leaves_no_more();
	timers_put_off(timers_period_ns());
	return WM1_ATTACH_DONE;
}

static enum wm1_attach_result detach(struct wm1_attach_request *r)
{
	struct agent_guard guard;
	struct standing standing;
	enum wm1_attach_result result;

	if (r->version != WM1_ATTACH_VERSION)
		return WM1_ATTACH_BAD_VERSION;
	if (!agent_is_on)
		return WM1_ATTACH_NOT;
	if (!is_attached)
		return WM1_ATTACH_STARTED;
	wmrt_check_fork();
	if (r->is_over)
		return stay();
	if (is_busy(r))
		return leave_later();
	standing = standing_of(agent_thread.record);
	agent_lock(&guard);
	put_standing(agent_thread.record, &standing);
	result = leave(r);
	if (result == WM1_ATTACH_DONE) {
		agent_is_on = is_attached = false;
		agent_leaves_no_more();
		agent_has_left = true;
	}
	agent_unlock(&guard);
	put_standing(agent_thread.record, &standing);
	if (result != WM1_ATTACH_DONE)
		return result;
	wmrt_handlers_give_back();
	tick_stop();
	log_close();
	end_recording(r);
	return result;
}

void wm1_agent_detach(struct wm1_attach_request *r)
{
	called_ns = wmrt_now_ns();
	left_ns = r->left_ns;
	r->is_late = false;
	r->result = detach(r);
}
