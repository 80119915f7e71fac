/*
 * attach.c - the sampler comes into a process that runs, and leaves it (`waymark attach`, waymark/attach.h).
 *
 * The command has stopped every thread and calls in here on the first one, on a stack of its own, with all signals blocked. Nothing of the
 * program's is written but actions of signals: that for SIGBUS (bus.h), those of the two signals that the C library keeps for itself, and the
 * masks of handlers that run on alternate stacks, where a tick may have no room; and, for allocations, the entries of the allocator (allocator.h).
 *
 * Leaving takes two calls. The first one stops all clocks; ticks that wait are delivered until the second one, which puts the actions back.
 */
#include <stdlib.h>
#include <string.h>

#include "native/libc_signals.h"
#include "recorder/bus.h"
#include "recorder/clock.h"
#include "recorder/config.h"
#include "recorder/file.h"
#include "recorder/image.h"
#include "recorder/kernel_action.h"
#include "recorder/process.h"
#include "recorder/run.h"
#include "recorder/sys.h"
#include "recorder/text.h"
#include "sampler/allocator.h"
#include "sampler/guest.h"
#include "sampler/heap.h"
#include "sampler/host.h"
#include "sampler/sample.h"
#include "sampler/timer.h"
#include "sampler/watch.h"
#include "waymark/abi.h"
#include "waymark/attach.h"
#include "waymark/runtime.h"

WM1_EXPORT void wm1_sample_attach(struct wm1_attach_request *request);
WM1_EXPORT void wm1_sample_detach(struct wm1_attach_request *request);

enum {
	RIP = 16, /* in struct user_regs_struct */
	FS_BASE = 21,
	LEAST_NS = 15000000,
	LEAVING_NS = 40000, /* for a thread, until it goes on */
};
static const uint64_t TICKS_MASK = UINT64_C(1) << (TICK_SIGNAL - 1) | UINT64_C(1) << (WATCH_SIGNAL - 1);

/* Writer: who makes the call. */
static uint32_t attached_pid; /* 0: it is not attached */
static bool is_leaving;       /* clocks have stopped, actions are not put back yet */
static uint64_t called_ns;    /* the request in progress */
static uint64_t masked;       /* signals whose actions block ticks because of this file */
static bool has_heap;         /* allocations are recorded */

static void block_ticks(void)
{
	struct kernel_action a = {0};

	for (int sig = 1; sig <= KERNEL_SIGNALS; sig++) {
		if (sig == SIGBUS || sig == TICK_SIGNAL || sig == WATCH_SIGNAL || !kernel_action(sig, NULL, &a) ||
		    a.handler <= (uintptr_t)SIG_IGN || !(a.flags & SA_ONSTACK) || (a.mask & TICKS_MASK) == TICKS_MASK)
			continue;
		a.mask |= TICKS_MASK;
		if (kernel_action(sig, &a, NULL))
			masked |= UINT64_C(1) << (sig - 1);
	}
}

static void unblock_ticks(void)
{
	struct kernel_action a = {0};

	for (int sig = 1; sig <= KERNEL_SIGNALS; sig++)
		if (masked >> (sig - 1) & 1 && kernel_action(sig, NULL, &a) && a.mask & TICKS_MASK) {
			a.mask &= ~TICKS_MASK;
			kernel_action(sig, &a, NULL);
		}
	masked = 0;
}

static void give_back(void)
{
	if (has_heap)
		heap_detach();
	has_heap = false;
	watch_give_back();
	sampler_timer_give_back();
	unblock_ticks();
	wmrt_bus_give_back();
	attached_pid = 0;
	is_leaving = false;
}

/* The child goes on as if nothing had been there. */
void guest_after_fork(void)
{
	if (!attached_pid)
		return;
	watch_end();
	sample_after_fork();
	give_back();
}

static bool is_attached(void)
{
	return attached_pid && attached_pid == wmrt_getpid();
}

/* ---- leaving ---- */

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

/* No thread is in a tick, nor has a lock of the recorder's. */
static bool is_quiet(struct wm1_attach_request *r)
{
	bool ret = !wmrt_lock_is_taken();

	for (uint64_t i = 0; i < r->thread_count; i++) {
		r->threads[i].is_in_the_way = sample_guest_is_busy((uint32_t)r->threads[i].tid) ||
					      (has_heap && allocator_is_told(r->threads[i].registers[FS_BASE]));
		ret &= !r->threads[i].is_in_the_way;
	}
	return ret;
}

/* A look at threads that was amidst its work when clocks were stopped has started some: then their ticks are to come in, too. */
static bool is_still(struct wm1_attach_request *r)
{
	return is_quiet(r) && !watch_is_looking() && !sample_guest_stop();
}

static enum wm1_attach_result leave(struct wm1_attach_request *r)
{
	if (!is_leaving) {
		watch_end();
		sample_guest_stop();
		is_leaving = true;
		return WM1_ATTACH_AGAIN;
	}
	if (!is_still(r))
		return WM1_ATTACH_AGAIN;
	give_back();
	end_recording(r);
	return WM1_ATTACH_DONE;
}

static enum wm1_attach_result detach(struct wm1_attach_request *r)
{
	if (r->version != WM1_ATTACH_VERSION)
		return WM1_ATTACH_BAD_VERSION;
	if (!is_attached())
		return sample_is_on() ? WM1_ATTACH_STARTED : WM1_ATTACH_NOT;
	/* The next detach goes on from here. */
	if (r->is_over)
		return WM1_ATTACH_DONE;
	return leave(r);
}

void wm1_sample_detach(struct wm1_attach_request *r)
{
	r->is_late = false;
	r->result = detach(r);
}

/* ---- coming ---- */

static enum wm1_attach_result set_output(struct wm1_attach_request *r)
{
	wmrt_config_set(r->output, r->limit_bytes);
	r->error = -wmrt_config_check();
	return r->error ? WM1_ATTACH_OUTPUT : WM1_ATTACH_DONE;
}

/* Starting a clock takes some 0.1 ms: the process would stand still for too long. */
static bool is_near_end(const struct wm1_attach_request *r)
{
	return wmrt_now_ns() - called_ns + LEAST_NS + r->thread_count * LEAVING_NS > r->left_ns;
}

/* The word `heap` of the options, or heap=check (WAYMARK_HEAP=every-check). */
static bool asks_for_heap(const char *options, bool *ret_is_checked)
{
	static const char word[] = "heap", check[] = "heap=check";

	for (; *options; options += strcspn(options, ","), options += *options == ',') {
		size_t len = strcspn(options, ",");

		*ret_is_checked = len == sizeof check - 1 && strncmp(options, check, len) == 0;
		if (*ret_is_checked || (len == sizeof word - 1 && strncmp(options, word, len) == 0))
			return true;
	}
	return false;
}

/* No thread is amidst bytes that are to be written. */
static enum wm1_attach_result find_allocator(struct wm1_attach_request *r)
{
	enum wm1_attach_result ret = WM1_ATTACH_DONE;

	if (!allocator_find())
		return WM1_ATTACH_ALLOCATOR;
	for (uint64_t i = 0; i < r->thread_count; i++) {
		r->threads[i].is_in_the_way = allocator_covers(r->threads[i].registers[RIP]);
		if (r->threads[i].is_in_the_way)
			ret = WM1_ATTACH_AGAIN;
	}
	return ret;
}

/* All threads at once: what they do next is sampled; of those for which no time is left the clocks start when threads are next looked at. */
static enum wm1_attach_result enter(struct wm1_attach_request *r, const struct sample_rates *rates)
{
	enum wm1_attach_result result = WM1_ATTACH_DONE;
	bool is_checked = false;
	uint32_t look;

	has_heap = asks_for_heap(r->options, &is_checked);
	if (has_heap)
		result = find_allocator(r);
	if (result != WM1_ATTACH_DONE) {
		has_heap = false;
		return result;
	}
	wmrt_bus_take();
	if (!sample_init(rates, true)) {
		wmrt_bus_give_back();
		return WM1_ATTACH_FAILED;
	}
	/* No clock runs yet. */
	if (has_heap && !heap_attach(is_checked)) {
		sample_guest_stop();
		give_back();
		return WM1_ATTACH_FAILED;
	}
	block_ticks();
	attached_pid = wmrt_getpid();
	look = watch_begin();
	for (uint64_t i = 0; i < r->thread_count; i++)
		sample_guest_thread((uint32_t)r->threads[i].tid, look, r->threads[i].registers[FS_BASE],
				    i && watch_is_on() && is_near_end(r));
	sample_guest_end(look);
	sample_start_waits();
	wmrt_run_tell_agent(WMK_AGENT_OK, host->header);
	return WM1_ATTACH_DONE;
}

static enum wm1_attach_result attach(struct wm1_attach_request *r)
{
	struct sample_rates rates;
	enum wm1_attach_result result;
	bool ignored;

	if (r->version != WM1_ATTACH_VERSION)
		return WM1_ATTACH_BAD_VERSION;
	if (!wmrt_is_active() || wmrt_process.is_sealed)
		return WM1_ATTACH_OTHER;
	/* An earlier detach was not finished. */
	if (is_attached() && is_leaving) {
		if (!is_still(r))
			return WM1_ATTACH_AGAIN;
		give_back();
		wmrt_file_close(WMK_FLAG_DETACHED);
		wmrt_renew();
	}
	if (is_attached())
		return WM1_ATTACH_ALREADY;
	if (r->is_query)
		return sample_is_on() ? WM1_ATTACH_STARTED : WM1_ATTACH_NOT;
	if (attached_pid)
		guest_after_fork();
	if (sample_is_on())
		return WM1_ATTACH_STARTED;
	if (!sample_rates_parse(r->options, &rates) && !asks_for_heap(r->options, &ignored))
		return WM1_ATTACH_FAILED;
	wmrt_check_fork();
	if (wmrt_lock_is_taken())
		return WM1_ATTACH_AGAIN;
	result = set_output(r);
	return result == WM1_ATTACH_DONE ? enter(r, &rates) : result;
}

void wm1_sample_attach(struct wm1_attach_request *r)
{
	called_ns = wmrt_now_ns();
	r->is_late = false;
	r->result = attach(r);
}
